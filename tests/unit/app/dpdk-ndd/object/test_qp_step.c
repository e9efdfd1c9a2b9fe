/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of a queue pair's state that its client asks for: what is judged, said and done. */
#include "object/qp_step.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "control/daemon.h"
#include "lcore/shard.h"
#include "object/qp.h"
#include "object/qp_path.h"
#include "rigs/lone_shard.h"
#include "rigs/net_rig.h"
#include "roce/qp/qp.h"
#include "session/session.h"
#include "shm/ndsh_msg_object.h"

#define TO_RTR                                                                                     \
	(ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |                      \
		ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR)
#define TO_RTS                                                                                     \
	(ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD)
#define WHY 160

static const struct roce_qp_attr good = {
	.path = {.udp_sport = 0xc000, .ttl = 64, .smac = {2, 1}, .dmac = {2, 2}},
	.mtu_bytes = 1024,
	.port_mtu_bytes = 1024,
	.dest_qpn = 0x123,
	.rq_psn = 7,
	.sq_psn = 8,
	.max_dest_rd = 16,
	.max_rd = 16,
	.min_rnr_code = 12,
	.timeout_code = 14,
	.retry = 7,
	.rnr_retry = 7,
};

struct world {
	struct ndd_shard shard; /* it does not run: its calls are made at once */
	struct ndd_principal principal;
	struct ndd_session s;
	struct ndd_qp qp;
	void *block;
	unsigned failed; /* how often the queue pair's user was told so */
};

static struct world w;

static void
on_failed(struct ndd_conn *c)
{
	(void)c;
	w.failed++;
}

static void
world_init(void)
{
	static const struct ndd_qp_user user = {.failed = on_failed};
	struct roce_shard_cfg cfg = lone_config();
	struct ndsh_cq_page *page = aligned_alloc(64, 65536);

	memset(&w, 0, sizeof(w));
	memset(page, 0, 65536);
	w.s.shard = &w.shard;
	w.s.account.principal = &w.principal;
	w.shard.engine = lone_shard_new(&cfg);
	w.qp.engine = lone_qp_new(w.shard.engine, roce_pd_create(w.shard.engine),
		roce_cq_create(w.shard.engine, NULL, page, 64, NULL), &w.block);
	cr_assert_not_null(w.qp.engine);
	w.qp.user = &user;
}

TestSuite(qp_step, .init = world_init);

static enum ndsh_status
step(enum roce_qp_state to, uint32_t mask, const struct roce_qp_attr *attr, char why[WHY])
{
	struct ndd_qp_step st = {.to = to, .mask = mask, .attr = *attr};

	why[0] = 0;
	return ndd_qp_step(&w.s, &w.qp, &st, why, WHY);
}

static void
step_ok(enum roce_qp_state to, uint32_t mask)
{
	char why[WHY];

	cr_assert(eq(i32, step(to, mask, &good, why), NDSH_OK), "%s", why);
	cr_assert(eq(i32, roce_qp_state_get(w.qp.engine), to));
}

Test(qp_step, by_hand_from_reset_to_rts)
{
	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	cr_expect(not(w.qp.by_hand), "a connection may still have it");
	step_ok(ROCE_QPS_RTR, TO_RTR);
	cr_expect(w.qp.by_hand);
	step_ok(ROCE_QPS_RTS, TO_RTS);
	step_ok(ROCE_QPS_SQD, 0);
	step_ok(ROCE_QPS_RTS, 0);
	cr_expect(not(w.qp.failed));
}

/* What a peer of its life before sends does not fit. checks W-PSN-04[1] */
Test(qp_step, a_reset_draws_another_first_psn)
{
	uint32_t before = w.qp.psn;

	for (unsigned i = 0; i < 8; i++) {
		step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
		step_ok(ROCE_QPS_RESET, 0);
		cr_expect(ne(u32, w.qp.psn, before));
		before = w.qp.psn;
	}
}

/* One step, judged as the two that it stands for. */
Test(qp_step, from_init_to_rts_at_once)
{
	struct roce_qp_attr got;

	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	step_ok(ROCE_QPS_RTS, TO_RTR | TO_RTS | ROCE_QPA_ACCESS);
	cr_expect(w.qp.by_hand);
	(void)roce_qp_query(w.qp.engine, &got);
	cr_expect(eq(u32, got.dest_qpn, 0x123));
	cr_expect(eq(u32, got.rq_psn, 7));
	cr_expect(eq(u32, got.sq_psn, 8));
	cr_expect(eq(u32, got.mtu_bytes, 1024));
}

Test(qp_step, what_is_missing_is_named)
{
	char why[WHY];

	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	cr_expect(
		eq(i32, step(ROCE_QPS_RTR, TO_RTR & ~(ROCE_QPA_PATH | ROCE_QPA_RQ_PSN), &good, why),
			NDSH_ERR_ATTRIBUTE_MASK));
	cr_expect(eq(str, why, "INIT to RTR also needs: path, receive PSN"));
	/* Of the second half, before the first one is done. */
	cr_expect(eq(i32, step(ROCE_QPS_RTS, TO_RTR | (TO_RTS & ~ROCE_QPA_RETRY), &good, why),
		NDSH_ERR_ATTRIBUTE_MASK));
	cr_expect(eq(str, why, "INIT to RTS also needs: retries"));
	cr_expect(eq(i32, roce_qp_state_get(w.qp.engine), ROCE_QPS_INIT), "nothing has changed");
	cr_expect(not(w.qp.by_hand));
}

Test(qp_step, what_is_too_much_is_named)
{
	char why[WHY];

	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	cr_expect(eq(i32, step(ROCE_QPS_RTR, TO_RTR | ROCE_QPA_RETRY, &good, why),
		NDSH_ERR_ATTRIBUTE_MASK));
	cr_expect(eq(str, why, "INIT to RTR does not take: retries"));
	cr_expect(eq(i32, roce_qp_state_get(w.qp.engine), ROCE_QPS_INIT));
}

/* checks W-QP-05, W-QP-06[2]: what the port or the engine does not carry is refused, by its name */
Test(qp_step, W_QP_05_W_QP_06_values_out_of_range_are_named)
{
	struct roce_qp_attr attr = good;
	char why[WHY];

	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	attr.mtu_bytes = 2048;
	cr_expect(eq(i32, step(ROCE_QPS_RTR, TO_RTR, &attr, why), NDSH_ERR_INVALID_PARAMETER));
	cr_expect(eq(str, why, "out of range: path MTU"));
	attr.max_dest_rd = 17;
	attr.mtu_bytes = 1024;
	cr_expect(eq(i32, step(ROCE_QPS_RTR, TO_RTR, &attr, why), NDSH_ERR_INVALID_PARAMETER));
	cr_expect(eq(str, why, "out of range: inbound reads"));
	attr = good;
	attr.max_rd = 17;
	cr_expect(eq(
		i32, step(ROCE_QPS_RTS, TO_RTR | TO_RTS, &attr, why), NDSH_ERR_INVALID_PARAMETER));
	cr_expect(eq(str, why, "out of range: outbound reads"));
	cr_expect(eq(i32, roce_qp_state_get(w.qp.engine), ROCE_QPS_INIT));
}

Test(qp_step, ways_that_do_not_exist_are_refused)
{
	char why[WHY];

	cr_expect(eq(i32, step(ROCE_QPS_RTS, TO_RTS, &good, why), NDSH_ERR_INVALID_STATE));
	cr_expect(eq(str, why, "no way leads from RESET to RTS"));
	cr_expect(eq(i32, step(ROCE_QPS_RTR, TO_RTR, &good, why), NDSH_ERR_INVALID_STATE));
	cr_expect(eq(i32, step((enum roce_qp_state)77, 0, &good, why), NDSH_ERR_INVALID_STATE));
	cr_expect(eq(str, why, "no way leads from RESET to no state"));
}

/* Of an unreliable connection: the client's states and words are those of RC, not the engine's. */
Test(qp_step, an_unreliable_connection)
{
	const uint32_t to_rtr = ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN;
	char why[WHY];

	w.qp.unreliable = w.qp.engine->unreliable = true;
	for (uint32_t state = NDSH_QPS_RESET; state <= NDSH_QPS_SQE; state++) {
		enum roce_qp_state to = ndd_qp_state_to(true, state);

		cr_expect(eq(u32, ndd_qp_state_from(to), state));
		cr_expect(eq(int, ndd_qp_state_to(false, state),
			state == NDSH_QPS_SQE ? ROCE_QPS_COUNT : state));
	}
	cr_expect(eq(int, ndd_qp_state_to(true, NDSH_QPS_SQE + 1), ROCE_QPS_COUNT));
	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	cr_expect(eq(i32, step(ROCE_QPS_UC_RTR, to_rtr & ~ROCE_QPA_MTU, &good, why),
		NDSH_ERR_ATTRIBUTE_MASK));
	cr_expect(eq(str, why, "INIT to RTR also needs: path MTU"));
	cr_expect(eq(i32,
		step(ROCE_QPS_UC_RTS, to_rtr | ROCE_QPA_SQ_PSN | ROCE_QPA_RETRY, &good, why),
		NDSH_ERR_ATTRIBUTE_MASK));
	cr_expect(eq(str, why, "INIT to RTS does not take: retries"));
	step_ok(ROCE_QPS_UC_RTS, to_rtr | ROCE_QPA_SQ_PSN);
	cr_expect(w.qp.by_hand);
	cr_expect(eq(i32, step(ROCE_QPS_UC_SQE, 0, &good, why), NDSH_ERR_INVALID_STATE));
	cr_expect(eq(str, why, "no way leads from RTS to SQE"));
	step_ok(ROCE_QPS_UC_SQD, 0);
	step_ok(ROCE_QPS_UC_RTS, 0);
	step_ok(ROCE_QPS_RESET, 0);
}

Test(qp_step, a_check_changes_nothing)
{
	struct ndd_qp_step st = {.to = ROCE_QPS_INIT, .mask = ROCE_QPA_ACCESS, .attr = good};
	char why[WHY] = "";

	cr_expect(eq(i32, ndd_qp_step_check(&w.s, &w.qp, &st, why, WHY), NDSH_OK));
	cr_expect(eq(i32, st.from, ROCE_QPS_RESET));
	cr_expect(eq(i32, roce_qp_state_get(w.qp.engine), ROCE_QPS_RESET));
	st.mask = 0;
	cr_expect(eq(i32, ndd_qp_step_check(&w.s, &w.qp, &st, why, WHY), NDSH_ERR_ATTRIBUTE_MASK));
	cr_expect(eq(str, why, "RESET to INIT also needs: access"));
}

Test(qp_step, to_error_its_connection_is_told)
{
	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	step_ok(ROCE_QPS_ERR, 0);
	cr_expect(w.qp.failed);
	cr_expect(eq(u32, w.failed, 0), "it has none");
	step_ok(ROCE_QPS_RESET, 0);
	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	w.qp.conn = (struct ndd_conn *)&w;
	step_ok(ROCE_QPS_ERR, 0);
	cr_expect(eq(u32, w.failed, 1));
}

/* Packets of its life before must not fit. */
Test(qp_step, after_reset_it_begins_anew)
{
	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	step_ok(ROCE_QPS_ERR, 0);
	w.qp.psn = UINT32_MAX;
	step_ok(ROCE_QPS_RESET, 0);
	cr_expect(not(w.qp.failed));
	cr_expect(le(u32, w.qp.psn, 0xffffff));
	cr_expect(w.qp.by_hand);
	w.qp.connected = true;
	step_ok(ROCE_QPS_RESET, 0);
	cr_expect(not(w.qp.by_hand), "its connection is the last word");
}

static uint16_t
source_port(void)
{
	const struct roce_hdr_tmpl *t = &w.qp.engine->tmpl;
	const uint8_t *udp = t->bytes + t->l3_off + 20;

	return (uint16_t)(udp[0] << 8 | udp[1]);
}

/* A daemon that knows the peer's neighbour, and the queue pair in SQD. */
static void
on_a_network(struct ndd *d, struct net_rig *net)
{
	static struct config cfg;

	net_rig_init(net, 16);
	net_rig_meet_peer(net);
	ndd_followers_init(&d->followers);
	TAILQ_INIT(&d->accounts.principals);
	TAILQ_INIT(&w.principal.due);
	TAILQ_INIT(&w.principal.moved);
	TAILQ_INSERT_TAIL(&d->accounts.principals, &w.principal, next);
	w.principal.credit_ns = INT64_MAX;
	d->net = net->n;
	d->cfg = &cfg;
	d->plane.port[0].mtu = 1500;
	w.s.daemon = d;
	step_ok(ROCE_QPS_INIT, ROCE_QPA_ACCESS);
	step_ok(ROCE_QPS_RTS, TO_RTR | TO_RTS);
	step_ok(ROCE_QPS_SQD, 0);
}

static enum ndsh_status
try_path(uint32_t flow_label, char *why)
{
	const struct net_ip from = net_rig_ip("10.77.0.1"), to = net_rig_ip("10.77.0.2");
	struct ndd_qp_step st = {.to = ROCE_QPS_SQD,
		.mask = ROCE_QPA_PATH,
		.attr.path = {.ttl = 64, .flow_label = flow_label}};

	memcpy(st.attr.path.sgid.raw, from.b, 16);
	memcpy(st.attr.path.dgid.raw, to.b, 16);
	return ndd_qp_path_take(&w.s, &w.qp, &st, why, WHY);
}

static void
take_path(uint32_t flow_label)
{
	char why[WHY] = "";

	cr_assert(eq(i32, try_path(flow_label, why), NDSH_OK), "%s", why);
}

/* checks W-QP-04: the port follows from the new path's flow label (W-CM-71). */
Test(qp_step, W_QP_04_a_new_path_in_sqd_has_a_port_of_its_own)
{
	static const uint32_t labels[] = {0x54321, 0x12345};
	static struct ndd d;
	struct net_rig net;

	on_a_network(&d, &net);
	for (unsigned i = 0; i < 2; i++) {
		take_path(labels[i]);
		cr_expect(eq(u16, source_port(), roce_flow_sport(labels[i], 1, 2)));
	}
	cr_expect(ne(u16, roce_flow_sport(labels[0], 1, 2), roce_flow_sport(labels[1], 1, 2)));
}

/* The peer's queue pair may be another client's, or have enough of this client's already. */
Test(qp_step, a_path_to_a_peer_that_others_have)
{
	static struct ndd_qp others[NDD_PEER_MOST];
	const struct roce_gid gid = net_rig_gid("10.77.0.2");
	static struct ndd d;
	struct ndd_session another = {.daemon = &d};
	char why[WHY] = "";
	struct net_rig net;

	on_a_network(&d, &net);
	ndd_peer_take(&another, &others[0], &gid, w.qp.peer.qpn, true);
	cr_expect(eq(i32, try_path(0, why), NDSH_ERR_ADDRESS_IN_USE));
	cr_expect(ne(ptr, strstr(why, "another client's"), NULL), "%s", why);
	for (unsigned i = 0; i < NDD_PEER_MOST; i++)
		ndd_peer_take(&w.s, &others[i], &gid, w.qp.peer.qpn, true);
	cr_expect(eq(i32, try_path(0, why), NDSH_ERR_ADDRESS_IN_USE));
	cr_expect(eq(ptr, w.qp.peer.session, NULL));
	ndd_peer_give(&others[0]);
	take_path(0);
	cr_expect(eq(ptr, w.qp.peer.session, &w.s));
	cr_expect(w.qp.peer.by_hand);
	take_path(1); /* another time, it is not beside itself */
}

static bool
is_lost(struct ndd *d, const struct roce_path *path, const void *asked)
{
	const struct roce_gid gid = net_rig_gid("10.77.0.2");

	(void)d;
	++*(unsigned *)(uintptr_t)asked;
	return roce_gid_equal(&path->dgid, &gid);
}

Test(qp_step, a_path_that_is_lost_ends_the_queue_pair_once)
{
	unsigned asked = 0;
	static struct ndd d;
	struct net_rig net;

	on_a_network(&d, &net);
	take_path(0);
	for (unsigned i = 0; i < 2; i++) {
		ndd_followers_end(&d, is_lost, &asked, "it is lost");
		cr_expect(w.qp.failed);
		cr_expect(eq(u32, asked, 1));
	}
}

/* checks W-GID-03[2,3]: frames go to the old MAC address until the new one is known, and then to
 * that one. */
Test(qp_step, W_GID_03_a_neighbours_new_address_is_followed)
{
	static const uint8_t peer[6] = {2, 0, 0, 0, 0x77, 2}, other[6] = {2, 0, 0, 0, 0x77, 3};
	static struct ndd d;
	struct net_rig net;

	on_a_network(&d, &net);
	take_path(0);
	cr_assert(zero(int, memcmp(w.qp.engine->tmpl.bytes, peer, 6)));
	net_rig_run_until(&net, net.now + 2 * S);
	net_rig_rx(&net, ARP(ALL, OTHER, "001", OTHER, IP_PEER, NOBODY, IP_PEER));
	net_rig_expect_tx(&net, ARP_ASK_PEER);
	ndd_followers_tick(&d, net.now);
	cr_expect(zero(int, memcmp(w.qp.engine->tmpl.bytes, peer, 6)), "it is being asked");
	net_rig_rx(&net, ARP(ME, OTHER, "002", OTHER, IP_PEER, ME, IP_ME));
	ndd_followers_tick(&d, net.now);
	cr_expect(zero(int, memcmp(w.qp.engine->tmpl.bytes, other, 6)));
}
