/* SPDX-License-Identifier: BSD-3-Clause */
/* What an application posts to a queue pair of datagrams: destinations, lengths, and mistakes. */
#include <string.h>

#include "sim.h"

#define SENDS_CONTEXT UINT64_C(0x2000000000000000)
#define RECVS_CONTEXT UINT64_C(0xa000000000000000)
#define ROOM_MAX      (NDSH_GRH_BYTES + SIM_MTU_MAX)

/* ---- destinations -------------------------------------------------------------------------- */

/* Numbers of queue pairs that are connected, of the CM, of no queue pair. */
static uint32_t
wrong_qpn(struct sim_world *w)
{
	switch (sim_below(w, 3)) {
	case 0:
		return w->conns[sim_below(w, w->n_conns)].ep[sim_below(w, 2)].qpn;
	case 1:
		return ROCE_QPN_GSI;
	default:
		return (uint32_t)sim_rand(w) & ROCE_QPN_MASK;
	}
}

/* Another one, or itself; now and then all of it is wrong. */
static struct sim_target
choose_target(struct sim_ud *u)
{
	struct sim_world *w = u->w;
	const struct sim_ud *to = &w->uds[sim_below(w, w->n_uds)];
	struct sim_target t = {.qpn = to->qpn,
		.q_key = to->q_key,
		.v6 = to->v6,
		.address = to->client->shard->host->address};

	(void)sim_sidr_heard(u, &t);
	if (t.qpn == 0 || sim_chance(w, 300))
		t.qpn = wrong_qpn(w);
	if (sim_chance(w, 300))
		t.q_key ^= 1u << sim_below(w, 32);
	if (sim_chance(w, 200)) /* of which the sender may use none but its own: W-PKT-13 */
		t.q_key = ROCE_QKEY_GSI;
	if (sim_chance(w, 300))
		t.address = (unsigned)sim_below(w, SIM_ADDRESSES + 1); /* the last is no host's */
	if (sim_chance(w, 200))
		t.v6 = !t.v6;
	if (sim_chance(w, w->profile->groups)) {
		t.address = SIM_GROUPS_AT + sim_group_choose(u);
		t.qpn = ROCE_QPN_MULTICAST;
	}
	if (w->profile->groups > 0 && sim_chance(w, 100)) /* W-MC-06 */
		t.qpn = t.qpn == ROCE_QPN_MULTICAST ? u->qpn : ROCE_QPN_MULTICAST;
	return t;
}

/* ---- what ---------------------------------------------------------------------------------- */

static uint32_t
random_size(struct sim_world *w, uint32_t mtu)
{
	switch (sim_below(w, 4)) {
	case 0:
		return (uint32_t)sim_below(w, 5);
	case 1:
		return mtu - (uint32_t)sim_below(w, 3);
	case 2:
		return (uint32_t)sim_below(w, 257);
	default:
		return (uint32_t)sim_below(w, mtu + 1);
	}
}

/* New bytes for each, so that old ones are noticed. */
static bool
choose_source(struct sim_ud *u, struct sim_send *op)
{
	struct sim_world *w = u->w;

	op->data = sim_random_bytes(w, op->bytes);
	if (op->flags & NDSH_WRF_INLINE)
		return true;
	op->slot = sim_arena_slot(w, &u->source);
	if (op->slot < 0)
		return false;
	op->nsge = (uint8_t)sim_sges(
		w, &u->source, (unsigned)op->slot, op->bytes, u->dims.sq_sge, op->sge);
	sim_scatter(&u->source, u->source.mem, op->sge, op->nsge, op->data, op->bytes);
	sim_scatter(&u->source, u->source.shadow, op->sge, op->nsge, op->data, op->bytes);
	u->source.users[op->slot]++;
	return true;
}

/* An error that the sender alone has to bear, in the order in which the engine looks. */
static void
maybe_mistake(struct sim_ud *u, struct sim_send *op)
{
	struct sim_world *w = u->w;
	unsigned i = (unsigned)sim_below(w, NDSH_SGE_MAX);

	if (!sim_chance(w, w->profile->poison / 40))
		return;
	if (sim_chance(w, 5000)) {
		op->token = sim_ah_dead(u->client);
		op->bad = NDSH_WC_LOC_QP_OP_ERR;
	} else if (op->bad == NDSH_WC_SUCCESS && i < op->nsge && op->sge[i].len > 0) {
		op->sge[i].key ^= 1u << sim_below(w, 32);
		op->bad = NDSH_WC_LOC_PROT_ERR;
	}
}

static void
push(struct sim_ud *u, const struct sim_send *op)
{
	bool is_short = (op->flags & NDSH_WRF_INLINE) != 0 && op->bytes <= NDSH_SHORT_MAX &&
			op->context % 2 == 0;
	uint32_t flags = op->flags | (is_short ? NDSH_WRF_SHORT : 0u);
	struct ndsh_swr wr = {.context = op->context,
		.rkey = op->token,
		.raddr = NDSH_UD_RADDR(op->qpn, op->q_key),
		.imm = op->imm,
		.inline_bytes = op->bytes,
		.ctrl = NDSH_CTRL(op->op, op->nsge, flags, 0)};

	if (is_short)
		memcpy(wr.data, op->data, op->bytes);

	sim_note(u->w, "ud %u: send %u of %u bytes to %06x, key %x, handle %x%s", u->number,
		(uint32_t)op->context, op->bytes, op->qpn, op->q_key, op->token,
		op->bad ? ", bad" : "");
	u->posted++;
	ndsh_sq_push(&u->sq, &wr, op->sge, op->data);
}

/* No longer than the path carries; one byte more is a mistake (W-UD-01). */
static void
choose_size(struct sim_ud *u, struct sim_send *op, const struct sim_ah *ah)
{
	struct sim_world *w = u->w;

	op->bytes = random_size(w, ah->mtu);
	if (sim_chance(w, w->profile->poison / 80)) {
		op->bytes = ah->mtu + 1 + (uint32_t)sim_below(w, 64);
		op->bad = NDSH_WC_LOC_LEN_ERR;
	}
	if (op->bytes <= u->dims.inline_bytes && sim_chance(w, 5000))
		op->flags |= NDSH_WRF_INLINE;
}

static bool
send(struct sim_ud *u)
{
	struct sim_world *w = u->w;
	uint32_t done = __atomic_load_n(&u->page->sq_done, __ATOMIC_ACQUIRE);
	struct sim_send *op = &u->sends[u->posted];
	const struct sim_ah *ah;
	struct sim_target t;

	sim_check(w, done <= u->posted, "ud %u: sq_done %u of %u", u->number, done, u->posted);
	if (u->posted - done >= u->dims.sq_depth)
		return false;
	t = choose_target(u);
	ah = sim_ah_to(u->client, t.address, t.v6);
	if (ah == NULL)
		return false;
	*op = (struct sim_send){
		.context = SENDS_CONTEXT | (uint64_t)u->number << 32 | (u->posted + 1),
		.op = NDSH_OP_SEND,
		.slot = -1,
		.token = ah->token,
		.qpn = t.qpn,
		.q_key = t.q_key,
		.flags = (uint8_t)sim_below(w, 8)};
	if (sim_chance(w, 3000)) {
		op->op = NDSH_OP_SEND_IMM;
		op->imm = (uint32_t)sim_rand(w);
	}
	if ((t.qpn == ROCE_QPN_MULTICAST) != (t.address >= SIM_GROUPS_AT))
		op->bad = NDSH_WC_LOC_QP_OP_ERR;
	choose_size(u, op, ah);
	if (!choose_source(u, op))
		return false;
	maybe_mistake(u, op);
	push(u, op);
	/* All of them together take a quarter of a link: connections must not starve. */
	u->next_post_ns =
		w->now_ns + SIM_US + 4 * w->n_uds * (op->bytes / 64 + 2) * w->net.ns_per_64_bytes;
	return true;
}

/* Not a datagram, or no operation at all: a breach of the contract (the last of what it posts). In
 * a queue that is being flushed the well-formed ones are, too. */
static bool
breach(struct sim_ud *u)
{
	static const uint8_t ops[] = {0, NDSH_OP_WRITE, NDSH_OP_BIND};
	uint8_t op = ops[sim_below(u->w, sizeof(ops))];
	const struct ndsh_swr wr = {.ctrl = NDSH_CTRL(op, 0, 0, 0)};

	if (u->posted - __atomic_load_n(&u->page->sq_done, __ATOMIC_ACQUIRE) >= u->dims.sq_depth)
		return false;
	sim_note(u->w, "ud %u: breach, operation %u", u->number, op);
	u->sends[u->posted] = (struct sim_send){.op = op, .slot = -1, .bad = NDSH_WC_GENERAL_ERR};
	u->posted++;
	ndsh_sq_push(&u->sq, &wr, NULL, NULL);
	return true;
}

/* ---- receives ------------------------------------------------------------------------------ */

/* Most have room for everything; some for little, or not even for the header; a few name memory
 * that is not theirs. */
static bool
recv(struct sim_ud *u)
{
	struct sim_world *w = u->w;
	struct sim_recv *r = &u->recvs[u->recv_posted];
	uint32_t done = __atomic_load_n(&u->page->rq_done, __ATOMIC_ACQUIRE);

	if (u->recv_posted - done >= u->dims.rq_depth || u->recv_posted == SIM_UD_RECVS)
		return false;
	*r = (struct sim_recv){
		.context = RECVS_CONTEXT | (uint64_t)u->number << 32 | (u->recv_posted + 1)};
	r->slot = sim_arena_slot(w, &u->inbox);
	if (r->slot < 0)
		return false;
	r->bad = sim_chance(w, w->profile->poison / 160);
	r->bytes = r->bad || !sim_chance(w, 1000) ? ROOM_MAX : (uint32_t)sim_below(w, ROOM_MAX);
	r->nsge = (uint8_t)sim_sges(
		w, &u->inbox, (unsigned)r->slot, r->bytes, r->bad ? 1 : u->dims.rq_sge, r->sge);
	if (r->bad)
		r->sge[0].key ^= 1u << sim_below(w, 32);
	u->inbox.users[r->slot]++;
	u->recv_posted++;
	ndsh_rq_push(&u->rq, r->context, r->sge, r->nsge);
	return true;
}

static bool
wants_receives(const struct sim_ud *u)
{
	return u->srq == NULL && u->state == SIM_UD_UP &&
	       !sim_chance(u->w, u->w->profile->lazy_recv);
}

static bool
wants_to_send(const struct sim_ud *u)
{
	return u->state == SIM_UD_UP && u->posted < u->quota && u->w->now_ns >= u->next_post_ns;
}

bool
sim_ud_act(struct sim_ud *u, unsigned *done)
{
	unsigned posted = 0;
	bool rang = false;

	if (u->state != SIM_UD_UP)
		return u->state == SIM_UD_ENDING;
	if (wants_receives(u))
		while (recv(u))
			posted++;
	if (wants_to_send(u))
		rang = u->breach && u->posted == u->quota - 1 ? breach(u) : send(u);
	*done += posted + rang;
	/* As roce_qp_doorbell() asks for: what is posted to a dead queue pair needs a doorbell. */
	ndsh_full_barrier();
	if (rang || (posted > 0 && __atomic_load_n(&u->page->dead, __ATOMIC_ACQUIRE)))
		sim_client_ring(u->client, u->page, u->index);
	return true;
}
