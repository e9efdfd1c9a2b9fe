/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs brought up by hand, whose next hop is not known yet. */
#include "object/qp_path.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "object/qp.h"
#include "platform/clock.h"
#include "rigs/handshake.h"
#include "rigs/net_rig.h"
#include "roce/qp/qp.h"

#define SILENT "10.77.0.9" /* nobody answers there */

/* A client's queue pair in INIT, and the network of its daemon. */
struct world {
	struct handshake b;
	struct ndd *d;
	struct net_rig net;
};

static enum ndsh_status
step(struct world *w, uint32_t state, uint32_t mask, const char *to)
{
	struct ndsh_qp_modify m = {.h.type = NDSH_MSG_QP_MODIFY,
		.qp = w->b.qp_id,
		.state = state,
		.attr = {.mask = mask,
			.hop_limit = 64,
			.max_dest_rd = 1,
			.max_rd = 1,
			.min_rnr_code = 12,
			.timeout_code = 14,
			.retry = 7,
			.rnr_retry = 7,
			.mtu_bytes = 1024,
			.dest_qpn = PEER_QPN,
			.rq_psn = 7,
			.sq_psn = 8}};
	uint8_t reply[NDSH_MSG_BYTES];

	memcpy(m.attr.ip, net_rig_gid(to).raw, 16);
	return ndd_rig_ask(w->b.r, w->b.client, &m, reply);
}

static enum ndsh_status
step_to_rts(struct world *w, const char *to)
{
	return step(w, NDSH_QPS_RTS,
		NDSH_QPA_PATH | NDSH_QPA_MTU | NDSH_QPA_DEST_QPN | NDSH_QPA_RQ_PSN |
			NDSH_QPA_MAX_DEST_RD | NDSH_QPA_MIN_RNR | NDSH_QPA_TIMEOUT |
			NDSH_QPA_RETRY | NDSH_QPA_RNR_RETRY | NDSH_QPA_SQ_PSN | NDSH_QPA_MAX_RD,
		to);
}

static struct world
world_new(void)
{
	struct world w = {.b = handshake_new(false)};

	w.d = &w.b.r->d;
	w.net = (struct net_rig){.n = w.d->net, .now = ndd_now_ns()};
	w.b.s->account.principal->credit_ns = 100 * NDD_S;
	cr_assert(eq(i32, step(&w, NDSH_QPS_INIT, NDSH_QPA_ACCESS, SILENT), NDSH_OK));
	return w;
}

/* The client is told this of its step, and no more; or nothing. */
static void
expect_told(struct world *w, bool told, enum ndsh_status status)
{
	union {
		struct ndsh_ev_qp qp;
		uint8_t bytes[NDSH_MSG_BYTES];
	} m;

	if (told) {
		cr_assert_gt(ndd_rig_take(w->b.client, &m, NULL), 0);
		cr_expect(eq(u16, m.qp.h.type, NDSH_EV_QP_MODIFIED));
		cr_expect(eq(u32, m.qp.qp, w->b.qp->owner.handle));
		cr_expect(eq(i32, m.qp.h.status, status));
	}
	cr_expect(eq(long, ndd_rig_take(w->b.client, &m, NULL), 0));
}

/* It waits for the neighbour, and meanwhile for no other step. */
Test(qp_path, a_step_waits_for_its_next_hop)
{
	struct world w = world_new();

	cr_assert(eq(i32, step_to_rts(&w, "10.77.0.2"), NDSH_PENDING));
	cr_expect(ndd_qp_path_is_pending(w.b.qp));
	cr_expect(eq(i32, step_to_rts(&w, "10.77.0.2"), NDSH_ERR_BUSY));
	ndd_followers_tick(w.d, w.net.now);
	expect_told(&w, false, NDSH_OK);
	net_rig_rx(&w.net, ARP_PEER_ANSWERS);
	ndd_followers_tick(w.d, w.net.now);
	expect_told(&w, true, NDSH_OK);
	cr_expect(eq(int, roce_qp_state_get(w.b.qp->engine), ROCE_QPS_RTS));
	cr_expect(not(ndd_qp_path_is_pending(w.b.qp)));
	ndd_followers_tick(w.d, ndd_now_ns() + 4 * NDD_S);
	expect_told(&w, false, NDSH_OK);
}

/* Three seconds, and it is as it was. */
Test(qp_path, nobody_answers)
{
	struct world w = world_new();
	uint64_t deadline_ns;

	cr_assert(eq(i32, step_to_rts(&w, SILENT), NDSH_PENDING));
	deadline_ns = w.d->followers.deadline_ns;
	cr_expect(ge(u64, deadline_ns, w.net.now + 3 * NDD_S));
	ndd_followers_tick(w.d, deadline_ns - 1);
	expect_told(&w, false, NDSH_OK);
	ndd_followers_tick(w.d, deadline_ns);
	expect_told(&w, true, NDSH_ERR_HOST_UNREACHABLE);
	cr_expect(eq(ptr, w.b.qp->path, NULL));
	cr_expect(eq(int, roce_qp_state_get(w.b.qp->engine), ROCE_QPS_INIT));
	cr_expect(eq(i32, step_to_rts(&w, SILENT), NDSH_PENDING), "it may try again");
}

/* W-GID-03: a path in use whose neighbour moves while another one is asked for is followed when
 * that comes to nothing. */
Test(qp_path, W_GID_03_a_neighbour_that_moves_meanwhile)
{
	static const uint8_t peer[6] = {2, 0, 0, 0, 0x77, 2}, other[6] = {2, 0, 0, 0, 0x77, 3};
	struct world w = world_new();

	cr_assert(eq(i32, step_to_rts(&w, "10.77.0.2"), NDSH_PENDING));
	net_rig_rx(&w.net, ARP_PEER_ANSWERS);
	ndd_followers_tick(w.d, w.net.now);
	expect_told(&w, true, NDSH_OK);
	cr_assert(zero(int, memcmp(w.b.qp->engine->tmpl.bytes, peer, 6)));
	cr_assert(eq(i32, step(&w, NDSH_QPS_SQD, 0, SILENT), NDSH_OK));
	cr_assert(eq(i32, step(&w, NDSH_QPS_SQD, NDSH_QPA_PATH, SILENT), NDSH_PENDING));
	net_rig_run_until(&w.net, w.net.now + 2 * S);
	net_rig_rx(&w.net, ARP(ALL, OTHER, "001", OTHER, IP_PEER, NOBODY, IP_PEER));
	net_rig_rx(&w.net, ARP(ME, OTHER, "002", OTHER, IP_PEER, ME, IP_ME));
	ndd_followers_tick(w.d, w.net.now);
	expect_told(&w, false, NDSH_OK);
	ndd_followers_tick(w.d, w.net.now + 4 * S);
	expect_told(&w, true, NDSH_ERR_HOST_UNREACHABLE);
	cr_expect(zero(int, memcmp(w.b.qp->engine->tmpl.bytes, other, 6)));
}
