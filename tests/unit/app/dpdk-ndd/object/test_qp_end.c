/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of deep queue pairs, and what else takes as long as their rings are deep: parts of it, in
 * several turns of the control thread. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/socket.h>

#include "object/qp.h"
#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "roce/qp/qp.h"
#include "session/end.h"
#include "shm/ndsh_ring.h"

#define DEPTH	 16384u
#define CQ_DEPTH (4 * DEPTH)
#define CQ_AT	 65536u /* behind the session page */
#define QP_AT	 (4u << 20)
#define BYTES	 (8u << 20)
#define PART	 ROCE_FLUSH_AT_ONCE
#define AT_ONCE	 5u /* parts, when the request is taken: one with ERR, and four */

struct scene {
	struct ndd_rig *r;
	struct ndd_session *s;
	int client;
	uint8_t *mem;
	struct ndsh_qp_create m;
	uint32_t qp;
	struct ndsh_rq rq;
	struct ndsh_cq_reader results;
};

union reply {
	struct ndsh_msg_hdr h;
	struct ndsh_id_msg id;
	uint8_t bytes[NDSH_MSG_BYTES];
};

static uint32_t
make(struct scene *sc, const void *msg)
{
	union reply reply;

	cr_assert(eq(i32, ndd_rig_ask(sc->r, sc->client, msg, &reply), NDSH_OK));
	return reply.id.id;
}

/* A queue pair that was never connected, with so many receives. */
static struct scene
scene_new(uint32_t receives)
{
	struct scene sc = {.r = ndd_rig_new()};
	struct ndsh_cq_create cq = {
		.h.type = NDSH_MSG_CQ_CREATE, .depth = CQ_DEPTH, .offset = CQ_AT};
	struct ndsh_qp_dims dims = {1, DEPTH, 1, 1, 0};

	sc.client = ndd_rig_open(sc.r, &sc.s);
	sc.mem = ndd_rig_segment(sc.r, sc.client, BYTES, &sc.m.segment);
	cq.segment = sc.m.segment;
	sc.m.h.type = NDSH_MSG_QP_CREATE;
	sc.m.pd = make(&sc, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	sc.m.send_cq = sc.m.recv_cq = make(&sc, &cq);
	sc.m.offset = QP_AT;
	sc.m.sq_depth = dims.sq_depth;
	sc.m.rq_depth = dims.rq_depth;
	sc.m.sq_sge = sc.m.rq_sge = 1;
	sc.qp = make(&sc, &sc.m);
	ndsh_rq_view(&sc.rq, sc.mem + QP_AT, &dims);
	ndsh_cq_reader_view(&sc.results, sc.mem + CQ_AT, CQ_DEPTH);
	for (uint32_t i = 0; i < receives; i++)
		ndsh_rq_push(&sc.rq, i, NULL, 0);
	return sc;
}

/* Take results: cancelled receives, in order; how many. */
static uint32_t
cancelled(struct scene *sc)
{
	struct ndsh_cqe e;
	uint32_t n = 0;

	for (; ndsh_cq_poll(&sc->results, &e, 1) == 1; n++) {
		cr_assert_eq(e.status, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(e.op, NDSH_OP_RECV);
		cr_assert_eq(e.context, sc->results.taken - 1);
	}
	return n;
}

/* The request is taken, and there is time for no more than that. */
static void
destroy_begins(struct scene *sc)
{
	const struct ndsh_id_msg m = {
		.h = {.type = NDSH_MSG_QP_DESTROY, .cookie = 77}, .id = sc->qp};
	union reply reply;

	cr_assert_eq(send(sc->client, &m, sizeof(m), 0), (ssize_t)sizeof(m));
	ndd_rig_receive(sc->r);
	cr_assert(eq(u32, cancelled(sc), AT_ONCE * PART));
	cr_assert(eq(i64, ndd_rig_take(sc->client, &reply, NULL), 0), "no reply yet");
}

/* What goes on when the principal has so much time. */
static void
go_on(struct scene *sc, uint64_t now_ns, int64_t credit_ns)
{
	sc->s->account.principal->credit_ns = credit_ns;
	ndd_qp_work_tick(&sc->r->d, now_ns);
}

/* A part, in its time, and not a second one; nothing before its time. */
static void
one_part(struct scene *sc)
{
	uint64_t at_ns = sc->r->d.work_look_ns;

	go_on(sc, at_ns - 1, NDD_TURN_NS);
	cr_assert(eq(u64, sc->r->d.work_look_ns, at_ns));
	go_on(sc, at_ns, NDD_TURN_NS);
	go_on(sc, at_ns, NDD_TURN_NS);
}

static enum ndsh_status
reply_of(struct scene *sc, uint16_t type, uint64_t cookie)
{
	union reply reply;

	cr_assert_gt(ndd_rig_take(sc->client, &reply, NULL), 0, "no reply");
	cr_assert(eq(u16, reply.h.type, type | NDSH_REPLY));
	cr_assert(eq(u64, reply.h.cookie, cookie));
	cr_assert(eq(u32, reply.id.id, sc->qp));
	return reply.h.status;
}

/* checks R-DISC-12[3]: one part of the flush for each time that there is; the reply is behind the
 * last one. */
Test(qp_end, a_deep_one_goes_in_parts)
{
	struct scene sc = scene_new(DEPTH);
	uint32_t left = DEPTH - AT_ONCE * PART;
	union reply reply;

	destroy_begins(&sc);
	for (; left > 0; left -= PART) {
		cr_assert(eq(i64, ndd_rig_take(sc.client, &reply, NULL), 0));
		one_part(&sc);
		cr_assert(eq(u32, cancelled(&sc), PART));
	}
	one_part(&sc); /* finds none left */
	cr_expect(eq(i32, reply_of(&sc, NDSH_MSG_QP_DESTROY, 77), NDSH_OK));
	cr_expect(zero(u32, cancelled(&sc)));
	cr_expect(eq(u32, sc.s->qps.used, 0));
	cr_expect(eq(ptr, TAILQ_FIRST(&sc.r->d.working_qps), NULL));
}

/* Without time it stays, and what it takes is charged; a tick of the clock is a nanosecond here. */
Test(qp_end, it_takes_the_time_of_its_principal)
{
	struct scene sc = scene_new(DEPTH);
	uint64_t at_ns;

	destroy_begins(&sc);
	at_ns = sc.r->d.work_look_ns;
	go_on(&sc, at_ns, 0);
	cr_expect(zero(u32, cancelled(&sc)));
	cr_expect(eq(u64, sc.r->d.work_look_ns, at_ns), "it is due");
	ndd_clock_mult = 1ull << 32;
	go_on(&sc, at_ns, 1);
	cr_expect(eq(u32, cancelled(&sc), PART));
	cr_expect(lt(i64, sc.s->account.principal->credit_ns, 0));
	cr_expect(eq(u64, sc.r->d.work_look_ns, at_ns + NDD_MS));
}

/* Nothing finds it, what it uses is in use, and others are served. */
Test(qp_end, meanwhile_it_is_gone)
{
	struct scene sc = scene_new(DEPTH);
	struct ndsh_qp_modify modify = {.h.type = NDSH_MSG_QP_MODIFY, .state = NDSH_QPS_RESET};
	struct ndsh_id_msg m = {.id = sc.qp};
	struct ndd_session *other;
	int client = ndd_rig_open(sc.r, &other);
	union reply reply;

	destroy_begins(&sc);
	static const uint16_t types[] = {
		NDSH_MSG_QP_DESTROY, NDSH_MSG_QP_FLUSH, NDSH_MSG_QP_QUERY, NDSH_MSG_QP_MODIFY};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const void *msg = types[i] == NDSH_MSG_QP_MODIFY ? (void *)&modify : (void *)&m;

		m.h.type = types[i];
		modify.qp = sc.qp;
		cr_assert_eq(send(sc.client, msg, ndsh_msg_table[types[i]].bytes, 0),
			(ssize_t)ndsh_msg_table[types[i]].bytes);
		ndd_rig_receive(sc.r);
		cr_assert_gt(ndd_rig_take(sc.client, &reply, NULL), 0);
		cr_expect(eq(u16, reply.h.type, types[i] | NDSH_REPLY));
		cr_expect(eq(i32, reply.h.status, NDSH_ERR_INVALID_ID), "%s",
			ndsh_msg_table[types[i]].name);
	}
	m = (struct ndsh_id_msg){.h.type = NDSH_MSG_CQ_DESTROY, .id = sc.m.recv_cq};
	cr_assert_eq(send(sc.client, &m, sizeof(m), 0), (ssize_t)sizeof(m));
	ndd_rig_receive(sc.r);
	cr_assert_gt(ndd_rig_take(sc.client, &reply, NULL), 0);
	cr_expect(eq(i32, reply.h.status, NDSH_ERR_BUSY));
	m = (struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE};
	cr_assert_eq(send(client, &m, sizeof(m), 0), (ssize_t)sizeof(m));
	ndd_rig_receive(sc.r);
	cr_assert_gt(ndd_rig_take(client, &reply, NULL), 0, "another client is served");
	cr_expect(eq(i32, reply.h.status, NDSH_OK));
}

/* Its rings are flushed once, and that is all that a client can ask for. */
Test(qp_end, a_client_that_goes_on_posting_is_not_waited_for)
{
	struct scene sc = scene_new(DEPTH);
	uint32_t parts = AT_ONCE, flushed = AT_ONCE * PART;

	destroy_begins(&sc);
	while (!TAILQ_EMPTY(&sc.r->d.working_qps)) {
		for (uint32_t i = 0; i < PART; i++)
			ndsh_rq_push(&sc.rq, DEPTH - AT_ONCE * PART + flushed + i, NULL, 0);
		one_part(&sc);
		flushed += cancelled(&sc);
		cr_assert(le(u32, ++parts, DEPTH / PART + 3));
	}
	cr_expect(eq(i32, reply_of(&sc, NDSH_MSG_QP_DESTROY, 77), NDSH_OK));
	cr_expect(ge(u32, flushed, DEPTH));
}

/* The session ends while its queue pair does. */
Test(qp_end, a_session_takes_it_along)
{
	struct scene sc = scene_new(DEPTH);

	destroy_begins(&sc);
	ndd_session_end(sc.s, NULL);
	go_on(&sc, sc.r->d.work_look_ns, NDD_TURN_NS);
	cr_expect(zero(u32, cancelled(&sc)));
	ndd_rig_settle(sc.r);
	cr_expect(eq(ptr, TAILQ_FIRST(&sc.r->d.working_qps), NULL));
	cr_expect(zero(u32, sc.r->d.session_count));
}

/* Some hundred requests, as usual: one turn. */
Test(qp_end, a_shallow_one_goes_at_once)
{
	struct scene sc = scene_new(AT_ONCE * PART - 1);
	const struct ndsh_id_msg m = {.h = {.type = NDSH_MSG_QP_DESTROY, .cookie = 5}, .id = sc.qp};

	cr_assert_eq(send(sc.client, &m, sizeof(m), 0), (ssize_t)sizeof(m));
	ndd_rig_receive(sc.r);
	cr_expect(eq(i32, reply_of(&sc, NDSH_MSG_QP_DESTROY, 5), NDSH_OK));
	cr_expect(eq(u32, cancelled(&sc), AT_ONCE * PART - 1));
}

/* ---- a send side that starts again ----------------------------------------------------------- */

#define SENDS	   4096u
#define RESTART_AT (6u << 20)

/* A datagram queue pair whose send side has stopped, with so many requests behind that. */
static uint32_t
stopped_sends(struct scene *sc)
{
	struct ndsh_ud_qp_create m = {.q = sc->m, .q_key = 1};
	struct ndsh_qp_dims dims = {SENDS, 1, 1, 1, 0};
	struct ndsh_sq sq;
	uint32_t id;

	m.q.h.type = NDSH_MSG_UD_QP_CREATE;
	m.q.offset = RESTART_AT;
	m.q.sq_depth = dims.sq_depth;
	m.q.rq_depth = dims.rq_depth;
	id = make(sc, &m);
	ndsh_sq_view(&sq, sc->mem + RESTART_AT, &dims);
	for (uint32_t i = 0; i < SENDS; i++)
		ndsh_sq_push(&sq, &(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, 0, 0)},
			NULL, NULL);
	((struct ndd_qp *)ndd_slots_get(&sc->s->qps, id))->engine->state = ROCE_QPS_UD_SQE;
	return id;
}

static void
ask(struct scene *sc, const void *msg)
{
	const size_t bytes = ndsh_msg_table[((const struct ndsh_msg_hdr *)msg)->type].bytes;

	cr_assert_eq(send(sc->client, msg, bytes, 0), (ssize_t)bytes);
	ndd_rig_receive(sc->r);
}

/* In parts, one change at a time; and the end of the queue pair is the end of it. */
Test(qp_end, a_deep_send_side_starts_again_in_parts)
{
	struct scene sc = scene_new(0);
	struct ndsh_ud_qp_modify m = {
		.h = {.type = NDSH_MSG_UD_QP_MODIFY, .cookie = 1}, .q_key = 5};
	const struct ndd_qp *qp;
	union reply reply;

	sc.qp = m.qp = stopped_sends(&sc);
	qp = ndd_slots_get(&sc.s->qps, sc.qp);
	ask(&sc, &m);
	cr_assert(eq(i64, ndd_rig_take(sc.client, &reply, NULL), 0), "no reply yet");
	cr_expect(eq(u32, qp->engine->sq_done, 4 * 256));
	m.h.cookie = 2;
	ask(&sc, &m);
	cr_expect(eq(i32, reply_of(&sc, NDSH_MSG_UD_QP_MODIFY, 2), NDSH_ERR_BUSY));
	go_on(&sc, sc.r->d.work_look_ns, NDD_TURN_NS);
	cr_expect(eq(i32, reply_of(&sc, NDSH_MSG_UD_QP_MODIFY, 1), NDSH_OK));
	cr_expect(eq(u32, qp->engine->sq_done, SENDS));
	cr_expect(eq(u32, qp->q_key, 5));
	cr_expect(eq(int, qp->engine->state, ROCE_QPS_UD_RTS));
}

Test(qp_end, a_send_side_that_starts_again_ends_with_its_queue_pair)
{
	struct scene sc = scene_new(0);
	struct ndsh_ud_qp_modify m = {
		.h = {.type = NDSH_MSG_UD_QP_MODIFY, .cookie = 1}, .q_key = 5};
	struct ndsh_id_msg end = {.h = {.type = NDSH_MSG_QP_DESTROY, .cookie = 2}};

	sc.qp = m.qp = end.id = stopped_sends(&sc);
	ask(&sc, &m);
	ask(&sc, &end);
	cr_expect(eq(i32, reply_of(&sc, NDSH_MSG_UD_QP_MODIFY, 1), NDSH_ERR_INVALID_STATE));
	while (sc.r->d.work_look_ns != UINT64_MAX)
		go_on(&sc, sc.r->d.work_look_ns, NDD_TURN_NS);
	cr_expect(eq(i32, reply_of(&sc, NDSH_MSG_QP_DESTROY, 2), NDSH_OK));
	cr_expect(eq(u32, sc.s->qps.used, 1), "the other one");
}
