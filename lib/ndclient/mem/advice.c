/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /proc/self/smaps has it, as flags of two letters. The kernel counts the pages of each mapping
 * that it tells of, all from the first on, which takes a fifth to an eighth of the time of copying
 * them (measured: 25 ms for 1 GiB). So a small range in a large process is not worth it, nor is one
 * in a large mapping, which is counted as a whole.
 */
#include "ndclient/mem/advice.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ndclient/mem/mapping.h"

#define COUNT_FACTOR 4u
#define VAIN_KIB     (16u << 10)  /* half a millisecond, and no gain */
#define BESIDE_KIB   (128u << 10) /* three, where the range is told of at their end */
#define OF_ADDRESS   2		  /* MPOL_F_ADDR */

struct reading {
	uintptr_t at, end;    /* asked for */
	uintptr_t from, to;   /* of the mapping that is being told of */
	uint64_t kib_in_vain; /* pages in front of the range's mappings, counted so far */
	enum nd_advice found;
};

/* readable, writable, may be both, may be executed, accounted, soft-dirty, not reserved */
static bool
are_plain_flags(const char *flags)
{
	static const char plain[] = " rd wr mr mw me ac sd nr ";
	char flag[5] = " xx ";

	while (*flags == ' ')
		flags++;
	for (; flags[0] > ' ' && flags[1] > ' '; flags += flags[2] == ' ' ? 3 : 2) {
		memcpy(flag + 1, flags, 2);
		if (strstr(plain, flag) == NULL)
			return false;
	}
	return true;
}

/* The same as for all memory of this thread? A kernel without NUMA knows no policies. */
static bool
is_policy_plain(uintptr_t at)
{
	int here = 0, mine = 0;

	return syscall(SYS_get_mempolicy, &mine, NULL, 0, NULL, 0) != 0 ||
	       syscall(SYS_get_mempolicy, &here, NULL, 0, at, OF_ADDRESS) != 0 || here == mine;
}

static bool
is_worth(const struct reading *r, uint64_t kib, uint64_t free)
{
	return kib <= free || kib / COUNT_FACTOR <= (r->end - r->at) >> 10;
}

/* What the mappings of the range hold beside it, as if all of it had pages. */
static uint64_t
kib_beside(const struct reading *r)
{
	uintptr_t from = r->at;
	struct nd_mappings all;
	struct nd_mapping m;
	uint64_t kib = 0;

	if (!nd_mappings_open(&all, false))
		return 0;
	while (from < r->end && nd_mapping_at(&all, from, &m)) {
		kib += (m.from < r->at ? r->at - m.from : 0) >> 10;
		kib += (m.to > r->end ? m.to - r->end : 0) >> 10;
		from = m.to;
	}
	nd_mappings_close(&all);
	return kib;
}

static void
advice_found(struct reading *r, enum nd_advice what)
{
	if (r->found == ND_ADVICE_NONE)
		r->found = what;
}

/* True: all that was asked for is told. */
static bool
reading_take(struct reading *r, const char *line)
{
	bool inside = r->from < r->end && r->to > r->at;
	unsigned long from, to;

	if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
		r->from = from;
		r->to = to;
	} else if (strncmp(line, "Rss:", 4) == 0 && !inside) {
		r->kib_in_vain += strtoull(line + 4, NULL, 10);
		if (!is_worth(r, r->kib_in_vain, VAIN_KIB))
			advice_found(r, ND_ADVICE_TOO_DEAR);
	} else if (strncmp(line, "ProtectionKey:", 14) == 0 && inside) {
		if (strtoull(line + 14, NULL, 10) != 0)
			advice_found(r, ND_ADVICE_SOME);
	} else if (strncmp(line, "VmFlags:", 8) == 0) {
		if (inside && !(are_plain_flags(line + 8) && is_policy_plain(r->from)))
			advice_found(r, ND_ADVICE_SOME);
		return r->to >= r->end || r->found != ND_ADVICE_NONE;
	}
	return false;
}

static enum nd_advice
read_advice(struct reading *r)
{
	FILE *lines = fopen("/proc/self/smaps", "re");
	bool told = false;
	char *line = NULL;
	size_t room = 0;

	if (lines == NULL)
		return ND_ADVICE_SOME;
	while (!told && getline(&line, &room, lines) > 0)
		told = reading_take(r, line);
	free(line);
	fclose(lines);
	return told ? r->found : ND_ADVICE_SOME;
}

enum nd_advice
nd_advice_of(const void *at, size_t bytes)
{
	struct reading r = {.at = (uintptr_t)at, .end = (uintptr_t)at + bytes};

	if (!is_worth(&r, kib_beside(&r), BESIDE_KIB))
		return ND_ADVICE_TOO_DEAR;
	return read_advice(&r);
}
