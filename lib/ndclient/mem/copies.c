/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request from moved memory whose bytes are too many for the descriptor: copied at the post into
 * room in the arena, it names that room by the domain's privileged token, and the mover has nothing
 * to do with it.
 *
 * The room is a ring of bytes. Requests of a queue pair end in the order in which they were posted,
 * so what they hold is given back in that order, too, and a list of {request, end of its bytes} is
 * all the bookkeeping; the thread that posts looks at its beginning. Requests that copy nothing are
 * not in it.
 *
 * The application may have unmapped the memory, and then the result of the request has to tell
 * (R-MR-14). So the kernel is asked whether each page is there before it is read: by a call that
 * reads a signal set, and then refuses because it is told to do nothing known with it. It takes an
 * eighth of the time of a copy by the kernel (copier.c). A page that another thread unmaps between
 * that and the copy, in which nothing but nanoseconds pass, ends the process: not closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ndclient/mem/copies.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/segment.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

#define GRAIN	 64u
#define EACH	 4096u	      /* bytes of room for each request that may be under way, */
#define ROOM_MIN 65536u	      /* but no fewer in all, */
#define ROOM_MAX (512u << 10) /* and no more: powers of two */
#define ALL_MAX	 (64u << 20)  /* of all queue pairs of an adapter */
#define HELD_MAX 1024u
#define SIGSET	 8u   /* bytes of the kernel's signal set */
#define NO_HOW	 (-1) /* neither to block nor to unblock */

struct nd_copies {
	uint8_t *room;
	uint32_t bytes; /* of the room, a power of two */
	uint32_t token;
	uint32_t next,
		freed; /* bytes that were ever taken, or passed over at the end; given back */
	uint32_t first, last; /* of held */
	uint32_t most;	      /* entries of held, a power of two */
	struct {
		uint32_t request, end;
	} held[];
};

/* ---- for posts ----------------------------------------------------------------------- */

static void
copies_give_back(struct nd_copies *c, const struct nd_qp *qp)
{
	uint32_t mask = c->most - 1;

	while (c->first != c->last && nd_qp_is_done(qp, c->held[c->first & mask].request))
		c->freed = c->held[c->first++ & mask].end;
	if (c->first == c->last) /* the same cache lines again */
		c->next = c->freed = 0;
}

/* Where bytes may go, all of them in one piece; NULL: not now. */
static uint8_t *
copies_place(struct nd_copies *c, uint32_t bytes)
{
	uint32_t at = c->next & (c->bytes - 1), skip = at + bytes > c->bytes ? c->bytes - at : 0;

	bytes = (bytes + GRAIN - 1) & -GRAIN;
	if (c->next + skip + bytes - c->freed > c->bytes || c->last - c->first == c->most)
		return NULL;
	c->next += skip + bytes;
	return c->room + ((at + skip) & (c->bytes - 1));
}

/* One load of the kernel's for each page; none of them crosses to the next. */
static bool
is_readable(uintptr_t from, uint32_t bytes)
{
	for (uintptr_t at = from; at < from + bytes; at = (at | (NDSH_PAGE_BYTES - 1)) + 1)
		if (syscall(SYS_rt_sigprocmask, NO_HOW, at & -(uintptr_t)SIGSET, NULL, SIGSET) !=
				0 &&
			errno == EFAULT)
			return false;
	return true;
}

bool
nd_copies_readable(const struct nd_sge *sge, uint32_t n)
{
	const int before = errno; /* the look fails in any case */
	bool readable = true;

	for (uint32_t i = 0; i < n && readable; i++)
		readable = is_readable((uintptr_t)sge[i].buffer, sge[i].bytes);
	errno = before;
	return readable;
}

static void
copies_gather(uint8_t *to, const struct nd_sge *sge, uint32_t n)
{
	for (uint32_t i = 0; i < n; to += sge[i++].bytes)
		if (sge[i].bytes != 0)
			memcpy(to, sge[i].buffer, sge[i].bytes);
}

bool
nd_copies_take(
	struct nd_qp *qp, const struct nd_sge *sge, uint32_t n, uint32_t bytes, struct nd_sge *copy)
{
	struct nd_copies *c = __atomic_load_n(&qp->copies, __ATOMIC_ACQUIRE);
	uint32_t before, at;
	uint8_t *to;

	if (c == NULL)
		return false;
	copies_give_back(c, qp);
	before = c->next;
	to = copies_place(c, bytes);
	if (to == NULL || !nd_copies_readable(sge, n)) {
		c->next = before;
		return false;
	}
	copies_gather(to, sge, n);
	at = c->last++ & (c->most - 1);
	c->held[at].request = qp->sq.next;
	c->held[at].end = c->next;
	*copy = (struct nd_sge){to, bytes, c->token};
	return true;
}

void
nd_copies_drop(struct nd_qp *qp, uint32_t request)
{
	struct nd_copies *c = __atomic_load_n(&qp->copies, __ATOMIC_ACQUIRE);
	uint32_t mask = c != NULL ? c->most - 1 : 0;

	if (c == NULL)
		return;
	while (c->first != c->last &&
		(int32_t)(c->held[(c->last - 1) & mask].request - request) >= 0)
		c->last--;
	if (c->first != c->last) /* else the next copy begins anew */
		c->next = c->held[(c->last - 1) & mask].end;
}

/* ---- of queue pairs ------------------------------------------------------------------ */

static uint32_t
room_bytes(uint32_t depth)
{
	uint32_t bytes = depth < ROOM_MAX / EACH ? depth * EACH : ROOM_MAX;

	return bytes > ROOM_MIN ? bytes : ROOM_MIN;
}

void
nd_copies_free(struct nd_adapter *a, struct nd_copies *c, bool returned)
{
	if (c == NULL)
		return;
	__atomic_fetch_sub(&a->copies_bytes, c->bytes, __ATOMIC_RELAXED);
	if (returned)
		nd_free(a, c->room);
	free(c);
}

/* For a queue of that many requests. */
static struct nd_copies *
copies_new(struct nd_adapter *a, uint32_t depth, uint32_t token)
{
	uint32_t most = depth < HELD_MAX ? depth : HELD_MAX, segment;
	struct nd_copies *c = calloc(1, sizeof(*c) + most * sizeof(c->held[0]));
	uint64_t offset;

	if (c == NULL)
		return NULL;
	c->token = token;
	c->most = most;
	c->bytes = room_bytes(depth);
	if (__atomic_add_fetch(&a->copies_bytes, c->bytes, __ATOMIC_RELAXED) <= ALL_MAX)
		c->room = nd_block_alloc(a, c->bytes, &segment, &offset);
	if (c->room != NULL)
		return c;
	nd_copies_free(a, c, false);
	return NULL;
}

/* The depth of one of the domain that has no room yet, or 0. That one, if c is for such a depth,
 * gets c. */
static uint32_t
copies_hand_out(struct nd_pd *pd, struct nd_copies **c, uint32_t depth)
{
	uint32_t found = 0;
	struct nd_qp *qp;

	pthread_mutex_lock(&pd->adapter->lock);
	LIST_FOREACH (qp, &pd->qps, of_pd)
		if (!qp->obj.closed && qp->copies == NULL)
			break;
	if (qp != NULL) {
		found = qp->sq.depth;
		if (*c != NULL && found == depth) {
			__atomic_store_n(&qp->copies, *c, __ATOMIC_RELEASE);
			*c = NULL;
		}
	}
	pthread_mutex_unlock(&pd->adapter->lock);
	return found;
}

/* The arena has a lock, and may have to ask the daemon, so the room is made before it is known
 * whose it is. */
static void
copies_serve(struct nd_pd *pd, uint32_t token)
{
	struct nd_copies *c = NULL;
	uint32_t depth;

	while ((depth = copies_hand_out(pd, &c, 0)) != 0) {
		c = copies_new(pd->adapter, depth, token);
		if (c == NULL)
			return;
		(void)copies_hand_out(pd, &c, depth);
		nd_copies_free(pd->adapter, c, true); /* another thread was faster */
		c = NULL;
	}
}

void
nd_copies_need(struct nd_pd *pd)
{
	uint32_t token = __atomic_load_n(&pd->copy_token, __ATOMIC_ACQUIRE);

	if (token != 0)
		return;
	if (nd_pd_privileged_token(pd, &token) != ND_SUCCESS)
		return;
	__atomic_store_n(&pd->copy_token, token, __ATOMIC_RELEASE);
	copies_serve(pd, token);
}

void
nd_copies_offer(struct nd_qp *qp)
{
	uint32_t token = __atomic_load_n(&qp->pd->copy_token, __ATOMIC_ACQUIRE);

	if (token != 0)
		copies_serve(qp->pd, token);
}
