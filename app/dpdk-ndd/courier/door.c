/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/door.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "courier/courier.h"
#include "lcore/wakeup.h"

enum { READY = 1, OPEN = 2, FREE = 4 }; /* errands */

struct ndd_door {
	struct ndd_errand errand; /* first */
	struct ndd_courier_file file;
	uint32_t place;
	struct ndd_knocks *knocks;
};

/* ---- the courier --------------------------------------------------------------------------- */

/* The bit first: an lcore that sees that there are some sees it. */
static void
door_knock(const struct ndd_door *d)
{
	const uint32_t place = __atomic_load_n(&d->place, __ATOMIC_ACQUIRE);
	struct ndd_knocks *k = d->knocks;

	if (place == NDD_PLACE_NONE)
		return;
	__atomic_fetch_or(&k->place[place / 64], UINT64_C(1) << place % 64, __ATOMIC_RELEASE);
	__atomic_store_n(&k->some, 1, __ATOMIC_RELEASE);
	ndd_wakeup_notify(k->lcore);
}

static void
door_run(struct ndd_errand *e, uint32_t asked)
{
	struct ndd_door *d = (struct ndd_door *)e;

	/* Without memory for it now there may be some later. */
	if ((asked & OPEN) != 0 && (asked & FREE) == 0 && !ndd_courier_watch(&d->file, EPOLLIN))
		ndd_errand_ask_later(e, OPEN);
	if ((asked & READY) != 0)
		door_knock(d);
	if ((asked & FREE) == 0)
		return;
	ndd_courier_unwatch(&d->file);
	close(d->file.fd);
	ndd_errand_done(e);
}

/* ---- others -------------------------------------------------------------------------------- */

struct ndd_door *
ndd_door_new(struct ndd_courier *c, struct ndd_knocks *knocks)
{
	struct ndd_door *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->file = (struct ndd_courier_file){
		.errand = &d->errand, .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .bit = READY};
	if (d->file.fd < 0) {
		free(d);
		return NULL;
	}
	d->errand = (struct ndd_errand){.courier = c, .run = door_run};
	d->place = NDD_PLACE_NONE;
	d->knocks = knocks;
	ndd_errand_ask(&d->errand, OPEN);
	return d;
}

int
ndd_door_fd(const struct ndd_door *d)
{
	return d->file.fd;
}

void
ndd_door_lead_to(struct ndd_door *d, uint32_t place)
{
	__atomic_store_n(&d->place, place, __ATOMIC_RELEASE);
}

void
ndd_door_free(struct ndd_door *d, void (*closed)(void *owner), void *owner)
{
	ndd_errand_ask_last(&d->errand, FREE, closed, owner);
}

void
ndd_knocks_take(struct ndd_knocks *k, void (*knocked)(void *arg, uint32_t place), void *arg)
{
	if (!ndd_knocks_some(k))
		return;
	(void)__atomic_exchange_n(&k->some, 0, __ATOMIC_ACQ_REL);
	for (uint32_t i = 0; i < NDD_PLACES / 64; i++) {
		uint64_t bits = __atomic_load_n(&k->place[i], __ATOMIC_RELAXED);

		if (bits != 0)
			bits = __atomic_exchange_n(&k->place[i], 0, __ATOMIC_ACQ_REL);
		for (; bits != 0; bits &= bits - 1)
			knocked(arg, i * 64 + (uint32_t)__builtin_ctzll(bits));
	}
}
