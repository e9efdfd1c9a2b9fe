/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shard of the daemon: the engine's shard, the lcore that runs it, and what both need to talk to
 * ports, clients' doorbells, other shards and the control thread.
 */
#ifndef NDD_SHARD_H
#define NDD_SHARD_H

#include <string.h>

#include "base/share.h"
#include "courier/door.h"
#include "lcore/counters.h"
#include "lcore/cycles.h"
#include "lcore/giving_way.h"
#include "lcore/handover.h"
#include "lcore/wakeup.h"
#include "platform/pace.h"
#include "port/port.h"
#include "roce/mem/admin.h"
#include "roce/shard/principal.h"
#include "roce/ud/group.h"
#include "roce/ud/ud.h"

#define NDD_BURST   32u	 /* frames per call of a port or ring */
#define NDD_OUT_MAX 128u /* frames kept for a port that takes none */

struct ndd_bell;

/* Every thread reads it; but for its last member it is constant after the start. */
struct ndd_plane {
	uint64_t secret[2];
	struct roce_qpn_key qpn_key;
	uint32_t shards, ports;
	bool cycles; /* lcores count them */
	/* Bit p: port p gives no IPv4 frame of RoCEv2 whose ICRC it has not found right. A frame
	 * keeps its port's number (rte_mbuf.port) through all hands; our own have that of the port
	 * that they are for, and our ICRC. */
	uint32_t checks_icrc;
	enum config_idle idle;
	struct rte_mempool *pool;
	struct port port[CONFIG_PORTS_MAX];
	struct ndd_shard *shard[NDD_SHARDS_MAX];
	struct ndd_handover rings;
	struct ndd_wakeup *control_wakeup;
	_Alignas(NDSH_CACHE_LINE) struct ndd_crowd crowd; /* lcores write to it */
};

/* A session as its lcore sees it. Belongs to the lcore from attach to detach. */
struct ndd_shard_session {
	struct ndsh_session_page *page;
	uint64_t summary; /* doorbell words taken, not yet served */
	uint64_t rung_ns;
	uint64_t looked;	 /* the last of ndd_shard.looks that it had */
	struct base_link polled; /* it is awake: in its client's ROCE_LINE_POLLED */
	struct ndd_door *door;	 /* by which the client wakes the lcore */
	uint32_t place;		 /* of ndd_shard.place[] */
	bool admin_due;		 /* its admin ring may hold more */
	uint32_t qps;		 /* places for them */
	struct roce_qp **qp;
	struct roce_client client;
	struct roce_admin admin;
	struct roce_ah_table ahs; /* where its datagrams may go */
};

/* The daemon's part of an engine's object (roce_qp_owner(), roce_cq_owner()); constant while the
 * object lives. */
struct ndd_owner {
	uint64_t session, object; /* serials */
	uint32_t handle;
	struct ndd_bell *bell; /* CQ: wakes the client */
};

/* Frames that a port, or the ring towards its owner, has not taken yet. */
struct ndd_out {
	uint32_t n, old;	 /* old: of the n, from a turn before this one */
	uint64_t stuck_since_ns; /* 0: it took the last that it was offered */
	struct rte_mbuf *m[NDD_OUT_MAX];
};

/* Its first n frames are gone. */
static inline void
ndd_out_advance(struct ndd_out *o, uint32_t n)
{
	o->n -= n;
	o->old -= o->old < n ? o->old : n;
	if (o->n != 0)
		memmove(o->m, o->m + n, o->n * sizeof(o->m[0]));
}

struct ndd_call; /* call.c */

struct ndd_shard {
	/* the lcore's own */
	struct roce_shard *engine;
	struct ndd_plane *plane;
	uint32_t id;
	unsigned lcore;
	int numa_node;
	int epoll_fd;
	uint32_t small_in, small_out; /* frames in, and out, since the last large one */
	uint32_t blanks; /* empty frames for the engine to fill, and where their bytes lie */
	struct rte_mbuf *blank[NDD_BURST];
	struct roce_tx_slot slot[NDD_BURST];
	struct port *queue[CONFIG_PORTS_MAX]; /* of others than the I/O owner; NULL: it has none */
	struct ndd_out out[CONFIG_PORTS_MAX + 1]; /* by port; behind them the ring to the owner */
	struct ndd_out inner;		    /* to ourselves: received at the end of the turn */
	const struct roce_groups *groups;   /* multicast groups with members; NULL: none */
	struct rte_mbuf *looped[NDD_BURST]; /* sent to groups, perhaps to members here */
	uint32_t looped_n;
	struct ndd_shard_session *place[NDD_PLACES];
	uint32_t sessions, awake; /* of these so many are polled */
	uint64_t looks;		  /* turns in which they were */
	uint64_t idle_since_ns;
	bool watched; /* whatever comes ends its sleep */
	struct ndd_giving_way giving_way;
	uint32_t behind;	   /* frames since it had caught up last (caught_up.h) */
	struct ndd_cycles *cycles; /* counted, or NULL: not */
	struct ndd_io_counters count;
	struct base_pool regions;
	size_t engine_bytes;
	struct ndd_cycles counted;
	/* shared with couriers */
	struct ndd_knocks knocks; /* count.wakeups is theirs as well */
	/* shared with the control thread */
	uint64_t rounds;	/* how often it has caught up so far */
	uint64_t round_awaited; /* the control thread waits for this one */
	struct ndd_wakeup wakeup;
	_Alignas(NDSH_CACHE_LINE) struct ndd_call *call; /* one at a time: the caller waits */
	uint32_t stop, running;
};

/* By which the shard receives and sends for port i; NULL: it leaves that to the I/O owner. */
static inline struct port *
ndd_shard_port(const struct ndd_shard *s, uint32_t i)
{
	return s->id == NDD_IO_OWNER ? &s->plane->port[i] : s->queue[i];
}

/* So many of its out[] may hold frames. */
static inline uint32_t
ndd_shard_outs(const struct ndd_shard *s)
{
	return s->plane->ports + (s->id != NDD_IO_OWNER);
}

/* ---- shard.c ---- */

/* NULL: out of memory, or cfg out of range. lcore is EAL's number. */
struct ndd_shard *ndd_shard_new(
	struct ndd_plane *plane, const struct roce_shard_cfg *cfg, unsigned lcore);
void ndd_shard_free(struct ndd_shard *s);
/* The shard is woken by its ports that can, from before its launch on. */
bool ndd_shard_watch_ports(struct ndd_shard *s);
bool ndd_shard_launch(struct ndd_shard *s);
void ndd_shard_stop(struct ndd_shard *s);

/* ---- doorbell.c: by ndd_shard_call() ---- */

/* The lcore polls the session's doorbells from now on, or no longer. False: too many sessions. */
bool ndd_lcore_attach(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns);
void ndd_lcore_detach(struct ndd_shard *s, struct ndd_shard_session *ss);

#endif
