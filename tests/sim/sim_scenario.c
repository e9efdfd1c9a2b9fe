/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim_scenario.h"

#define LINE_BYTES  1024
#define WATCH_MAX   32u
#define COUNTED_MAX 128u
#define DRAW_FORMAT "draw %23s #%" SCNu32 " = %" SCNu64 " of %" SCNu64 ": %63s %63s %n"
#define FILE_NAME   ".scenario"

struct scenario {
	const char *name;
	struct sim_case run;
	struct sim_script script;
	struct sim_watch watch[WATCH_MAX];
	char *counted[COUNTED_MAX];
	unsigned n_counted;
	char **lines; /* that of each draw */
	unsigned n_lines;
};

/* ---- reading ---- */

static char *
copy(const char *s)
{
	char *c = strdup(s);

	if (c == NULL)
		abort();
	return c;
}

static bool
read_draw(struct scenario *s, const char *line)
{
	char actor[24], file[64], func[64];
	struct sim_choice c = {.site = NULL};
	int what = 0;

	if (sscanf(line, DRAW_FORMAT, actor, &c.ordinal, &c.value, &c.n, file, func, &what) != 6 ||
		what == 0 || !sim_actor_parse(actor, &c.actor))
		return false;
	c.stream = sim_stream_hash(file, func, line + what);
	sim_script_add(&s->script, &c);
	s->lines = realloc(s->lines, (s->n_lines + 1) * sizeof(*s->lines));
	if (s->lines == NULL)
		abort();
	s->lines[s->n_lines++] = copy(line);
	return true;
}

static bool
read_counts(struct scenario *s, char *names)
{
	for (char *n = strtok(names, " "); n != NULL; n = strtok(NULL, " ")) {
		if (s->n_counted == COUNTED_MAX)
			return false;
		s->counted[s->n_counted++] = copy(n);
	}
	return true;
}

static bool
read_line(struct scenario *s, char *line)
{
	if (line[0] == '#' || line[0] == '\0')
		return true;
	if (strncmp(line, "draw ", 5) == 0)
		return read_draw(s, line);
	if (strncmp(line, "counts ", 7) == 0)
		return read_counts(s, line + 7);
	if (strncmp(line, "says ", 5) == 0 && s->run.n_watch < WATCH_MAX) {
		s->watch[s->run.n_watch++].text = copy(line + 5);
		return true;
	}
	if (strncmp(line, "seed ", 5) == 0) {
		s->run.seed = strtoull(line + 5, NULL, 0);
		return true;
	}
	if (strncmp(line, "profile ", 8) == 0)
		s->run.profile = sim_profile_find(line + 8);
	return s->run.profile != NULL;
}

static bool
read_file(struct scenario *s, FILE *f)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (!read_line(s, line)) {
			printf("scenario %s: what is this? %s\n", s->name, line);
			return false;
		}
	}
	s->script.plain = true;
	s->run.script = &s->script;
	s->run.watch = s->watch;
	return s->run.profile != NULL && s->script.count > 0;
}

static void
release(struct scenario *s)
{
	for (unsigned i = 0; i < s->n_lines; i++)
		free(s->lines[i]);
	free(s->lines);
	for (unsigned i = 0; i < s->n_counted; i++)
		free(s->counted[i]);
	for (unsigned i = 0; i < s->run.n_watch; i++)
		free((void *)(uintptr_t)s->watch[i].text);
	sim_script_free(&s->script);
}

/* ---- running ---- */

/* What a counter has, by its name; UINT64_MAX: there is none. */
static uint64_t
counter(const char *name)
{
#define ROCE_X(x)                                                                                  \
	if (strcmp(name, #x) == 0)                                                                 \
		return sim_counters.x;
	ROCE_COUNTERS(ROCE_X)
#undef ROCE_X
#define ROCE_X(x)                                                                                  \
	if (strcmp(name, "cm_" #x) == 0)                                                           \
		return sim_cm_counters.x;
	ROCE_CM_COUNTERS(ROCE_X)
#undef ROCE_X
	return UINT64_MAX;
}

static bool
is_current(const struct scenario *s)
{
	unsigned faults = 0;

	for (unsigned i = 0; i < s->script.count; i++)
		if (!s->script.list[i].asked) {
			printf("scenario %s: is asked no more: %s\n", s->name, s->lines[i]);
			faults++;
		}
	for (unsigned i = 0; i < s->run.n_watch; i++)
		if (!s->watch[i].seen) {
			printf("scenario %s: is said no more: %s\n", s->name, s->watch[i].text);
			faults++;
		}
	for (unsigned i = 0; i < s->n_counted; i++) {
		uint64_t n = counter(s->counted[i]);

		if (n == 0 || n == UINT64_MAX) {
			printf("scenario %s: %s: %s\n", s->name,
				n == 0 ? "is counted no more" : "no counter", s->counted[i]);
			faults++;
		}
	}
	return faults == 0;
}

bool
sim_scenario_run(const char *name, bool verbose)
{
	struct scenario s = {.name = name, .run = {.verbose = verbose}};
	struct sim_outcome outcome;
	FILE *f = fopen(name, "r");
	bool ok;

	if (f == NULL) {
		printf("scenario %s: can't be read\n", name);
		return false;
	}
	ok = read_file(&s, f);
	fclose(f);
	if (ok) {
		memset(&sim_counters, 0, sizeof(sim_counters));
		memset(&sim_cm_counters, 0, sizeof(sim_cm_counters));
		sim_script_seal(&s.script);
		ok = sim_run(&s.run, &outcome);
		if (!ok)
			printf("scenario %s: fails\n", name);
		else
			ok = is_current(&s);
	}
	release(&s);
	return ok;
}

static int
is_scenario(const struct dirent *d)
{
	size_t n = strlen(d->d_name), tail = strlen(FILE_NAME);

	return n > tail && strcmp(d->d_name + n - tail, FILE_NAME) == 0;
}

unsigned
sim_scenarios_run(const char *folder, unsigned *passed)
{
	struct dirent **files;
	int n = scandir(folder, &files, is_scenario, alphasort);
	unsigned failed = n <= 0; /* none is a mistake */
	char path[PATH_MAX];

	*passed = 0;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
		if (sim_scenario_run(path, false))
			++*passed;
		else
			failed++;
		free(files[i]);
	}
	if (n > 0)
		free(files);
	return failed;
}

/* ---- writing ---- */

/* Column of the line that is being written. */
static int
put_name(FILE *f, int column, const char *prefix, const char *name)
{
	int length = (int)(strlen(prefix) + strlen(name)) + 1;

	if (column == 0 || column + length > 96)
		column = fprintf(f, "%scounts", column == 0 ? "" : "\n");
	return column + fprintf(f, " %s%s", prefix, name);
}

static void
write_counts(FILE *f, const struct roce_counters *c, const struct roce_cm_counters *cm)
{
	int column = 0;

#define ROCE_X(x)                                                                                  \
	if (c->x != 0)                                                                             \
		column = put_name(f, column, "", #x);
	ROCE_COUNTERS(ROCE_X)
#undef ROCE_X
#define ROCE_X(x)                                                                                  \
	if (cm->x != 0)                                                                            \
		column = put_name(f, column, "cm_", #x);
	ROCE_CM_COUNTERS(ROCE_X)
#undef ROCE_X
	if (column > 0)
		fprintf(f, "\n");
}

void
sim_scenario_write(FILE *f, const struct sim_case *c, const struct roce_counters *counters,
	const struct roce_cm_counters *cm_counters)
{
	fprintf(f, "profile %s\nseed %" PRIu64 "\n", c->profile->name, c->seed);
	write_counts(f, counters, cm_counters);
	for (unsigned i = 0; i < c->script->count; i++) {
		const struct sim_choice *d = &c->script->list[i];

		fprintf(f, "draw %s #%" PRIu32 " = %" PRIu64 " of %" PRIu64 ": %s %s %s\n",
			sim_actor_name(d->actor), d->ordinal, d->value, d->n,
			sim_site_file(d->site), d->site->func, d->site->what);
	}
}
