/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that an lcore leaves to the control thread: which of those to QP 1 reach the CM. */
#include <criterion/criterion.h>
#include <rte_mbuf.h>
#include <string.h>

#include "hostnet/host.h"
#include "rigs/eal_rig.h"
#include "rigs/ndd_rig.h"
#include "wire/build.h"
#include "wire/gsi.h"
#include "wire/icrc.h"

#define FRAMES 64u
#define RTU    0x14

static struct ndd_rig *rig;
static struct rte_mempool *pool;

static void
start(void)
{
	const int node[NDD_SHARDS_MAX] = {0};

	eal_rig_start(NULL);
	rig = ndd_rig_new();
	cr_assert(ndd_handover_init(&rig->d.plane.rings, 1, node, rig->d.plane.secret));
	pool = eal_rig_pool(FRAMES);
}

TestSuite(host, .init = start);

enum fault { NONE, ICRC, ADDRESS, VLAN, Q_KEY, LENGTH, FAULTS };

/* An RTU of a neighbour, with one fault. */
static uint32_t
make(uint8_t *frame, enum fault fault)
{
	struct roce_path path = {.sgid = {{[10] = 0xff, 0xff, 10, 77, 0, 2}},
		.dgid = {{[10] = 0xff, 0xff, 10, 77, 0, fault == ADDRESS ? 9 : 1}},
		.smac = {2, 0, 0, 0, 0x77, 2},
		.dmac = {2, 0, 0, 0, 0x77, 1},
		.ttl = 64,
		.udp_sport = ROCE_GSI_SPORT,
		.tagged = fault == VLAN,
		.vlan_tci = 5};
	struct roce_pkt pkt = {.opcode = ROCE_UD_SEND_ONLY,
		.qpn = ROCE_QPN_GSI,
		.pkey = ROCE_PKEY_DEFAULT,
		.qkey = fault == Q_KEY ? ROCE_QKEY_GSI ^ 1 : ROCE_QKEY_GSI,
		.src_qpn = ROCE_QPN_GSI,
		.payload_bytes = ROCE_MAD_BYTES - (fault == LENGTH)};
	static const uint8_t mad[ROCE_MAD_BYTES] = {1, 7, 2, 3, [17] = RTU};
	struct roce_hdr_tmpl tmpl;
	uint32_t n;

	roce_hdr_tmpl_init(&tmpl, &path);
	n = roce_wire_build(frame, &tmpl, &pkt, 0);
	memcpy(frame + n, mad, pkt.payload_bytes);
	n = roce_wire_seal(frame, &tmpl, n, pkt.payload_bytes);
	frame[n - 1] ^= fault == ICRC;
	return n;
}

/* checks W-ICRC-05[1,4], W-PKT-02[6], W-PKT-13[2,3] */
Test(host, W_PKT_13_what_reaches_the_cm)
{
	const struct roce_cm_counters *c = roce_cm_counters(rig->d.cm);

	for (enum fault fault = NONE; fault < FAULTS; fault++) {
		const struct roce_cm_counters was = *c;
		const unsigned counted = fault == Q_KEY || fault == LENGTH;
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		m->data_len = (uint16_t)make(rte_pktmbuf_mtod(m, uint8_t *), fault);
		m->pkt_len = m->data_len;
		m->port = 0;
		cr_assert(ndd_up_put(&rig->d.plane.rings.up[0], 0, m));
		cr_assert_not(ndd_host_rx(&rig->d, 1, 0));
		cr_assert_eq(rte_mempool_avail_count(pool), FRAMES);
		cr_assert_eq(c->rx_rtu - was.rx_rtu, fault == NONE, "fault %d", fault);
		cr_assert_eq(c->rx_malformed - was.rx_malformed, counted, "fault %d", fault);
	}
}
