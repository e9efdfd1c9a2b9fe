/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys, doc/config.md, config/schema.json and the examples say the same. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_table.h"

#define TREE TEST_DATA_DIR "/../../"

static char *
read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 65536);

	cr_assert(f != NULL && text != NULL, "%s", path);
	cr_assert_gt(fread(text, 1, 65535, f), 0);
	fclose(f);
	return text;
}

/* The line of the document that begins with the key, or "". */
static void
doc_line(const char *doc, const char *key, char *line, size_t bytes)
{
	char start[160];
	const char *at;

	(void)snprintf(start, sizeof(start), "\n| `%s` |", key);
	at = strstr(doc, start);
	line[0] = '\0';
	if (at != NULL)
		(void)snprintf(line, bytes, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
}

static void
check_doc(const char *doc, const struct config_key *keys, const char *prefix)
{
	char path[128], line[512], want[128];

	for (const struct config_key *k = keys; k->name != NULL; k++) {
		(void)snprintf(path, sizeof(path), "%s%s", prefix, k->name);
		if (k->kind == CONFIG_OBJECT) {
			strcat(path, k->items_max > 0 ? "[]." : ".");
			check_doc(doc, k->members, path);
			continue;
		}
		doc_line(doc, path, line, sizeof(line));
		cr_expect(line[0] != '\0', "doc/config.md has no line for %s", path);
		(void)snprintf(want, sizeof(want), "| %s%s%s |", k->initial ? "`" : "",
			k->required  ? "required"
			: k->initial ? k->initial
				     : "none",
			k->initial ? "`" : "");
		cr_expect(strstr(line, want) != NULL, "%s: no \"%s\" in: %s", path, want, line);
		(void)snprintf(want, sizeof(want), "%" PRIu64 "..%" PRIu64, k->min, k->max);
		if (k->kind == CONFIG_UINT || k->kind == CONFIG_STRING)
			cr_expect(strstr(line, want) != NULL, "%s: no \"%s\" in: %s", path, want,
				line);
	}
}

Test(config_docs, each_key_stands_in_the_manual_with_default_and_range)
{
	char *doc = read_file(TREE "doc/config.md");

	check_doc(doc, config_table, "");
	free(doc);
}

static const char *const type_names[CONFIG_KINDS] = {
	[CONFIG_OBJECT] = "object",
	[CONFIG_BOOL] = "boolean",
	[CONFIG_UINT] = "integer",
	[CONFIG_STRING] = "string",
	[CONFIG_WORD] = "string",
	[CONFIG_MODE] = "string",
	[CONFIG_PREFIX] = "string",
	[CONFIG_IPV4] = "string",
	[CONFIG_IPV6] = "string",
	[CONFIG_IP] = "string",
	[CONFIG_MAC] = "string",
	[CONFIG_PCI] = "string",
};

static uint64_t
number(const json_t *s, const char *name)
{
	const json_t *v = json_object_get(s, name);

	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : UINT64_MAX;
}

static bool
is_in(const json_t *array, const char *word)
{
	size_t i;
	json_t *v;

	json_array_foreach(
		(json_t *)array, i, v) if (strcmp(json_string_value(v), word) == 0) return true;
	return false;
}

static void
check_schema(const json_t *schema, const struct config_key *keys)
{
	const json_t *properties = json_object_get(schema, "properties");
	size_t n = 0;

	cr_expect(json_is_false(json_object_get(schema, "additionalProperties")));
	for (const struct config_key *k = keys; k->name != NULL; k++, n++) {
		const json_t *s = json_object_get(properties, k->name);
		const json_t *value = k->items_max > 0 ? json_object_get(s, "items") : s;
		const char *type = json_string_value(json_object_get(value, "type"));
		json_t *initial = k->initial ? json_loads(k->initial, JSON_DECODE_ANY, NULL) : NULL;

		cr_assert(s != NULL, "%s", k->name);
		cr_expect(json_object_get(s, "description") != NULL, "%s", k->name);
		cr_expect(type != NULL && strcmp(type, type_names[k->kind]) == 0, "%s", k->name);
		cr_expect(is_in(json_object_get(schema, "required"), k->name) == k->required, "%s",
			k->name);
		cr_expect(initial == NULL ? json_object_get(s, "default") == NULL
					  : json_equal(initial, json_object_get(s, "default")),
			"%s: default", k->name);
		if (k->items_max > 0)
			cr_expect(number(s, "minItems") == k->items_min &&
					  number(s, "maxItems") == k->items_max,
				"%s: items", k->name);
		if (k->kind == CONFIG_UINT)
			cr_expect(number(value, "minimum") == k->min &&
					  number(value, "maximum") == k->max,
				"%s: range", k->name);
		if (k->kind == CONFIG_STRING)
			cr_expect(number(value, "minLength") == k->min &&
					  number(value, "maxLength") == k->max,
				"%s: length", k->name);
		for (unsigned i = 0; k->kind == CONFIG_WORD && k->words[i] != NULL; i++)
			cr_expect(
				is_in(json_object_get(value, "enum"), k->words[i]), "%s", k->name);
		if (k->kind == CONFIG_OBJECT)
			check_schema(value, k->members);
		json_decref(initial);
	}
	cr_expect_eq(json_object_size(properties), n, "the schema knows more keys than the code");
}

Test(config_docs, schema_agrees_with_the_table)
{
	json_t *schema = json_load_file(TREE "config/schema.json", JSON_REJECT_DUPLICATES, NULL);

	cr_assert(schema != NULL);
	check_schema(schema, config_table);
	json_decref(schema);
}

Test(config_docs, examples_are_valid)
{
	char *page = read_file(TREE "doc/config.md"), err[2048], path[512];
	struct dirent *file;
	unsigned found = 0;
	DIR *dir = opendir(TREE "config");

	cr_assert(dir != NULL);
	while ((file = readdir(dir)) != NULL) {
		struct config c;

		if (strstr(file->d_name, ".json") == NULL ||
			strcmp(file->d_name, "schema.json") == 0)
			continue;
		found++;
		(void)snprintf(path, sizeof(path), TREE "config/%s", file->d_name);
		cr_expect(config_load(&c, path, err, sizeof(err)), "%s", err);
		cr_expect(strstr(page, file->d_name) != NULL, "doc/config.md does not mention %s",
			file->d_name);
	}
	closedir(dir);
	free(page);
	cr_assert_geq(found, 8);
}

/* They run side by side: nothing of theirs may collide. */
static void
check_pair(const char *one, const char *other)
{
	struct config a, b;
	char err[2048];

	cr_assert(config_load(&a, one, err, sizeof(err)), "%s", err);
	cr_assert(config_load(&b, other, err, sizeof(err)), "%s", err);
	cr_expect_str_neq(a.file_prefix, b.file_prefix);
	cr_expect_str_neq(a.socket_path, b.socket_path);
	cr_expect_eq(a.port[0].mtu, b.port[0].mtu);
	cr_expect_arr_neq(a.port[0].untagged.address[0].ip, b.port[0].untagged.address[0].ip, 16);
}

Test(config_docs, examples_in_pairs_fit_together)
{
	check_pair(TREE "config/memif-server.json", TREE "config/memif-client.json");
	check_pair(TREE "config/vhost-user.json", TREE "config/virtio-user.json");
}
