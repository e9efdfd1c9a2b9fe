/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The users of a shard. A principal has a share of the requests in flight and a weight in the
 * turns; a client acts for one principal, as a session of the host does. Both are the host's
 * memory, one of each for every shard that they are on, and the engine's from init to fini.
 * Completion queues, shared receive queues and movers are made for a client, and a queue pair is of
 * the client that its completion queues are of.
 */
#ifndef ROCE_PRINCIPAL_H
#define ROCE_PRINCIPAL_H

#include "base/bucket.h"
#include "base/list.h"
#include "roce/queue/doorbell.h"
#include "roce/roce.h"

/* A request in flight is one to send, or a receive in use. */
enum roce_side { ROCE_SIDE_SEND, ROCE_SIDE_RECV, ROCE_SIDES };

/*
 * What a principal has of one of the shard's pools. Both sides count apart: requests to send never
 * use up what is reserved for receives. If they could, two peers might wait for ever, each for the
 * other to have room for a receive.
 */
struct roce_share {
	uint32_t spare[ROCE_SIDES]; /* held, and not in use */
	bool tight;		    /* it keeps no spare ones, see pool.h */
	uint32_t held[ROCE_SIDES];
	uint32_t reserve[ROCE_SIDES]; /* as many are always to be had */
	/* Of both sides' sum, or ROCE_CAP_FAIR: above it, nothing but the reserve. */
	uint32_t cap[ROCE_SIDES];
};

static inline uint32_t
roce_share_used(const struct roce_share *share, enum roce_side side)
{
	return share->held[side] - share->spare[side];
}

enum roce_pool_kind {
	ROCE_POOL_WQES, /* requests in flight */
	ROCE_POOL_EXTS, /* extensions, of requests with many SGEs or long inline data */
	ROCE_POOLS
};

struct roce_principal_cfg {
	uint32_t weight;	   /* 1..ROCE_WEIGHT_MAX: what it may send, in relation to others */
	uint32_t wakeups;	   /* of its clients in a second, and at once; 0: any number */
	uint64_t now_ns;	   /* the shard's own time may be that of its last turn, long ago */
	struct base_bucket tokens; /* of wake-ups, as it left them; zeroed: it was never here */
	struct {
		uint32_t reserve; /* as many are always to be had, an eighth of them for receives */
		/* ... and never more, an eighth of them for receives; or ROCE_CAP_FAIR: up to
		 * BASE_FAIR_FACTOR times what it leaves of that which nobody has reserved, a fair
		 * share by the rule of base/share.h */
		uint32_t cap;
	} pool[ROCE_POOLS];
};
#define ROCE_WEIGHT_MAX 32u
#define ROCE_CAP_FAIR	UINT32_MAX
#define ROCE_CAP_NONE	((uint32_t)INT32_MAX) /* above all that a pool can have */

/* Its place in a round of turns.h. */
struct roce_turn {
	struct base_link link;
	int32_t credit; /* bytes it may send until the next round; below 0: it sent too much */
	uint32_t quantum;
};

enum roce_line_kind {	   /* of work that waits, see line.h */
	ROCE_LINE_FLUSH,   /* queue pairs in ERR with requests */
	ROCE_LINE_WINDOWS, /* ... and those that had windows */
	ROCE_LINE_BROKEN,  /* completion queues that failed, and whose queue pairs are to fail */
	ROCE_LINE_FIRED,   /* completion queues whose client is to be woken */
	ROCE_LINE_CQ_EVENTS,
	ROCE_LINE_SRQ_EVENTS,
	ROCE_LINE_QP_EVENTS,
	ROCE_LINE_MOVERS, /* that turns look at */
	ROCE_LINE_POLLED, /* the host's own: sessions whose doorbells it polls */
	ROCE_LINES
};
/* A client's, of items; a principal's, of the lines of its clients. */
struct roce_line {
	struct base_link link, items;
};

#define ROCE_WAKEUPS_REST_NS 1000000u

/* How often clients may be woken (wakeups.c). A limit of 0 is a token_ns of 0. */
struct roce_wakeups {
	struct base_bucket tokens;
	uint64_t token_ns, burst; /* as many, which come back one each token_ns */
	uint64_t until_ns;	  /* while it rests */
	uint64_t delayed;	  /* wake-ups that waited during a rest */
	uint32_t rests;		  /* that are over */
};

static inline bool
roce_wakeups_left(const struct roce_wakeups *w, uint64_t now_ns)
{
	return base_bucket_ready_ns(&w->tokens, w->token_ns, w->burst) <= now_ns;
}

struct roce_principal {
	struct roce_share share[ROCE_POOLS];
	uint32_t clients;
	struct roce_turn turn;
	struct base_link turns; /* clients that may have something to send */
	struct roce_line line[ROCE_LINES];
	struct base_link starved[ROCE_POOLS]; /* queue pairs that found this pool without room */
	struct base_link starving;	      /* among those that have some of these */
	struct base_link link;		      /* among all of the shard */
	struct roce_wqe *dropped;	      /* of queue pairs that are gone: still to be freed */
	struct base_link dropping;	      /* among those that have some of these */
	struct roce_wakeups wakeups;
	/* What it has under way, of all there is while several are busy (flight.h). */
	uint32_t flight, level;	  /* level: its part of the shard's busy_level */
	uint64_t busy_ns;	  /* when it last had much */
	struct base_link busy;	  /* among those that had much a moment ago */
	struct base_link held;	  /* queue pairs that wait for a part of it to arrive (held.c) */
	struct base_link holding; /* among those that have some of these */
	bool is_full;		  /* it sends nothing until a quarter of its share is free */
};

struct roce_client {
	struct roce_principal *principal;
	struct roce_turn turn;
	struct base_link senders; /* queue pairs that may have something to send */
	struct base_link rings;	  /* queue pairs whose send rings are polled */
	struct base_link polled;  /* among the clients that have some of these */
	struct roce_doorbells doorbells;
	struct roce_line line[ROCE_LINES];
	uint32_t objects; /* completion queues and shared receive queues */
};

/* False: the weight, or a reserve above its cap, is out of range, or the pools are too small for
 * the reserves of all principals. */
bool roce_principal_init(
	struct roce_shard *s, struct roce_principal *p, const struct roce_principal_cfg *cfg);
/* False: it has clients, or requests of its queue pairs are still being taken down. Its reserve is
 * free for others. */
bool roce_principal_fini(struct roce_shard *s, struct roce_principal *p);
void roce_client_init(struct roce_client *c, struct roce_principal *p);
/* One more object is c's, or the host's own if c is NULL: returns its client. */
struct roce_client *roce_client_use(struct roce_shard *s, struct roce_client *c);
/* False: it has objects. */
bool roce_client_fini(struct roce_shard *s, struct roce_client *c);

#endif
