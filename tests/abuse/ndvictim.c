/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndvictim SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B: a client that behaves, and tells how it is
 * served.
 *
 * It pings from a to b by 8 bytes, transfers in bulk if it is told to, and makes and ends objects
 * and connections all the while. Each line of its input is a word, and answered by a line:
 *
 *   go, bulk, quiet   the first two begin, the last ends what both began: then nothing changes
 *   figures           what came since the last time, as a JSON object
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../e2e/pair.h"
#include "gate.h"
#include "samples.h"

#define PING_BYTES    8u
#define PING_PAUSE_US 500
#define BULK_BYTES    65536u
#define BULK_DEPTH    8u
#define CALLS_PAUSE   2000 /* us */
#define CALLS_WAIT_MS 3000
#define QUIET_SECONDS 10

/* Calls that are measured. */
enum call { CALL_OPEN, CALL_CQ, CALL_QP, CALL_REGISTER, CALL_CONNECT, CALL_COUNT };

static struct pair pinged, bulk;
static struct samples pings, calls[CALL_COUNT];
static struct gate gate = GATE_SHUT, bulk_gate = GATE_SHUT;
static uint64_t bulk_bytes;
static struct nd_listener *listener;
static struct sockaddr_storage where;
static socklen_t where_bytes = sizeof(where);
static char complaint[200];

static bool
was_good(nd_status st, const char *what)
{
	if (st >= 0 && st != ND_TIMEOUT)
		return true;
	snprintf(complaint, sizeof(complaint), "%s: %s: %.120s", what, nd_status_name(st),
		nd_last_error());
	for (char *c = complaint; *c != '\0'; c++)
		*c = *c == '"' || *c == '\\' || *c < ' ' ? '\'' : *c;
	return false;
}

/* ---- pings ---- */

static bool
ping_once(void)
{
	struct nd_result result;
	int32_t n;

	if (!was_good(side_write(&pinged.a, &pinged.b, PING_BYTES, nd_mr_remote_token(pinged.b.mr)),
		    "ping"))
		return false;
	while ((n = nd_cq_get_results(pinged.a.cq, &result, 1)) == 0)
		sched_yield();
	return was_good(n < 0 ? n : result.status, "ping's result");
}

static void *
ping_thread(void *arg)
{
	bool good = true;

	while (good) {
		gate_enter(&gate);
		samples_begin(&pings);
		good = ping_once();
		samples_end(&pings, good);
		gate_leave(&gate);
		usleep(PING_PAUSE_US);
	}
	return arg;
}

/* ---- bulk ---- */

static bool
bulk_wait(struct side *s)
{
	struct nd_overlapped ov = {0};
	nd_status st = nd_cq_notify(s->cq, ND_CQ_NOTIFY_ANY, &ov);

	return was_good(finish(st, &ov), "bulk's notify");
}

/* Keeps BULK_DEPTH writes in flight. */
static void *
bulk_thread(void *arg)
{
	struct nd_result result[BULK_DEPTH];
	uint32_t flying = 0;
	bool good = true;

	while (good) {
		int32_t n;

		gate_enter(&bulk_gate);
		for (; good && flying < BULK_DEPTH; flying++)
			good = was_good(side_write(&bulk.a, &bulk.b, BULK_BYTES,
						nd_mr_remote_token(bulk.b.mr)),
				"bulk");
		n = nd_cq_get_results(bulk.a.cq, result, BULK_DEPTH);
		for (int32_t i = 0; i < n; i++)
			good = good && was_good(result[i].status, "bulk's result");
		if (n > 0) {
			flying -= (uint32_t)n;
			__atomic_add_fetch(&bulk_bytes, (uint64_t)n * BULK_BYTES, __ATOMIC_RELAXED);
		} else {
			good = good && bulk_wait(&bulk.a);
		}
		gate_leave(&bulk_gate);
	}
	return arg;
}

/* ---- calls ---- */

static bool
timed(enum call call, nd_status st, const char *what)
{
	bool good = was_good(st, what);

	samples_end(&calls[call], good);
	return good;
}

static nd_status
wait_for(nd_status st, struct nd_overlapped *ov)
{
	return st == ND_PENDING ? nd_overlapped_wait(ov, CALLS_WAIT_MS) : st;
}

static void
call_open(const struct side *s)
{
	struct nd_open_options options = {.socket_path = s->socket_path};
	struct nd_adapter *adapter = NULL;

	samples_begin(&calls[CALL_OPEN]);
	if (timed(CALL_OPEN,
		    nd_adapter_open(
			    (const struct sockaddr *)&s->addr, s->addr_bytes, &options, &adapter),
		    "open"))
		nd_adapter_close(adapter);
}

static void
call_register(struct side *s)
{
	struct nd_mr *mr = NULL;

	samples_begin(&calls[CALL_REGISTER]);
	if (timed(CALL_REGISTER, region_new(s->pd, s->buf, 4096, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &mr),
		    "register"))
		nd_mr_close(mr);
}

static bool
call_queues(struct side *s)
{
	struct nd_qp_options options = {
		.receive_depth = 4,
		.initiator_depth = 4,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};

	samples_begin(&calls[CALL_CQ]);
	if (!timed(CALL_CQ, nd_cq_create(s->adapter, 16, &s->cq), "completion queue"))
		return false;
	options.receive_cq = options.initiator_cq = s->cq;
	samples_begin(&calls[CALL_QP]);
	return timed(CALL_QP, nd_qp_create(s->pd, &options, &s->qp), "queue pair");
}

/* From CONNECT to a connection that is complete, with all that the other side does for it. */
static nd_status
call_connect(struct pair *p)
{
	/* A request that did not end in time ends when its object is closed. */
	static struct nd_overlapped get, ask, accept, complete;
	nd_status st, accepting, asking = ND_UNSUCCESSFUL;
	nd_status getting = nd_listener_get_request(listener, p->b.connector, &get);

	if (getting == ND_PENDING)
		asking = nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&where,
			where_bytes, 1, 1, NULL, 0, &ask);
	st = wait_for(getting, &get);
	if (st == ND_SUCCESS) {
		accepting = nd_connector_accept(p->b.connector, p->b.qp, 1, 1, NULL, 0, &accept);
		st = wait_for(asking, &ask);
		if (st == ND_SUCCESS)
			st = wait_for(nd_connector_complete_connect(p->a.connector, &complete),
				&complete);
		accepting = wait_for(accepting, &accept);
		st = st == ND_SUCCESS ? accepting : st;
	}
	return st;
}

/* However the calls end, their objects are gone when this returns: overlapped structures, too. */
static void
calls_round(void)
{
	struct pair p = pinged;
	bool made;

	p.a.cq = p.b.cq = NULL;
	p.a.qp = p.b.qp = NULL;
	p.a.connector = p.b.connector = NULL;
	call_register(&p.a);
	made = call_queues(&p.a) && call_queues(&p.b) &&
	       was_good(nd_connector_create(p.a.adapter, &p.a.connector), "connector") &&
	       was_good(nd_connector_create(p.b.adapter, &p.b.connector), "connector");
	if (made) {
		samples_begin(&calls[CALL_CONNECT]);
		timed(CALL_CONNECT, call_connect(&p), "connect");
		nd_listener_cancel(listener);
	}
	for (struct side *s = &p.a; s != NULL; s = s == &p.a ? &p.b : NULL) {
		nd_connector_close(s->connector);
		nd_qp_close(s->qp);
		nd_cq_close(s->cq);
	}
}

static void *
calls_thread(void *arg)
{
	for (unsigned int i = 0;; i++) {
		gate_enter(&gate);
		if (i % 8 == 0)
			call_open(&pinged.a);
		calls_round();
		gate_leave(&gate);
		usleep(CALLS_PAUSE);
	}
	return arg;
}

/* ---- its input ---- */

static void
print_figures(void)
{
	static uint64_t since;
	uint64_t now = samples_now();

	printf("{\"seconds\": %.3f, \"bulk_mb\": %.1f, ", (double)(now - since) / 1e9,
		(double)__atomic_exchange_n(&bulk_bytes, 0, __ATOMIC_RELAXED) / 1e6);
	since = now;
	samples_print(&pings);
	for (int i = 0; i < CALL_COUNT; i++) {
		printf(", ");
		samples_print(&calls[i]);
	}
	printf(", \"complaint\": \"%s\"}\n", complaint);
	complaint[0] = '\0';
}

static const char *
obey(const char *word)
{
	if (strcmp(word, "go\n") == 0)
		gate_open(&gate);
	else if (strcmp(word, "bulk\n") == 0)
		gate_open(&bulk_gate);
	else if (strcmp(word, "quiet\n") == 0)
		return gate_shut(&gate, QUIET_SECONDS) && gate_shut(&bulk_gate, QUIET_SECONDS)
			       ? "quiet"
			       : "never quiet";
	else
		return "what?";
	return "going";
}

static void
begin(void)
{
	static const char *const names[] = {"open", "cq", "qp", "register", "connect"};
	void *(*const threads[])(void *) = {ping_thread, bulk_thread, calls_thread};
	pthread_t id;

	pair_open(&pinged);
	pair_beside(&pinged, &bulk);
	WANT(ND_SUCCESS, nd_listener_create(pinged.b.adapter, &listener));
	WANT(ND_SUCCESS, nd_listener_listen(listener, (struct sockaddr *)&pinged.b.addr,
				 pinged.b.addr_bytes, 0));
	WANT(ND_SUCCESS,
		nd_listener_local_address(listener, (struct sockaddr *)&where, &where_bytes));
	samples_init(&pings, "ping");
	for (int i = 0; i < CALL_COUNT; i++)
		samples_init(&calls[i], names[i]);
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		CHECK(pthread_create(&id, NULL, threads[i], NULL) == 0);
}

int
main(int argc, char **argv)
{
	char word[32];

	if (argc != 5) {
		fprintf(stderr, "usage: ndvictim SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	side_address(&pinged.a, argv[1], argv[2]);
	side_address(&pinged.b, argv[3], argv[4]);
	begin();
	printf("ready\n");
	while (fgets(word, sizeof(word), stdin) != NULL) {
		if (strcmp(word, "figures\n") == 0)
			print_figures();
		else
			printf("%s\n", obey(word));
	}
	exit(0); /* its threads go on until then */
}
