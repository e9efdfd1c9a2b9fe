/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States and attributes of a queue pair, as its client asks for them: from numbers that it was
 * given, without the CM; or of one that a connection has brought up, where path and identity are
 * the connection's.
 */
#include <stdio.h>
#include <string.h>

#include "conn/conn.h"
#include "conn/endpoint.h"
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/qp.h"
#include "object/qp_path.h"
#include "object/qp_step.h"
#include "session/session.h"

#define KEEPALIVE_MIN_MS 100u
#define KEEPALIVE_MAX_MS (24 * 3600 * 1000u)
#define FLOW_LABEL_MAX	 0xfffffu

/* What a connection agreed with its peer. */
#define OF_CONNECTION (ROCE_QPA_PATH | ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MAX_RD)

#define SAME(name) static_assert((int)NDSH_QPA_##name == (int)ROCE_QPA_##name, "one mask")
SAME(ACCESS);
SAME(PATH);
SAME(MTU);
SAME(DEST_QPN);
SAME(RQ_PSN);
SAME(MAX_DEST_RD);
SAME(MIN_RNR);
SAME(TIMEOUT);
SAME(RETRY);
SAME(RNR_RETRY);
SAME(SQ_PSN);
SAME(MAX_RD);
SAME(KEEPALIVE);
static_assert((int)NDSH_QPS_ERR == (int)ROCE_QPS_ERR && (int)NDSH_QPS_RTR == (int)ROCE_QPS_RTR,
	"one set of states");

/* Values of attributes that clients and the engine have under one name; the rest is the path. */
#define COPY_VALUES(to, from)                                                                      \
	do {                                                                                       \
		(to).access = (from).access;                                                       \
		(to).mtu_bytes = (from).mtu_bytes;                                                 \
		(to).dest_qpn = (from).dest_qpn;                                                   \
		(to).rq_psn = (from).rq_psn;                                                       \
		(to).sq_psn = (from).sq_psn;                                                       \
		(to).max_dest_rd = (from).max_dest_rd;                                             \
		(to).max_rd = (from).max_rd;                                                       \
		(to).min_rnr_code = (from).min_rnr_code;                                           \
		(to).timeout_code = (from).timeout_code;                                           \
		(to).retry = (from).retry;                                                         \
		(to).rnr_retry = (from).rnr_retry;                                                 \
		(to).keepalive_ms = (from).keepalive_ms;                                           \
	} while (0)

/* ---- a client's request -------------------------------------------------------------------- */

/* A queue pair with a connection takes only what the connection has not agreed with its peer. */
static enum ndsh_status
judge_connected(const struct ndd_qp *qp, const struct ndsh_qp_modify *m, char *why, size_t room)
{
	bool lasting =
		m->state == NDSH_QPS_RTS || m->state == NDSH_QPS_SQD || m->state == NDSH_QPS_ERR;

	if (qp->conn == NULL && !(qp->connected && m->state != NDSH_QPS_ERR))
		return NDSH_OK;
	if (qp->conn == NULL) {
		snprintf(why, room, "the queue pair had a connection: it can't be used again");
		return NDSH_ERR_INVALID_STATE;
	}
	if (lasting && qp->connected && qp->conn->state >= NDD_CONN_ESTABLISHED &&
		(m->attr.mask & OF_CONNECTION) == 0)
		return NDSH_OK;
	snprintf(why, room, "the queue pair has a connection, which this is up to");
	return NDSH_ERR_CONNECTED;
}

static enum ndsh_status
judge_values(const struct ndsh_qp_attr *a, char *why, size_t room)
{
	struct ndsh_addr to = {.port = 0};

	memcpy(to.ip, a->ip, 16);
	if ((a->mask & ~(uint32_t)NDSH_QPA_ALL) != 0) {
		snprintf(why, room, "unknown attributes in the mask: 0x%x",
			a->mask & ~(uint32_t)NDSH_QPA_ALL);
		return NDSH_ERR_INVALID_PARAMETER;
	}
	if ((a->mask & NDSH_QPA_KEEPALIVE) && a->keepalive_ms != 0 &&
		(a->keepalive_ms < KEEPALIVE_MIN_MS || a->keepalive_ms > KEEPALIVE_MAX_MS)) {
		snprintf(why, room, "keepalive of %u ms, neither 0 nor %u to %u", a->keepalive_ms,
			KEEPALIVE_MIN_MS, KEEPALIVE_MAX_MS);
		return NDSH_ERR_INVALID_PARAMETER;
	}
	if (!(a->mask & NDSH_QPA_PATH))
		return NDSH_OK;
	if (!ndd_is_destination(&to)) {
		snprintf(why, room, "the path leads to no address");
		return NDSH_ERR_BAD_DESTINATION;
	}
	if (a->flow_label > FLOW_LABEL_MAX) {
		snprintf(why, room, "flow label 0x%x: it has 20 bits", a->flow_label);
		return NDSH_ERR_INVALID_PARAMETER;
	}
	if ((a->traffic_class & ROCE_TOS_ECN) > NDSH_ECN_ON) {
		snprintf(why, room,
			"traffic class 0x%x: its ECN bits are 0 (as the port), 1 (off) "
			"or 2 (on)",
			a->traffic_class);
		return NDSH_ERR_INVALID_PARAMETER;
	}
	return NDSH_OK;
}

static void
step_from_message(struct ndd_qp_step *step, const struct ndd_session *s, const struct ndd_qp *qp,
	const struct ndsh_qp_modify *m)
{
	const struct ndsh_qp_attr *a = &m->attr;

	*step = (struct ndd_qp_step){
		.to = ndd_qp_state_to(qp->unreliable, m->state),
		.mask = a->mask,
		.attr.port_mtu_bytes = s->path_mtu,
		.ecn = a->traffic_class & ROCE_TOS_ECN,
		.attr.path.tos = a->traffic_class & (uint8_t)~ROCE_TOS_ECN,
		.attr.path.ttl = a->hop_limit != 0 ? a->hop_limit : ROCE_HOP_LIMIT, /* W-CM-74 */
		.attr.path.flow_label = a->flow_label,
	};
	COPY_VALUES(step->attr, *a);
	memcpy(step->attr.path.sgid.raw, s->ip, 16);
	memcpy(step->attr.path.dgid.raw, a->ip, 16);
}

enum ndsh_status
ndd_qp_modify(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_qp_modify *m = msg;
	struct ndd_qp *qp = ndd_qp_get(s, m->qp);
	char *why = r->qp_modify.why;
	const size_t room = sizeof(r->qp_modify.why);
	struct ndd_qp_step step;
	enum ndsh_status status;

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (qp->datagrams)
		return ndd_ud_qp_reset(s, qp, m, why, room);
	if (ndd_qp_path_is_pending(qp)) {
		snprintf(why, room, "another change of it is under way");
		return NDSH_ERR_BUSY;
	}
	if (qp->unreliable && (m->attr.mask & NDSH_QPA_KEEPALIVE)) {
		snprintf(why, room, "an unreliable connection has no keepalive");
		return NDSH_ERR_ATTRIBUTE_MASK;
	}
	status = judge_connected(qp, m, why, room);
	if (status == NDSH_OK)
		status = judge_values(&m->attr, why, room);
	if (status != NDSH_OK)
		return status;
	step_from_message(&step, s, qp, m);
	if (step.mask & ROCE_QPA_PATH) {
		status = ndd_qp_step_check(s, qp, &step, why, room);
		return status == NDSH_OK ? ndd_qp_path_take(s, qp, &step, why, room) : status;
	}
	status = ndd_qp_step(s, qp, &step, why, room);
	if (status == NDSH_OK && step.to == ROCE_QPS_RESET) {
		ndd_qp_path_free(qp);
		ndd_peer_give(qp);
	}
	return status;
}

/* ---- what it is ---------------------------------------------------------------------------- */

struct query {
	const struct roce_qp *engine;
	struct roce_qp_attr attr;
	enum roce_qp_state state;
	bool draining;
};

static void
on_shard_qp_query(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct query *q = arg;

	(void)shard;
	(void)now_ns;
	q->state = roce_qp_state_get(q->engine);
	q->draining = roce_qp_query(q->engine, &q->attr);
}

enum ndsh_status
ndd_qp_query(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndd_qp *qp = ndd_qp_get(s, ((const struct ndsh_id_msg *)msg)->id);
	struct ndsh_qp_query_reply *out = &r->qp_query;
	struct query q = {0};

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (qp->datagrams)
		return NDSH_ERR_INVALID_REQUEST;
	q.engine = qp->engine;
	ndd_shard_call(s->shard, on_shard_qp_query, &q);
	out->state = ndd_qp_state_from(q.state);
	out->draining = q.draining;
	out->qpn = qp->qpn;
	out->psn = qp->psn;
	out->attr = (struct ndsh_qp_attr){0};
	COPY_VALUES(out->attr, q.attr);
	ndd_qp_path_fill_attr(qp, &out->attr);
	return NDSH_OK;
}
