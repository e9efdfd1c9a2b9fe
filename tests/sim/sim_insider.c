/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "roce/qp/qp.h"
#include "sim.h"

#define BEGIN_NS SIM_MS
#define STATUSES 32u
#define LEAK_MIN 16u /* bytes that are not found in another place by chance */

static const char *const names[SIM_TRICKS] = {
	[SIM_TRICK_REQUEST] = "requests",
	[SIM_TRICK_THEFT] = "requests beyond its rights",
	[SIM_TRICK_MESSAGE] = "messages of several packets",
	[SIM_TRICK_RESPONSE] = "responses",
	[SIM_TRICK_FLOOD] = "floods",
	[SIM_TRICK_RAW] = "transport headers of chance",
	[SIM_TRICK_CNP] = "CNPs",
	[SIM_TRICK_NEIGHBOUR] = "packets to others' queue pairs",
	[SIM_TRICK_CHANGED] = "packets changed",
	[SIM_TRICK_TWICE] = "packets sent twice",
	[SIM_TRICK_WITHHELD] = "packets withheld",
	[SIM_TRICK_MAD] = "CM messages",
};
static uint64_t tricks[SIM_TRICKS]; /* of all worlds so far, as what is below */
static uint64_t insiders, ended[STATUSES], reads_checked;

void
sim_insider_print(void)
{
	printf("insiders %28lu\n", (unsigned long)insiders);
	for (unsigned i = 0; i < SIM_TRICKS; i++)
		printf("insider: %-30s %9lu\n", names[i], (unsigned long)tricks[i]);
	for (unsigned i = 0; i < STATUSES; i++)
		if (ended[i] > 0)
			printf("insider: victim's requests with status %-4u %9lu\n", i,
				(unsigned long)ended[i]);
	printf("insider: read responses looked at %15lu\n", (unsigned long)reads_checked);
}

bool
sim_insider_all_tricks(void)
{
	bool all = reads_checked > 0;

	for (unsigned i = 0; i < SIM_TRICKS; i++) {
		if (tricks[i] == 0)
			printf("insiders never tried: %s\n", names[i]);
		all &= tricks[i] > 0;
	}
	return all;
}

void
sim_insider_did(struct sim_insider *x, enum sim_trick trick)
{
	tricks[trick]++;
	sim_note(
		x->ep->w, "conn %u%s: insider: %s", x->ep->conn->number, x->ep->name, names[trick]);
}

/* ---- the plan ---- */

/* The victim opens everything, or only a part, to which the honest end does not keep. */
static void
plan_rights(struct sim_insider *x)
{
	static const uint32_t parts[] = {
		NDSH_ACCESS_REMOTE_READ, NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_LOCAL_WRITE, 0};

	x->access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
		    NDSH_ACCESS_REMOTE_ATOMIC;
	if (!sim_chance(x->ep->w, 5000))
		return;
	x->access = parts[sim_below(x->ep->w, 3)];
	x->ep->quota = 0;
}

/* Called when both ends know their hosts, before there is anything of the connection. */
void
sim_insider_plan(struct sim_conn *c)
{
	struct sim_world *w = c->ep[0].w;
	struct sim_insider *x;

	if (c->ep[0].client->shard->host->address == c->ep[1].client->shard->host->address ||
		c->refuse || c->nobody || !sim_chance(w, w->profile->insiders))
		return;
	x = c->insider = sim_alloc(w, sizeof(*x));
	x->ep = &c->ep[sim_below(w, 2)];
	x->victim = x->ep->peer;
	x->patience = (unsigned)sim_below(w, 150);
	x->next_ns = SIM_NEVER;
	x->gentle = sim_chance(w, 7000);
	x->pause_ns = (uint32_t)SIM_US << sim_below(w, 8);
	x->raw = x->mute = sim_chance(w, 2000);
	x->victim->shares = x->ep->shares = false; /* those of others are not its peer's */
	c->poison = SIM_POISON_NONE;
	c->villain = NULL;
	c->copies = true;
	plan_rights(x);
	x->pd = roce_pd_create(x->victim->client->shard->s);
	sim_check(w, x->pd != 0, "no domain left");
	insiders++;
	sim_note(w, "conn %u%s is an insider%s, rights %x", c->number, x->ep->name,
		x->raw ? " without an engine" : "", x->access);
}

static bool
is_victim(const struct sim_ep *ep)
{
	return ep->conn->insider != NULL && ep->conn->insider->victim == ep;
}

/* What this peer may reach is in a domain of its own: in the client's other one, a region that is
 * open to one peer is open to all. */
uint32_t
sim_insider_pd_enter(struct sim_ep *ep)
{
	uint32_t was = ep->client->pd;

	if (is_victim(ep))
		ep->client->pd = ep->conn->insider->pd;
	return was;
}

void
sim_insider_over(struct sim_conn *c)
{
	if (c->insider != NULL)
		sim_check(c->ep[0].w,
			roce_pd_destroy(c->insider->victim->client->shard->s, c->insider->pd),
			"the domain is still in use");
}

uint32_t
sim_insider_access(const struct sim_ep *ep, uint32_t access)
{
	return is_victim(ep) ? ep->conn->insider->access : access;
}

/* Binds would ask for rights that the region does not have. */
bool
sim_insider_windows(const struct sim_ep *ep)
{
	return !is_victim(ep) || (ep->conn->insider->access & NDSH_ACCESS_REMOTE_ATOMIC);
}

/* ---- its life ---- */

static bool
may_act(const struct sim_insider *x)
{
	return x->victim->qp != NULL && !x->victim->gone && x->ep->qp != NULL && !x->ep->gone &&
	       !x->ep->client->shard->host->dead;
}

/* Both ends end the connection, as an application ends one that has gone wrong. */
static void
close_ends(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;

	if (x->victim->close_ns == 0)
		x->victim->close_ns = w->now_ns + sim_below(w, SIM_MS);
	if (x->ep->close_ns == 0)
		x->ep->close_ns = w->now_ns + SIM_MS + sim_below(w, 20 * SIM_MS);
}

uint64_t
sim_insider_step(struct sim_conn *c)
{
	struct sim_insider *x = c->insider;
	struct sim_world *w = c->ep[0].w;

	if (x == NULL || c->state < SIM_CONN_UP)
		return SIM_NEVER;
	if (x->next_ns == SIM_NEVER)
		x->next_ns = w->now_ns + sim_below(w, BEGIN_NS);
	if (c->state > SIM_CONN_UP || x->patience == 0)
		close_ends(x);
	if (x->patience == 0 || w->now_ns < x->next_ns)
		return x->patience == 0 ? SIM_NEVER : x->next_ns;
	x->patience--;
	x->next_ns = w->now_ns + sim_below(w, 2 * x->pause_ns);
	if (sim_chance(w, 100))
		x->gentle = !x->gentle;
	if (sim_chance(w, 200))
		x->mute = !x->mute || x->raw;
	if (may_act(x))
		sim_trick(x);
	return x->next_ns;
}

static bool
holds(const struct sim_arena *a, const struct roce_pkt *pkt, uint32_t bytes)
{
	return memmem(a->mem, a->bytes, pkt->payload, bytes) != NULL;
}

/* The victim tells nothing but what is open. What the insider may write may have changed since it
 * was read. */
static void
check_leak(const struct sim_insider *x, const struct roce_pkt *pkt)
{
	const struct sim_arena *t = &x->victim->target;
	bool stable = !(x->access & NDSH_ACCESS_REMOTE_WRITE);

	if (pkt->opcode < ROCE_READ_RESP_FIRST || pkt->opcode > ROCE_READ_RESP_ONLY ||
		pkt->payload_bytes == 0)
		return;
	sim_check(x->ep->w, x->access & NDSH_ACCESS_REMOTE_READ,
		"conn %u: an insider reads what is not open", x->ep->conn->number);
	if (pkt->payload_bytes < LEAK_MIN)
		return;
	reads_checked++;
	sim_check(x->ep->w,
		(!stable || holds(t, pkt, pkt->payload_bytes)) &&
			(x->coveted == NULL || !holds(x->coveted, pkt, LEAK_MIN)),
		"conn %u: an insider reads other memory", x->ep->conn->number);
}

bool
sim_insider_said(struct sim_ep *from, struct sim_words *words)
{
	struct sim_insider *x = from->conn->insider;

	if (from == x->victim) {
		check_leak(x, &words->pkt);
		return false;
	}
	return from->conn->state >= SIM_CONN_UP && sim_trick_said(x, words);
}

void
sim_insider_record(struct sim_conn *c, const struct sim_host *from, const uint8_t *mad)
{
	struct sim_insider *x = c->insider;

	if (x != NULL && x->ep->client->shard->host == from)
		memcpy(x->mad[x->n_mads++ % SIM_MADS], mad, ROCE_MAD_BYTES);
}

/* ---- the model ---- */

/* Nothing that is the victim's own fault, unless a window went that the insider may end. */
bool
sim_insider_send_ok(const struct sim_ep *ep, const struct sim_op *op, uint8_t status)
{
	bool local = op->op == NDSH_OP_BIND || op->op == NDSH_OP_INVALIDATE ||
		     op->op == NDSH_OP_FAST_REGISTER;

	if (is_victim(ep))
		ended[status]++;
	if (ep->send_failed && status == NDSH_WC_SUCCESS)
		return false;
	switch (status) {
	case NDSH_WC_SUCCESS:
		return true;
	case NDSH_WC_FLUSH_ERR:
		return ep->flushing || ep->errored || ep->page->dead;
	case NDSH_WC_BIND_ERR:
	case NDSH_WC_LOC_QP_OP_ERR:
		return local && !ep->send_error;
	case NDSH_WC_BAD_RESP_ERR:
	case NDSH_WC_REM_INV_REQ_ERR:
	case NDSH_WC_REM_ACCESS_ERR:
	case NDSH_WC_REM_OP_ERR:
	case NDSH_WC_RETRY_EXC_ERR:
	case NDSH_WC_RNR_RETRY_EXC_ERR:
		return !local && !ep->send_error;
	default:
		return false;
	}
}

bool
sim_insider_recv_ok(const struct sim_ep *ep, uint8_t status)
{
	switch (status) {
	case NDSH_WC_SUCCESS:
		return !ep->recv_failed;
	case NDSH_WC_FLUSH_ERR:
		return true;
	case NDSH_WC_LOC_LEN_ERR:
	case NDSH_WC_REM_INV_REQ_ERR:
	case NDSH_WC_REM_ACCESS_ERR:
		return !ep->recv_failed;
	default:
		return false;
	}
}

/* Whatever is in these pieces may be there, and from now on it stays. */
static void
adopt(struct sim_ep *ep, struct sim_arena *a, const struct ndsh_sge *sge, unsigned n,
	uint32_t bytes)
{
	uint8_t *got = sim_alloc(ep->w, bytes + 1);

	sim_gather(a, a->mem, sge, n, got, bytes);
	sim_scatter(a, a->shadow, sge, n, got, bytes);
}

void
sim_insider_fetched(struct sim_ep *ep, const struct sim_op *op)
{
	if (op->op == NDSH_OP_READ || sim_is_atomic(op))
		adopt(ep, op->local, op->sge, op->nsge, op->bytes);
}

void
sim_insider_received(struct sim_ep *ep, const struct sim_recv *r, const struct ndsh_cqe *e)
{
	if (e->status == NDSH_WC_SUCCESS && !(e->flags & NDSH_CQEF_WRITE))
		sim_check(ep->w, e->bytes <= r->bytes,
			"conn %u%s: a message of %u bytes in a receive of %u", ep->conn->number,
			ep->name, e->bytes, r->bytes);
	adopt(ep, &ep->inbox, r->sge, r->nsge, r->bytes);
}

void
sim_insider_memory(const struct sim_ep *ep)
{
	const struct sim_insider *x = ep->conn->insider;

	if (!is_victim(ep))
		return;
	sim_arena_check(ep->w, &ep->source);
	sim_arena_check(ep->w, &ep->landing);
	sim_arena_check(ep->w, &ep->inbox);
	if (!(x->access & NDSH_ACCESS_REMOTE_WRITE))
		sim_arena_check(ep->w, &ep->target);
}
