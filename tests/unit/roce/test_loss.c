/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each single frame of each message kind lost, doubled, late or overtaken, in both directions; two
 * lost; with and without first PSNs about to wrap. What must come out is always the same.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define MTU	256u
#define FIVE	(4 * MTU + 77) /* first, three in the middle, last */
#define AT_SRC	0u
#define AT_DST	(1u << 20)
#define AT_READ (2u << 20)
#define LONG	UINT64_C(60000000000)

enum fault { LOSE, DOUBLE, LATE, VERY_LATE };

struct plan {
	enum fault fault;
	unsigned from[2]; /* direction of the frames hit */
	uint64_t nth[2];  /* 1: its first frame; 0: none */
};

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const struct plan *plan = ctx;

	(void)pkt;
	for (unsigned i = 0; i < 2; i++) {
		if (plan->nth[i] != p->sent[from] || plan->from[i] != from)
			continue;
		switch (plan->fault) {
		case LOSE:
			return 0;
		case DOUBLE:
			return 2;
		case LATE: /* overtaken by the next */
			*late_ns = 500;
			return 1;
		case VERY_LATE: /* a retransmission is faster */
			*late_ns = 40000000;
			return 1;
		}
	}
	return 1;
}

struct workload {
	const char *kinds; /* S, W, R of five packets; s, w, r of one; z: empty SEND */
	struct pair_opts opts;
};

static uint32_t
kind_bytes(char kind)
{
	return kind == 'z' ? 0 : kind >= 'a' ? 100 : FIVE;
}

static void
post(struct pair *p, char kind, unsigned i)
{
	uint32_t n = kind_bytes(kind), at = i * 4096;

	switch (kind) {
	case 'S':
	case 's':
	case 'z':
		pair_recv(p, 1, 0, 100 + i, AT_DST + at, FIVE);
		pair_send(p, 0, 0, i, AT_SRC + at, n, 0);
		break;
	case 'W':
	case 'w':
		pair_write(p, 0, 0, i, AT_SRC + at, AT_DST + at, n, 0);
		break;
	default:
		pair_read(p, 0, 0, i, AT_READ + at, AT_SRC + at, n, 0);
		break;
	}
}

static void
check(struct pair *p, char kind, unsigned i)
{
	const uint8_t *a = p->side[0].arena, *b = p->side[1].arena;
	uint32_t n = kind_bytes(kind), at = i * 4096;
	struct ndsh_cqe c;

	cr_assert(pair_poll(p, 0, &c), "request %u", i);
	cr_assert_eq(c.context, i);
	cr_assert_eq(c.status, NDSH_WC_SUCCESS, "request %u: status %u", i, c.status);
	if (kind == 'r' || kind == 'R')
		cr_assert_eq(memcmp(a + AT_READ + at, b + AT_SRC + at, n), 0);
	else
		cr_assert_eq(memcmp(b + AT_DST + at, a + AT_SRC + at, n), 0);
	if (kind == 'S' || kind == 's' || kind == 'z') {
		cr_assert(pair_poll(p, 1, &c), "receive %u", i);
		cr_assert_eq(c.context, 100 + i);
		cr_assert_eq(c.bytes, n);
	}
}

/* Frames sent by both sides. */
static void
run_one(const struct workload *w, struct plan *plan, uint64_t sent[2])
{
	struct pair *p = pair_new(&w->opts);
	size_t n = strlen(w->kinds);
	struct ndsh_cqe c;

	for (unsigned i = 0; i < n * 4096; i++) {
		p->side[0].arena[AT_SRC + i] = (uint8_t)(i * 7 + i / 251);
		p->side[1].arena[AT_SRC + i] = (uint8_t)(i * 5 + i / 241);
	}
	p->tap = tap;
	p->tap_ctx = plan;
	for (unsigned i = 0; i < n; i++)
		post(p, w->kinds[i], i);
	cr_assert(pair_run(p, LONG));
	for (unsigned i = 0; i < n; i++)
		check(p, w->kinds[i], i);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_not(pair_poll(p, 1, &c));
	sent[0] = p->sent[0];
	sent[1] = p->sent[1];
	pair_free(p);
}

static void
each_frame(const struct workload *w, enum fault fault)
{
	struct plan plan = {.fault = fault};
	uint64_t n[2], ignored[2];

	run_one(w, &plan, n);
	for (unsigned from = 0; from < 2; from++)
		for (uint64_t i = 1; i <= n[from]; i++) {
			plan = (struct plan){.fault = fault, .from = {from}, .nth = {i}};
			run_one(w, &plan, ignored);
		}
}

static void
each_pair(const struct workload *w)
{
	struct plan plan = {.fault = LOSE};
	uint64_t n[2], ignored[2];

	run_one(w, &plan, n);
	for (uint64_t i = 0; i < n[0] + n[1]; i++)
		for (uint64_t k = i + 1; k <= n[0] + n[1] + 3; k++) { /* the 3: retransmissions */
			bool a = i >= n[0], b = k >= n[0];

			plan = (struct plan){.fault = LOSE,
				.from = {a, b},
				.nth = {1 + i - (a ? n[0] : 0), 1 + k - (b ? n[0] : 0)}};
			run_one(w, &plan, ignored);
		}
}

static const struct pair_opts small = {.mtu = MTU, .window = 16};
static const struct pair_opts wrapping = {
	.mtu = MTU, .window = 16, .set_psn = true, .sq_psn = {0xfffffd, 0xfffffe}};
static const char *const kinds[] = {"S", "W", "R", "swrz", "SRSW", "RRr", "rRwW", "WsRz"};

static void
matrix(enum fault fault)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		each_frame(&(struct workload){kinds[i], small}, fault);
		each_frame(&(struct workload){kinds[i], wrapping}, fault);
	}
}

Test(loss, each_frame_lost_W_COMP_W_RESP_W_DUP)
{
	matrix(LOSE);
}

Test(loss, each_frame_doubled_W_DUP)
{
	matrix(DOUBLE);
}

/* checks W-COMP-08[1] */
Test(loss, each_frame_overtaken_W_RESP_02_W_COMP_08)
{
	matrix(LATE);
}

/* checks W-COMP-01[2] */
Test(loss, each_frame_later_than_its_retransmission_W_COMP_01)
{
	matrix(VERY_LATE);
}

Test(loss, each_two_frames_lost)
{
	each_pair(&(struct workload){"S", small});
	each_pair(&(struct workload){"W", small});
	each_pair(&(struct workload){"R", small});
	each_pair(&(struct workload){"RsRw", small});
}

/* Loss of a fixed share of all frames, decided by a small generator. */
struct noise {
	uint32_t state, percent;
};

static unsigned
noisy(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct noise *n = ctx;

	(void)p;
	(void)from;
	(void)pkt;
	(void)late_ns;
	n->state = n->state * 1664525 + 1013904223;
	return (n->state >> 16) % 100 >= n->percent;
}

/* checks W-REQ-06[2] */
Test(loss, a_megabyte_each_way_through_heavy_loss)
{
	struct noise noise = {.state = 42, .percent = 5};
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 1024, .window = 32});
	uint32_t n = 1u << 20;
	struct ndsh_cqe c;

	for (uint32_t i = 0; i < n; i++)
		p->side[0].arena[i] = (uint8_t)(i * 13 + i / 253);
	p->tap = noisy;
	p->tap_ctx = &noise;
	pair_write(p, 0, 0, 1, 0, 0, n, 0);
	pair_read(p, 0, 0, 2, n, 0, n, NDSH_WRF_FENCE);
	cr_assert(pair_run(p, LONG));
	for (unsigned i = 1; i <= 2; i++) {
		cr_assert(pair_poll(p, 0, &c));
		cr_assert_eq(c.context, i);
		cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(memcmp(p->side[0].arena, p->side[1].arena, n), 0);
	cr_assert_eq(memcmp(p->side[0].arena, p->side[0].arena + n, n), 0);
	pair_free(p);
}

/* A READ whose response k is lost is asked for again from there, no more and no less. */
struct read_watch {
	uint32_t lose, first_psn, seen;
	struct roce_pkt again;
};

static unsigned
read_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct read_watch *w = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0 && pkt->opcode == ROCE_READ_REQUEST && w->seen++ == 0)
		w->first_psn = pkt->psn;
	else if (from == 0 && pkt->opcode == ROCE_READ_REQUEST)
		w->again = *pkt;
	if (from == 1 && w->seen == 1 && pkt->psn == w->first_psn + w->lose)
		return 0;
	return 1;
}

Test(loss, W_REQ_11_read_retry_starts_at_the_first_missing_response)
{
	for (uint32_t k = 0; k < 5; k++) {
		struct read_watch w = {.lose = k};
		struct pair_opts o = {.mtu = MTU, .set_psn = true, .sq_psn = {100, 200}};
		struct pair *p = pair_new(&o);
		struct ndsh_cqe c;

		p->tap = read_tap;
		p->tap_ctx = &w;
		pair_read(p, 0, 0, 1, AT_READ, AT_SRC, FIVE, 0);
		cr_assert(pair_run(p, LONG));
		cr_assert(pair_poll(p, 0, &c) && c.status == NDSH_WC_SUCCESS);
		cr_assert_eq(w.seen, 2, "%u requests", w.seen);
		cr_assert_eq(w.again.psn, 100 + k);
		cr_assert_eq(w.again.va, PAIR_VA + AT_SRC + k * MTU);
		cr_assert_eq(w.again.dma_bytes, FIVE - k * MTU);
		pair_free(p);
	}
}

/* After a restart in the middle, rxe goes on with MIDDLE where hardware begins with FIRST. The
 * answers here have MSN 0 throughout: checks W-AETH-02, W-RXE-23. */
static void
restart_in_the_middle(bool fresh)
{
	struct pair_opts o = {.mtu = MTU, .set_psn = true, .sq_psn = {100, 200}};
	struct pair *p = pair_new(&o);
	uint8_t payload[MTU];
	struct ndsh_cqe c;
	struct roce_pkt r = {.qpn = roce_qp_num(p->side[0].q[0].qp),
		.pkey = ROCE_PKEY_DEFAULT,
		.syndrome = ROCE_SYN_ACK,
		.payload_bytes = MTU};
	static const uint8_t ops[2][3] = {
		{ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE, ROCE_READ_RESP_LAST},
		{ROCE_READ_RESP_FIRST, ROCE_READ_RESP_FIRST, ROCE_READ_RESP_LAST},
	};

	memset(payload, 0x5a, sizeof(payload));
	pair_read(p, 0, 0, 1, AT_READ, AT_SRC, 3 * MTU, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 3; i++) {
		r.opcode = ops[fresh][i];
		r.psn = 100 + i;
		pair_inject(p, 0, 0, &r, payload);
		pair_turn(p, 0);
		if (i == 0) { /* nothing more comes: the timer asks again from 101 */
			p->now_ns += 5000000;
			pair_turn(p, 0);
		}
	}
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[0].arena[AT_READ + 3 * MTU - 1], 0x5a);
	pair_free(p);
}

/* checks W-COMP-09[1] */
Test(loss, W_COMP_09_restart_answered_by_first)
{
	restart_in_the_middle(true);
}

/* checks W-COMP-09[2] */
Test(loss, W_COMP_09_restart_answered_by_middle)
{
	restart_in_the_middle(false);
}
