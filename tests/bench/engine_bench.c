/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine alone: both sides of a connection on one core, no port, no client process. Prints the
 * cycles that one message costs: posting, both shards, copies and CRCs, completions. Compare
 * figures of one run only.
 *
 * usage: engine_bench [microseconds per case [number of the only case]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "roce/roce.h"
#include "shm/ndsh_msg.h"

#define BURST	    32u
#define ARENA_BYTES (8u << 20)
#define VA	    UINT64_C(0x7f0000000000)
#define DEPTH	    256u
#define CQ_DEPTH    1024u
#define QPS_MAX	    64u
#define QPS_SHARED  8u /* others, whose receives are shared */
#define SLICES	    20u

struct side {
	struct roce_shard *shard;
	struct roce_qpn_key qpn_key;
	struct roce_cq *cq;
	struct ndsh_cq_reader reader;
	uint8_t *arena;
	uint32_t pd, key;
	struct {
		struct roce_qp *qp;
		struct ndsh_sq sq;
		struct ndsh_rq rq;
		uint32_t room; /* free slots of the send ring, of the receive ring */
		uint32_t recv_room;
	} q[QPS_MAX + QPS_SHARED];
	struct ndsh_srq_page *srq_page;
	struct ndsh_rq srq;
	struct roce_tx_slot slot[BURST];
};

struct bench {
	const char *name;
	uint8_t op; /* 0: only copy and CRC, the floor */
	uint32_t bytes;
	unsigned qps, depth;
	bool shared;
};

static struct side sides[2];
static unsigned first_qp, num_qps;

static uint64_t
cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void
need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "engine_bench: %s\n", what);
	exit(1);
}

static void *
zalloc(size_t bytes)
{
	void *mem = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	need(mem != NULL, "out of memory");
	return memset(mem, 0, (bytes + 63) & ~(size_t)63);
}

static struct roce_srq *
srq_init(struct side *d)
{
	struct roce_srq *srq;

	d->srq_page = zalloc(ndsh_srq_bytes(DEPTH, 4));
	ndsh_srq_view(&d->srq, d->srq_page, DEPTH, 4);
	srq = roce_srq_create(d->shard, d->pd, d->srq_page, DEPTH, 4, NULL);
	need(srq != NULL, "shared receive queue");
	return srq;
}

static void
side_init(unsigned i)
{
	const struct roce_shard_cfg cfg = { .shard_id = i, .max_qps = 1024, .max_cqs = 16,
		.max_pds = 16, .max_srqs = 1, .max_mrs = 1024, .max_wqes = 8192,
		.secret = { 3, 4 }, .rto_floor_ns = 10000000, .window = 256 };
	const struct ndsh_qp_dims dims = { .sq_depth = DEPTH, .rq_depth = DEPTH, .sq_sge = 4,
		.rq_sge = 4, .inline_bytes = 64 };
	struct side *d = &sides[i];
	struct ndsh_qp_layout layout;
	struct roce_srq *srq;
	void *cq_mem = zalloc(ndsh_cq_bytes(CQ_DEPTH));

	d->shard = roce_shard_init(zalloc(roce_shard_bytes(&cfg)), &cfg);
	roce_qpn_key_init(&d->qpn_key, cfg.secret);
	d->arena = zalloc(ARENA_BYTES);
	d->pd = roce_pd_create(d->shard);
	d->key = roce_mr_key(roce_mr_register(d->shard, d->pd, VA, ARENA_BYTES, d->arena,
		NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
			NDSH_ACCESS_REMOTE_ATOMIC));
	d->cq = roce_cq_create(d->shard, cq_mem, CQ_DEPTH, NULL);
	ndsh_cq_reader_view(&d->reader, cq_mem, CQ_DEPTH);
	need(ndsh_qp_layout(&dims, &layout), "layout");
	srq = srq_init(d);
	for (unsigned k = 0; k < QPS_MAX + QPS_SHARED; k++) {
		void *block = zalloc(layout.total_bytes);

		d->q[k].qp = roce_qp_create(d->shard,
			&(struct roce_qp_cfg){ .pd = d->pd, .send_cq = d->cq, .recv_cq = d->cq,
				.srq = k < QPS_MAX ? NULL : srq, .shared = block, .dims = dims,
				.handle = k });
		ndsh_sq_view(&d->q[k].sq, block, &dims);
		ndsh_rq_view(&d->q[k].rq, block, &dims);
		d->q[k].room = d->q[k].recv_room = DEPTH;
	}
	for (unsigned k = 0; k < BURST; k++)
		d->slot[k].buf = zalloc(ROCE_FRAME_MAX + 256);
}

static void
connect_qp(unsigned i, unsigned k)
{
	const uint8_t ip[2][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } };
	struct roce_qp_attr a = { .access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
			NDSH_ACCESS_REMOTE_ATOMIC,
		.mtu_bytes = 4096, .dest_qpn = roce_qp_num(sides[!i].q[k].qp), .rq_psn = 7,
		.sq_psn = 7, .max_rd = 16, .max_dest_rd = 16, .min_rnr_code = 1,
		.timeout_code = 14, .retry = 7, .rnr_retry = 7, .path = { .ttl = 64 } };
	struct roce_shard *s = sides[i].shard;
	struct roce_qp *qp = sides[i].q[k].qp;

	roce_gid_from_v4(&a.path.sgid, ip[i]);
	roce_gid_from_v4(&a.path.dgid, ip[!i]);
	roce_qp_modify(s, qp, now_ns(), ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a);
	roce_qp_modify(s, qp, now_ns(), ROCE_QPS_RTR,
		ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
			ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR,
		&a);
	need(roce_qp_modify(s, qp, now_ns(), ROCE_QPS_RTS,
		     ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN |
			     ROCE_QPA_MAX_RD,
		     &a) == ROCE_MODIFY_OK,
		"modify");
}

static void
post_receives(struct side *d)
{
	const struct ndsh_sge sge = { .addr = VA, .len = 1u << 20, .key = d->key };

	if (first_qp >= QPS_MAX) {
		uint32_t end = __atomic_load_n(&d->srq_page->taken, __ATOMIC_ACQUIRE) + DEPTH;

		while (d->srq.next != end)
			ndsh_rq_push(&d->srq, 0, &sge, 1);
		return;
	}
	for (unsigned k = 0; k < num_qps; k++)
		for (; d->q[k].recv_room > 0; d->q[k].recv_room--)
			ndsh_rq_push(&d->q[k].rq, k, &sge, 1);
}

static void
post_requests(struct side *d, uint8_t op, uint32_t bytes, unsigned depth)
{
	const struct ndsh_sge sge = { .addr = VA, .len = bytes, .key = d->key };
	const struct ndsh_swr wr = { .raddr = VA + ARENA_BYTES / 2, .rkey = sides[1].key,
		.ctrl = NDSH_CTRL(op, 1, 0, 0) };

	for (unsigned k = first_qp; k < first_qp + num_qps; k++)
		for (; d->q[k].room > DEPTH - depth; d->q[k].room--)
			ndsh_sq_push(&d->q[k].sq, &wr, &sge, NULL);
}

static unsigned
reap(struct side *d)
{
	struct ndsh_cqe c[BURST];
	unsigned requests = 0, n;

	do {
		n = ndsh_cq_poll(&d->reader, c, BURST);
		for (unsigned i = 0; i < n; i++) {
			need(c[i].status == NDSH_WC_SUCCESS, "a request failed");
			if (c[i].op == NDSH_OP_RECV) {
				d->q[c[i].qp].recv_room++;
			} else {
				d->q[c[i].qp].room++;
				requests++;
			}
		}
	} while (n == BURST);
	return requests;
}

/* Frames go from one side's slots straight to the other side's receive path. */
static void
turn(struct side *from, struct side *to, uint64_t now)
{
	struct roce_pkt pkt[BURST];
	uint32_t place[BURST];
	unsigned n;

	roce_shard_poll_rings(from->shard, now, 64);
	do {
		n = roce_shard_tx(from->shard, now, from->slot, BURST);
		for (unsigned i = 0; i < n; i++) {
			need(roce_wire_parse(from->slot[i].buf, from->slot[i].len, &pkt[i]) ==
					ROCE_WIRE_OK,
				"parse");
			place[i] = roce_qpn_place(&to->qpn_key, pkt[i].qpn);
			roce_shard_rx_prefetch(to->shard, place[i]);
		}
		for (unsigned i = 0; i < n; i++)
			roce_shard_rx(to->shard, now, &pkt[i], place[i]);
	} while (n == BURST);
	roce_shard_publish(from->shard);
	roce_shard_publish(to->shard);
}

static uint64_t
run(const struct bench *b, uint64_t ns)
{
	uint64_t t0 = now_ns(), now = t0, done = 0;

	num_qps = b->qps;
	first_qp = b->shared ? QPS_MAX : 0;
	for (unsigned k = first_qp; k < first_qp + num_qps; k++)
		roce_qp_doorbell(sides[0].shard, sides[0].q[k].qp, now);
	while (now - t0 < ns) {
		for (unsigned i = 0; i < 16; i++) {
			if (b->op == NDSH_OP_SEND)
				post_receives(&sides[1]);
			post_requests(&sides[0], b->op, b->bytes, b->depth);
			turn(&sides[0], &sides[1], now);
			turn(&sides[1], &sides[0], now);
			done += reap(&sides[0]);
			reap(&sides[1]);
		}
		now = now_ns();
	}
	return done;
}

/* What copy and CRC of both sides cost by themselves, in bursts of frames as the engine's: copy and
 * CRC of one side, then CRC and copy of the other. */
static uint64_t
run_floor(const struct bench *b, uint64_t ns)
{
	static volatile uint32_t sink;
	const uint32_t hdr = 14 + 20 + 8 + 12 + 16;
	uint64_t t0 = now_ns(), done = 0;
	uint32_t crc = 0;

	while (now_ns() - t0 < ns) {
		for (unsigned i = 0; i < BURST; i++) {
			memcpy(sides[0].slot[i].buf + hdr, sides[0].arena, b->bytes);
			crc ^= roce_crc32(0, sides[0].slot[i].buf + hdr, b->bytes);
		}
		for (unsigned i = 0; i < BURST; i++) {
			crc ^= roce_crc32(0, sides[0].slot[i].buf + hdr, b->bytes);
			memcpy(sides[1].arena + ARENA_BYTES / 2, sides[0].slot[i].buf + hdr,
				b->bytes);
		}
		done += BURST;
	}
	sink = crc;
	(void)sink;
	return done;
}

/* The best of some short slices: a machine shared with others disturbs most of them. */
static void
measure(const struct bench *b, uint64_t us)
{
	double best = 0, rate = 0;

	for (unsigned i = 0; i < SLICES; i++) {
		uint64_t t0 = now_ns(), c0 = cycles();
		uint64_t done = b->op == 0 ? run_floor(b, us * 1000 / SLICES) :
					     run(b, us * 1000 / SLICES);
		double cyc = (double)(cycles() - c0) / (double)done;

		if (best == 0 || cyc < best) {
			best = cyc;
			rate = (double)done / (double)(now_ns() - t0);
		}
	}
	printf("%-6s %8u B %4u QP %4u deep %10.1f cycles/msg %9.3f M msg/s %8.2f GB/s\n", b->name,
		b->bytes, b->qps, b->depth, best, rate * 1e3, rate * b->bytes);
}

static const struct bench benches[] = {
	{ "write", NDSH_OP_WRITE, 8, 1, 32 },
	{ "write", NDSH_OP_WRITE, 8, 1, 1 },
	{ "write", NDSH_OP_WRITE, 8, 64, 16 },
	{ "send", NDSH_OP_SEND, 8, 1, 32 },
	{ "send", NDSH_OP_SEND, 8, QPS_SHARED, 4 },
	{ "srq", NDSH_OP_SEND, 8, QPS_SHARED, 4, true },
	{ "read", NDSH_OP_READ, 8, 1, 32 },
	{ "floor", 0, 4096, 1, 1 },
	{ "write", NDSH_OP_WRITE, 4096, 1, 32 },
	{ "send", NDSH_OP_SEND, 4096, 1, 32 },
	{ "read", NDSH_OP_READ, 4096, 1, 32 },
	{ "write", NDSH_OP_WRITE, 1u << 20, 1, 4 },
	{ "read", NDSH_OP_READ, 1u << 20, 1, 4 },
	{ "add", NDSH_OP_FETCH_ADD, 8, 1, 16 },
	{ "add", NDSH_OP_FETCH_ADD, 8, 16, 16 },
};

int
main(int argc, char **argv)
{
	uint64_t us = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
	unsigned num = sizeof(benches) / sizeof(benches[0]);
	unsigned only = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	need(us > 0 && only <= num, "usage: engine_bench [microseconds per case [case]]");
	side_init(0);
	side_init(1);
	for (unsigned k = 0; k < QPS_MAX + QPS_SHARED; k++) {
		connect_qp(0, k);
		connect_qp(1, k);
	}
	printf("engine alone, both sides on one core, path MTU 4096, best of %u slices\n", SLICES);
	for (unsigned i = 0; i < num; i++)
		if (only == 0 || only == i + 1)
			measure(&benches[i], us);
	printf("%zu bytes of engine memory for one idle connected queue pair,\n"
	       "%zu more set aside for when it meets memory of movers, %zu for congestion\n",
		roce_qp_bytes(), roce_far_bytes(), roce_cc_bytes());
	return 0;
}
