/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose frame it is, and the rings that carry it there. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "lcore/handover.h"
#include "rigs/eal_rig.h"
#include "roce/roce.h"

static const uint64_t secret[2] = {0x0123456789abcdefull, 0xfedcba9876543210ull};

static void
start_eal(void)
{
	eal_rig_start(NULL);
}

TestSuite(handover, .init = start_eal);

Test(route, what_is_not_roce_goes_to_the_control_thread)
{
	const struct roce_pkt pkt = {0};

	cr_assert_eq(ndd_route(2, ROCE_WIRE_NOT_ROCE, &pkt, 0), NDD_ROUTE_CONTROL);
}

Test(route, broken_frames_go_nowhere)
{
	const struct roce_pkt pkt = {0};

	for (int err = ROCE_WIRE_TRUNCATED; err < ROCE_WIRE_ERR_COUNT; err++)
		cr_assert_eq(ndd_route(2, err, &pkt, 0), NDD_ROUTE_DROP);
}

Test(route, qp1_goes_to_the_control_thread)
{
	const struct roce_pkt pkt = {.qpn = ROCE_QPN_GSI};

	cr_assert_eq(ndd_route(1, ROCE_WIRE_OK, &pkt, 0), NDD_ROUTE_CONTROL);
	cr_assert_eq(ndd_route(2, ROCE_WIRE_OK, &pkt, 0), NDD_ROUTE_CONTROL);
}

/*
 * checks W-MC-07[1]: the number of all queue pairs, and neither of its neighbours (0 is its
 * neighbour, too, in 24 bits).
 */
Test(route, W_MC_07_number_of_all_queue_pairs)
{
	const struct roce_pkt all = {.qpn = 0xffffff}, last = {.qpn = 0xfffffe}, zero = {.qpn = 0};

	for (uint32_t place = 0; place < 2u << ROCE_PLACE_SHARD_SHIFT;
		place += 1u << ROCE_PLACE_SHARD_SHIFT) {
		cr_assert_eq(ndd_route(2, ROCE_WIRE_OK, &all, place), NDD_ROUTE_GROUP);
		cr_assert_eq(ndd_route(2, ROCE_WIRE_OK, &last, place), roce_place_shard(place));
		cr_assert_eq(ndd_route(2, ROCE_WIRE_OK, &zero, place), roce_place_shard(place));
	}
	cr_assert_eq(ndd_route(2, ROCE_WIRE_OPCODE, &all, 0), NDD_ROUTE_DROP);
}

static struct roce_shard *
new_shard(uint32_t id)
{
	const struct roce_shard_cfg cfg = {.shard_id = id,
		.max_qps = 16,
		.max_cqs = 4,
		.max_pds = 4,
		.max_mrs = 16,
		.max_wqes = 64,
		.secret = {secret[0], secret[1]},
		.rto_floor_ns = 10000000,
		.window = 64};
	size_t bytes = roce_shard_bytes(&cfg);
	void *mem = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	memset(mem, 0, bytes);
	return roce_shard_init(mem, &cfg);
}

static uint32_t
route(uint32_t shards, uint32_t qpn)
{
	const struct roce_pkt pkt = {.qpn = qpn};
	struct roce_qpn_key key;

	roce_qpn_key_init(&key, secret);
	return ndd_route(shards, ROCE_WIRE_OK, &pkt, roce_qpn_place(&key, qpn));
}

/* Every queue pair's packets find the shard that made it. */
Test(route, qpn_names_the_shard)
{
	for (uint32_t id = 0; id < 2; id++) {
		struct roce_shard *s = new_shard(id);
		static _Alignas(64) uint8_t cq_mem[1 << 12], qp_mem[1 << 14];
		struct roce_qp_cfg cfg = {.dims = {1, 1, 1, 1, 0}, .shared = qp_mem};
		uint32_t qpn;

		memset(cq_mem, 0, sizeof(cq_mem));
		cfg.pd = roce_pd_create(s);
		cfg.send_cq = cfg.recv_cq = roce_cq_create(s, NULL, cq_mem, 4, NULL);
		for (int i = 0; i < 8; i++) {
			memset(qp_mem, 0, sizeof(qp_mem));
			qpn = roce_qp_num(roce_qp_create(s, &cfg));
			cr_assert_eq(route(2, qpn), id);
			cr_assert_eq(route(1, qpn), 0);
		}
		free(s);
	}
}

/* A stranger's QPN is counted by one shard, never handed round. */
Test(route, qpn_of_no_shard_goes_to_the_io_owner)
{
	struct roce_qpn_key key;
	unsigned strangers = 0;

	roce_qpn_key_init(&key, secret);
	for (uint32_t qpn = 2; qpn < 5000; qpn++) {
		uint32_t shard = roce_place_shard(roce_qpn_place(&key, qpn));

		strangers += shard >= 2;
		cr_assert_eq(route(2, qpn), shard < 2 ? shard : NDD_IO_OWNER);
	}
	cr_assert_gt(strangers, 3000);
}

Test(handover, frames_keep_their_order_and_their_ring)
{
	const int node[NDD_SHARDS_MAX] = {0};
	struct ndd_handover h;
	void *m = NULL;

	cr_assert(ndd_handover_init(&h, 2, node, secret));
	cr_assert_null(h.tx[NDD_IO_OWNER], "the owner sends by itself");
	for (uintptr_t i = 1; i <= 100; i++)
		cr_assert_eq(rte_ring_sp_enqueue(h.rx[0][1], (void *)i), 0);
	cr_assert(rte_ring_empty(h.rx[1][0]));
	for (uintptr_t i = 1; i <= 100; i++) {
		cr_assert_eq(rte_ring_sc_dequeue(h.rx[0][1], &m), 0);
		cr_assert_eq((uintptr_t)m, i);
	}
	ndd_handover_fini(&h);
}

Test(handover, fini_frees_frames_under_way)
{
	const int node[NDD_SHARDS_MAX] = {0};
	struct rte_mempool *pool = eal_rig_pool(63);
	struct ndd_handover h;

	cr_assert(ndd_handover_init(&h, 2, node, secret));
	rte_ring_sp_enqueue(h.rx[0][1], rte_pktmbuf_alloc(pool));
	rte_ring_sp_enqueue(h.rx[1][0], rte_pktmbuf_alloc(pool));
	rte_ring_sp_enqueue(h.tx[1], rte_pktmbuf_alloc(pool));
	rte_ring_sp_enqueue(h.control_tx, rte_pktmbuf_alloc(pool));
	cr_assert(ndd_up_put(&h.up[0], 0, rte_pktmbuf_alloc(pool)));
	cr_assert_eq(rte_mempool_avail_count(pool), 58);
	ndd_handover_fini(&h);
	cr_assert_eq(rte_mempool_avail_count(pool), 63);
}

Test(handover, events_are_copied_and_bounded)
{
	const int node[NDD_SHARDS_MAX] = {0};
	struct ndd_event ev = {.session = 1, .object = 2, .handle = 3, .type = 4};
	struct ndd_handover h;
	unsigned n = 0;

	cr_assert(ndd_handover_init(&h, 1, node, secret));
	while (ndd_event_put(h.event[0], &ev))
		n++;
	cr_assert_geq(n, NDD_EVENT_RING - 1);
	memset(&ev, 0, sizeof(ev));
	cr_assert(ndd_event_get(h.event[0], &ev));
	cr_assert(ev.session == 1 && ev.object == 2 && ev.handle == 3 && ev.type == 4);
	ndd_handover_fini(&h);
}
