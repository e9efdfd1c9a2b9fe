/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this machine can do: copying, CRCs, and what it costs to get something from one core to
 * another. Nothing that moves messages through memory and across cores is faster; the suite's bars
 * are shares of these figures. Prints JSON: nanoseconds for one of each.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cores.h"
#include "wire/icrc.h"

#define SLICES 10u
#define PIECE  4096u /* what a packet carries at path MTU 4096 */

struct work {
	uint8_t *from, *to;
	size_t span; /* bytes of each that are gone through, in turns */
	uint32_t bytes;
};

static uint64_t slice_ns = 2000000;
static unsigned printed;
static volatile uint32_t sink;

static void
show(const char *name, double ns)
{
	printf("%s\n\t\"%s\": %.2f", printed++ > 0 ? "," : "{", name, ns);
	fflush(stdout);
}

static void
copy(const struct work *w, size_t at)
{
	memcpy(w->to + at, w->from + at, w->bytes);
	__asm__ volatile("" ::: "memory");
}

static void
crc(const struct work *w, size_t at)
{
	sink = roce_crc32(0, w->from + at, w->bytes);
}

/* As a sender has it: into the frame, then over the frame. */
static void
copy_crc(const struct work *w, size_t at)
{
	memcpy(w->to + at, w->from + at, w->bytes);
	sink = roce_crc32(0, w->to + at, w->bytes);
}

/* The best of some short slices: a machine shared with others disturbs some of them. */
static void
measure(const char *what, const char *where, void (*one)(const struct work *, size_t),
	const struct work *w)
{
	double best = 0;
	char name[64];
	size_t at = 0;

	for (unsigned i = 0; i < SLICES; i++) {
		uint64_t t0 = cores_now_ns(), t = t0, done = 0;
		double ns;

		do {
			for (unsigned k = 0; k < 64; k++) {
				one(w, at);
				at += w->bytes;
				if (at + w->bytes > w->span)
					at = 0;
			}
			done += 64;
			t = cores_now_ns();
		} while (t - t0 < slice_ns);
		ns = (double)(t - t0) / (double)done;
		if (i == 0 || ns < best)
			best = ns;
	}
	snprintf(name, sizeof(name), "%s %s", what, where);
	show(name, best);
}

static void
measure_all(const char *where, const struct work *w)
{
	measure("copy", where, copy, w);
	measure("crc", where, crc, w);
	measure("copy+crc", where, copy_crc, w);
}

static size_t
cache_bytes(int name, size_t otherwise)
{
	long bytes = sysconf(name);

	return bytes > 0 ? (size_t)bytes : otherwise;
}

/* Small messages stay in the first cache; 4 KiB ones go through what each cache has room for. */
static void
memory(void)
{
	static const uint32_t sizes[] = {8, 64, 256, 1024, PIECE};
	const struct {
		const char *where;
		size_t span; /* of both buffers a third of the cache: others use it, too */
	} levels[] = {
		{"4096 L2", cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1u << 20) / 3},
		{"4096 1MiB", 1u << 20},
		{"4096 L3", cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1u << 20) * 3},
		{"4096 memory", 256u << 20},
	};
	struct work w = {.span = levels[3].span};

	w.from = aligned_alloc(PIECE, w.span);
	w.to = aligned_alloc(PIECE, w.span);
	if (w.from == NULL || w.to == NULL) {
		fprintf(stderr, "limits: no memory for two buffers of %zu MiB\n", w.span >> 20);
		exit(1);
	}
	memset(w.from, 1, w.span);
	memset(w.to, 2, w.span);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char where[16];

		w.bytes = sizes[i];
		w.span = PIECE;
		snprintf(where, sizeof(where), "%u", sizes[i]);
		measure_all(where, &w);
	}
	for (unsigned i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		w.bytes = PIECE;
		w.span = levels[i].span;
		measure_all(levels[i].where, &w);
	}
	free(w.from);
	free(w.to);
}

struct options {
	int cpu[2]; /* or -1 */
	bool line;
};

static void
usage(FILE *to)
{
	fprintf(to, "usage: limits [--us N] [--cpus A,B [--line]]\n"
		    "  --us N      microseconds for each figure; 20000\n"
		    "  --cpus A,B  two CPUs for what goes from core to core; nothing does without\n"
		    "  --line      only a cache line's round trip: how far the cores are apart\n");
}

static void
take_us(const char *text)
{
	char *end;
	unsigned long us = strtoul(text, &end, 10);

	if (*end != 0 || us < 10 || us > 10000000) {
		fprintf(stderr, "limits: --us %s: 10 to 10000000\n", text);
		exit(2);
	}
	slice_ns = us * 1000 / SLICES;
}

static void
take_cpus(const char *text, int cpu[2])
{
	char rest;

	if (sscanf(text, "%d,%d%c", &cpu[0], &cpu[1], &rest) == 2 && cpu[0] >= 0 && cpu[1] >= 0 &&
		cpu[0] != cpu[1])
		return;
	fprintf(stderr, "limits: --cpus %s: two different CPUs, as 0,1\n", text);
	exit(2);
}

static void
take(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {{"us", required_argument, NULL, 'u'},
		{"cpus", required_argument, NULL, 'c'}, {"line", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'u':
			take_us(optarg);
			break;
		case 'c':
			take_cpus(optarg, o->cpu);
			break;
		case 'l':
			o->line = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (optind == argc && (!o->line || o->cpu[0] >= 0))
		return;
	usage(stderr);
	exit(2);
}

int
main(int argc, char **argv)
{
	struct options o = {.cpu = {-1, -1}};

	take(&o, argc, argv);
	if (o.cpu[0] >= 0)
		show("line", cores_line(o.cpu, slice_ns * SLICES));
	if (o.cpu[0] >= 0 && !o.line) {
		show("ring", cores_ring(o.cpu, slice_ns * SLICES, 1));
		show("ring of 32", cores_ring(o.cpu, slice_ns * SLICES, 32));
	}
	if (!o.line)
		memory();
	printf("\n}\n");
	return 0;
}
