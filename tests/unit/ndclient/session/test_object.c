/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long objects live: closed in every order, with requests pending, against a daemon that keeps
 * its own order and refuses every other. The sanitizers watch the rest.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/listener.h"
#include "ndclient/cq/cq.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"
#include "rigs/daemon_rig.h"

/* A connected pair and what it needs, in one adapter. */
enum {
	PD,
	MR,
	MW,
	CQ_A, /* with overlapped notifications */
	CQ_B, /* with a callback */
	SRQ,
	QP_A,
	QP_B, /* receives from SRQ */
	CONN_A,
	CONN_B,
	LISTENER,
	CONN_C, /* waits for a request */
	COUNT
};
static const char *const names[] = {
	"pd", "mr", "mw", "cq a", "cq b", "srq", "qp a", "qp b", "a", "b", "listener", "c"};

struct world {
	struct daemon_rig rig;
	struct nd_adapter *a;
	void *object[COUNT];
	struct nd_overlapped pending[6], end[COUNT];
	uint8_t *memory;
	sem_t called;
};

/* What must be gone before the object can go. */
static uint32_t
resting_on(int what)
{
	switch (what) {
	case PD:
		return 1 << MR | 1 << MW | 1 << SRQ | 1 << QP_A | 1 << QP_B;
	case CQ_A:
		return 1 << QP_A;
	case CQ_B:
		return 1 << QP_A | 1 << QP_B;
	case SRQ:
		return 1 << QP_B;
	case LISTENER: /* R-LSN-08 */
		return 1 << CONN_B;
	default:
		return 0;
	}
}

static void
callback(void *context, nd_status st)
{
	(void)context;
	(void)st;
}

static struct nd_qp *
make_qp(struct world *w, int send_cq, struct nd_srq *srq)
{
	struct nd_qp_options opt = {.receive_cq = w->object[CQ_B],
		.initiator_cq = w->object[send_cq],
		.receive_depth = 4,
		.initiator_depth = 4,
		.srq = srq};
	struct nd_qp *qp;

	cr_assert(eq(i32, nd_qp_create(w->object[PD], &opt, &qp), ND_SUCCESS));
	return qp;
}

static void
connect_pair(struct world *w)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = htonl(0x0a000001)};
	struct nd_listener *l = w->object[LISTENER];
	struct nd_overlapped ov = {0};

	cr_assert(eq(i32,
		nd_connector_connect(w->object[CONN_A], w->object[QP_A], (const void *)&to,
			sizeof(to), 0, 0, NULL, 0, &ov),
		ND_PENDING));
	cr_assert(eq(i32, nd_overlapped_wait(&ov, 10000), ND_SUCCESS));
	cr_assert(eq(i32, nd_connector_complete_connect(w->object[CONN_A], &ov), ND_PENDING));
	cr_assert(eq(i32, nd_overlapped_wait(&ov, 10000), ND_SUCCESS));
	cr_assert(eq(i32, nd_listener_get_request(l, w->object[CONN_B], &ov), ND_PENDING));
	daemon_rig_request(&w->rig, l->at.id);
	cr_assert(eq(i32, nd_overlapped_wait(&ov, 10000), ND_SUCCESS));
	cr_assert(
		eq(i32, nd_connector_accept(w->object[CONN_B], w->object[QP_B], 0, 0, NULL, 0, &ov),
			ND_PENDING));
	cr_assert(eq(i32, nd_overlapped_wait(&ov, 10000), ND_SUCCESS));
}

#define MAKE(call) cr_assert(eq(i32, call, ND_SUCCESS))

static void
make(struct world *w)
{
	struct nd_sge none = {0};

	memset(w->object, 0, sizeof(w->object));
	memset(w->end, 0, sizeof(w->end));
	memset(w->pending, 0, sizeof(w->pending));
	w->memory = nd_alloc(w->a, 4096);
	MAKE(nd_pd_create(w->a, (void *)&w->object[PD]));
	MAKE(nd_mr_create(w->object[PD], (void *)&w->object[MR]));
	MAKE(nd_mr_register(w->object[MR], w->memory, 4096, ND_MR_FLAG_ALLOW_LOCAL_WRITE, NULL));
	MAKE(nd_mw_create(w->object[PD], (void *)&w->object[MW]));
	MAKE(nd_cq_create(w->a, 16, (void *)&w->object[CQ_A]));
	MAKE(nd_cq_create(w->a, 16, (void *)&w->object[CQ_B]));
	MAKE(nd_cq_set_callback(w->object[CQ_B], callback, NULL));
	MAKE(nd_srq_create(w->object[PD], 4, 1, 2, (void *)&w->object[SRQ]));
	w->object[QP_A] = make_qp(w, CQ_A, NULL);
	w->object[QP_B] = make_qp(w, CQ_B, w->object[SRQ]);
	MAKE(nd_connector_create(w->a, (void *)&w->object[CONN_A]));
	MAKE(nd_connector_create(w->a, (void *)&w->object[CONN_B]));
	MAKE(nd_connector_create(w->a, (void *)&w->object[CONN_C]));
	MAKE(nd_listener_create(w->a, (void *)&w->object[LISTENER]));
	MAKE(nd_listener_listen(w->object[LISTENER],
		(const void *)&(struct sockaddr_in){.sin_family = AF_INET},
		sizeof(struct sockaddr_in), 0));
	connect_pair(w);
	MAKE(nd_qp_receive(w->object[QP_A], w, &none, 0));
	MAKE(nd_srq_receive(w->object[SRQ], w, &none, 0));
	MAKE(nd_qp_send(w->object[QP_A], w, &none, 0, 0));
}

/* Of each object that has such, a request that will not end by itself. */
static const int owner[6] = {CQ_A, CQ_A, SRQ, CONN_A, CONN_B, LISTENER};

static void
begin_requests(struct world *w)
{
	struct nd_overlapped *ov = w->pending;

	cr_assert(eq(i32, nd_cq_notify(w->object[CQ_A], ND_CQ_NOTIFY_ANY, &ov[0]), ND_PENDING));
	cr_assert(eq(i32, nd_cq_notify(w->object[CQ_A], ND_CQ_NOTIFY_ERRORS, &ov[1]), ND_PENDING));
	cr_assert(eq(i32, nd_srq_notify(w->object[SRQ], &ov[2]), ND_PENDING));
	cr_assert(eq(i32, nd_connector_notify_disconnect(w->object[CONN_A], &ov[3]), ND_PENDING));
	cr_assert(eq(i32, nd_connector_notify_disconnect(w->object[CONN_B], &ov[4]), ND_PENDING));
	cr_assert(eq(i32, nd_listener_get_request(w->object[LISTENER], w->object[CONN_C], &ov[5]),
		ND_PENDING));
	MAKE(nd_cq_arm_callback(w->object[CQ_B], ND_CQ_NOTIFY_ANY));
}

/* Close one; closed: those before it. */
static void
close_one(struct world *w, int what, uint32_t *closed)
{
	nd_status st = nd_close(w->object[what], &w->end[what]);

	cr_assert(eq(i32, st, ND_PENDING), "%s", names[what]);
	for (int i = 0; i < 6; i++)
		if (owner[i] == what || (i == 5 && what == CONN_C))
			cr_assert(eq(i32, nd_overlapped_status(&w->pending[i]), ND_CANCELED),
				"request %d of %s", i, names[what]);
	*closed |= 1u << what;
	for (int i = 0; i < COUNT; i++) { /* each that can go has gone */
		bool gone = (*closed >> i & 1) && (resting_on(i) & ~*closed) == 0;

		cr_assert(eq(i32, nd_overlapped_status(&w->end[i]),
				  gone		       ? ND_SUCCESS
				  : (*closed >> i & 1) ? ND_PENDING
						       : 0),
			"%s, when %s was closed", names[i], names[what]);
	}
}

static void
shuffle(int *order, unsigned *seed)
{
	for (int i = 0; i < COUNT; i++)
		order[i] = i;
	for (int i = COUNT - 1; i > 0; i--) {
		int j = rand_r(seed) % (i + 1), was = order[i];

		order[i] = order[j];
		order[j] = was;
	}
}

/*
 * checks R-LIFE-01, R-LIFE-08[1,2], R-LIFE-09[1]: any order is legal; the daemon's order is
 * kept; requests end when their object is closed, and the object's end is told when all that
 * rested on it is gone
 */
Test(ndclient_object, R_LIFE_01_any_order, .timeout = 120)
{
	struct world w;
	unsigned seed = 1;
	int order[COUNT];

	daemon_rig_start(&w.rig);
	w.a = daemon_rig_open(&w.rig);
	for (int round = 0; round < 500; round++) {
		uint32_t closed = 0;

		make(&w);
		begin_requests(&w);
		shuffle(order, &seed);
		for (int i = 0; i < COUNT; i++)
			close_one(&w, order[i], &closed);
		nd_free(w.a, w.memory);
		cr_assert(zero(u32, daemon_rig_live(&w.rig)), "round %d", round);
	}
	cr_expect(zero(u32, w.rig.refused));
	cr_expect(eq(ptr, LIST_FIRST(&w.a->objects), NULL));
	nd_adapter_close(w.a);
	daemon_rig_stop(&w.rig);
}

/*
 * checks R-LIFE-01, R-LIFE-12[2]: the adapter is closed, or its daemon dies first, with any of
 * them still open
 */
Test(ndclient_object, the_adapter_takes_what_is_left, .timeout = 120)
{
	struct world w;
	unsigned seed = 2;
	int order[COUNT];

	daemon_rig_start(&w.rig);
	for (int round = 0; round < 60; round++) {
		uint32_t closed = 0;
		int few = rand_r(&seed) % (COUNT + 1);
		bool dies = round % 2 == 1;

		w.a = daemon_rig_open(&w.rig);
		make(&w);
		begin_requests(&w);
		shuffle(order, &seed);
		if (dies)
			daemon_rig_hang_up(&w.rig);
		for (int i = 0; i < few && dies; i++)
			cr_assert(ge(i32, nd_close(w.object[order[i]], &w.end[order[i]]), 0));
		for (int i = 0; i < few && !dies; i++)
			close_one(&w, order[i], &closed);
		nd_adapter_close(w.a);
		for (int i = 0; i < few; i++)
			cr_assert(eq(i32, nd_overlapped_status(&w.end[order[i]]), ND_SUCCESS));
		for (int i = 0; i < 6; i++)
			cr_assert(ne(i32, nd_overlapped_status(&w.pending[i]), ND_PENDING));
	}
	daemon_rig_stop(&w.rig);
	cr_expect(zero(u32, w.rig.refused));
}

/* ---- completion queues --------------------------------------------------------------- */

/*
 * checks R-LIFE-02[1,2]: the queue pair goes on, its entries reach no reader; the other queue
 * still gives those of the closed queue pair, with their context
 */
Test(ndclient_object, R_LIFE_02_a_queue_closed_under_its_queue_pairs, .timeout = 60)
{
	struct ndsh_cqe sent = {.op = NDSH_OP_SEND, .context = 5, .slot_count = 1};
	struct ndsh_cqe received = {.op = NDSH_OP_RECV, .context = 6, .slot_count = 1};
	struct nd_result r[4];
	struct world w;
	uint32_t cq_a, cq_b;

	daemon_rig_start(&w.rig);
	w.a = daemon_rig_open(&w.rig);
	make(&w);
	cq_a = ((struct nd_cq *)w.object[CQ_A])->id;
	cq_b = ((struct nd_cq *)w.object[CQ_B])->id;
	sent.qp = received.qp = ((struct nd_qp *)w.object[QP_A])->handle;
	cr_expect(eq(i32, nd_cq_close(w.object[CQ_A]), ND_PENDING));
	for (int i = 0; i < 40; i++) /* and over its end */
		daemon_rig_push(&w.rig, cq_a, &sent);
	daemon_rig_push(&w.rig, cq_b, &received);
	cr_expect(eq(i32, nd_cq_get_results(w.object[CQ_B], r, 4), 1));
	MAKE(nd_qp_receive(w.object[QP_A], &w, NULL, 0));
	daemon_rig_push(&w.rig, cq_b, &received);
	cr_expect(eq(i32, nd_qp_close(w.object[QP_A]), ND_SUCCESS));
	cr_expect(eq(i32, nd_cq_get_results(w.object[CQ_B], r, 4), 1));
	cr_expect(eq(ptr, r[0].request_context, (void *)6));
	cr_expect(eq(u32, (uint32_t)r[0].request_type, ND_REQUEST_RECEIVE));
	cr_expect(eq(u32, daemon_rig_type(&w.rig, cq_a), 0), "it went with its last queue pair");
	nd_adapter_close(w.a);
	daemon_rig_stop(&w.rig);
}

static void
closing(void *context, nd_status st)
{
	struct world *w = context;

	(void)st;
	cr_expect(eq(i32, nd_close(w->object[CQ_B], &w->end[CQ_B]), ND_PENDING));
	cr_expect(eq(i32, nd_qp_close(w->object[QP_B]), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_close(w->object[QP_A]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&w->end[CQ_B]), ND_PENDING));
	sem_post(&w->called);
}

/* checks R-CQ-26[3], R-LIFE-09[2]: in its own callback a queue is closed before its queue pairs */
Test(ndclient_object, closed_in_its_callback_before_its_queue_pairs, .timeout = 60)
{
	struct ndsh_cqe received = {.op = NDSH_OP_RECV, .slot_count = 1};
	struct world w;
	uint32_t id;

	daemon_rig_start(&w.rig);
	w.a = daemon_rig_open(&w.rig);
	make(&w);
	id = ((struct nd_cq *)w.object[CQ_B])->id;
	((struct nd_cq *)w.object[CQ_B])->callback = closing;
	((struct nd_cq *)w.object[CQ_B])->callback_context = &w;
	MAKE(nd_cq_arm_callback(w.object[CQ_B], ND_CQ_NOTIFY_ANY));
	sem_init(&w.called, 0, 0);
	w.end[CQ_B].status = ND_UNSUCCESSFUL; /* it has not been asked yet */
	daemon_rig_push(&w.rig, id, &received);
	while (sem_wait(&w.called) != 0)
		cr_assert(eq(int, errno, EINTR));
	cr_expect(eq(i32, nd_overlapped_wait(&w.end[CQ_B], 20000), ND_SUCCESS));
	cr_expect(not(nd_gone(w.a)));
	cr_expect(zero(u32, w.rig.refused));
	cr_expect(eq(u32, daemon_rig_type(&w.rig, id), 0));
	nd_adapter_close(w.a);
	daemon_rig_stop(&w.rig);
}

/* ---- the calls ----------------------------------------------------------------------- */

/* checks R-LIFE-07[1]: there is no status of failure, whatever state things are in. */
Test(ndclient_object, close_never_fails, .timeout = 60)
{
	struct world w;

	cr_expect(eq(i32, nd_close(NULL, NULL), ND_SUCCESS));
	cr_expect(eq(i32, nd_pd_close(NULL), ND_SUCCESS));
	cr_expect(eq(i32, nd_cq_close(NULL), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_close(NULL), ND_SUCCESS));
	daemon_rig_start(&w.rig);
	for (int gone = 0; gone < 2; gone++) {
		w.a = daemon_rig_open(&w.rig);
		make(&w);
		if (gone)
			daemon_rig_hang_up(&w.rig);
		cr_expect(eq(i32, nd_pd_close(w.object[PD]), ND_PENDING));
		cr_expect(eq(i32, nd_cq_close(w.object[CQ_A]), ND_PENDING));
		cr_expect(eq(i32, nd_cq_close(w.object[CQ_B]), ND_PENDING));
		cr_expect(eq(i32, nd_srq_close(w.object[SRQ]), ND_PENDING));
		cr_expect(eq(i32, nd_qp_close(w.object[QP_A]), ND_SUCCESS));
		cr_expect(eq(i32, nd_qp_close(w.object[QP_B]), ND_SUCCESS));
		cr_expect(eq(i32, nd_mw_close(w.object[MW]), ND_SUCCESS));
		cr_expect(eq(i32, nd_connector_close(w.object[CONN_A]), ND_SUCCESS));
		cr_expect(eq(i32, nd_listener_close(w.object[LISTENER]), ND_PENDING));
		nd_adapter_close(w.a);
	}
	daemon_rig_stop(&w.rig);
}

/* A thread makes requests; another closes their objects the moment it sees them complete, while the
 * calls have perhaps not yet returned. */
struct asker {
	struct world *w;
	struct nd_overlapped ov[3];
};

static void *
ask(void *arg)
{
	struct asker *t = arg;

	(void)nd_srq_notify(t->w->object[SRQ], &t->ov[0]);
	(void)nd_cq_notify(t->w->object[CQ_A], ND_CQ_NOTIFY_ANY, &t->ov[1]);
	(void)nd_connector_complete_connect(t->w->object[CONN_C], &t->ov[2]);
	return NULL;
}

static void
see(const struct nd_overlapped *ov)
{
	while (nd_overlapped_status(ov) != ND_SUCCESS)
		sched_yield();
}

/* C is where CompleteConnect is legal. */
static void
connect_c(struct world *w)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = htonl(0x0a000001)};
	struct nd_overlapped ov = {0};

	cr_assert(eq(i32,
		nd_connector_connect(w->object[CONN_C], make_qp(w, CQ_B, NULL), (const void *)&to,
			sizeof(to), 0, 0, NULL, 0, &ov),
		ND_PENDING));
	cr_assert(eq(i32, nd_overlapped_wait(&ov, 10000), ND_SUCCESS));
}

/*
 * checks R-LIFE-07[2]: nothing is touched behind the completion (the sanitizer would see it),
 * and no close fails
 */
Test(ndclient_object, R_LIFE_07_closed_by_who_sees_the_completion, .timeout = 120)
{
	struct ndsh_cqe sent = {.op = NDSH_OP_SEND, .slot_count = 1};
	pthread_t thread;
	struct world w;

	daemon_rig_start(&w.rig);
	w.rig.limits = true;
	for (int round = 0; round < 100; round++) {
		struct asker t = {.w = &w};

		w.a = daemon_rig_open(&w.rig);
		make(&w);
		connect_c(&w);
		for (int i = 0; i < 3; i++)
			t.ov[i].status = ND_UNSUCCESSFUL; /* it has not been asked yet */
		sent.qp = ((struct nd_qp *)w.object[QP_A])->handle;
		daemon_rig_push(&w.rig, ((struct nd_cq *)w.object[CQ_A])->id, &sent);
		cr_assert(eq(i32, nd_qp_close(w.object[QP_A]), ND_SUCCESS));
		cr_assert(eq(i32, nd_qp_close(w.object[QP_B]), ND_SUCCESS));
		pthread_create(&thread, NULL, ask, &t);
		see(&t.ov[0]);
		cr_assert(eq(i32, nd_srq_close(w.object[SRQ]), ND_SUCCESS));
		see(&t.ov[1]);
		cr_assert(eq(i32, nd_cq_close(w.object[CQ_A]), ND_SUCCESS));
		see(&t.ov[2]);
		cr_assert(eq(i32, nd_connector_close(w.object[CONN_C]), ND_SUCCESS));
		pthread_join(thread, NULL);
		nd_adapter_close(w.a);
	}
	daemon_rig_stop(&w.rig);
	cr_expect(zero(u32, w.rig.refused));
}
