/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared receive queues. Each client has one, and part of its connections take their receives from
 * it. A completion tells which connection took which receive, the page how many were taken.
 */
#include "roce/qp/qp.h"
#include "sim.h"

#define LIMIT_MAX 6u

void
sim_srq_init(struct sim_client *c)
{
	struct sim_srq *q = &c->srq;
	uint32_t depth = 1u << sim_below(c->w, 5), sge = 1 + (uint32_t)sim_below(c->w, 8);

	q->client = c;
	q->page = sim_alloc(c->w, ndsh_srq_bytes(depth, sge));
	q->recvs = sim_alloc(c->w, SIM_RECVS_MAX * sizeof(*q->recvs));
	q->srq = roce_srq_create(c->shard->s, &c->engine, c->pd, q->page, depth, sge, q);
	sim_check(c->w, q->srq != NULL, "roce_srq_create()");
	ndsh_srq_view(&q->rq, q->page, depth, sge);
	sim_arena_init(c, &q->inbox, 6 * SIM_MTU_MAX, NDSH_ACCESS_LOCAL_WRITE, "shared inbox");
}

static unsigned
taken(const struct sim_srq *q)
{
	return __atomic_load_n(&q->page->taken, __ATOMIC_ACQUIRE);
}

/* ---- what the application does ---- */

static bool
post(struct sim_srq *q)
{
	struct sim_world *w = q->client->w;
	struct sim_recv *r = &q->recvs[q->posted];

	if (q->posted - taken(q) >= q->rq.depth || q->posted == SIM_RECVS_MAX)
		return false;
	*r = (struct sim_recv){.context = UINT64_C(3) << 62 | (q->posted + 1)};
	r->slot = sim_arena_slot(w, &q->inbox);
	if (r->slot < 0)
		return false;
	r->bytes = 5 * SIM_MTU_MAX + (uint32_t)sim_below(w, SIM_MTU_MAX / 2);
	r->nsge =
		(uint8_t)sim_sges(w, &q->inbox, (unsigned)r->slot, r->bytes, q->rq.sge_max, r->sge);
	q->inbox.users[r->slot]++;
	q->posted++;
	ndsh_rq_push(&q->rq, r->context, r->sge, r->nsge);
	return true;
}

static bool
in_use(const struct sim_srq *q)
{
	const struct sim_client *c = q->client;

	for (unsigned i = 0; i < c->n_eps; i++)
		if (c->eps[i]->srq == q && !c->eps[i]->gone)
			return true;
	for (unsigned i = 0; i < c->n_uds; i++)
		if (c->uds[i]->srq == q && c->uds[i]->state != SIM_UD_OVER)
			return true;
	return false;
}

/* Below the limit already, it must be told at once. */
static void
arm(struct sim_srq *q)
{
	struct sim_world *w = q->client->w;

	q->limit = (uint32_t)sim_below(w, LIMIT_MAX);
	q->below = q->posted - taken(q) < q->limit;
	roce_srq_arm(q->client->shard->s, q->srq, q->limit);
	sim_shard_wake(q->client->shard, w->now_ns);
}

unsigned
sim_srq_run(struct sim_srq *q)
{
	struct sim_world *w = q->client->w;
	unsigned most = 1 + (unsigned)sim_below(w, SIM_SLOTS), posted = 0;

	if (!in_use(q))
		return 0;
	if (w->now_ns >= q->starve_ns && !sim_chance(w, w->profile->lazy_recv))
		while (posted < most && post(q))
			posted++;
	if (sim_chance(w, 500) && (q->limit == 0 || !q->below))
		arm(q);
	return posted;
}

/* ---- what it hears ---- */

/*
 * The receive that completes at ep: none twice, each queue pair's in the order of posting.
 * checks R-ORD-02[1,2], R-SRQ-02[2,3]
 */
struct sim_recv *
sim_srq_take(struct sim_srq *q, struct sim_taker *taker, const char *kind, unsigned of,
	const struct ndsh_cqe *e)
{
	struct sim_world *w = q->client->w;
	unsigned number = (uint32_t)e->context;
	struct sim_recv *r;

	sim_check(w,
		number > 0 && number <= q->posted && q->recvs[number - 1].context == e->context,
		"%s %u: shared receive %u completed, %u were posted", kind, of, number, q->posted);
	r = &q->recvs[number - 1];
	sim_check(w, !r->done, "%s %u: shared receive %u completed twice", kind, of, number);
	sim_check(w, number <= taken(q), "%s %u: shared receive %u completed, %u are taken", kind,
		of, number, taken(q));
	sim_check(w, number > taker->last_shared, "%s %u: shared receive %u behind %u", kind, of,
		number, taker->last_shared);
	sim_check(w, !taker->last_wqe || taker->done < taker->last_recv,
		"%s %u: a receive completed behind the last one", kind, of);
	taker->last_shared = number;
	taker->done++;
	r->done = true;
	q->done++;
	return r;
}

/* checks W-EVT-01[2,3] */
void
sim_srq_limit(struct sim_srq *q)
{
	struct sim_world *w = q->client->w;
	unsigned left = q->posted - taken(q);

	sim_note(w, "fewer than %u shared receives are left", q->limit);
	sim_check(w, q->limit != 0 && (q->below || left < q->limit),
		"limit of %u shared receives told, %u are left", q->limit, left);
	q->limit = 0;
}

/*
 * A message or datagram did not get the next receive. If that was for lack of staging, its first
 * pieces may have found some, and lie in the receive that the next message gets: the memory of a
 * posted receive is the adapter's.
 */
void
sim_srq_refused(struct sim_srq *q)
{
	if (taken(q) < q->posted && sim_mover_is_full(&q->client->mover))
		q->inbox.undefined[q->recvs[taken(q)].slot] = true;
}

void
sim_srq_rx(struct sim_shard *sh, const struct roce_pkt *pkt, struct roce_qp *qp)
{
	uint32_t expected = qp->recv_psn;

	roce_shard_rx(sh->s, sh->host->w->now_ns, pkt, qp);
	if (qp->srq != NULL && pkt->psn == expected && (pkt->opflags & ROCE_OPF_SEND) &&
		(qp->rx_bits & ROCE_RXB_RNR_SENT))
		sim_srq_refused(&sh->client.srq);
}

/* All that it took has completed (W-EVT-02); its page says how much that is. */
void
sim_srq_last_wqe(struct sim_world *w, struct sim_taker *taker, const struct ndsh_qp_page *page)
{
	sim_check(w, !taker->last_wqe && page->dead, "last shared receive, for no reason");
	taker->last_wqe = true;
	taker->last_recv = __atomic_load_n(&page->rq_done, __ATOMIC_ACQUIRE);
}

/* After a turn, in which the application could not post: a queue below its limit was reported. */
void
sim_srq_check(struct sim_srq *q)
{
	sim_check(q->client->w, taken(q) >= q->taken && taken(q) <= q->posted,
		"%u shared receives taken, %u before, %u posted", taken(q), q->taken, q->posted);
	q->taken = taken(q);
	sim_check(q->client->w, q->posted - taken(q) >= q->limit,
		"limit of %u shared receives not told, %u are left", q->limit,
		q->posted - taken(q));
}

/* ---- the end ---- */

/* Receives that were taken have completed, unless their queue pair vanished; the others are
 * untouched. */
void
sim_srq_destroy(struct sim_srq *q)
{
	struct sim_client *c = q->client;

	sim_check(c->w, q->done <= taken(q) && taken(q) - q->done <= q->lost,
		"shared receives: %u taken, %u completed, %u may be lost", taken(q), q->done,
		q->lost);
	for (unsigned n = 0; n < taken(q); n++)
		if (!q->recvs[n].done)
			q->inbox.undefined[q->recvs[n].slot] = true;
	sim_arena_check(c->w, &q->inbox);
	sim_check(c->w, roce_srq_destroy(c->shard->s, q->srq), "an SRQ is still in use");
	sim_arena_deregister(c, &q->inbox);
}
