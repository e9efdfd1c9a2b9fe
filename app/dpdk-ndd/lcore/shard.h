/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shard of the daemon: the engine's shard, the lcore that runs it, and what both need to talk to
 * ports, clients' doorbells, other shards and the control thread.
 */
#ifndef NDD_SHARD_H
#define NDD_SHARD_H

#include "lcore/wakeup.h"
#include "lcore/cycles.h"
#include "lcore/handover.h"
#include "port/port.h"
#include "roce/mem/admin.h"
#include "roce/ud/ud.h"

/* Bounds of one turn. */
#define NDD_BURST	      32u /* frames per call of a port or ring */
#define NDD_RX_ROUNDS	      4u  /* bursts from one source */
#define NDD_TX_ROUNDS	      4u  /* bursts to the ports */
#define NDD_DOORBELL_SESSIONS 64u /* awake sessions polled */
#define NDD_DOORBELL_WORDS    4u  /* doorbell words of one session: 64 queue pairs each */
#define NDD_ADMIN	      8u  /* registrations of one session: some 100 ns each */
#define NDD_POLL_RINGS	      256u
#define NDD_TIMERS	      64u
#define NDD_EVENTS	      16u
#define NDD_WAKEUPS	      4u   /* each costs the lcore about 10 us when the waiter sleeps */
#define NDD_OUT_MAX	      128u /* frames kept for a port that takes none */
#define NDD_SESSIONS_MAX      1024u

#define NDD_DEMOTE_NS	  1000000ull  /* an idle session's doorbells come by its wake fd then */
#define NDD_YIELD_NS	  1000ull     /* without work for so long: give the CPU to others */
#define NDD_SLEEP_NS	  1000000ull  /* ... for so long: sleep */
#define NDD_SLEEP_MIN_NS  100000ull   /* first sleep; doubles up to the longest */
#define NDD_SLEEP_MAX_NS  1000000ull  /* ports are polled that often even when nothing happens */
#define NDD_WAKE_CHECK_NS 50000ull    /* a busy lcore polls wake fds that often */
#define NDD_STALL_NS	  50000000ull /* a port that takes nothing for so long loses frames */

/* clang-format off */
#define NDD_IO_COUNTERS(X)                                                                         \
	X(rx_frames) X(rx_control) X(rx_truncated) X(rx_ip_header) X(rx_length) X(rx_tver)         \
	X(rx_opcode) X(rx_pkey) X(rx_linearised) X(rx_linearise_failed) X(handed_over)             \
	X(handover_full) X(control_full) X(loopback) X(tx_frames) X(tx_stalled) X(tx_link_dropped) \
	X(no_mbufs) X(doorbells) X(wakeups) X(demotions) X(promotions) X(sleeps)
/* clang-format on */
struct ndd_io_counters {
#define NDD_X(n) uint64_t n;
	NDD_IO_COUNTERS(NDD_X)
#undef NDD_X
};

/* Every thread reads it; it is constant after the start. */
struct ndd_plane {
	uint64_t secret[2];
	struct roce_qpn_key qpn_key;
	uint32_t shards, ports;
	bool cycles; /* lcores count them */
	enum config_idle idle;
	struct rte_mempool *pool;
	struct port port[CONFIG_PORTS_MAX];
	struct ndd_shard *shard[NDD_SHARDS_MAX];
	struct ndd_handover rings;
	struct ndd_wakeup *control_wakeup;
};

/* A session as its lcore sees it. Belongs to the lcore from attach to detach. */
struct ndd_shard_session {
	struct ndsh_session_page *page;
	uint64_t summary; /* doorbell words taken, not yet served */
	uint64_t rung_ns;
	int wake_fd;
	uint32_t index; /* in ndd_shard.session[] */
	bool admin_due; /* its admin ring may hold more */
	struct roce_qp *qp[NDSH_QP_PER_SESSION_MAX];
	struct roce_admin admin;
	struct roce_ah_table ahs; /* where its datagrams may go */
};

/* The daemon's part of an engine's object (roce_qp_owner(), roce_cq_owner()); constant while the
 * object lives. */
struct ndd_owner {
	uint64_t session, object; /* serials */
	uint32_t handle;
	int notify_fd; /* CQ: daemon's end of the notification pipe */
};

/* Frames that a port, or the ring towards its owner, has not taken yet. */
struct ndd_out {
	uint32_t n;
	uint64_t stuck_since_ns; /* 0: it moves */
	struct rte_mbuf *m[NDD_OUT_MAX];
};

struct ndd_call; /* call.c */

struct ndd_shard {
	/* the lcore's own */
	struct roce_shard *engine;
	struct ndd_plane *plane;
	uint32_t id;
	unsigned lcore;
	int numa_node;
	int epoll_fd;
	uint32_t blanks; /* empty frames for the engine to fill, and where their bytes lie */
	struct rte_mbuf *blank[NDD_BURST];
	struct roce_tx_slot slot[NDD_BURST];
	struct ndd_out out[CONFIG_PORTS_MAX];
	struct ndd_out inner;			/* to ourselves: received at the end of the turn */
	uint32_t sessions, awake, next_session; /* session[0..awake) are polled in each turn */
	uint64_t idle_since_ns, sleep_ns, wake_check_ns;
	struct ndd_cycles *cycles; /* counted, or NULL: not */
	struct ndd_io_counters count;
	struct ndd_shard_session *session[NDD_SESSIONS_MAX];
	size_t engine_bytes;
	struct ndd_cycles counted;
	/* shared with the control thread */
	struct ndd_wakeup wakeup;
	_Alignas(NDSH_CACHE_LINE) struct ndd_call *call; /* one at a time: the caller waits */
	uint32_t stop, running;
};

/* ---- shard.c ---- */

/* NULL: out of memory, or cfg out of range. lcore is EAL's number. */
struct ndd_shard *ndd_shard_new(
	struct ndd_plane *plane, const struct roce_shard_cfg *cfg, unsigned lcore);
void ndd_shard_free(struct ndd_shard *s);
bool ndd_shard_launch(struct ndd_shard *s);
void ndd_shard_stop(struct ndd_shard *s);

/* ---- call.c: the control thread's calls ---- */

typedef void (*ndd_shard_fn)(struct ndd_shard *s, uint64_t now_ns, void *arg);
/* Run fn on the shard's lcore between two turns and wait for it. The lcore never waits. */
void ndd_shard_call(struct ndd_shard *s, ndd_shard_fn fn, void *arg);
/* The same, after an RX poll came back empty (or a bounded number of turns): what arrived before
 * this call was handled before fn (a DREQ must not overtake data). */
void ndd_shard_call_drained(struct ndd_shard *s, ndd_shard_fn fn, void *arg);
/* The lcore's side: run the call that waits, if there is one. */
bool ndd_shard_serve(struct ndd_shard *s, uint64_t now_ns, bool rx_empty);

/* ---- lcore.c ---- */

int ndd_lcore_main(void *shard);

/* ---- rx.c, tx.c: return how many frames moved ---- */

/* drained: every source came back with less than asked. */
unsigned ndd_lcore_rx(struct ndd_shard *s, uint64_t now_ns, bool *drained);
unsigned ndd_lcore_tx(struct ndd_shard *s, uint64_t now_ns);
/* Frames from this shard to itself: they need no port, and so no other turn. */
unsigned ndd_lcore_inner(struct ndd_shard *s, uint64_t now_ns);
bool ndd_lcore_frames_waiting(const struct ndd_shard *s);
/* Free what the shard still holds. */
void ndd_lcore_tx_drop(struct ndd_shard *s);

/* ---- doorbell.c: doorbells, demotion, wake fds ---- */

/* Calls from the control thread, by ndd_shard_call(). */
bool ndd_lcore_attach(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns);
void ndd_lcore_detach(struct ndd_shard *s, struct ndd_shard_session *ss);
unsigned ndd_lcore_doorbells(struct ndd_shard *s, uint64_t now_ns);
/* A session's wake fd is readable. */
void ndd_lcore_promote(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns);
/* Every session to its wake fd, before sleeping. False: one of them rang meanwhile. */
bool ndd_lcore_demote_all(struct ndd_shard *s, uint64_t now_ns);

/* ---- idle.c ---- */

/* After a turn that did nothing: yield or sleep, as the idle policy says. Returns which it was:
 * NDD_STAGE_idle, _yield or _sleep. */
enum ndd_stage ndd_lcore_idle(struct ndd_shard *s, uint64_t now_ns);
/* Poll the wake fds from time to time while busy. */
void ndd_lcore_check_wakes(struct ndd_shard *s, uint64_t now_ns);

#endif
