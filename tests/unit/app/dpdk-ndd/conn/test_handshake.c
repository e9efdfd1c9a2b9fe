/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a connection's REQ and REP say of its queue pair, and what becomes of what the peer's
 * say.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "cm/codec.h"
#include "conn/bring_up.h"
#include "conn/conn.h"
#include "conn/leave.h"
#include "conn/listener.h"
#include "conn/passive.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "rigs/cm_crowd.h"
#include "rigs/handshake.h"
#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"
#include "roce/mem/door.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "session/class.h"
#include "session/leave.h"

static const struct net_nexthop next_hop = {.port = 0, .smac = {2, 1}, .dmac = {2, 2}, .mtu = 1500};

/* ---- the active side ---- */

Test(handshake, what_a_request_says)
{
	for (unsigned ecn = NDSH_ECN_PORT; ecn <= NDSH_ECN_ON; ecn++) {
		struct handshake b = handshake_new(false);
		struct roce_cm_tx tx;
		struct cm_mad m;

		(void)handshake_connect(&b, (uint8_t)(46u << 2 | ecn), &next_hop);
		m = handshake_mad(&b, &tx);
		cr_expect(eq(u32, m.attr, CM_ATTR_REQ));
		cr_expect(eq(u32, m.qpn, b.qp->qpn));
		cr_expect(eq(u32, m.psn, b.qp->psn));
		cr_expect(eq(u32, m.responder_resources, 7));
		cr_expect(eq(u32, m.initiator_depth, 5));
		cr_expect(eq(u32, m.retry_count, 5));
		cr_expect(eq(u32, m.ack_timeout, 18));
		cr_expect(eq(u32, m.tclass, 46 << 2), "the DSCP without ECN bits");
		cr_expect(eq(u32, m.flow_label, (PEER_PORT * 31 + SERVICE) & 0xfffff));
		cr_expect(eq(u32, m.hop_limit, 64));
		cr_expect(eq(u8, tx.tos, 46 << 2));
		cr_expect(eq(u8, tx.hop_limit, 64));
	}
}

/* checks W-CM-32[1]: the path MTU is the largest that the link of the next hop carries. */
Test(handshake, W_CM_32_the_mtu_of_a_request)
{
	static const struct {
		uint32_t ip_mtu, code;
	} rows[] = {{576, 1}, {1500, 3}, {4191, 4}, {4200, 5}, {9000, 5}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct handshake b = handshake_new(false);
		struct roce_cm_tx tx;

		b.r->d.plane.port[0].mtu = (uint16_t)rows[i].ip_mtu;
		(void)handshake_connect(&b, 0, &next_hop);
		cr_expect(eq(u32, handshake_mad(&b, &tx).mtu, rows[i].code), "MTU %u",
			rows[i].ip_mtu);
	}
}

/* checks W-CM-73[6]: the SL of the REQ is the priority of the tag that our own packets have, by the
 * VLAN or by the DSCP; 0 without a tag. */
Test(handshake, W_CM_73_the_sl_of_a_request)
{
	static const struct {
		uint16_t vlan;
		uint8_t priority;
		uint32_t sl;
	} rows[] = {{0, 5, 0}, {100, 0, 0}, {100, 5, 5}, {100, NET_PRIORITY_OF_DSCP, 46 >> 3},
		{0, NET_PRIORITY_OF_DSCP, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct net_nexthop hop = next_hop;
		struct handshake b = handshake_new(false);
		struct roce_cm_tx tx;

		hop.vlan = rows[i].vlan;
		hop.priority = rows[i].priority;
		(void)handshake_connect(&b, 46 << 2, &hop);
		cr_expect(eq(u32, handshake_mad(&b, &tx).sl, rows[i].sl), "row %zu", i);
	}
}

/*
 * checks W-CM-30[1], W-CM-31[2], W-CM-35[2], W-CM-37[3]: the queue pair is in RTS, with what the
 * REP says, when the RTU may leave.
 */
Test(handshake, W_CM_35_ready_before_the_rtu)
{
	for (unsigned srq = 0; srq < 2; srq++) {
		struct handshake b = handshake_new(false);
		struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);
		struct roce_qp_attr attr;
		struct roce_cm_tx tx;

		handshake_reply(&b, c, srq);
		cr_expect(ne(int, roce_qp_state_get(b.qp->engine), ROCE_QPS_RTS));
		cr_expect(not(roce_cm_tx(b.r->d.cm, &tx)), "no RTU before the client completes");
		(void)handshake_ask(&b,
			&(struct ndsh_id_msg){.h.type = NDSH_MSG_COMPLETE_CONNECT, .id = c->id});
		cr_expect(eq(u32, handshake_mad(&b, &tx).attr, CM_ATTR_RTU));
		cr_assert(eq(int, roce_qp_state_get(b.qp->engine), ROCE_QPS_RTS));
		(void)roce_qp_query(b.qp->engine, &attr);
		cr_expect(eq(u32, attr.dest_qpn, PEER_QPN));
		cr_expect(eq(u32, attr.rq_psn, b.qp->psn));
		cr_expect(eq(u32, attr.sq_psn, PEER_PSN));
		cr_expect(eq(u32, attr.mtu_bytes, 1024));
		cr_expect(eq(u8, attr.max_rd, 4), "what the peer serves");
		cr_expect(eq(u8, attr.max_dest_rd, 3), "what the peer issues");
		cr_expect(eq(u8, attr.retry, 5), "our own");
		cr_expect(eq(u8, attr.rnr_retry, 6));
		cr_expect(eq(u8, attr.timeout_code, 18), "W-CM-33: of a delay of 17");
		cr_expect(eq(u32, attr.rnr_give_up_ms, srq ? 0 : 2000));
	}
}

/* No other client can give its queue pair the peer's as long as this one is up: not even while the
 * connection leaves. */
Test(handshake, the_peers_queue_pair_is_the_clients_alone)
{
	struct handshake b = handshake_new(false);
	struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);
	const struct ndd_session other = {.daemon = &b.r->d};
	struct roce_cm_tx tx;

	handshake_reply(&b, c, false);
	cr_expect(not(ndd_peer_is_taken(&other, &c->remote.gid, PEER_QPN)));
	(void)handshake_ask(
		&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_COMPLETE_CONNECT, .id = c->id});
	cr_expect(eq(u32, handshake_mad(&b, &tx).attr, CM_ATTR_RTU));
	cr_expect(ndd_peer_is_taken(&other, &c->remote.gid, PEER_QPN));
	cr_expect(not(ndd_peer_is_taken(b.s, &c->remote.gid, PEER_QPN)));
	ndd_conn_leave(c, ndd_now_ns());
	cr_assert(eq(int, c->state, NDD_CONN_LEAVING));
	cr_expect(ndd_peer_is_taken(&other, &c->remote.gid, PEER_QPN));
	ndd_conn_over(c);
	cr_expect(not(ndd_peer_is_taken(&other, &c->remote.gid, PEER_QPN)));
}

static unsigned
claims(const struct ndd *d)
{
	const struct ndd_peer *p;
	unsigned n = 0;

	for (unsigned i = 0; i < NDD_PEER_BUCKETS; i++)
		LIST_FOREACH (p, &d->peers.bucket[i], entry)
			n++;
	return n;
}

/* A connection comes before what another client was given by hand; a queue pair in error claims
 * nothing. */
Test(handshake, a_connection_evicts_what_was_given_by_hand)
{
	struct handshake b = handshake_new(false), other = handshake_at(b.r, false);
	struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);

	handshake_reply(&b, c, false);
	ndd_peer_take(other.s, other.qp, &c->remote.gid, PEER_QPN, true);
	(void)handshake_ask(
		&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_COMPLETE_CONNECT, .id = c->id});
	cr_expect(other.qp->failed);
	cr_expect(not(b.qp->failed));
	cr_expect(eq(u32, claims(&b.r->d), 1));
	ndd_object_free(&ndd_qp_class, b.s, b.qp);
	cr_expect(eq(u32, claims(&b.r->d), 0), "nor one that is gone");
}

Test(handshake, a_queue_pair_that_is_reset_claims_nothing)
{
	struct handshake b = handshake_new(false);
	const struct roce_gid gid = net_rig_gid(PEER_IP);

	ndd_peer_take(b.s, b.qp, &gid, PEER_QPN, true);
	(void)handshake_ask(
		&b, &(struct ndsh_qp_modify){
			    .h.type = NDSH_MSG_QP_MODIFY, .qp = b.qp_id, .state = NDSH_QPS_RESET});
	cr_expect(eq(u32, claims(&b.r->d), 0));
}

/* One that is established follows its next hop, and has a destination that may be lost. */
Test(handshake, what_a_connection_follows)
{
	struct handshake b = handshake_new(false);
	struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);
	const struct ndd_follower_kind *kind = c->follower.kind;
	static const struct roce_gid none;

	for (unsigned state = NDD_CONN_BOUND; state <= NDD_CONN_OVER; state++) {
		const bool there = state == NDD_CONN_ESTABLISHED,
			   asks = state == NDD_CONN_RESOLVING || state == NDD_CONN_ACCEPTING;
		struct roce_path path = {0};

		c->state = state;
		cr_expect(eq(int, kind->moved(&c->follower),
				  asks	  ? NDD_FOLLOW_FIRST
				  : there ? NDD_FOLLOW_BEHIND
					  : NDD_FOLLOW_NOT),
			"state %u", state);
		cr_expect(eq(int, kind->addresses(&c->follower, &path), state != NDD_CONN_OVER));
		cr_expect(roce_gid_equal(&path.sgid, &c->local.gid));
		cr_expect(roce_gid_equal(&path.dgid, there ? &c->remote.gid : &none), "%u", state);
	}
}

/* One whose path is lost while it resolves can't reach the peer. */
Test(handshake, a_path_that_is_lost_before_the_request)
{
	struct handshake b = handshake_new(false);
	struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);
	union handshake_told told;

	c->state = NDD_CONN_RESOLVING;
	c->follower.kind->end(&c->follower, "it is lost");
	cr_assert_gt(ndd_rig_take(b.client, &told, NULL), 0);
	cr_expect(eq(u16, told.conn.h.type, NDSH_EV_CONN_REPLY));
	cr_expect(eq(i32, told.conn.h.status, NDSH_ERR_NETWORK_UNREACHABLE));
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
}

/* A queue pair that can't be brought up: no RTU, and the peer is told. */
Test(handshake, no_rtu_for_a_queue_pair_that_is_not_ready)
{
	struct handshake b = handshake_new(false);
	struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);
	const struct ndsh_id_msg complete = {.h.type = NDSH_MSG_COMPLETE_CONNECT, .id = c->id};
	union handshake_told reply;
	struct roce_cm_tx tx;

	handshake_reply(&b, c, false);
	c->peer.qpn = 1u << 24; /* no queue pair has that number */
	cr_expect(eq(i32, ndd_rig_ask(b.r, b.client, &complete, &reply), NDSH_ERR_ABORTED));
	cr_expect(eq(u32, handshake_mad(&b, &tx).attr, CM_ATTR_REJ));
	cr_expect(not(roce_cm_tx(b.r->d.cm, &tx)));
}

/* checks W-CM-53[4]: a stale connection is a refusal like any other. Nothing is tried again by
 * itself; the queue pair is free for what its client tries next. */
Test(handshake, W_CM_53_a_stale_connection_is_refused)
{
	struct handshake b = handshake_new(false);
	struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);
	struct roce_cm_tx tx;
	const struct cm_mad req = handshake_mad(&b, &tx);
	const struct cm_mad rej = {.attr = CM_ATTR_REJ,
		.remote_id = req.local_id,
		.which = CM_WHICH_REQ,
		.reason = 10};
	const struct roce_cm_event ev = handshake_hear(&b, &rej);
	union handshake_told told;

	cr_assert(eq(int, ev.type, ROCE_CM_EV_REJECTED));
	ndd_conn_on_rejected(&b.r->d, &ev);
	cr_assert_gt(ndd_rig_take(b.client, &told, NULL), 0);
	cr_expect(eq(u16, told.conn.h.type, NDSH_EV_CONN_REPLY));
	cr_expect(eq(i32, told.conn.h.status, NDSH_ERR_REFUSED));
	cr_expect(eq(u32, told.conn.reject_reason, 10));
	cr_expect(not(roce_cm_tx(b.r->d.cm, &tx)));
	cr_expect(eq(ptr, b.qp->conn, NULL));
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
}

/* checks W-CM-52[2]: the number that a queue pair would get, but that a connection still has,
 * rests. */
Test(handshake, W_CM_52_no_queue_pair_gets_a_number_that_rests)
{
	const uint32_t qpn = handshake_new(false).qp->qpn;
	const struct roce_cm_connect old = {.local = {net_rig_gid(NDD_RIG_IP), 1},
		.remote = {net_rig_gid(PEER_IP), 2},
		.qp.qpn = qpn,
		.mtu_code = 1};
	struct ndd_rig *r = ndd_rig_new();

	cr_assert(eq(u32, handshake_at(r, false).qp->qpn, qpn), "the same in each rig");
	r = ndd_rig_new();
	cr_assert(ne(ptr, roce_cm_connect(r->d.cm, ndd_now_ns(), &old), NULL));
	cr_expect(ne(u32, handshake_at(r, false).qp->qpn, qpn));
}

/* ---- the passive side ---- */

static struct cm_mad
a_req(void)
{
	const struct roce_gid from = net_rig_gid(PEER_IP), to = net_rig_gid(NDD_RIG_IP);
	struct cm_mad m = cm_crowd_req(&from, &to, PEER_PORT, SERVICE);

	m.local_id = 0x77;
	m.qpn = PEER_QPN;
	m.psn = PEER_PSN;
	m.responder_resources = 4;
	m.initiator_depth = 3;
	m.retry_count = 2;
	m.rnr_retry = 6;
	m.mtu = 2;
	m.ack_timeout = 19;
	return m;
}

/* The connection that a REQ makes; NULL: it was refused. */
static struct ndd_conn *
requested(struct handshake *b, const struct cm_mad *req)
{
	struct ndsh_listener_create m = {
		.h.type = NDSH_MSG_LISTENER_CREATE, .addr.port = SERVICE, .backlog = 4};
	struct roce_cm_event ev;
	union handshake_told told;

	(void)handshake_ask(b, &m);
	ev = handshake_hear(b, req);
	cr_assert(eq(int, ev.type, ROCE_CM_EV_REQUEST));
	ndd_conn_on_request(&b->r->d, &ev);
	if (ndd_rig_take(b->client, &told, NULL) <= 0)
		return NULL;
	cr_assert(eq(u16, told.conn.h.type, NDSH_EV_CONN_REQUEST));
	return ndd_slots_get(&b->s->conns, told.conn.conn);
}

static struct ndd_conn *
accepted(struct handshake *b, const struct cm_mad *req)
{
	struct ndd_conn *c = requested(b, req);
	const struct ndsh_accept m = {.h.type = NDSH_MSG_ACCEPT,
		.conn = c->id,
		.qp = b->qp_id,
		.inbound_reads = 200,
		.outbound_reads = 200};

	(void)handshake_ask(b, &m);
	c->hop = next_hop;
	ndd_conn_send_reply(c, ndd_now_ns());
	return c;
}

/* ---- a peer that guessed keys ---- */

/* From the address that the queue pair of the client was connected to. */
static void
guess_keys(struct handshake *b)
{
	struct roce_shard *s = b->r->shard.engine;
	struct roce_qp *qp = b->qp->engine;
	const struct roce_gid peer = net_rig_gid(PEER_IP);

	qp->door = roce_door_of(s, &peer);
	for (unsigned n = 0; n <= ROCE_GUESSES; n++)
		(void)roce_door_guess(s, qp);
}

/* checks W-MEM-07[3] */
Test(handshake, W_MEM_07_no_rep_to_who_guessed_keys)
{
	struct handshake b = handshake_new(false);
	const struct cm_mad req = a_req();
	struct roce_cm_tx tx;
	struct cm_mad m;
	union handshake_told told;

	guess_keys(&b);
	(void)accepted(&b, &req);
	m = handshake_mad(&b, &tx);
	cr_assert(eq(u32, m.attr, CM_ATTR_REJ));
	cr_assert(eq(u32, m.reason, ROCE_CM_REASON_CONSUMER));
	cr_assert_gt(ndd_rig_take(b.client, &told, NULL), 0);
	cr_assert(eq(u16, told.conn.h.type, NDSH_EV_CONN_ESTABLISHED));
	cr_assert(eq(i32, told.conn.h.status, NDSH_ERR_REFUSED));
	cr_assert(eq(int, roce_qp_state_get(b.qp->engine), ROCE_QPS_ERR), "it never got a path");
}

/* checks W-MEM-07[3] */
Test(handshake, W_MEM_07_no_rtu_to_who_guessed_keys)
{
	struct handshake b = handshake_new(false);
	struct ndd_conn *c = handshake_connect(&b, 0, &next_hop);
	const struct ndsh_id_msg complete = {.h.type = NDSH_MSG_COMPLETE_CONNECT, .id = c->id};
	struct roce_cm_tx tx;
	union handshake_told reply;

	handshake_reply(&b, c, false);
	guess_keys(&b);
	cr_assert(eq(i32, ndd_rig_ask(b.r, b.client, &complete, &reply), NDSH_ERR_REFUSED));
	cr_assert(eq(u32, handshake_mad(&b, &tx).attr, CM_ATTR_REJ));
	cr_assert(eq(int, roce_qp_state_get(b.qp->engine), ROCE_QPS_ERR), "it never got a path");
}

/* checks W-CM-30[1,2], W-CM-31[1], W-CM-32[5], W-CM-35[1]: the queue pair is in RTS, with what the
 * REQ says, when the REP may leave. */
Test(handshake, W_CM_35_ready_before_the_rep)
{
	struct handshake b = handshake_new(false);
	const struct cm_mad req = a_req();
	struct roce_qp_attr attr;
	struct roce_cm_tx tx;
	struct cm_mad rep;

	(void)accepted(&b, &req);
	rep = handshake_mad(&b, &tx);
	cr_expect(eq(u32, rep.attr, CM_ATTR_REP));
	cr_expect(eq(u32, rep.qpn, b.qp->qpn));
	cr_expect(eq(u32, rep.psn, b.qp->psn));
	cr_expect(eq(u32, rep.responder_resources, 3), "what the peer issues");
	cr_expect(eq(u32, rep.initiator_depth, 4), "what the peer serves");
	cr_assert(eq(int, roce_qp_state_get(b.qp->engine), ROCE_QPS_RTS));
	(void)roce_qp_query(b.qp->engine, &attr);
	cr_expect(eq(u32, attr.dest_qpn, PEER_QPN));
	cr_expect(eq(u32, attr.rq_psn, b.qp->psn));
	cr_expect(eq(u32, attr.sq_psn, PEER_PSN));
	cr_expect(eq(u32, attr.mtu_bytes, 512), "though the port has 1024");
	cr_expect(eq(u8, attr.max_rd, 4));
	cr_expect(eq(u8, attr.max_dest_rd, 3));
	cr_expect(eq(u8, attr.retry, 2), "the peer's");
	cr_expect(eq(u8, attr.rnr_retry, 6));
	cr_expect(eq(u8, attr.timeout_code, 19));
}

/* checks W-CM-35[1]: one that can't be brought up, and no REP leaves. */
Test(handshake, W_CM_35_no_rep_for_a_queue_pair_that_is_not_ready)
{
	struct handshake b = handshake_new(false);
	const struct cm_mad req = a_req();
	struct ndd_conn *c = requested(&b, &req);
	const struct ndsh_accept m = {
		.h.type = NDSH_MSG_ACCEPT, .conn = c->id, .qp = b.qp_id, .outbound_reads = 1};
	struct roce_cm_tx tx;

	(void)handshake_ask(&b, &m);
	c->hop = next_hop;
	c->peer.qpn = 1u << 24;
	ndd_conn_send_reply(c, ndd_now_ns());
	cr_expect(eq(u32, handshake_mad(&b, &tx).attr, CM_ATTR_REJ));
	cr_expect(not(roce_cm_tx(b.r->d.cm, &tx)));
}

/* Behind its listener an accepted connection costs a port of its own; without one it stays as it
 * was, and so does the queue pair. */
Test(handshake, no_port_is_left_for_an_accept)
{
	struct handshake b = handshake_new(false);
	const struct cm_mad req = a_req();
	struct ndd_conn *c = requested(&b, &req);
	struct ndd_listener *l = ndd_slots_get(&b.s->listeners, c->listener);
	struct base_share *ports = &b.s->account.principal->share[0][CONFIG_SHARE_ports];
	const struct ndsh_id_msg close_listener = {
		.h.type = NDSH_MSG_LISTENER_DESTROY, .id = l->id};
	const struct ndsh_accept m = {.h.type = NDSH_MSG_ACCEPT, .conn = c->id, .qp = b.qp_id};
	union handshake_told told;

	cr_assert(eq(i32, ndd_rig_ask(b.r, b.client, &close_listener, &told), NDSH_OK));
	cr_assert(eq(u64, ports->used, 0));
	ports->limit = 0;
	cr_expect(eq(i32, ndd_rig_ask(b.r, b.client, &m, &told), NDSH_ERR_NO_RESOURCES));
	cr_expect(eq(int, c->state, NDD_CONN_OFFERED));
	cr_expect(eq(ptr, b.qp->conn, NULL));
	ports->limit = 1;
	cr_expect(eq(i32, ndd_rig_ask(b.r, b.client, &m, &told), NDSH_OK));
	cr_expect(eq(u64, ports->used, 1));
	ndd_conn_free(b.s, c);
	cr_expect(eq(u64, ports->used, 0));
}

/* checks W-CM-33[5]: our own timeout for a REQ without one. */
Test(handshake, W_CM_33_an_ack_timeout_of_0_is_ours)
{
	struct handshake b = handshake_new(false);
	struct cm_mad req = a_req();
	struct roce_qp_attr attr;

	req.ack_timeout = 0;
	(void)accepted(&b, &req);
	(void)roce_qp_query(b.qp->engine, &attr);
	cr_expect(eq(u8, attr.timeout_code, 18));
}

/*
 * checks W-CM-32[3,4]: an MTU beyond the port's is refused, and the largest that it has is
 * named.
 */
Test(handshake, W_CM_32_an_mtu_that_the_port_has_not)
{
	for (uint32_t code = 1; code <= 5; code++) {
		struct handshake b = handshake_new(false);
		struct cm_mad req = a_req(), rej;
		struct roce_cm_tx tx;

		req.mtu = code;
		cr_assert(eq(int, requested(&b, &req) != NULL, code <= 3), "1500: 1024");
		if (code <= 3)
			continue;
		rej = handshake_mad(&b, &tx);
		cr_expect(eq(u32, rej.attr, CM_ATTR_REJ));
		cr_expect(eq(u32, rej.reason, 26));
		cr_expect(eq(u32, rej.ari_bytes, 1));
		cr_expect(eq(u8, rej.ari[0], 3 << 4));
	}
}

/* checks W-CM-37[2,3]: our bit in both messages, and what the peer's does to our patience. */
Test(handshake, W_CM_37_the_srq_bits)
{
	for (unsigned srq = 0; srq < 2; srq++) {
		struct handshake b = handshake_new(srq);
		struct cm_mad req = a_req();
		struct roce_qp_attr attr;
		struct roce_cm_tx tx;

		req.srq = !srq;
		(void)accepted(&b, &req);
		cr_expect(eq(u32, handshake_mad(&b, &tx).srq, srq));
		(void)roce_qp_query(b.qp->engine, &attr);
		cr_expect(
			eq(u32, attr.rnr_give_up_ms, srq ? 2000 : 0), "the peer's bit is %u", !srq);
		b = handshake_new(srq);
		(void)handshake_connect(&b, 0, &next_hop);
		cr_expect(eq(u32, handshake_mad(&b, &tx).srq, srq));
	}
}

/*
 * checks W-CM-35[3,4]: the passive side's keepalive, the one request that no client posts, waits
 * for the RTU, or for the first request.
 */
Test(handshake, W_CM_35_silent_until_the_peer_is_ready)
{
	for (unsigned by_request = 0; by_request < 2; by_request++) {
		struct handshake b = handshake_new(false);
		const struct roce_qp_attr wish = {.keepalive_ms = 700};
		const struct cm_mad req = a_req();
		struct roce_qp_attr attr;
		struct roce_cm_event ev;
		struct ndd_conn *c;
		struct roce_cm_tx tx;
		struct cm_mad rtu;

		cr_assert(eq(int,
			roce_qp_modify(b.r->shard.engine, b.qp->engine, 0, ROCE_QPS_INIT,
				ROCE_QPA_KEEPALIVE, &wish),
			ROCE_MODIFY_OK));
		c = accepted(&b, &req);
		(void)roce_qp_query(b.qp->engine, &attr);
		cr_expect(eq(u32, attr.keepalive_ms, 0));
		rtu = (struct cm_mad){.attr = CM_ATTR_RTU,
			.local_id = req.local_id,
			.remote_id = handshake_mad(&b, &tx).local_id};
		if (by_request) {
			ndd_conn_on_first_request(c);
			cr_assert(roce_cm_event(b.r->d.cm, &ev));
		} else {
			ev = handshake_hear(&b, &rtu);
		}
		cr_assert(eq(int, ev.type, ROCE_CM_EV_ESTABLISHED));
		ndd_conn_on_established(&b.r->d, &ev);
		(void)roce_qp_query(b.qp->engine, &attr);
		cr_expect(eq(u32, attr.keepalive_ms, 700));
	}
}
