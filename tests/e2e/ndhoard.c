/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndhoard SOCKET WHAT MIB TIMES: a client that makes the daemon's life hard with its memory.
 *
 *   untouched  a segment of which it has touched no page: it must be refused
 *   beside     a segment, and a second client that makes small requests all the while. Prints how
 *              many were answered until the segment was mapped, and how long they took
 *   leave      a segment, and it ends while that is mapped
 *   again      a segment made and destroyed
 *
 * MIB is the size of a segment, TIMES how often. Exit status 1: the daemon did something else.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../abuse/raw.h"

#define ANSWER_MS    30000 /* the daemon maps, and unmaps, 1 GiB meanwhile */
#define REQUESTS_MAX 100000u

struct segment {
	uint32_t id;
	uint64_t bytes;
	uint8_t *mem;
};

static _Noreturn void
fail(const char *what)
{
	fprintf(stderr, "ndhoard: %s\n", what);
	exit(1);
}

static void
must(int status, const char *otherwise)
{
	if (status != NDSH_OK)
		fail(otherwise);
}

/* The first segment of a session, with the session page, stays. */
static struct raw
client_ready(const char *path)
{
	struct raw r;

	must(raw_open(&r, path), "no adapter");
	r.bytes = NDSH_PAGE_BYTES;
	must(raw_segment(&r, r.bytes, &r.base, &r.segment), "no session page");
	return r;
}

/* Mapped here, and neither touched nor mapped by the daemon. */
static struct segment
segment_make(struct raw *r, uint64_t bytes)
{
	struct segment s = {.bytes = bytes};
	int file = raw_segment_file(r, bytes, &s.id);

	if (file < 0)
		fail("no segment: its quota is not back");
	s.mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (s.mem == MAP_FAILED)
		fail("can't map");
	close(file);
	return s;
}

/* Ask the daemon to map it, and do not wait. */
static void
segment_say_mapped(const struct raw *r, const struct segment *s)
{
	const struct ndsh_segment_mapped m = {.h.type = NDSH_MSG_SEGMENT_MAPPED,
		.segment = s->id,
		.client_va = (uintptr_t)s->mem};

	raw_say(r->fd, &m, sizeof(m));
}

static void
segment_end(struct raw *r, struct segment *s)
{
	must(raw_ask_id(r, NDSH_MSG_SEGMENT_DESTROY, s->id, NULL), "it can't be destroyed");
	munmap(s->mem, s->bytes);
}

/* ---- what it does --------------------------------------------------------------------------- */

static void
untouched(const char *path, uint64_t bytes)
{
	struct raw r = client_ready(path);
	struct segment s = segment_make(&r, bytes);

	if (raw_segment_mapped(&r, s.id, s.mem) != NDSH_ERR_INVALID_STATE)
		fail("memory that was not touched is not refused");
	segment_end(&r, &s);
	raw_end(&r);
}

static double took_us[REQUESTS_MAX];
static unsigned requests;

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void
beside(const char *path, uint64_t bytes)
{
	struct ndsh_address_list small = {.h.type = NDSH_MSG_ADDRESS_LIST};
	struct raw hog = client_ready(path), other;
	struct segment s = segment_make(&hog, bytes);
	struct pollfd p = {hog.fd, POLLIN, 0};
	union {
		struct ndsh_msg_hdr h;
		uint8_t bytes[NDSH_MSG_BYTES];
	} reply;

	must(raw_open(&other, path), "no adapter");
	memset(s.mem, 1, bytes);
	segment_say_mapped(&hog, &s);
	while (poll(&p, 1, 0) == 0 && requests < REQUESTS_MAX) {
		double from = now_us();

		must(raw_ask(&other, &small, NULL, NULL), "no answer beside");
		took_us[requests++] = now_us() - from;
	}
	if (raw_hear(hog.fd, &reply, sizeof(reply), NULL, raw_patience_ms) <= 0)
		fail("no answer");
	must(reply.h.status, "it is not mapped");
	segment_end(&hog, &s);
	raw_end(&hog);
	raw_end(&other);
}

static void
leave(const char *path, uint64_t bytes)
{
	struct raw r = client_ready(path);
	struct segment s = segment_make(&r, bytes);

	memset(s.mem, 1, bytes);
	segment_say_mapped(&r, &s);
	munmap(s.mem, bytes);
	raw_end(&r);
}

static void
again(const char *path, uint64_t bytes)
{
	static struct raw r;
	struct segment s = {.bytes = bytes};

	if (r.base == NULL)
		r = client_ready(path);
	must(raw_segment(&r, bytes, &s.mem, &s.id), "it is not mapped");
	segment_end(&r, &s);
}

static int
by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
report(void)
{
	if (requests == 0)
		return;
	qsort(took_us, requests, sizeof(took_us[0]), by_time);
	printf("%u requests meanwhile: p50 %.0f us, p99 %.0f us, longest %.0f us\n", requests,
		took_us[requests / 2], took_us[requests * 99 / 100], took_us[requests - 1]);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(const char *path, uint64_t bytes);
	} deeds[] = {
		{"untouched", untouched}, {"beside", beside}, {"leave", leave}, {"again", again}};

	if (argc != 5) {
		fprintf(stderr, "usage: ndhoard SOCKET untouched|beside|leave|again MIB TIMES\n");
		return 2;
	}
	raw_patience_ms = ANSWER_MS;
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
		if (strcmp(argv[2], deeds[i].name) == 0) {
			for (int n = atoi(argv[4]); n > 0; n--)
				deeds[i].fn(argv[1], strtoull(argv[3], NULL, 0) << 20);
			report();
			return 0;
		}
	return 2;
}
