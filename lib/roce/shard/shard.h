/* SPDX-License-Identifier: BSD-3-Clause */
/* A shard: all of the engine's state that one lcore owns. */
#ifndef ROCE_SHARD_H
#define ROCE_SHARD_H

#include "base/list.h"
#include "roce/cc/pace.h"
#include "roce/responder/farewell.h"
#include "roce/roce.h"
#include "roce/shard/principal.h"
#include "roce/shard/timer.h"

struct roce_cc;
struct roce_doors;
struct roce_moved;
struct roce_read_block;
struct roce_windows;
struct roce_wqe;
union roce_wqe_ext;

#define ROCE_NONE UINT32_MAX /* end of an index chain */

/* How much of a pool there is, and how much of it anybody may have. */
struct roce_pool {
	uint32_t total, reserved, held;
	bool tight; /* all shares are */
	/* What is neither reserved nor held beyond a reserve; below 0, for a while, when what was
	 * held was reserved. Requests to send leave some of it to receives. */
	int32_t shared, sends_leave;
};

struct roce_shard {
	struct roce_shard_cfg cfg;
	uint64_t now_ns;		 /* of the call under way */
	uint32_t window, window_quarter; /* of a queue pair; how many packets ask for one answer */
	uint32_t waiting;		 /* queue pairs with a deadline */
	struct roce_qpn_key qpn_key;
	uint64_t secret_count;
	/* What may be sent. */
	struct roce_client *alone; /* in turns, if there is no other */
	struct base_link acks_owed, turns, starving, dropping, cnps;
	uint32_t farewells; /* how many of farewell[] */
	bool is_shared;	    /* several principals are busy, or queue pairs are held back */
	struct base_link busy, holding;	 /* principals (flight.h) */
	uint32_t busy_count, busy_level; /* of those that are busy: what they have under way */
	/* Pools. */
	struct roce_wqe *wqe_free;
	union roce_wqe_ext *ext_free;
	uint32_t exts_left;
	struct roce_pool pool[ROCE_POOLS];
	struct base_link principals;
	struct roce_principal own; /* of objects that were made for no client */
	struct roce_client own_client;
	/* What the turn leaves behind. */
	struct base_link touched_cqs, line[ROCE_LINES];
	struct base_link resting; /* principals without wake-ups, by ROCE_LINE_FIRED */
	uint32_t movers;	  /* how many stand in ROCE_LINE_MOVERS */
	struct base_link rings;	  /* clients with send rings that are polled */
	uint32_t polled;	  /* how many */
	/* Tables. */
	struct roce_qp *qps;
	struct roce_moved *moved;      /* one for each of qps, at the same index */
	struct roce_cc *ccs;	       /* as well */
	struct roce_read_block *reads; /* as well */
	struct roce_windows *windows;  /* as well */
	struct roce_mr *mrs;
	struct roce_cq *cqs, *cq_free;
	struct roce_srq *srqs, *srq_free;
	uint32_t *pd_refs, *pd_free; /* refs + 1 of PDs in use; stack of free numbers */
	uint32_t pd_free_count;
	struct roce_doors *doors;	     /* one for each PD */
	uint32_t qp_free_head, qp_free_tail; /* a FIFO: a number rests */
	uint32_t *mr_free, mr_free_count;    /* indices of free slots of mrs, in no order */
	struct roce_usage usage;
	struct roce_counters count;
	/* Scratch of one call, too large for a hot stack frame. */
	struct ndsh_send send;
	struct ndsh_recv recv;
	/* Timer wheel. */
	uint64_t wheel_tick; /* next tick to look at */
	uint64_t wheel_map[ROCE_WHEEL_SLOTS / 64];
	struct base_link wheel[ROCE_WHEEL_SLOTS];
	struct roce_pace pace;
	struct roce_farewell farewell[ROCE_FAREWELLS];
};

/* A pseudo-random number that depends on the shard's secret, never the same twice. domain: tells
 * the uses of such numbers apart. */
uint64_t roce_shard_random(struct roce_shard *s, uint64_t domain);
/* Take a reference to a protection domain; false: there is none with this number. */
bool roce_pd_get(struct roce_shard *s, uint32_t pd);
void roce_pd_put(struct roce_shard *s, uint32_t pd);

#endif
