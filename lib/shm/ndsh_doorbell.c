/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbells: how the client makes the daemon poll a send ring.
 *
 * Two handshakes, each Dekker's: one side stores A then loads B, the other stores
 * B then loads A, with a full barrier between on both sides, so at least one of
 * them sees the other.
 *
 *   ring polled:  client  push descriptor | barrier | load sq_polled
 *                 daemon  sq_polled = 0   | barrier | check the ring once more
 *   asleep:       client  set bits        | (locked) | load asleep
 *                 daemon  asleep = 1      | barrier | check summary once more
 *
 * The daemon's half of the first is the engine's (lib/roce/queue/send_ring.c): it leaves many
 * rings at once behind one barrier. The client sets the bitmap, then the summary;
 * the daemon clears the summary, then the bitmap, all by locked read-modify-writes:
 * a bit set behind the daemon's back always finds its summary bit set after it. On
 * arm64 the barrier is dmb ish, and the read-modify-writes are acquire and release
 * with a load-acquire behind them.
 */
#include "ndsh_ring.h"

static bool
doorbell_ring(struct ndsh_session_page *s, uint32_t index)
{
	uint32_t word = index / 64 % 64;

	__atomic_fetch_or(&s->bitmap[word], 1ull << (index % 64), __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&s->summary, 1ull << word, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&s->asleep, __ATOMIC_SEQ_CST) != 0;
}

bool
ndsh_doorbell_ring(struct ndsh_session_page *s, struct ndsh_qp_page *qp, uint32_t doorbell)
{
	ndsh_full_barrier(); /* between the descriptor's ctrl and sq_polled */
	if (__atomic_load_n(&qp->sq_polled, __ATOMIC_SEQ_CST))
		return false;
	return doorbell_ring(s, doorbell);
}

/* Setting the bit is a release: the daemon that sees the bit sees the request, too. */
bool
ndsh_doorbell_ring_admin(struct ndsh_session_page *s)
{
	return doorbell_ring(s, NDSH_ADMIN_DOORBELL);
}

uint64_t
ndsh_doorbell_begin(struct ndsh_session_page *s)
{
	/* A plain load first: the cache line stays shared while no client rings. */
	if (__atomic_load_n(&s->summary, __ATOMIC_RELAXED) == 0)
		return 0;
	return __atomic_exchange_n(&s->summary, 0, __ATOMIC_SEQ_CST);
}

bool
ndsh_doorbell_take(struct ndsh_session_page *s, uint64_t *summary, uint32_t *word, uint64_t *bits)
{
	while (*summary != 0) {
		*word = (uint32_t)__builtin_ctzll(*summary);
		*summary &= *summary - 1;
		*bits = __atomic_exchange_n(&s->bitmap[*word], 0, __ATOMIC_SEQ_CST);
		if (*bits != 0)
			return true;
	}
	return false;
}

bool
ndsh_doorbell_sleep(struct ndsh_session_page *s)
{
	__atomic_store_n(&s->asleep, 1, __ATOMIC_RELAXED);
	ndsh_full_barrier();
	if (__atomic_load_n(&s->summary, __ATOMIC_SEQ_CST) == 0)
		return true;
	ndsh_doorbell_awake(s);
	return false;
}

void
ndsh_doorbell_awake(struct ndsh_session_page *s)
{
	__atomic_store_n(&s->asleep, 0, __ATOMIC_RELAXED);
}
