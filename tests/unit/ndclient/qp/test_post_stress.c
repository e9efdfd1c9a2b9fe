/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue pair and its connector between threads that do at once all that may be done at once:
 * post sends, post receives, take results, flush, disconnect or close the connector, and wait for
 * requests. Each post that succeeded must give one result, in order, and each request one outcome.
 * A program of its own for a ThreadSanitizer build (-Db_sanitize=thread), as test_arm_stress.c; the
 * daemon is a thread that reads the rings where they are. The deadline only bounds a failure.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ndclient/conn/connector.h"
#include "ndclient/cq/cq.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/handlers.h"
#include "rigs/stress.h"

#define ROUNDS	    300u
#define POSTS	    400u /* of a round; it ends before or after them */
#define CQ_DEPTH    256u
#define ASKERS	    2u
#define DEADLINE_MS 60000

static const struct ndsh_qp_dims dims = {.sq_depth = 16, .rq_depth = 16, .sq_sge = 2, .rq_sge = 2};

enum way { DISCONNECT, FLUSH_DISCONNECT, CLOSE, FLUSH_CLOSE, WAYS };

static struct nd_adapter *adapter;
static struct nd_cq cq;
static struct nd_qp qp;
static struct nd_connector *conn;
static uint32_t round_no;

/* ---- the daemon: it answers requests, and serves the rings of one queue pair ----------- */

static struct {
	int socket;
	struct ndsh_cq cq;
	struct ndsh_sq sq;
	struct ndsh_rq rq;
	bool flushed;
	uint64_t made;
	uint32_t over; /* atomic */
	pthread_t thread;
} daemon_end;

static bool
room(void)
{
	uint64_t taken = __atomic_load_n(&daemon_end.cq.page->consumer, __ATOMIC_ACQUIRE);

	return daemon_end.made - taken < CQ_DEPTH / 2;
}

static void
complete(uint8_t op, uint64_t context, uint32_t *done, uint32_t count)
{
	struct ndsh_cqe e = {.op = op,
		.context = context,
		.slot_count = count,
		.status = daemon_end.flushed ? NDSH_WC_FLUSH_ERR : NDSH_WC_SUCCESS};

	STRESS_CHECK(ndsh_cq_push(&daemon_end.cq, &e), "entry\n");
	daemon_end.made++;
	__atomic_store_n(done, count, __ATOMIC_RELEASE);
}

/* A send takes a receive along, as if it were the peer's. */
static void
serve_rings(void)
{
	struct ndsh_send s;
	struct ndsh_recv r;
	bool sent = false;

	if (!room())
		return;
	if (ndsh_sq_fetch(&daemon_end.sq, &s) == NDSH_FETCH_OK) {
		complete(NDSH_OP_SEND, s.context, &qp.page->sq_done, daemon_end.sq.next);
		sent = true;
	}
	if ((sent || daemon_end.flushed) && ndsh_rq_fetch(&daemon_end.rq, &r) == NDSH_FETCH_OK)
		complete(NDSH_OP_RECV, r.context, &qp.page->rq_done, daemon_end.rq.next);
	ndsh_cq_publish(&daemon_end.cq);
}

static void
tell(void *message, uint16_t type, nd_status st, uint32_t bytes)
{
	struct ndsh_msg_hdr *h = message;

	h->type = type;
	h->status = st;
	STRESS_CHECK(send(daemon_end.socket, message, bytes, 0) == (ssize_t)bytes, "answer\n");
}

static void
serve_request(struct ndsh_id_msg *m)
{
	const uint16_t type = m->h.type;
	struct ndsh_ev_conn ev = {.conn = m->id};

	daemon_end.flushed = true; /* each of the three ends the connection */
	tell(m, type | NDSH_REPLY, ND_SUCCESS, ndsh_msg_table[type].reply_bytes);
	if (type == NDSH_MSG_DISCONNECT)
		tell(&ev, NDSH_EV_CONN_DISCONNECTED, ND_SUCCESS, sizeof(ev));
}

static void *
daemon_main(void *arg)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];

	(void)arg;
	while (__atomic_load_n(&daemon_end.over, __ATOMIC_ACQUIRE) == 0) {
		memset(buf, 0, sizeof(buf));
		if (recv(daemon_end.socket, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			serve_request((struct ndsh_id_msg *)(void *)buf);
		serve_rings();
		sched_yield();
	}
	return NULL;
}

/* ---- threads of the application ------------------------------------------------------- */

static void *
send_all(void *arg)
{
	uint64_t *posted = arg;

	while (*posted < POSTS) {
		nd_status st = nd_qp_send(&qp, (void *)(uintptr_t)*posted, NULL, 0, 0);

		if (st == ND_CONNECTION_INVALID)
			break;
		STRESS_CHECK(
			st == ND_SUCCESS || st == ND_NO_MORE_ENTRIES, "%s\n", nd_status_name(st));
		*posted += st == ND_SUCCESS;
		if (st != ND_SUCCESS)
			sched_yield();
	}
	return NULL;
}

static void *
receive_all(void *arg)
{
	uint64_t *posted = arg;

	while (*posted < POSTS) {
		nd_status st = nd_qp_receive(&qp, (void *)(uintptr_t)*posted, NULL, 0);

		STRESS_CHECK(
			st == ND_SUCCESS || st == ND_NO_MORE_ENTRIES, "%s\n", nd_status_name(st));
		*posted += st == ND_SUCCESS;
		if (st != ND_SUCCESS)
			sched_yield();
	}
	return NULL;
}

/* Waits for its own request, and looks at the other's. */
static struct nd_overlapped end[ASKERS];

static void *
ask(void *arg)
{
	struct nd_overlapped *own = arg;
	nd_status st = ND_TIMEOUT;

	for (int ms = 0; st == ND_TIMEOUT; ms = ms == 0 ? 1 : DEADLINE_MS) {
		(void)nd_overlapped_status(&end[0]);
		(void)nd_overlapped_wait(&end[1], 0);
		st = nd_overlapped_wait(own, ms);
		STRESS_CHECK(st != ND_TIMEOUT || ms < DEADLINE_MS, "it never ended\n");
	}
	STRESS_CHECK(
		st == ND_CONNECTION_DISCONNECTED || st == ND_CANCELED, "%s\n", nd_status_name(st));
	STRESS_CHECK(nd_overlapped_status(own) == st, "another outcome\n");
	return NULL;
}

static void *
finish(void *arg)
{
	const enum way way = *(const enum way *)arg;
	struct nd_overlapped ov = {0};

	for (uint32_t i = 0; i < round_no % 50; i++)
		sched_yield();
	if (way == FLUSH_DISCONNECT || way == FLUSH_CLOSE)
		STRESS_CHECK(nd_qp_flush(&qp) == ND_SUCCESS, "flush\n");
	if (way == DISCONNECT || way == FLUSH_DISCONNECT) {
		STRESS_CHECK(nd_connector_disconnect(conn, &ov) == ND_PENDING, "disconnect\n");
		STRESS_CHECK(nd_overlapped_wait(&ov, DEADLINE_MS) == ND_SUCCESS, "disconnect\n");
	}
	nd_connector_close(conn);
	return NULL;
}

/* Each result once, in order; those that were flushed behind those that were not. */
static void
take(uint64_t seen[2], bool flushed[2])
{
	struct nd_result r[8];
	int32_t n = nd_cq_get_results(&cq, r, 8);

	for (int32_t i = 0; i < n; i++) {
		const int q = r[i].request_type == ND_REQUEST_RECEIVE;

		STRESS_CHECK((uintptr_t)r[i].request_context == seen[q], "queue %d\n", q);
		STRESS_CHECK(r[i].status == ND_SUCCESS || r[i].status == ND_CANCELED, "status\n");
		STRESS_CHECK(
			r[i].status == ND_CANCELED || !flushed[q], "success behind the flush\n");
		flushed[q] = r[i].status == ND_CANCELED;
		seen[q]++;
	}
	if (n == 0)
		sched_yield();
}

/* ---- rounds --------------------------------------------------------------------------- */

static void
connect_again(void)
{
	struct ndsh_qp_layout l;

	STRESS_CHECK(ndsh_qp_layout(&dims, &l), "layout\n");
	memset(qp.page, 0, l.total_bytes);
	ndsh_sq_view(&qp.sq, qp.page, &dims);
	ndsh_rq_view(&qp.rq, qp.page, &dims);
	daemon_end.sq = qp.sq;
	daemon_end.rq = qp.rq;
	daemon_end.flushed = false;
	qp.sq_freed = qp.rq_freed = 0;
	STRESS_CHECK(nd_connector_create(adapter, &conn) == ND_SUCCESS, "connector\n");
	pthread_mutex_lock(&adapter->lock);
	nd_conn_set_id(conn, 300);
	conn->qp = &qp;
	qp.connector = conn;
	conn->state = ND_CONN_CONNECTED;
	qp.state = ND_QP_CONNECTED;
	pthread_mutex_unlock(&adapter->lock);
}

static void
play(enum way way)
{
	void *(*const work[])(void *) = {send_all, receive_all, finish, ask, ask};
	uint64_t sent = 0, received = 0, seen[2] = {0};
	void *const arg[] = {&sent, &received, &way, &end[0], &end[1]};
	bool flushed[2] = {0};
	pthread_t t[5];

	connect_again();
	daemon_end.over = 0;
	for (uint32_t i = 0; i < ASKERS; i++)
		STRESS_CHECK(
			nd_connector_notify_disconnect(conn, &end[i]) == ND_PENDING, "notify\n");
	pthread_create(&daemon_end.thread, NULL, daemon_main, NULL);
	for (int i = 0; i < 5; i++)
		pthread_create(&t[i], NULL, work[i], arg[i]);
	while (seen[1] < POSTS) /* receives end when all are through */
		take(seen, flushed);
	for (int i = 0; i < 5; i++)
		pthread_join(t[i], NULL);
	while (seen[0] < sent)
		take(seen, flushed);
	__atomic_store_n(&daemon_end.over, 1, __ATOMIC_RELEASE);
	pthread_join(daemon_end.thread, NULL);
	take(seen, flushed);
	STRESS_CHECK(seen[0] == sent && seen[1] == received, "%lu of %lu sends\n",
		(unsigned long)seen[0], (unsigned long)sent);
}

static void
make(void)
{
	void *block = aligned_alloc(64, ndsh_cq_bytes(CQ_DEPTH));
	static struct ndsh_session_page page;
	struct ndsh_qp_layout l;
	int fd[2];

	memset(block, 0, ndsh_cq_bytes(CQ_DEPTH));
	STRESS_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == 0, "socket\n");
	adapter = nd_adapter_new();
	pthread_mutex_init(&adapter->lock, NULL);
	TAILQ_INIT(&adapter->connectors);
	TAILQ_INIT(&adapter->listeners);
	TAILQ_INIT(&adapter->cqs);
	TAILQ_INIT(&adapter->srqs);
	adapter->page = &page;
	adapter->wake_fd = -1;
	adapter->max_transfer_bytes = 1000;
	adapter->socket = fd[0];
	daemon_end.socket = fd[1];
	adapter->qps->by_handle[0] = &qp;
	cq.adapter = qp.adapter = adapter;
	ndsh_cq_reader_view(&cq.reader, block, CQ_DEPTH);
	ndsh_cq_view(&daemon_end.cq, block, CQ_DEPTH);
	STRESS_CHECK(ndsh_qp_layout(&dims, &l), "layout\n");
	qp.page = aligned_alloc(64, l.total_bytes);
	qp.sq_sge = qp.rq_sge = 2;
	TAILQ_INIT(&qp.bound);
	TAILQ_INIT(&qp.invalidating);
	adapter->handlers = &nd_handlers;
	STRESS_CHECK(nd_control_start(adapter) == ND_SUCCESS, "control thread\n");
}

/* checks R-FL-09, R-OV-09, R-POST-10[1,2] */
int
main(void)
{
	make();
	for (round_no = 0; round_no < ROUNDS; round_no++)
		play(round_no % WAYS);
	nd_control_stop(adapter);
	close(adapter->socket);
	close(daemon_end.socket);
	free(cq.reader.page);
	free(qp.page);
	nd_adapter_free(adapter);
	printf("%u rounds\n", ROUNDS);
	return 0;
}
