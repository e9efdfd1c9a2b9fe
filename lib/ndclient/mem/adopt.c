/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adopted memory: pages of a segment under the addresses of the application's own memory, as long
 * as regions with ND_MR_FLAG_ADOPT are there. The segment is made, mapped elsewhere and made live
 * under its addresses to be before anything happens to the memory: then nothing that may be refused
 * is left, and the exchange is the last step (exchange.c).
 *
 * When the last region is gone, private pages take the place again, before the deregistration
 * completes. So what the application frees is what it got from its allocator, which may count on
 * such pages being zero after MADV_DONTNEED.
 *
 * The application may unmap such memory, map something else there, or move it, while a region has
 * it. So an address tells nothing: what is mapped from the segment's file is the segment's, and
 * nothing else, wherever it is (mapping.c). That is asked before a region is made in memory that is
 * adopted, before pages are private again, and in children.
 *
 * The segment itself is returned later (nd_adopt_reap()): the thread that finds
 * the answer may be the control thread, which cannot call the daemon.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/mem/adopt.h"
#include "ndclient/mem/by_default.h"
#include "ndclient/mem/children.h"
#include "ndclient/mem/exchange.h"
#include "ndclient/mem/mapping.h"
#include "ndclient/mem/pins.h"
#include "ndclient/mem/safe.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* ---- there --------------------------------------------------------------------------- */

struct exchange {
	int fd;
	bool of_kernel; /* as nd_exchange_open() tells */
	bool others;	/* threads of the application's */
};

/* x has a segment, mapped at copy, that the daemon knows by the addresses of x. */
static enum nd_exchange_result
exchange_pages(struct nd_adopted *x, const struct exchange *e, void *copy)
{
	enum nd_exchange_result result;

	nd_children_begin();
	nd_exchange_lock();
	result = nd_exchange_if(
		e->fd, x->at, x->bytes, copy, x->by_default ? nd_pins_possible : NULL, e->others);
	if (result == ND_EXCHANGED)
		nd_children_watch(x);
	nd_exchange_unlock();
	return result;
}

static enum nd_adopt_reason
move_in(struct nd_adapter *a, struct nd_adopted *x, const struct exchange *e)
{
	enum nd_exchange_result result;
	uint8_t *copy;

	/* A store to a page that is not there would not be noticed. */
	if (madvise(x->at, x->bytes, MADV_POPULATE_WRITE) != 0 ||
		!nd_segment_create(a, x->bytes, x->at, &x->segment, &copy, &x->fd)) {
		close(e->fd);
		return ND_ADOPT_RESOURCES;
	}
	result = exchange_pages(x, e, copy);
	if (result == ND_EXCHANGED)
		return ND_ADOPT_REASONS;
	munmap(copy, x->bytes);
	close(x->fd);
	(void)nd_control_id(a, NDSH_MSG_SEGMENT_DESTROY, x->segment);
	return result == ND_EXCHANGE_BARRED ? ND_ADOPT_PINS : ND_ADOPT_SYSTEM;
}

/* The daemon knows a segment by these addresses, though something else may be mapped there. */
static bool
adopted_overlaps(struct nd_adoptions *all, const struct nd_adopted *x)
{
	const struct nd_adopted *y;

	pthread_mutex_lock(&all->lock);
	LIST_FOREACH (y, &all->live, of_adapter)
		if (x->at < y->at + y->bytes && y->at < x->at + x->bytes)
			break;
	pthread_mutex_unlock(&all->lock);
	return y != NULL;
}

/* ND_ADOPT_REASONS: it is adopted. */
static enum nd_adopt_reason
adopt_range(struct nd_adapter *a, struct nd_adopted *x)
{
	enum nd_adopt_reason reason = ND_ADOPT_REASONS;
	struct exchange e = {.fd = -1};

	if (a->abi_minor < NDSH_MINOR_ADOPTION)
		return ND_ADOPT_OLD_DAEMON;
	if (x->by_default)
		reason = nd_default_at_hand(&a->adoptions, x->bytes);
	if (reason != ND_ADOPT_REASONS)
		return reason;
	if (nd_exchange_is_own(x->at, x->bytes))
		return ND_ADOPT_STACK;
	if (!nd_mapping_is_plain(x->at, x->bytes) || adopted_overlaps(&a->adoptions, x))
		return ND_ADOPT_KIND;
	e.fd = nd_exchange_open(&e.of_kernel);
	if (e.fd < 0)
		return ND_ADOPT_SYSTEM;
	if (x->by_default)
		reason = nd_default_look(a, x->at, x->bytes, e.of_kernel, &e.others);
	if (reason != ND_ADOPT_REASONS) {
		close(e.fd);
		return reason;
	}
	reason = move_in(a, x, &e);
	if (x->by_default && reason == ND_ADOPT_RESOURCES)
		nd_default_refused(&a->adoptions, reason, SIZE_MAX);
	return reason;
}

/* With one more user; NULL: none holds it as a whole, or what is mapped there now is not its. */
static struct nd_adopted *
find_adopted(struct nd_adoptions *all, const char *at, size_t bytes)
{
	struct nd_adopted *x;

	pthread_mutex_lock(&all->lock);
	LIST_FOREACH (x, &all->live, of_adapter)
		if (at >= x->at && bytes <= x->bytes && (size_t)(at - x->at) <= x->bytes - bytes &&
			nd_mapping_is_of(at, bytes, x->at, x->fd))
			break;
	if (x != NULL)
		x->users++;
	pthread_mutex_unlock(&all->lock);
	return x;
}

/* ND_ADOPT_REASONS: it is made. */
static enum nd_adopt_reason
adopted_make(struct nd_adapter *a, char *at, size_t bytes, bool by_default, struct nd_adopted **out)
{
	struct nd_adoptions *all = &a->adoptions;
	struct nd_adopted *x = calloc(1, sizeof(*x));
	enum nd_adopt_reason reason = ND_ADOPT_RESOURCES;

	if (x != NULL) {
		*x = (struct nd_adopted){.at = at,
			.bytes = bytes,
			.users = 1,
			.by_default = by_default,
			.since_ms = nd_default_clock()};
		reason = adopt_range(a, x);
	}
	pthread_mutex_lock(&all->lock);
	if (reason == ND_ADOPT_REASONS) {
		LIST_INSERT_HEAD(&all->live, x, of_adapter);
		all->count.ranges++;
		all->count.bytes += bytes;
		all->count.adopted++;
		if (by_default)
			nd_default_begun(all, x);
	} else {
		all->count.not_adopted[reason]++;
		free(x);
		x = NULL;
	}
	pthread_mutex_unlock(&all->lock);
	*out = x;
	return reason;
}

static enum nd_adopt_reason
adoption_refused(struct nd_adoptions *all, enum nd_adopt_reason reason)
{
	pthread_mutex_lock(&all->lock);
	all->count.not_adopted[reason]++;
	pthread_mutex_unlock(&all->lock);
	return reason;
}

/* What begins with a page, and has one, was laid out for transfers. Other small things have
 * neighbours, and are many. */
static bool
is_too_small(size_t bytes, uintptr_t skip, uintptr_t page)
{
	return bytes < ND_ADOPT_BYTES_MIN && (skip != 0 || bytes < page);
}

enum nd_adopt_reason
nd_adopt(struct nd_adapter *a, void *buf, size_t bytes, uint32_t flags, struct nd_adopted **out)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), skip = (uintptr_t)buf % page;
	bool small = is_too_small(bytes, skip, page);
	enum nd_adopt_wish wish = nd_default_wish(flags);
	enum nd_adopt_reason reason = ND_ADOPT_REASONS;
	char *at = (char *)buf - skip;

	*out = NULL;
	if (wish == ND_WISH_NOT)
		return adoption_refused(&a->adoptions, ND_ADOPT_OFF);
	bytes = (bytes + skip + page - 1) & -page;
	pthread_mutex_lock(&a->adoptions.make_lock);
	*out = find_adopted(&a->adoptions, at, bytes);
	if (*out == NULL && small) {
		reason = adoption_refused(&a->adoptions, ND_ADOPT_TOO_SMALL);
	} else if (*out == NULL) {
		nd_adopt_reap(a);
		reason = adopted_make(a, at, bytes, wish == ND_WISH_DEFAULT, out);
	}
	pthread_mutex_unlock(&a->adoptions.make_lock);
	return reason;
}

void
nd_adopt_hold(struct nd_adapter *a, struct nd_adopted *x)
{
	pthread_mutex_lock(&a->adoptions.lock);
	x->users++;
	pthread_mutex_unlock(&a->adoptions.lock);
}

/* ---- and back ------------------------------------------------------------------------ */

/* What may pin pages now is seen now: memory that was adopted by default is not taken from under
 * it. */
static int
return_open(const struct nd_adopted *x, bool *others)
{
	bool of_kernel;
	int fd = nd_exchange_open(&of_kernel);

	if (fd >= 0 && x->by_default && !nd_safe_to_return(of_kernel, others)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Private pages in the place of those of one mapping, with its rights. */
static bool
part_move_out(const struct nd_adopted *x, const struct nd_mapping *m)
{
	void *at = (void *)m->from, *copy;
	size_t bytes = m->to - m->from;
	bool others = false;
	int fd = !(m->rights & PROT_READ) || nd_exchange_is_own(at, bytes)
			 ? -1
			 : return_open(x, &others);

	if (fd < 0)
		return false;
	copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		-1, 0);
	if (copy == MAP_FAILED) {
		close(fd);
		return false;
	}
	if (nd_exchange_if(fd, at, bytes, copy, x->by_default ? nd_pins_possible : NULL, others) !=
		ND_EXCHANGED) {
		munmap(copy, bytes);
		return false;
	}
	if (m->rights != (PROT_READ | PROT_WRITE))
		(void)mprotect(at, bytes, m->rights);
	return true;
}

/* Of all that the application still has of the segment, wherever it is. False: pages remain the
 * segment's, which lives as long as they are mapped. */
static bool
move_out(const struct nd_adopted *x)
{
	struct nd_mappings all;
	struct nd_mapping m;
	bool good = true;

	if (!nd_mappings_open(&all, true))
		return false;
	for (uintptr_t from = 0; nd_mapping_find(&all, from, x->fd, &m); from = m.to)
		good = part_move_out(x, &m) && good;
	nd_mappings_close(&all);
	return good;
}

void
nd_adopt_put(struct nd_adapter *a, struct nd_adopted *x)
{
	struct nd_adoptions *all = &a->adoptions;
	bool last;

	if (x == NULL)
		return;
	pthread_mutex_lock(&all->lock);
	last = --x->users == 0;
	if (last)
		LIST_REMOVE(x, of_adapter);
	pthread_mutex_unlock(&all->lock);
	if (!last)
		return;
	nd_exchange_lock();
	x->kept = !move_out(x);
	if (!x->kept) {
		nd_children_forget(x);
		close(x->fd);
	}
	nd_exchange_unlock();
	pthread_mutex_lock(&all->lock);
	LIST_INSERT_HEAD(&all->ended, x, of_adapter);
	all->count.ranges--;
	all->count.bytes -= x->bytes;
	all->count.kept += x->kept;
	if (x->by_default)
		nd_default_ended(all, x);
	pthread_mutex_unlock(&all->lock);
}

static void
adopted_free(struct nd_adopted *x)
{
	if (!x->kept)
		free(x);
}

void
nd_adopt_reap(struct nd_adapter *a)
{
	struct nd_adoptions *all = &a->adoptions;
	struct nd_adopted *x;

	pthread_mutex_lock(&all->lock);
	while ((x = LIST_FIRST(&all->ended)) != NULL) {
		LIST_REMOVE(x, of_adapter);
		pthread_mutex_unlock(&all->lock);
		(void)nd_control_id(a, NDSH_MSG_SEGMENT_DESTROY, x->segment);
		adopted_free(x);
		pthread_mutex_lock(&all->lock);
	}
	pthread_mutex_unlock(&all->lock);
}

/* ---- of the adapter ------------------------------------------------------------------ */

nd_status
nd_adoption(struct nd_adapter *a, struct nd_adoption *out)
{
	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	pthread_mutex_lock(&a->adoptions.lock);
	*out = a->adoptions.count;
	pthread_mutex_unlock(&a->adoptions.lock);
	return ND_SUCCESS;
}

void
nd_adopt_init(struct nd_adapter *a)
{
	struct nd_adoptions *all = &a->adoptions;

	pthread_mutex_init(&all->make_lock, NULL);
	pthread_mutex_init(&all->lock, NULL);
	LIST_INIT(&all->live);
	LIST_INIT(&all->ended);
}

/* Called when the regions and the session are gone. */
void
nd_adopt_fini(struct nd_adapter *a)
{
	struct nd_adopted *x;

	while ((x = LIST_FIRST(&a->adoptions.ended)) != NULL) {
		LIST_REMOVE(x, of_adapter);
		adopted_free(x);
	}
	pthread_mutex_destroy(&a->adoptions.make_lock);
	pthread_mutex_destroy(&a->adoptions.lock);
}
