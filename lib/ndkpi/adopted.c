/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "ndkpi/adopted.h"
#include "ndkpi/ndkpi.h"

struct run {
	uintptr_t from, to; /* the adopted range, which may be larger than the region in it */
	struct nd_mr *mr;
};

struct ndk_hold {
	LIST_ENTRY(ndk_hold) next;
	uint32_t count, room;
	struct run *runs;
};

void
ndk_adopted_init(struct ndk_adopted *all)
{
	pthread_mutex_init(&all->lock, NULL);
	LIST_INIT(&all->holds);
	all->pd = NULL;
}

static void
hold_free(struct ndk_hold *hold)
{
	free(hold->runs);
	free(hold);
}

void
ndk_adopted_fini(struct ndk_adopted *all)
{
	struct ndk_hold *hold;

	while ((hold = LIST_FIRST(&all->holds)) != NULL) {
		LIST_REMOVE(hold, next);
		hold_free(hold);
	}
	pthread_mutex_destroy(&all->lock);
}

/* ---- runs; the lock is held ------------------------------------------------------------- */

/* What is adopted at that address; else, in *next, where the next such begins, if below it. */
static const struct run *
run_at(const struct ndk_adopted *all, uintptr_t at, uintptr_t *next)
{
	const struct ndk_hold *hold;

	LIST_FOREACH (hold, &all->holds, next) {
		for (uint32_t i = 0; i < hold->count; i++) {
			const struct run *r = &hold->runs[i];

			if (at >= r->from && at < r->to)
				return r;
			if (r->from > at && r->from < *next)
				*next = r->from;
		}
	}
	return NULL;
}

static struct run *
run_add(struct ndk_hold *hold)
{
	struct run *runs;

	if (hold->count == hold->room) {
		runs = reallocarray(hold->runs, 2 * hold->room + 1, sizeof(*runs));
		if (runs == NULL)
			return NULL;
		hold->runs = runs;
		hold->room = 2 * hold->room + 1;
	}
	return &hold->runs[hold->count];
}

static nd_status
region_open(struct nd_pd *pd, uintptr_t from, uintptr_t to, struct nd_mr **out)
{
	nd_status st = nd_mr_create(pd, out);

	if (st != ND_SUCCESS)
		return st;
	st = nd_mr_register(*out, (void *)from, to - from,
		ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_IN_PLACE, NULL);
	if (st != ND_SUCCESS)
		(void)nd_mr_close(*out);
	return st;
}

/* The run that begins at from, and ends at *to or before. */
static nd_status
run_open(struct ndk_adopted *all, struct ndk_hold *hold, uintptr_t from, uintptr_t *to)
{
	const struct run *around = run_at(all, from, to);
	struct run *r = run_add(hold);
	nd_status st;

	if (r == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	*r = (struct run){.from = from, .to = *to};
	if (around != NULL) {
		r->from = around->from;
		r->to = around->to;
		if (*to > around->to)
			*to = around->to;
	}
	st = region_open(all->pd, from, *to, &r->mr);
	hold->count += st == ND_SUCCESS;
	return st;
}

/* ---- holds ------------------------------------------------------------------------------ */

static void
hold_close(struct ndk_hold *hold)
{
	for (uint32_t i = 0; i < hold->count; i++)
		(void)nd_mr_close(hold->runs[i].mr);
	hold_free(hold);
}

static nd_status
hold_open(struct ndk_adopted *all, struct ndk_hold *hold, uintptr_t at, size_t bytes)
{
	const uintptr_t end = at + bytes, first = at & -(uintptr_t)PAGE_SIZE,
			last = end & -(uintptr_t)PAGE_SIZE;
	nd_status st = ND_SUCCESS;

	for (uintptr_t from = first; from < end && st == ND_SUCCESS;) {
		/* A page of which a part is a neighbour's is a run of its own. */
		uintptr_t to = from < at || from == last ? from + PAGE_SIZE : last;

		st = run_open(all, hold, from, &to);
		from = to;
	}
	return st;
}

/* What NdkBuildLAM says. */
static nd_status
hold_status(nd_status st)
{
	switch (st) {
	case ND_SUCCESS:
	case ND_INSUFFICIENT_RESOURCES:
	case ND_DEVICE_REMOVED:
		return st;
	case ND_NO_MEMORY:
		return ND_INSUFFICIENT_RESOURCES;
	default:
		return ND_NOT_SUPPORTED;
	}
}

nd_status
ndk_adopted_hold(struct ndk_adopted *all, struct nd_adapter *a, uintptr_t at, size_t bytes,
	struct ndk_hold **out)
{
	struct ndk_hold *hold = calloc(1, sizeof(*hold));
	nd_status st = ND_SUCCESS;

	if (hold == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	pthread_mutex_lock(&all->lock);
	if (all->pd == NULL)
		st = nd_pd_create(a, &all->pd);
	if (st == ND_SUCCESS)
		st = hold_open(all, hold, at, bytes);
	if (st == ND_SUCCESS) {
		LIST_INSERT_HEAD(&all->holds, hold, next);
		*out = hold;
	} else {
		hold_close(hold);
	}
	pthread_mutex_unlock(&all->lock);
	return hold_status(st);
}

void
ndk_adopted_drop(struct ndk_adopted *all, struct ndk_hold *hold)
{
	pthread_mutex_lock(&all->lock);
	LIST_REMOVE(hold, next);
	hold_close(hold);
	pthread_mutex_unlock(&all->lock);
}
