/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagram queue pairs. They share rings, completions, flush and memory with the connected ones.
 * The states of a live one are ROCE_QPS_UD_*, so that it takes no packet of a connection (rx.c) and
 * sends by roce_ud_turn() (tx.c). A request is complete when its datagram has left. A datagram is
 * received if it is for this address, has the right Q_Key, and fits into a receive; otherwise it is
 * dropped and counted: a stranger's datagram never ends a queue pair.
 */
#include "roce/ud/ud.h"

#include <string.h>

#include "base/compiler.h"
#include "roce/mem/copy.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/sge.h"
#include "roce/qp/check.h"
#include "roce/qp/error.h"
#include "roce/qp/modify.h"
#include "roce/queue/flush.h"
#include "roce/qp/qp.h"
#include "roce/queue/receive.h"
#include "roce/queue/request.h"
#include "roce/queue/send_ring.h"
#include "roce/queue/wqe.h"
#include "roce/responder/responder.h"
#include "roce/requester/fetch.h"
#include "roce/shard/event.h"
#include "roce/shard/pool.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"
#include "roce/ud/datagram.h"
#include "roce/ud/group.h"

#define RESTART_AT_ONCE 256u /* requests that one call flushes: some 20 us */

/* ---- address handles ------------------------------------------------------------------------- */

void
roce_ah_set(struct roce_ah *ah, uint32_t token, const struct roce_path *path, uint32_t port,
	uint32_t mtu_bytes)
{
	*ah = (struct roce_ah){.token = token,
		.live = true,
		.group = roce_gid_is_group(&path->dgid),
		.port = port,
		.mtu_bytes = mtu_bytes};
	roce_hdr_tmpl_init(&ah->tmpl, path);
}

static const struct roce_ah *
ah_find(const struct roce_qp *qp, uint32_t token)
{
	uint32_t index = token & ((1u << ROCE_AH_INDEX_BITS) - 1);
	const struct roce_ah *ah;

	if (index >= qp->ud.ahs->count)
		return NULL;
	ah = &qp->ud.ahs->slot[index];
	return ah->live && ah->token == token ? ah : NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

bool
roce_ud_start(
	struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns, const struct roce_ud_cfg *cfg)
{
	if (qp->state != ROCE_QPS_RESET || qp->unreliable ||
		(cfg->q_key & ROCE_QKEY_PRIVILEGED) != 0)
		return false;
	qp->ud = (struct roce_ud){
		.q_key = cfg->q_key, .gid = cfg->gid, .vlan = cfg->vlan, .ahs = cfg->ahs};
	qp->mtu_shift = (uint8_t)__builtin_ctz(ROCE_MTU_MAX); /* roce_ah.mtu_bytes is what counts */
	qp->tx_psn = roce_random_psn(s);
	qp->rx_bits = ROCE_RXB_DATAGRAMS;
	qp->state = ROCE_QPS_UD_RTS;
	s->now_ns = now_ns;
	roce_send_ring_watch(s, qp);
	return true;
}

/* Flush requests behind a failed one, at most budget of them; false: none is left (W-ERR-02).*/
bool
roce_ud_reset(struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns)
{
	const struct roce_ud_cfg cfg = {
		.q_key = qp->ud.q_key, .gid = qp->ud.gid, .vlan = qp->ud.vlan, .ahs = qp->ud.ahs};

	if (!(qp->rx_bits & ROCE_RXB_DATAGRAMS))
		return false;
	s->now_ns = now_ns;
	roce_qp_reset(s, qp);
	return roce_ud_start(s, qp, now_ns, &cfg);
}

static bool
ud_flush_sends(struct roce_shard *s, struct roce_qp *qp, unsigned budget)
{
	while (budget > 0 && roce_flush_send(s, qp))
		budget--;
	return budget == 0;
}

static void
ud_publish_done(struct roce_qp *qp)
{
	__atomic_store_n(&qp->page->sq_done, qp->sq_done, __ATOMIC_RELEASE);
}

/* Flush a part of what was posted before the send side goes on: not more in all than the ring has
 * slots, since the client may go on posting. True: it goes on. */
static bool
ud_restart(struct roce_shard *s, struct roce_qp *qp)
{
	uint32_t left = qp->ud.restart_left > 0 ? qp->ud.restart_left : qp->sq.depth;
	uint32_t part = left < RESTART_AT_ONCE ? left : RESTART_AT_ONCE;
	bool more = ud_flush_sends(s, qp, part);

	ud_publish_done(qp);
	qp->ud.restart_left = more ? left - part : 0;
	if (qp->ud.restart_left > 0)
		return false;
	qp->state = ROCE_QPS_UD_RTS;
	qp->reason = ROCE_REASON_NONE;
	return true;
}

enum roce_ud_modify
roce_ud_modify(struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns, uint32_t q_key)
{
	if (qp->state <= ROCE_QPS_ERR || roce_qp_is_uc(qp) || (q_key & ROCE_QKEY_PRIVILEGED) != 0)
		return ROCE_UD_REFUSED;
	s->now_ns = now_ns;
	if (qp->state == ROCE_QPS_UD_SQE && !ud_restart(s, qp))
		return ROCE_UD_FLUSHING;
	qp->ud.q_key = q_key;
	roce_send_ring_watch(s, qp);
	return ROCE_UD_MODIFIED;
}

/* ---- out ------------------------------------------------------------------------------------- */

static struct roce_wqe *
ud_load(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w = roce_wqe_fetch(s, qp);

	if (w == NULL)
		return NULL;
	if (w->op != NDSH_OP_SEND && w->op != NDSH_OP_SEND_IMM) {
		roce_wqe_free(s, roce_cq_principal(qp->send_cq), ROCE_SIDE_SEND, w);
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		return NULL;
	}
	qp->wq_head = qp->wq_tail = w;
	return w;
}

/* A request has failed: the send side stops, until the client starts it again (W-ERR-02). */
static void
ud_stop_sending(struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status,
	enum roce_reason reason)
{
	s->count.requests_failed++;
	roce_qp_note(s, qp, ROCE_REC_ERROR, qp->tx_psn, reason);
	qp->state = ROCE_QPS_UD_SQE;
	qp->reason = (uint8_t)reason;
	roce_moved_idle(s, qp, false);
	roce_request_finish(s, qp, status, reason);
}

/* Copy the payload, from whatever kind of memory. */
static enum roce_copy
ud_gather(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, uint8_t *dst)
{
	struct roce_moved_src src = {.sge = roce_wqe_sge(w),
		.bytes = w->bytes,
		.first_psn = qp->tx_psn,
		.npsn = 1,
		.right = ROCE_ACCESS_LOCAL_READ};

	if (base_likely(roce_sge_gather(s, qp, &qp->tx_pos, w, 0, dst, w->bytes)))
		return ROCE_COPY_OK;
	return roce_moved_gather(s, qp, false, &src, qp->tx_psn, dst);
}

/* True: a frame is in the slot. */
static bool
ud_send_one(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, struct roce_tx_slot *slot)
{
	const struct roce_ah *ah = ah_find(qp, w->rkey);
	uint32_t q_key = (uint32_t)(w->raddr >> 32), to = (uint32_t)w->raddr & ROCE_QPN_MASK, hdr;
	enum roce_copy got;

	if (base_unlikely(ah == NULL || (to == ROCE_QPN_MULTICAST) != ah->group)) { /* W-MC-06 */
		ud_stop_sending(s, qp, NDSH_WC_LOC_QP_OP_ERR, ROCE_REASON_LOCAL_AH);
		return false;
	}
	if (base_unlikely(w->bytes > ah->mtu_bytes)) { /* W-UD-01 */
		ud_stop_sending(s, qp, NDSH_WC_LOC_LEN_ERR, ROCE_REASON_LOCAL_LEN);
		return false;
	}
	hdr = roce_wire_build(slot->buf, &ah->tmpl,
		&(struct roce_pkt){
			.opcode = w->op == NDSH_OP_SEND ? ROCE_UD_SEND_ONLY : ROCE_UD_SEND_ONLY_IMM,
			.qpn = to,
			.psn = qp->tx_psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.se = w->flags & NDSH_WRF_SOLICIT,
			.payload_bytes = w->bytes,
			.imm = w->imm,
			/* W-PKT-13: a privileged key stands for the queue pair's own. */
			.qkey = q_key & ROCE_QKEY_PRIVILEGED ? qp->ud.q_key : q_key,
			.src_qpn = qp->qpn,
		},
		qp->ip_id);
	got = ud_gather(s, qp, w, slot->buf + hdr);
	if (base_unlikely(got == ROCE_COPY_LATER)) {
		qp->tx_bits |= ROCE_TXB_BLOCKED;
		return false;
	}
	if (base_unlikely(got == ROCE_COPY_REFUSED)) {
		ud_stop_sending(s, qp, NDSH_WC_LOC_PROT_ERR, ROCE_REASON_LOCAL_PROT);
		return false;
	}
	slot->len = roce_wire_seal(slot->buf, &ah->tmpl, hdr, w->bytes);
	slot->port = ah->port;
	s->count.tx_packets++;
	s->count.tx_bytes += slot->len;
	s->count.requests_completed++;
	qp->ip_id++;
	qp->tx_psn = roce_psn_add(qp->tx_psn, 1);
	roce_request_finish(s, qp, NDSH_WC_SUCCESS, 0);
	return true;
}

unsigned
roce_ud_turn(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned quantum = n < ROCE_TX_QUANTUM ? n : ROCE_TX_QUANTUM, done = 0;
	bool more = true;

	roce_tx_clear(qp, ROCE_TXB_BLOCKED);
	while (done < quantum && qp->state == ROCE_QPS_UD_RTS && more) {
		struct roce_wqe *w = qp->wq_head != NULL ? qp->wq_head : ud_load(s, qp);

		more = w != NULL && ud_send_one(s, qp, w, &slots[done]);
		done += more;
	}
	if (qp->state == ROCE_QPS_UD_SQE)
		more = ud_flush_sends(s, qp, ROCE_TX_QUANTUM);
	ud_publish_done(qp);
	if (more) /* may have more: behind the others */
		roce_tx_want(s, qp);
	return done;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* W-PKT-07: the IP header goes in front of the datagram, an IPv4 one into the last 20 bytes. */
static enum roce_copy
ud_put_header(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint8_t grh[NDSH_GRH_BYTES] = {0};

	if (pkt->v6)
		memcpy(grh, pkt->l3, sizeof(grh));
	else
		memcpy(grh + 20, pkt->l3, sizeof(grh) - 20);
	return roce_sge_scatter(s, qp, &qp->recv_pos, qp->rx_wqe, 0, grh, sizeof(grh));
}

static void
ud_finish_receive(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct ndsh_cqe cqe = {
		.context = qp->rx_wqe->context,
		.qp = qp->handle,
		.bytes = NDSH_GRH_BYTES + pkt->payload_bytes,
		.slot_count = ++qp->rq_done,
		.syndrome = pkt->src_qpn,
		.status = NDSH_WC_SUCCESS,
		.op = NDSH_OP_RECV,
		.flags = NDSH_CQEF_GRH,
	};

	if (pkt->se)
		cqe.flags |= NDSH_CQEF_SOLICITED;
	if (pkt->opflags & ROCE_OPF_IMM) {
		cqe.flags |= NDSH_CQEF_IMM;
		cqe.data = pkt->imm;
	}
	s->count.receives_completed++;
	roce_receive_finish(s, qp, &cqe);
}

static void
ud_receive(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_copy put;

	if (pkt->payload_bytes + NDSH_GRH_BYTES > qp->rx_wqe->bytes) { /* W-UD-01 */
		s->count.rx_datagram_too_long++;
		roce_receive_give_back(s, qp);
		return;
	}
	put = ud_put_header(s, qp, pkt);
	if (put == ROCE_COPY_OK)
		put = roce_sge_scatter(s, qp, &qp->recv_pos, qp->rx_wqe, NDSH_GRH_BYTES,
			pkt->payload, pkt->payload_bytes);
	if (put == ROCE_COPY_LATER) { /* no room in the staging counts as no receive */
		s->count.rx_datagram_no_receive++;
		roce_receive_give_back(s, qp);
		return;
	}
	roce_receive_keep(s, qp);
	if (put == ROCE_COPY_OK) {
		ud_finish_receive(s, qp, pkt);
	} else { /* the client's own SGEs are wrong: the queue pair ends */
		/* First, since the completion gives the queue pair's reason. */
		roce_qp_error(s, qp, ROCE_REASON_RECV_PROT, 0);
		roce_receive_fail(s, qp, NDSH_WC_LOC_PROT_ERR);
	}
}

static void
ud_take_receive(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum ndsh_fetch got = roce_receive_take(s, qp);

	if (got == NDSH_FETCH_BROKEN)
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
	else if (got == NDSH_FETCH_EMPTY)
		s->count.rx_datagram_no_receive++;
	else
		ud_receive(s, qp, pkt);
}

void
roce_ud_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_gid to;

	roce_check_qp(s, qp);
	roce_pkt_dst_gid(pkt, &to);
	if (!(pkt->opflags & ROCE_OPF_DETH) || qp->state < ROCE_QPS_ERR)
		s->count.rx_wrong_class++;
	else if (qp->state == ROCE_QPS_ERR)
		s->count.rx_wrong_state++;
	else if (!roce_gid_equal(&to, &qp->ud.gid))
		s->count.rx_wrong_address++;
	else if (pkt->vlan != qp->ud.vlan) /* W-PKT-02 */
		s->count.rx_wrong_vlan++;
	else if (pkt->qkey != qp->ud.q_key) /* W-PKT-13 */
		s->count.rx_wrong_q_key++;
	else if (!roce_icrc_ok(pkt))
		s->count.rx_icrc_error++;
	else
		ud_take_receive(s, qp, pkt);
}

/* ---- multicast ------------------------------------------------------------------------------- */

/* For this member? The table has compared address and VLAN. Any host may send to a group; a member
 * may refuse its own datagrams (W-MC-08, W-MC-09). */
static bool
multicast_is_for(
	struct roce_shard *s, const struct roce_qp *qp, const struct roce_pkt *pkt, bool not_own)
{
	struct roce_gid from;

	if (qp->state != ROCE_QPS_UD_RTS && qp->state != ROCE_QPS_UD_SQE)
		return false;
	if (pkt->qkey != qp->ud.q_key) { /* W-PKT-13 */
		s->count.rx_wrong_q_key++;
		return false;
	}
	if (!not_own || pkt->src_qpn != qp->qpn)
		return true;
	roce_pkt_src_gid(pkt, &from);
	return !roce_gid_equal(&from, &qp->ud.gid);
}

void
roce_shard_multicast(struct roce_shard *s, uint64_t now_ns, const struct roce_pkt *pkt,
	const struct roce_groups *t, const struct roce_group *g)
{
	struct roce_gid from;

	s->now_ns = now_ns;
	s->count.rx_packets++;
	s->count.rx_bytes += pkt->payload_bytes;
	s->count.rx_multicast++;
	roce_pkt_src_gid(pkt, &from);
	if (!(pkt->opflags & ROCE_OPF_DETH)) {
		s->count.rx_wrong_class++;
	} else if (roce_gid_is_group(&from)) {
		s->count.rx_wrong_address++;
	} else if (!roce_icrc_ok(pkt)) {
		s->count.rx_icrc_error++;
	} else {
		for (uint32_t i = 0; i < g->members; i++) {
			const struct roce_group_member *m = roce_groups_member(t, g, i);
			struct roce_qp *qp = roce_qp_find(s, m->qpn);

			if (qp == NULL || !multicast_is_for(s, qp, pkt, m->not_own))
				continue;
			roce_check_qp(s, qp);
			ud_take_receive(s, qp, pkt);
		}
	}
}
