/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of an lcore's turn. */
#ifndef NDD_TURN_H
#define NDD_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "lcore/cycles.h"
#include "lcore/shard.h"
#include "platform/clock.h"

struct roce_pkt;
struct rte_mbuf;

/* Bounds of one turn, which is to take NDD_CYCLES_TURN_US at most. What frames cost is a matter of
 * their size, so bursts have a bound of time beside that of number: each source, and TX, has one
 * burst in a turn, and more of them only so early in it. A frame of 4 KiB takes 0.5 to 1 us to be
 * received, to be built or to be given to a port, and up to 3 us where other programs have the
 * caches: large ones are received and built by few between two looks at the clock. */
#define NDD_RX_FRAMES	      128u   /* from one source */
#define NDD_TX_FRAMES	      128u   /* to the ports */
#define NDD_TX_BURST	      16u    /* small ones, at least, to a port at once */
#define NDD_TX_BYTES	      65536u /* ... or so many bytes of large ones: a run of segments */
#define NDD_LARGE_FRAMES      8u     /* a burst of large ones */
#define NDD_LARGE_BYTES	      1024u  /* more of it is a large frame, or a burst with some */
#define NDD_SMALL_FRAMES      256u   /* after so many small ones a burst is NDD_BURST */
#define NDD_DOORBELL_SESSIONS 64u    /* awake sessions polled */
#define NDD_DOORBELLS	      512u   /* doorbells, and registrations: some 10 us */
#define NDD_DOORBELL_WORDS    4u     /* doorbell words of one session, of 64 bits */
#define NDD_DOORBELLS_SESSION 256u   /* ... unless it has had so many doorbells */
#define NDD_ADMIN	      8u     /* registrations of one session: some 100 ns each */
#define NDD_POLL_RINGS	      256u
#define NDD_TIMERS	      64u
#define NDD_EVENTS	      16u
#define NDD_WAKEUPS	      4u /* each costs the lcore about 10 us when the waiter sleeps */

#define NDD_RX_MORE_NS	  20000ull
#define NDD_TX_MORE_NS	  30000ull
#define NDD_INNER_MORE_NS 50000ull /* frames to itself; they have what TX leaves */
#define NDD_WAKE_MORE_NS                                                                           \
	60000ull /* so late in a turn one client is woken in it, and no second one */
/* A source that is never empty has been read behind what it held after so many frames of it. */
#define NDD_BEHIND_FRAMES 4096u

#define NDD_DEMOTE_NS	     1000000ull	 /* an idle session's next doorbell comes with a knock */
#define NDD_SLEEP_UNSENT_NS  100000ull	 /* frames wait that the port does not take */
#define NDD_SLEEP_MAX_NS     1000000ull	 /* ports are polled that often even when nothing happens */
#define NDD_SLEEP_WATCHED_NS 20000000ull /* each port wakes the lcore */
#define NDD_STALL_NS	     50000000ull /* a port that takes nothing so long loses its frames */
#define NDD_HOLD_NS	     100000ull /* ... so long holds up others, and then loses what is new */

/* ---- lcore.c ---- */

int ndd_lcore_main(void *shard);
/* One turn. Returns how much was done; after nothing the lcore may give its CPU to others. */
unsigned ndd_lcore_turn(struct ndd_shard *s, uint64_t now_ns);

/* Has a turn that began at now_ns lasted for less than ns? */
static inline bool
ndd_turn_is_within(uint64_t now_ns, uint64_t ns)
{
	return ndd_now_ns() < now_ns + ns;
}

/* How many frames to move before the clock is looked at. small: so many have passed since the last
 * large one (ndd_small_after()). A few between large ones say nothing of what is next. */
static inline uint16_t
ndd_burst_of(uint32_t small)
{
	return small < NDD_SMALL_FRAMES ? NDD_LARGE_FRAMES : NDD_BURST;
}

/* What small is behind a burst of n frames. */
static inline uint32_t
ndd_small_after(uint32_t small, uint32_t n, uint32_t bytes)
{
	if (bytes > RTE_MIN(n, NDD_LARGE_FRAMES) * NDD_LARGE_BYTES)
		return 0;
	return RTE_MIN(small + n, NDD_SMALL_FRAMES);
}

/* ---- rx.c, tx.c: return how many frames moved ---- */

/* advance: of the sources that may have more, the one that has come least far brought so many
 * frames; 0: every source came back with less than asked. */
unsigned ndd_lcore_rx(struct ndd_shard *s, uint64_t now_ns, unsigned *advance);
unsigned ndd_lcore_tx(struct ndd_shard *s, uint64_t now_ns);
/* Frames from this shard to itself: they need no port, and so no other turn. */
unsigned ndd_lcore_inner(struct ndd_shard *s, uint64_t now_ns);
bool ndd_lcore_frames_waiting(const struct ndd_shard *s);
/* Wake the threads that got frames: 1 << shard, and 1 << NDD_SHARDS_MAX for the control thread. */
void ndd_lcore_wake(struct ndd_shard *s, uint32_t touched);
/* Free what the shard still holds. */
void ndd_lcore_tx_drop(struct ndd_shard *s);

/* ---- multicast.c ---- */

/* A parsed frame to a group, from a port or handed over: to the members here and, from a port, to
 * the shards that have others. The frame stays the caller's. */
void ndd_lcore_multicast(struct ndd_shard *s, uint64_t now_ns, struct rte_mbuf *m,
	const struct roce_pkt *pkt, uint32_t *touched);
/* The I/O owner sends a frame to a multicast MAC address: members here get it as well (W-MC-09). */
void ndd_lcore_loop(struct ndd_shard *s, struct rte_mbuf *m);
/* Give them what was kept for them; returns how many frames. */
unsigned ndd_lcore_looped(struct ndd_shard *s, uint64_t now_ns);

/* ---- doorbell.c: doorbells, demotion, knocks ---- */

/* Returns how many rang. registered: how many registrations were served. A doorbell is no work by
 * itself: what it announces is, when it leaves. A client that rings for nothing must not keep the
 * lcore from yielding its CPU. */
unsigned ndd_lcore_doorbells(struct ndd_shard *s, uint64_t now_ns, unsigned *registered);
/* The session is polled again. */
void ndd_lcore_promote(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns);
/* Promote those whose clients have knocked. */
void ndd_lcore_knocks(struct ndd_shard *s, uint64_t now_ns);
/* No session is polled, before sleeping. False: one of them rang meanwhile. */
bool ndd_lcore_demote_all(struct ndd_shard *s, uint64_t now_ns);

/* ---- idle.c ---- */

/* After a turn that did nothing: yield or sleep, as the idle policy says. Returns which it was:
 * NDD_STAGE_idle, _yield or _sleep. */
enum ndd_stage ndd_lcore_idle(struct ndd_shard *s, uint64_t now_ns);
/* How long it is to sleep then; 0: not at all, as a timer is due. */
uint64_t ndd_lcore_sleep_ns(const struct ndd_shard *s, uint64_t now_ns);

#endif
