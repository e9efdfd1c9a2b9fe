/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must become of datagrams. At the sender each leaves once, whole, in the order of posting,
 * and completes then; a mistake stops the send side where it is. At the receiver the model knows of
 * each frame that the network brings whether it must be taken, by which receive, and what that must
 * hold; all others leave no trace. A frame that was damaged on its way may be dropped; a frame that
 * is taken was sent by a queue pair.
 */
#include <string.h>

#include "sim.h"

/* ---- sending ------------------------------------------------------------------------------- */

struct sim_dgram *
sim_dgram_new(struct sim_world *w)
{
	sim_check(w, w->n_dgrams < SIM_DGRAMS, "too many datagrams");
	return &w->dgrams[w->n_dgrams++];
}

static struct sim_ud *
sender(struct sim_client *c, const struct roce_pkt *pkt)
{
	for (unsigned i = 0; i < c->n_uds; i++)
		if (c->uds[i]->qpn == pkt->src_qpn && c->uds[i]->state != SIM_UD_OVER)
			return c->uds[i];
	sim_fail(c->w, "a datagram of %06x, which is nobody's", pkt->src_qpn);
}

/* checks W-PKT-13[4]: a privileged key stands for the sender's own. */
static void
check_frame(const struct sim_ud *u, const struct sim_send *op, const uint8_t *frame,
	const struct roce_pkt *pkt)
{
	const struct sim_ah *ah = sim_ah_find(u->client, op->token);
	uint32_t key = op->q_key & ROCE_QKEY_PRIVILEGED ? u->q_key : op->q_key;
	const uint8_t *udp = pkt->l3 + (pkt->v6 ? 40 : 20);
	struct roce_gid from, to;

	sim_check(u->w, ah != NULL, "ud %u: send %u left by a dead handle", u->number,
		(uint32_t)op->context);
	roce_pkt_src_gid(pkt, &from);
	roce_pkt_dst_gid(pkt, &to);
	sim_check(u->w,
		memcmp(frame, ah->path.dmac, 6) == 0 && roce_gid_equal(&to, &ah->path.dgid) &&
			roce_gid_equal(&from, &ah->path.sgid) && pkt->tos == ah->path.tos &&
			(udp[0] << 8 | udp[1]) == ah->path.udp_sport,
		"ud %u: send %u left for another place", u->number, (uint32_t)op->context);
	sim_check(u->w,
		pkt->qpn == op->qpn && pkt->qkey == key && pkt->mig &&
			pkt->opcode == (op->op == NDSH_OP_SEND ? ROCE_UD_SEND_ONLY
							       : ROCE_UD_SEND_ONLY_IMM) &&
			pkt->imm == op->imm && pkt->se == !!(op->flags & NDSH_WRF_SOLICIT),
		"ud %u: send %u has wrong headers", u->number, (uint32_t)op->context);
	sim_check(u->w,
		pkt->payload_bytes == op->bytes && memcmp(pkt->payload, op->data, op->bytes) == 0,
		"ud %u: send %u left with wrong bytes", u->number, (uint32_t)op->context);
}

/* checks W-UD-01[5] */
void
sim_ud_left(struct sim_client *c, const uint8_t *frame, uint32_t bytes)
{
	struct sim_send *op;
	struct sim_dgram *d;
	struct roce_pkt pkt;
	struct sim_ud *u;

	if (c->n_uds == 0)
		return;
	sim_check(c->w, roce_wire_parse(frame, bytes, &pkt) == ROCE_WIRE_OK, "a broken frame");
	if (!(pkt.opflags & ROCE_OPF_DETH))
		return;
	u = sender(c, &pkt);
	op = &u->sends[u->sent];
	sim_check(c->w, u->sent < u->posted && op->bad == NDSH_WC_SUCCESS && roce_icrc_ok(&pkt),
		"ud %u: send %u left, of %u posted", u->number, u->sent + 1, u->posted);
	check_frame(u, op, frame, &pkt);
	sim_check(c->w, pkt.psn == u->psn || u->psn == UINT32_MAX, "ud %u: PSN %06x, not %06x",
		u->number, pkt.psn, u->psn);
	u->psn = roce_psn_add(pkt.psn, 1);
	u->sent++;
	op->left = true;
	d = sim_dgram_new(c->w);
	*d = (struct sim_dgram){.src_qpn = u->qpn,
		.psn = pkt.psn,
		.qpn = pkt.qpn,
		.q_key = pkt.qkey,
		.imm = op->imm,
		.bytes = op->bytes,
		.se = pkt.se,
		.has_imm = op->op == NDSH_OP_SEND_IMM,
		.data = op->data};
}

static void
release(struct sim_ud *u, struct sim_send *op)
{
	if (op->slot >= 0)
		u->source.users[op->slot]--;
	u->head++;
	sim_progress(u->w);
}

/* The first that has not left fails, if it is bad, when its turn comes; then nothing leaves before
 * the send side goes on. checks W-ERR-02[1,2] */
static bool
status_ok(const struct sim_ud *u, const struct sim_send *op, uint8_t status)
{
	if (status == NDSH_WC_SUCCESS || op->left)
		return status == NDSH_WC_SUCCESS && op->left;
	if (status == NDSH_WC_FLUSH_ERR)
		return op->bad == status || u->page->dead || u->head > u->sent;
	return op->bad == status && (op->stopped || u->head == u->sent);
}

static void
send_completion(struct sim_ud *u, const struct ndsh_cqe *e)
{
	struct sim_world *w = u->w;
	struct sim_send *op;

	for (;; release(u, op)) { /* silent ones in front of it */
		sim_check(w, u->head < u->posted, "ud %u: completion of nothing", u->number);
		op = &u->sends[u->head];
		if (op->context == e->context)
			break;
		sim_check(w, (op->flags & NDSH_WRF_SILENT) && op->left,
			"ud %u: completion of send %u, but %u is first", u->number,
			(uint32_t)e->context, (uint32_t)op->context);
	}
	sim_check(w, status_ok(u, op, e->status), "ud %u: send %u (%u bytes, bad %u): status %u",
		u->number, (uint32_t)op->context, op->bytes, op->bad, e->status);
	sim_check(w, e->status != NDSH_WC_SUCCESS || !(op->flags & NDSH_WRF_SILENT),
		"ud %u: silent send %u completed", u->number, (uint32_t)op->context);
	sim_check(w,
		e->op == op->op && e->slot_count == u->head + 1 &&
			e->bytes == (e->status == NDSH_WC_SUCCESS ? op->bytes : 0),
		"ud %u: send %u: op %u, %u bytes, slot count %u", u->number, (uint32_t)op->context,
		e->op, e->bytes, e->slot_count);
	u->failed |= e->status != NDSH_WC_SUCCESS;
	release(u, op);
}

void
sim_ud_doom(struct sim_ud *u, uint32_t token)
{
	if (u->state == SIM_UD_OVER || roce_qp_state_get(u->qp) != ROCE_QPS_UD_RTS)
		return;
	for (unsigned k = u->sent; k < u->posted; k++)
		if (u->sends[k].token == token)
			u->sends[k].bad = NDSH_WC_LOC_QP_OP_ERR;
}

void
sim_ud_restarted(struct sim_ud *u)
{
	sim_check(u->w, u->sent < u->posted && u->sends[u->sent].bad != NDSH_WC_SUCCESS,
		"ud %u: its send side stopped for no reason", u->number);
	u->sends[u->sent].stopped = true;
	while (++u->sent < u->posted)
		u->sends[u->sent].bad = NDSH_WC_FLUSH_ERR;
	u->failed = false;
}

/* ---- receiving ----------------------------------------------------------------------------- */

static const struct sim_dgram *
find_dgram(const struct sim_world *w, const struct roce_pkt *pkt)
{
	for (unsigned i = 0; i < w->n_dgrams; i++) {
		const struct sim_dgram *d = &w->dgrams[i];

		if (d->src_qpn == pkt->src_qpn && d->psn == pkt->psn && d->qpn == pkt->qpn &&
			d->q_key == pkt->qkey && d->se == pkt->se && d->imm == pkt->imm &&
			d->has_imm == (pkt->opcode == ROCE_UD_SEND_ONLY_IMM) &&
			d->bytes == pkt->payload_bytes &&
			memcmp(d->data, pkt->payload, d->bytes) == 0)
			return d;
	}
	return NULL;
}

struct sim_recv *
sim_ud_receive(const struct sim_ud *u, unsigned shared)
{
	if (u->srq != NULL)
		return shared < u->srq->posted ? &u->srq->recvs[shared] : NULL;
	return u->arrived < u->recv_posted ? &u->recvs[u->arrived] : NULL;
}

static struct sim_recv *
next_receive(const struct sim_ud *u)
{
	return sim_ud_receive(u, u->srq != NULL ? u->srq->page->taken : 0);
}

/* checks W-PKT-02, W-PKT-10[2], W-PKT-13[1], W-UD-01[4] */
bool
sim_ud_group_good(const struct sim_ud *u, const struct roce_pkt *pkt, const struct sim_recv *r)
{
	return (pkt->opcode == ROCE_UD_SEND_ONLY || pkt->opcode == ROCE_UD_SEND_ONLY_IMM) &&
	       pkt->vlan == 0 && pkt->qkey == u->q_key && r != NULL &&
	       pkt->payload_bytes + NDSH_GRH_BYTES <= r->bytes && find_dgram(u->w, pkt) != NULL;
}

/* checks W-PKT-14[4] */
static bool
is_for(const struct sim_ud *u, const struct roce_pkt *pkt, const struct sim_recv *r)
{
	struct roce_gid to;

	roce_pkt_dst_gid(pkt, &to);
	return !u->page->dead && sim_ud_group_good(u, pkt, r) &&
	       roce_gid_equal(&to, sim_gid(u->client->shard->host, u->v6));
}

/* checks W-PKT-07[1,2,3,4,5,6] */
void
sim_ud_expect(struct sim_ud *u, struct sim_recv *r, const struct roce_pkt *pkt)
{
	struct sim_arrival *a = &u->arrivals[u->arrived];

	sim_check(u->w, u->arrived < SIM_UD_RECVS, "too many datagrams arrive");
	u->arrived++;
	if (r->bad) { /* the application's own fault, and the end */
		*a = (struct sim_arrival){.recv = r, .status = NDSH_WC_LOC_PROT_ERR};
		u->flushing = true;
		return;
	}
	*a = (struct sim_arrival){.recv = r,
		.src_qpn = pkt->src_qpn,
		.imm = pkt->imm,
		.bytes = NDSH_GRH_BYTES + pkt->payload_bytes,
		.flags = NDSH_CQEF_GRH};
	if (pkt->se)
		a->flags |= NDSH_CQEF_SOLICITED;
	if (pkt->opcode == ROCE_UD_SEND_ONLY_IMM)
		a->flags |= NDSH_CQEF_IMM;
	a->data = sim_alloc(u->w, a->bytes);
	if (pkt->v6)
		memcpy(a->data, pkt->l3, 40);
	else
		memcpy(a->data + 20, pkt->l3, 20);
	memcpy(a->data + NDSH_GRH_BYTES, pkt->payload, pkt->payload_bytes);
	sim_progress(u->w);
}

/* No request of the pool was free for its receive, or its client's mover had no staging left. */
static bool
had_no_room(const struct sim_ud *u, const struct roce_counters *before)
{
	const struct roce_counters *now = roce_shard_counters(u->client->shard->s);

	return now->rx_datagram_no_receive == before->rx_datagram_no_receive + 1 &&
	       (now->wqe_pool_empty == before->wqe_pool_empty + 1 ||
		       sim_mover_is_full(&u->client->mover));
}

/* As sim_srq_refused() says. */
static void
refused(struct sim_ud *u, const struct sim_recv *r)
{
	if (u->srq != NULL)
		sim_srq_refused(u->srq);
	else if (sim_mover_is_full(&u->client->mover))
		u->inbox.undefined[r->slot] = true;
}

bool
sim_ud_rx(struct sim_shard *sh, const struct roce_pkt *pkt, struct roce_qp *qp, bool damaged)
{
	struct sim_world *w = sh->host->w;
	struct roce_counters before = *roce_shard_counters(sh->s);
	struct sim_ud *u = NULL;
	struct sim_recv *r;
	uint32_t done, taken;
	bool good;

	for (unsigned i = 0; i < sh->client.n_uds && u == NULL; i++)
		if (sh->client.uds[i]->qpn == pkt->qpn && sh->client.uds[i]->state != SIM_UD_OVER)
			u = sh->client.uds[i];
	if (u == NULL)
		return false;
	r = next_receive(u);
	good = is_for(u, pkt, r);
	done = u->page->rq_done;
	roce_shard_rx(sh->s, w->now_ns, pkt, qp);
	taken = u->page->rq_done - done;
	sim_check(w, taken == 0 || (taken == 1 && good),
		"ud %u: took %u datagrams of %u bytes from %06x, PSN %06x, key %x", u->number,
		taken, pkt->payload_bytes, pkt->src_qpn, pkt->psn, pkt->qkey);
	if (taken == 1) {
		sim_ud_expect(u, r, pkt);
	} else if (good && !damaged) {
		sim_check(w, had_no_room(u, &before),
			"ud %u: did not take %u bytes from %06x, PSN %06x", u->number,
			pkt->payload_bytes, pkt->src_qpn, pkt->psn);
		refused(u, r);
	}
	return true;
}

/* The receive that completes, in the order in which they were filled, then flushed. */
static struct sim_recv *
receive_of(struct sim_ud *u, const struct ndsh_cqe *e)
{
	struct sim_recv *r;

	if (u->srq != NULL)
		return sim_srq_take(u->srq, &u->taker, "ud", u->number, e);
	sim_check(u->w, u->recv_head < u->recv_posted, "ud %u: receive of nothing", u->number);
	r = &u->recvs[u->recv_head];
	sim_check(u->w, r->context == e->context, "ud %u: receive %u completed, %u is first",
		u->number, (uint32_t)e->context, u->recv_head + 1);
	return r;
}

static void
check_arrival(struct sim_ud *u, struct sim_arena *in, const struct sim_arrival *a,
	const struct ndsh_cqe *e)
{
	const struct sim_recv *r = a->recv;
	uint8_t *got;

	sim_check(u->w,
		e->bytes == a->bytes && e->syndrome == a->src_qpn && e->data == a->imm &&
			(e->flags & ~NDSH_CQEF_PHASE) == a->flags,
		"ud %u: receive %u: %u bytes of %06x, flags %x, data %x", u->number,
		(uint32_t)e->context, e->bytes, e->syndrome, e->flags, e->data);
	got = sim_alloc(u->w, a->bytes);
	sim_gather(in, in->mem, r->sge, r->nsge, got, a->bytes);
	sim_check(u->w, memcmp(got, a->data, a->bytes) == 0, "ud %u: receive %u has wrong bytes",
		u->number, (uint32_t)e->context);
	sim_scatter(in, in->shadow, r->sge, r->nsge, a->data, a->bytes);
}

static void
recv_completion(struct sim_ud *u, const struct ndsh_cqe *e)
{
	struct sim_arena *in = u->srq != NULL ? &u->srq->inbox : &u->inbox;
	struct sim_recv *r = receive_of(u, e);
	const struct sim_arrival *a = &u->arrivals[u->recv_head];
	bool filled = u->recv_head < u->arrived;

	sim_check(u->w,
		e->status == (filled ? a->status : NDSH_WC_FLUSH_ERR) &&
			(filled ? a->recv == r : u->page->dead),
		"ud %u: receive %u: status %u, %u of %u filled", u->number, (uint32_t)e->context,
		e->status, u->recv_head, u->arrived);
	u->recv_head++;
	sim_check(u->w, e->slot_count == u->recv_head, "ud %u: receive: slot count %u, not %u",
		u->number, e->slot_count, u->recv_head);
	in->users[r->slot]--;
	if (e->status == NDSH_WC_SUCCESS)
		check_arrival(u, in, a, e);
	sim_progress(u->w);
}

/* ---- entry points -------------------------------------------------------------------------- */

void
sim_ud_completion(
	struct sim_client *c, unsigned index, const struct sim_cq *cq, const struct ndsh_cqe *e)
{
	bool recv = e->op == NDSH_OP_RECV;
	struct sim_ud *u;

	sim_check(c->w, index < c->n_uds, "completion of an unknown queue pair %u", e->qp);
	u = c->uds[index];
	sim_note(c->w, "ud %u: %s %u: status %u, %u bytes", u->number, recv ? "receive" : "send",
		(uint32_t)e->context, e->status, e->bytes);
	sim_check(c->w, cq == (recv ? u->recv_cq : u->send_cq) && u->state != SIM_UD_OVER,
		"ud %u: completion in the wrong queue, or too late", u->number);
	if (recv)
		recv_completion(u, e);
	else
		send_completion(u, e);
}

bool
sim_ud_idle(const struct sim_ud *u)
{
	for (unsigned i = u->head; i < u->posted; i++)
		if (!(u->sends[i].flags & NDSH_WRF_SILENT))
			return false;
	return __atomic_load_n(&u->page->sq_done, __ATOMIC_ACQUIRE) == u->posted;
}

bool
sim_ud_recvs_done(const struct sim_ud *u)
{
	if (u->srq != NULL)
		return u->taker.last_wqe && u->recv_head == u->taker.last_recv;
	return u->recv_head == u->recv_posted;
}

void
sim_ud_end(struct sim_ud *u)
{
	for (; u->head < u->posted; u->head++) { /* silent ones: success, or a failure is told */
		sim_check(u->w, u->sends[u->head].left, "ud %u: send %u never left, in silence",
			u->number, u->head + 1);
		if (u->sends[u->head].slot >= 0)
			u->source.users[u->sends[u->head].slot]--;
	}
	sim_check(u->w, u->recv_head >= u->arrived, "ud %u: %u receives were filled, %u completed",
		u->number, u->arrived, u->recv_head);
}

/* Gone with what was in flight: but what was filled has completed. */
void
sim_ud_vanish(struct sim_ud *u)
{
	sim_client_drain(u->client);
	sim_check(u->w, u->breached || u->recv_head >= u->arrived,
		"ud %u: %u receives were filled, %u completed", u->number, u->arrived,
		u->recv_head);
}
