/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows without a daemon: its half is played through its own views of the shared rings, in
 * this process: fetch what was posted, make completions.
 */
#ifndef WINDOW_BENCH_H
#define WINDOW_BENCH_H

#include <stdint.h>

#include "ndclient/cq/cq.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

#define DEPTH	 4u
#define CQ_DEPTH 16u
#define SECRET	 0x1122334455667788ull

enum { QPS = 2 };

extern uint8_t window_bench_memory[1024];

struct window_bench_side { /* of one queue pair */
	struct nd_qp qp;
	struct ndsh_sq daemon_sq;
	void *block;
	uint32_t finished;
};

struct window_bench {
	struct nd_adapter *a;
	struct ndsh_session_page page;
	struct window_bench_side side[QPS];
	struct nd_cq cq;
	struct ndsh_cq daemon_cq;
	void *cq_block;
	struct nd_pd pd, other_pd;
	struct nd_mr mr;
	struct nd_mw mw, mw2;
	uint32_t ended; /* closed regions */
};

struct window_bench *window_bench_make(void);
void window_bench_drop(struct window_bench *b);
nd_status window_bench_bind(struct window_bench *b, uint32_t i, struct nd_mw *mw);
nd_status window_bench_invalidate(
	struct window_bench *b, uint32_t i, struct nd_mw *mw, uint32_t flags);
/* The daemon finishes the queue pair's next request; unless it is silent, with an entry. */
struct ndsh_send window_bench_finish(struct window_bench *b, uint32_t i, uint8_t status);
/* As the engine does it: behind the completions, once a turn. */
void window_bench_end_of_turn(struct window_bench *b, uint32_t i);
void window_bench_receive(struct window_bench *b, uint32_t i, uint32_t token);
int32_t window_bench_poll_all(struct window_bench *b);

#define RW		     (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)
#define BIND(b, i, mw)	     cr_assert(eq(i32, window_bench_bind(b, i, mw), ND_SUCCESS))
#define INVALIDATE(b, i, mw) cr_assert(eq(i32, window_bench_invalidate(b, i, mw, 0), ND_SUCCESS))
#define EXPECT_BOUND(b, i, mw)                                                                     \
	cr_expect(eq(i32, window_bench_bind(b, i, mw), ND_INVALID_DEVICE_STATE))
#define SILENT ND_OP_FLAG_SILENT_SUCCESS

#endif
