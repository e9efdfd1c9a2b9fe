/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the shards reach the object that they are about, or nothing. */
#include "control/events.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "object/cq.h"
#include "object/qp.h"
#include "rigs/eal_rig.h"
#include "rigs/ndd_rig.h"

static void
start_eal(void)
{
	eal_rig_start(NULL);
}

TestSuite(events, .init = start_eal);

struct world {
	struct ndd_rig *r;
	struct ndd_session *s;
	int client;
	struct ndd_qp qp;
	struct ndd_cq cq;
};

/* A client that wants events and has a queue pair and a completion queue, as far as their tables
 * know. */
static struct world *
world_new(void)
{
	static const int node[1] = {0};
	const struct ndsh_id_msg want = {.h.type = NDSH_MSG_EVENTS, .id = 1};
	struct world *w = calloc(1, sizeof(*w));
	uint8_t reply[NDSH_MSG_BYTES];

	w->r = ndd_rig_new();
	cr_assert(ndd_handover_init(&w->r->d.plane.rings, 1, node, w->r->d.plane.secret));
	w->client = ndd_rig_open(w->r, &w->s);
	cr_assert(eq(i32, ndd_rig_ask(w->r, w->client, &want, reply), NDSH_OK));
	w->qp.owner = (struct ndd_owner){.session = w->s->serial, .object = 70};
	w->qp.owner.handle = ndd_slots_add(&w->s->qps, &w->qp);
	w->cq.owner = (struct ndd_owner){.session = w->s->serial, .object = 71};
	w->cq.owner.handle = ndd_slots_add(&w->s->cqs, &w->cq);
	return w;
}

static struct ndd_event
event_of(const struct ndd_owner *o, enum roce_event_type type)
{
	return (struct ndd_event){.session = o->session,
		.object = o->object,
		.handle = o->handle,
		.type = (uint8_t)type,
		.reason = ROCE_REASON_RETRY_EXC};
}

/* The event goes through the shard's ring. Returns what the client gets, NDSH_ASYNC_NONE: none. */
static uint32_t
deliver(struct world *w, const struct ndd_event *ev)
{
	union {
		struct ndsh_msg_hdr h;
		struct ndsh_ev_async async;
		uint8_t bytes[NDSH_MSG_BYTES];
	} m;

	cr_assert(ndd_event_put(w->r->d.plane.rings.event[0], ev));
	cr_expect(not(ndd_control_receive(&w->r->d, 0)));
	if (ndd_rig_take(w->client, &m, NULL) <= 0 || m.h.type != NDSH_EV_ASYNC)
		return NDSH_ASYNC_NONE;
	return m.async.event;
}

Test(events, reach_their_object)
{
	struct world *w = world_new();
	struct ndd_event ev = event_of(&w->qp.owner, ROCE_EV_COMM_EST);

	cr_expect(eq(u32, deliver(w, &ev), NDSH_ASYNC_COMM_EST));
	cr_expect(not(w->qp.failed));
	ev = event_of(&w->qp.owner, ROCE_EV_SQ_DRAINED);
	cr_expect(eq(u32, deliver(w, &ev), NDSH_ASYNC_SQ_DRAINED));
	ev = event_of(&w->qp.owner, ROCE_EV_LAST_WQE);
	cr_expect(eq(u32, deliver(w, &ev), NDSH_ASYNC_LAST_WQE));
	cr_expect(not(w->qp.failed));
	ev = event_of(&w->qp.owner, ROCE_EV_QP_ERROR);
	cr_expect(eq(u32, deliver(w, &ev), NDSH_ASYNC_QP_ERROR));
	cr_expect(w->qp.failed);
	ev = event_of(&w->cq.owner, ROCE_EV_CQ_ERROR);
	cr_expect(eq(u32, deliver(w, &ev), NDSH_ASYNC_CQ_ERROR));
}

Test(events, of_an_object_that_is_gone_reach_nothing)
{
	struct world *w = world_new();
	struct ndd_event qp = event_of(&w->qp.owner, ROCE_EV_QP_ERROR),
			 cq = event_of(&w->cq.owner, ROCE_EV_CQ_ERROR);

	ndd_slots_remove(&w->s->qps, w->qp.owner.handle);
	ndd_slots_remove(&w->s->cqs, w->cq.owner.handle);
	cr_expect(eq(u32, deliver(w, &qp), NDSH_ASYNC_NONE));
	cr_expect(eq(u32, deliver(w, &cq), NDSH_ASYNC_NONE));
	cr_expect(not(w->qp.failed));
}

/* A queue pair's handle is used again at once; the serial of the object is not. */
Test(events, of_the_handles_former_object_do_not_reach_its_successor)
{
	struct world *w = world_new();
	struct ndd_event qp = event_of(&w->qp.owner, ROCE_EV_QP_ERROR),
			 est = event_of(&w->qp.owner, ROCE_EV_COMM_EST),
			 cq = event_of(&w->cq.owner, ROCE_EV_CQ_ERROR);

	w->qp.owner.object++;
	w->cq.owner.object++;
	cr_expect(eq(u32, deliver(w, &qp), NDSH_ASYNC_NONE));
	cr_expect(eq(u32, deliver(w, &est), NDSH_ASYNC_NONE));
	cr_expect(eq(u32, deliver(w, &cq), NDSH_ASYNC_NONE));
	cr_expect(not(w->qp.failed));
}

Test(events, of_another_session_or_of_one_that_ends_reach_nothing)
{
	struct world *w = world_new();
	struct ndd_event ev = event_of(&w->qp.owner, ROCE_EV_QP_ERROR);

	ev.session++;
	cr_expect(eq(u32, deliver(w, &ev), NDSH_ASYNC_NONE));
	cr_expect(not(w->qp.failed));
	ev.session--;
	w->s->ended = true;
	TAILQ_REMOVE(&w->r->d.sessions, w->s, next);
	cr_expect(eq(u32, deliver(w, &ev), NDSH_ASYNC_NONE));
	cr_expect(not(w->qp.failed));
}

Test(events, a_broken_descriptor_ends_the_session)
{
	struct world *w = world_new();
	struct ndd_event ev = event_of(&w->qp.owner, ROCE_EV_CLIENT_BREACH);

	(void)deliver(w, &ev);
	cr_expect(w->s->ended);
}

/* One shard's flood does not keep the sockets waiting. */
Test(events, of_one_round_are_bounded)
{
	struct world *w = world_new();
	struct ndd_event ev = event_of(&w->qp.owner, ROCE_EV_QP_ERROR);
	unsigned rounds = 1;

	ev.session += 100;
	for (int i = 0; i < 600; i++)
		cr_assert(ndd_event_put(w->r->d.plane.rings.event[0], &ev));
	while (ndd_control_receive(&w->r->d, 0))
		rounds++;
	cr_expect(eq(u32, rounds, 3), "256 each");
}

Test(events, the_first_deadline_of_all_decides)
{
	struct world *w = world_new();
	struct ndd *d = &w->r->d;
	uint64_t none;

	d->mads.generation = net_generation(d->net);
	d->followers.deadline_ns = d->leave_look_ns = UINT64_MAX;
	none = ndd_control_deadline(d); /* of the network and the CM alone */
	cr_assert(ge(u64, none, 4));
	d->followers.deadline_ns = 3;
	cr_expect(eq(u64, ndd_control_deadline(d), 3));
	d->leave_look_ns = 2;
	cr_expect(eq(u64, ndd_control_deadline(d), 2));
	d->work_look_ns = 1;
	cr_expect(eq(u64, ndd_control_deadline(d), 1));
	d->mads.generation--;
	cr_expect(eq(u64, ndd_control_deadline(d), 0), "a next hop has changed");
	d->mads.generation++;
	cr_expect(eq(u64, ndd_control_deadline(d), 1));
	cr_assert(ne(ptr, roce_cm_connect(d->cm, 0, &(struct roce_cm_connect){.qp.qpn = 2}), NULL));
	cr_expect(eq(u64, ndd_control_deadline(d), 0), "the CM has more than a turn sends");
}
