/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks a JSON document along config_table[] and collects what is wrong with it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/config_table.h"

/* ---- errors --------------------------------------------------------------------------------- */

/* Room kept for the line that says how many more there are. */
#define TAIL_BYTES 32u

/* Each line ends with a newline; what does not fit is counted, but the first is shown in any
 * case. */
static void
add_line(struct config_errors *e, const char *line, size_t len)
{
	size_t room = e->out_bytes > TAIL_BYTES ? e->out_bytes - TAIL_BYTES : e->out_bytes;

	if (e->left_out > 0 || e->used + len + 1 >= room) {
		if (e->used > 0 || room < 2) {
			e->left_out++;
			return;
		}
		len = room - 2;
	}
	memcpy(e->out + e->used, line, len);
	e->used += len;
	e->out[e->used++] = '\n';
	e->out[e->used] = '\0';
}

void
config_error(struct config_errors *e, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	n = snprintf(line, sizeof(line), "%s: %s%s", e->name, e->path, e->path[0] ? ": " : "");
	if (n < 0 || (size_t)n >= sizeof(line) / 2)
		n = snprintf(line, sizeof(line) / 2, "%.80s: ", e->path);
	va_start(ap, fmt);
	(void)vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	e->reported++;
	add_line(e, line, strlen(line));
}

static void
say_what_was_left_out(struct config_errors *e)
{
	if (e->left_out > 0 && e->used + TAIL_BYTES <= e->out_bytes)
		(void)snprintf(
			e->out + e->used, e->out_bytes - e->used, "(and %u more)\n", e->left_out);
}

/* ---- the path ------------------------------------------------------------------------------- */

static size_t
path_enter(struct config_errors *e, const char *name)
{
	size_t before = strlen(e->path);

	/* A name may come from the document: it is escaped and cut, and has no way out of path. */
	(void)snprintf(
		e->path + before, sizeof(e->path) - before, "%s%.48s", before ? "." : "", name);
	for (char *p = e->path + before; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
	return before;
}

static size_t
path_enter_item(struct config_errors *e, size_t i)
{
	size_t before = strlen(e->path);

	(void)snprintf(e->path + before, sizeof(e->path) - before, "[%zu]", i);
	return before;
}

static void
path_leave(struct config_errors *e, size_t before)
{
	e->path[before] = '\0';
}

/* ---- unknown keys --------------------------------------------------------------------------- */

#define WORD_MAX 24u

/* Levenshtein's distance, or a large number for words that are no near miss anyway. */
static size_t
word_distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

static void
unknown_key(struct config_errors *e, const struct config_key *keys, const char *name)
{
	const struct config_key *nearest = NULL;
	size_t least = 3; /* two slips of the finger; more is another word */
	char known[256];
	size_t used = 0;

	known[0] = '\0';
	for (const struct config_key *k = keys; k->name != NULL; k++) {
		size_t d = word_distance(name, k->name);

		if (d < least && d < strlen(k->name)) {
			least = d;
			nearest = k;
		}
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
				used ? ", " : "", k->name);
	}
	if (nearest != NULL)
		config_error(e, "unknown key; did you mean \"%s\"?", nearest->name);
	else
		config_error(e, "unknown key; known here: %s", known);
}

/* ---- objects and arrays --------------------------------------------------------------------- */

static void read_object(
	struct config_errors *e, const struct config_key *keys, const json_t *object, void *base);

static void
read_one(struct config_errors *e, const struct config_key *key, const json_t *value, void *base,
	void *field)
{
	if (key->kind != CONFIG_OBJECT)
		config_value(e, key, value, base, field);
	else if (json_is_object(value))
		/* The sections of the document are flat in struct config; items of arrays are
		 * not. */
		read_object(e, key->members, value, key->items_max > 0 ? field : base);
	else
		config_error(e, "an object is expected here");
}

static void
read_array(struct config_errors *e, const struct config_key *key, const json_t *value, void *base)
{
	char allowed[160];
	size_t n = json_array_size(value);
	uint32_t *count = (uint32_t *)((char *)base + key->count_offset);

	config_allowed(key, allowed, sizeof(allowed));
	if (!json_is_array(value)) {
		config_error(e, "an array is expected here, of %s", allowed);
		return;
	}
	if (n < key->items_min || n > key->items_max) {
		config_error(
			e, "%zu items; %u to %u are allowed", n, key->items_min, key->items_max);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		size_t before = path_enter_item(e, i);

		read_one(e, key, json_array_get(value, i), base,
			(char *)base + key->offset + i * key->bytes);
		path_leave(e, before);
	}
	*count = (uint32_t)n;
}

static void
read_key(struct config_errors *e, const struct config_key *key, const json_t *value, void *base)
{
	if (key->items_max > 0)
		read_array(e, key, value, base);
	else
		read_one(e, key, value, base, (char *)base + key->offset);
}

/* Defaults go the same way as values from the file: they can't differ in kind or range. */
static void
read_absent(struct config_errors *e, const struct config_key *key, void *base)
{
	char allowed[160];
	json_t *value;

	if (key->required) {
		config_allowed(key, allowed, sizeof(allowed));
		config_error(e, "missing; %s%s is required", key->items_max ? "an array of " : "",
			allowed);
		return;
	}
	if (key->initial == NULL)
		return;
	errno = 0;
	value = json_loads(key->initial, JSON_DECODE_ANY, NULL);
	if (value != NULL && errno != ENOMEM)
		read_key(e, key, value, base);
	else
		config_error(e, "out of memory");
	if (key->flag_offset != 0)
		*((bool *)base + key->flag_offset) = false; /* it was not given */
	json_decref(value);
}

static void
read_object(
	struct config_errors *e, const struct config_key *keys, const json_t *object, void *base)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value)
	{
		const struct config_key *k = keys;
		size_t before = path_enter(e, name);

		while (k->name != NULL && strcmp(k->name, name) != 0)
			k++;
		if (k->name == NULL)
			unknown_key(e, keys, name);
		path_leave(e, before);
	}
	for (const struct config_key *k = keys; k->name != NULL; k++) {
		size_t before = path_enter(e, k->name);

		value = json_object_get(object, k->name);
		if (value != NULL)
			read_key(e, k, value, base);
		else
			read_absent(e, k, base);
		path_leave(e, before);
	}
}

/* ---- documents ------------------------------------------------------------------------------ */

static void
errors_init(struct config_errors *e, const char *name, char *err, size_t err_bytes)
{
	memset(e, 0, sizeof(*e));
	e->name = name;
	e->out = err;
	e->out_bytes = err_bytes;
	if (err_bytes > 0)
		err[0] = '\0';
}

/* What follows from what was given. */
static void
complete_port(struct config_port *p)
{
	p->udp = strcmp(p->device, CONFIG_UDP) == 0;
	p->kernel = p->udp || p->shared;
	if (!p->has_mtu && !p->udp)
		p->mtu = CONFIG_MTU;
}

/* A port of the kernel's sockets wants nothing of the machine that a user has not. */
static void
complete_memory(struct config *c)
{
	bool all_udp = c->ports != 0;

	for (uint32_t p = 0; p < c->ports; p++)
		all_udp = all_udp && c->port[p].udp;
	if (!c->has_huge_pages && all_udp)
		c->huge_pages = false;
}

/* error: errno behind jansson. Without memory it complains of the syntax, or loses a character of a
 * string, and does not say so. */
static bool
read_document(struct config_errors *e, struct config *c, json_t *root, const json_error_t *syntax,
	int error)
{
	memset(c, 0, sizeof(*c));
	if (error == ENOMEM)
		config_error(e, "out of memory");
	else if (root == NULL)
		config_error(
			e, "line %d, column %d: %s", syntax->line, syntax->column, syntax->text);
	else if (!json_is_object(root))
		config_error(e, "an object is expected here");
	else
		read_object(e, config_table, root, c);
	for (uint32_t p = 0; p < c->ports; p++)
		complete_port(&c->port[p]);
	complete_memory(c);
	/* Only values that are right by themselves are held against each other. */
	if (e->reported == 0)
		config_check(e, c);
	say_what_was_left_out(e);
	json_decref(root);
	return e->reported == 0;
}

bool
config_parse(struct config *c, const char *name, const char *json, char *err, size_t err_bytes)
{
	struct config_errors e;
	json_error_t syntax;
	json_t *root;

	errors_init(&e, name, err, err_bytes);
	errno = 0;
	root = json_loads(json, JSON_REJECT_DUPLICATES, &syntax);
	return read_document(&e, c, root, &syntax, errno);
}

bool
config_load(struct config *c, const char *path, char *err, size_t err_bytes)
{
	struct config_errors e;
	json_error_t syntax;
	json_t *root;
	int error, read_error;
	FILE *f;

	errors_init(&e, path, err, err_bytes);
	f = fopen(path, "re");
	if (f == NULL) {
		config_error(&e, "%s", strerror(errno));
		return false;
	}
	errno = 0;
	root = json_loadf(f, JSON_REJECT_DUPLICATES, &syntax);
	error = errno;
	read_error = ferror(f) ? error : 0; /* a directory, for instance: opens, can't be read */
	fclose(f);
	if (read_error != 0) {
		config_error(&e, "%s", strerror(read_error));
		json_decref(root);
		return false;
	}
	return read_document(&e, c, root, &syntax, error);
}
