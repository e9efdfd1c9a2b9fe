/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If a child shared the pages of adopted memory, it could change the parent's. Of memory that was
 * adopted by default, the child has a copy of its own, made before the fork, as it would have of
 * any other: the kernel does the same with pages that a device holds. A program that asked for the
 * adoption knows that the child has a private view of the same pages, which is cheaper, and shows
 * what the parent stores later.
 */
#include "ndclient/mem/children.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "ndclient/mem/adopt.h"
#include "ndclient/mem/exchange.h"
#include "ndclient/mem/mapping.h"
#include "ndclient/mem/remap.h"

/* Of all adapters. */
static struct nd_adopted_list of_process = LIST_HEAD_INITIALIZER(of_process);
static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;

/* ---- before, in the parent ----------------------------------------------------------- */

/* NULL where there is no memory for it: then the child gets a view. By a mapping of its own, as the
 * application may have unmapped what it had. */
static char *
copy_of(const struct nd_adopted *x)
{
	void *from = mmap(NULL, x->bytes, PROT_READ, MAP_SHARED, x->fd, 0);
	void *copy =
		mmap(NULL, x->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (from != MAP_FAILED && copy != MAP_FAILED)
		memcpy(copy, from, x->bytes);
	if (from != MAP_FAILED)
		munmap(from, x->bytes);
	else if (copy != MAP_FAILED)
		munmap(copy, x->bytes);
	return from != MAP_FAILED && copy != MAP_FAILED ? copy : NULL;
}

static void
before_fork(void)
{
	struct nd_adopted *x;

	nd_exchange_lock();
	LIST_FOREACH (x, &of_process, of_process)
		if (x->by_default)
			x->copy = copy_of(x);
}

static void
copies_drop(void)
{
	struct nd_adopted *x;

	LIST_FOREACH (x, &of_process, of_process) {
		if (x->copy != NULL)
			munmap(x->copy, x->bytes);
		x->copy = NULL;
	}
}

static void
in_parent(void)
{
	copies_drop();
	nd_exchange_unlock();
}

/* ---- in the child -------------------------------------------------------------------- */

static bool
child_copy(const struct nd_adopted *x, void *at, size_t bytes, int rights, uint64_t offset)
{
	if (x->copy == NULL || !nd_remap_over(x->copy + offset, bytes, at))
		return false;
	if (rights != (PROT_READ | PROT_WRITE))
		(void)mprotect(at, bytes, rights);
	return true;
}

/* Where this fails, the child has no memory there, rather than the parent's. */
static void
child_memory(const struct nd_adopted *x, void *at, size_t bytes, int rights, uint64_t offset)
{
	if (!child_copy(x, at, bytes, rights, offset) &&
		mmap(at, bytes, rights, MAP_PRIVATE | MAP_FIXED, x->fd, (off_t)offset) ==
			MAP_FAILED)
		munmap(at, bytes);
}

static void
child_part(const struct nd_adopted *x)
{
	struct nd_mappings all;
	struct nd_mapping m;

	if (!nd_mappings_open(&all, true)) { /* no descriptor is left */
		child_memory(x, x->at, x->bytes, PROT_READ | PROT_WRITE, 0);
		return;
	}
	for (uintptr_t from = 0; nd_mapping_find(&all, from, x->fd, &m); from = m.to)
		child_memory(x, (void *)m.from, m.to - m.from, m.rights, m.offset);
	nd_mappings_close(&all);
}

/* No other thread runs in the child yet. Parts of a copy that found no place stay. */
static void
in_child(void)
{
	struct nd_adopted *x;

	LIST_FOREACH (x, &of_process, of_process)
		child_part(x);
	LIST_INIT(&of_process);
	nd_exchange_unlock();
}

/* ---- the list ------------------------------------------------------------------------ */

static void
forks_watch(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child);
}

void
nd_children_begin(void)
{
	pthread_once(&forks_watched, forks_watch);
}

void
nd_children_watch(struct nd_adopted *x)
{
	LIST_INSERT_HEAD(&of_process, x, of_process);
}

void
nd_children_forget(struct nd_adopted *x)
{
	LIST_REMOVE(x, of_process);
}
