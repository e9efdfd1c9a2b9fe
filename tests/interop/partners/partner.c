/* SPDX-License-Identifier: BSD-3-Clause */
/* What both partners are made of: lines, the area, and what it holds. */
#include "partner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BEYOND	       64 /* bytes behind a message that are looked at */
#define NOTHING	       0xee
#define GOLDEN	       0x9e3779b97f4a7c15u
#define LINE_MAX_BYTES 512
#define COMMANDS       (sizeof(commands) / sizeof(commands[0]))

uint8_t *partner_area;
size_t partner_area_bytes;

static void
say(const char *word, const char *format, va_list args)
{
	fputs(word, stdout);
	vfprintf(stdout, format, args);
	putchar('\n');
	fflush(stdout);
}

void
partner_ok(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(*format != '\0' ? "ok " : "ok", format, args);
	va_end(args);
}

void
partner_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("error ", format, args);
	va_end(args);
}

void
partner_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("error ", format, args);
	va_end(args);
	exit(1);
}

uint64_t
number_of(const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 0);

	if (*word == '\0' || *end != '\0')
		partner_die("no number: %s", word);
	return value;
}

uint64_t
optional(char **words, int index)
{
	return words[index] != NULL ? number_of(words[index]) : 0;
}

uint64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t
median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static uint64_t
eight_of(size_t index, uint64_t seed)
{
	return (index + 1) * GOLDEN ^ seed << 40 ^ seed;
}

void
pattern(uint8_t *to, size_t bytes, uint64_t seed)
{
	for (size_t at = 0; at < bytes; at += 8) {
		uint64_t eight = eight_of(at / 8, seed);

		memcpy(to + at, &eight, bytes - at < 8 ? bytes - at : 8);
	}
}

const char *
hex(const uint8_t *data, size_t bytes)
{
	static char text[2 * PRIVATE_MAX + 1];

	for (size_t i = 0; i < bytes && i < PRIVATE_MAX; i++)
		sprintf(text + 2 * i, "%02x", data[i]);
	return bytes != 0 ? text : "-";
}

static uint8_t *
part(char **words)
{
	uint64_t at = number_of(words[0]), bytes = number_of(words[1]);

	if (at > partner_area_bytes - BEYOND || bytes > partner_area_bytes - BEYOND - at)
		partner_die("beyond the area");
	return partner_area + at;
}

static void
run_fill(char **words)
{
	pattern(part(words), number_of(words[1]), number_of(words[2]));
	partner_ok("%s", "");
}

static void
run_wipe(char **words)
{
	memset(part(words), NOTHING, number_of(words[1]) + BEYOND);
	partner_ok("%s", "");
}

static void
run_look(char **words)
{
	const uint8_t *seen = part(words);
	uint64_t bytes = number_of(words[1]), seed = number_of(words[2]);

	for (uint64_t at = 0; at < bytes; at += 8) {
		uint64_t eight = eight_of(at / 8, seed);

		if (memcmp(seen + at, &eight, bytes - at < 8 ? bytes - at : 8) != 0) {
			partner_error("not what was sent, from byte %lu on", (unsigned long)at);
			return;
		}
	}
	for (uint64_t at = bytes; at < bytes + BEYOND; at++) {
		if (seen[at] != NOTHING) {
			partner_error("byte %lu is beyond the message, and was written",
				(unsigned long)at);
			return;
		}
	}
	partner_ok("%s", "");
}

static void
run_word(char **words)
{
	char *both[] = {words[0], "8"};
	uint64_t value;
	uint8_t *at = part(both);

	if (words[1] != NULL) {
		value = number_of(words[1]);
		memcpy(at, &value, 8);
	}
	memcpy(&value, at, 8);
	partner_ok("0x%lx", (unsigned long)value);
}

static const struct {
	const char *name;
	int words; /* at least, without its own */
	void (*run)(char **words);
} commands[] = {
	{"fill", 3, run_fill},
	{"wipe", 2, run_wipe},
	{"look", 3, run_look},
	{"word", 1, run_word},
	{"memory", 0, run_memory},
	{"qp", 1, run_qp},
	{"up", 10, run_up},
	{"receive", 3, run_receive},
	{"post", 4, run_post},
	{"window", 3, run_window},
	{"take", 1, run_take},
	{"state", 1, run_state},
	{"drop", 1, run_drop},
	{"listen", 1, run_listen},
	{"ask", 5, run_ask},
	{"asked", 2, run_asked},
	{"accept", 3, run_accept},
	{"reject", 3, run_reject},
	{"outcome", 2, run_outcome},
	{"leave", 1, run_leave},
	{"left", 2, run_left},
	{"serve", 2, run_serve},
	{"call", 4, run_call},
};

static void
obey(char *line)
{
	char *words[WORDS_MAX + 2] = {NULL};
	size_t c = 0;
	int count = 0;

	for (char *w = strtok(line, " \n"); w != NULL && count <= WORDS_MAX;
		w = strtok(NULL, " \n"))
		words[count++] = w;
	if (count == 0)
		return;
	while (c < COMMANDS && strcmp(commands[c].name, words[0]) != 0)
		c++;
	if (c == COMMANDS || count <= commands[c].words)
		partner_die("no such command, or too few words: %s", words[0]);
	commands[c].run(words + 1);
}

int
main(int argc, char **argv)
{
	char line[LINE_MAX_BYTES];

	if (argc < 2)
		partner_die("no arguments");
	partner_area_bytes = number_of(argv[argc - 1]) * MEGABYTE;
	partner_start(argc, argv);
	partner_ok("ready");
	while (fgets(line, sizeof(line), stdin) != NULL)
		obey(line);
	return 0;
}
