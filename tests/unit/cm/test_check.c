/* SPDX-License-Identifier: BSD-3-Clause */
/* Each invariant of the connection manager, broken on purpose: roce_cm_check() has to see it. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "cm/check.h"
#include "cm/event.h"
#include "cm/manager.h"
#include "cm/outbox.h"
#include "cm/retry.h"
#include "cm/sidr.h"
#include "cm/table.h"
#include "cm/timer.h"

#define SIDR_PORT 4000

/*
 * Host P in a bit of everything: an established connection, a request that its host holds, one that
 * its host has not seen, a connection in time-wait, a SIDR request. Made anew for each corruption.
 */
struct bench {
	struct cm_net *net;
	struct roce_cm *cm;
	struct roce_cm_conn *up, *held, *unseen, *rest, *sidr;
	struct roce_cm_listener *listener;
};

static struct roce_cm_conn *
bench_connect(struct bench *b)
{
	struct cm_net_host *p = &b->net->host[CM_NET_P];

	cm_net_connect(b->net, NULL, 0);
	cm_net_run(b->net, MS(10));
	return p->conn;
}

static void
bench_init(struct bench *b)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	*b = (struct bench){.net = net, .cm = p->cm};
	cr_assert_not_null(roce_cm_sidr_listen(
		p->cm, &(struct roce_cm_addr){.port = SIDR_PORT}, CM_NET_PORT, 0, NULL, NULL));
	p->keep_ended = true;
	b->rest = bench_connect(b);
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_run(net, MS(10));
	b->up = bench_connect(b);
	p->hold_requests = true;
	roce_cm_sidr_query(a->cm, net->now_ns,
		&(struct roce_cm_sidr_query){
			.local = {a->gid, 40000}, .remote = {p->gid, SIDR_PORT}});
	cm_net_run(net, MS(10));
	b->sidr = cm_net_only_event(p, ROCE_CM_EV_SIDR_REQUEST)->conn;
	b->held = bench_connect(b);
	b->listener = b->held->listener;
	/* A copy of its REQ with other ids, delivered, and its event not taken. */
	a->last[ATTR(CM_ATTR_REQ)].local_id++;
	a->last[ATTR(CM_ATTR_REQ)].qpn += 100;
	cm_net_inject(net, CM_NET_A, &a->last[ATTR(CM_ATTR_REQ)]);
	b->unseen = LIST_FIRST(&b->listener->requests);
	cr_assert_neq(b->unseen, b->held);
	cr_assert_eq(b->rest->state, CM_TIMEWAIT);
	cr_assert_eq(b->up->state, CM_ESTABLISHED);
	cr_assert_null(roce_cm_check(b->cm));
}

/* ---- tables and ids ---- */

static void
table_missing(struct bench *b)
{
	cm_table_unlink(b->up, CM_BY_REMOTE_QPN);
}
static void
table_missing_sidr(struct bench *b)
{
	cm_table_unlink(b->sidr, CM_BY_SIDR_ID);
}
static void
table_too_many(struct bench *b)
{
	cm_table_link(b->cm, b->rest, CM_BY_REMOTE_QPN);
}
static void
table_qpn_before_accept(struct bench *b)
{
	cm_table_link(b->cm, b->held, CM_BY_LOCAL_QPN);
}
static void
table_wrong_bucket(struct bench *b)
{
	b->up->remote_id++;
}
static void
id_none(struct bench *b)
{
	cm_table_unlink(b->up, CM_BY_LOCAL_ID);
	b->up->local_id = 0;
	cm_table_link(b->cm, b->up, CM_BY_LOCAL_ID);
}
static void
id_twice(struct bench *b)
{
	cm_table_unlink(b->up, CM_BY_LOCAL_ID);
	b->up->local_id = b->held->local_id;
	cm_table_link(b->cm, b->up, CM_BY_LOCAL_ID);
}
static void
peer_qpn_twice(struct bench *b)
{
	cm_table_unlink(b->up, CM_BY_REMOTE_QPN);
	b->up->peer.qpn = b->held->peer.qpn;
	cm_table_link(b->cm, b->up, CM_BY_REMOTE_QPN);
}

/* ---- deadlines ---- */

static void
deadline_missing(struct bench *b)
{
	cm_timer_cancel(b->cm, b->rest);
}
static void
deadline_too_many(struct bench *b)
{
	cm_timer_set(b->cm, b->up, 5);
}
static void
deadline_elsewhere(struct bench *b)
{
	b->rest->timer_pos += b->cm->heap_n;
}
static void
deadline_out_of_order(struct bench *b)
{
	b->cm->heap[0]->deadline_ns = UINT64_MAX;
}
static void
retries_too_many(struct bench *b)
{
	b->up->retries = (uint8_t)(b->up->max_retries + 1);
}
static void
deadline_beyond_the_end(struct bench *b)
{
	cm_net_accept(b->net, b->held, NULL, 0);
	b->held->retries = CM_RETRIES_LEAST + 1;
	b->held->give_up_ns = b->held->deadline_ns - 1;
}
static void
deadline_count(struct bench *b)
{
	b->cm->heap[b->cm->heap_n++] = b->up;
}

/* ---- states ---- */

static void
state_unknown(struct bench *b)
{
	b->up->state = CM_STATES;
}
static void
state_without_its_tables(struct bench *b)
{
	b->up->state = CM_REQ_RCVD;
}
static void
dead_not_given_back(struct bench *b)
{
	struct roce_cm_conn *c = b->rest;

	cm_conn_dead(b->cm, c); /* the host still has the handle */
	cr_assert_null(roce_cm_check(b->cm));
	c->host_holds = false;
}
static void
refused_elsewhere(struct bench *b)
{
	b->up->refused = true;
	b->cm->refused++;
}

static void
repeats_unheld(struct bench *b)
{
	b->up->rej_copies = 1;
}

/* ---- messages and events ---- */

static void
tx_of_another_state(struct bench *b)
{
	cm_send(b->cm, b->up, CM_TX_REP);
}
static void
tx_not_queued(struct bench *b)
{
	b->up->tx = CM_TX_RTU;
}
static void
tx_nothing(struct bench *b)
{
	cm_send(b->cm, b->up, CM_TX_RTU);
	cr_assert_null(roce_cm_check(b->cm));
	b->up->tx = 0;
}
static void
event_not_queued(struct bench *b)
{
	b->up->events = CM_EVENT_BIT(ROCE_CM_EV_DISCONNECTED);
}
static void
event_nothing(struct bench *b)
{
	cm_event_raise(b->cm, b->up, ROCE_CM_EV_DISCONNECTED);
	cr_assert_null(roce_cm_check(b->cm));
	b->up->events = 0;
}
static void
event_two_ends(struct bench *b)
{
	cm_event_raise(b->cm, b->up, ROCE_CM_EV_DISCONNECTED);
	b->up->events |= CM_EVENT_BIT(ROCE_CM_EV_REJECTED);
}
static void
event_reply_after_the_end(struct bench *b)
{
	cm_event_raise(b->cm, b->up, ROCE_CM_EV_DISCONNECTED);
	b->up->events |= CM_EVENT_BIT(ROCE_CM_EV_REPLY);
}
static void
event_request_of_another_state(struct bench *b)
{
	cm_event_request(b->cm, b->up, ROCE_CM_EV_REQUEST);
}
static void
event_request_seen(struct bench *b)
{
	b->unseen->host_holds = true;
}
static void
event_without_a_host(struct bench *b)
{
	cm_event_raise(b->cm, b->rest, ROCE_CM_EV_DISCONNECTED);
	cr_assert_null(roce_cm_check(b->cm));
	b->rest->host_holds = false;
}
static void
host_gone(struct bench *b)
{
	b->up->host_holds = false;
}

/* ---- listeners and counts ---- */

static void
listener_of_decided(struct bench *b)
{
	b->up->listener = b->listener;
}
static void
listener_count(struct bench *b)
{
	b->listener->pending++;
}
static void
listener_without_request(struct bench *b)
{
	LIST_REMOVE(b->held, list_entry);
	b->listener->pending--;
}
static void
listener_of_another(struct bench *b)
{
	b->held->listener = b->sidr->listener;
}
static void
listeners_count(struct bench *b)
{
	b->cm->usage.listeners++;
}
static void
conns_count(struct bench *b)
{
	b->cm->usage.conns--;
}
static void
rest_count(struct bench *b)
{
	b->cm->usage.timewait++;
}
static void
refused_count(struct bench *b)
{
	b->cm->refused++;
}
static void
active_count(struct bench *b)
{
	b->cm->usage.active++;
}
static void
part_too_full(struct bench *b)
{
	b->cm->cfg.max_passive = b->cm->usage.conns - b->cm->usage.active - 1;
}
static void
source_count(struct bench *b)
{
	b->cm->sources[CM_SOURCES + 7].held[CM_CONNS]++;
}
static void
answers_count(struct bench *b)
{
	b->cm->sources[7].held[CM_ANSWERS]++;
}

static void
user_count(struct bench *b)
{
	b->cm->users[7].active.used++;
}

static void
passive_count(struct bench *b)
{
	b->cm->users[7].passive++;
}

static void
promised_count(struct bench *b)
{
	b->cm->active_room.promised++;
}

static void
listener_holds_less(struct bench *b)
{
	b->held->listener->held = b->held->listener->pending - 1;
}
static void
sidr_count(struct bench *b)
{
	b->cm->sidr_requests--;
}
static void
sidr_user_count(struct bench *b)
{
	b->cm->users[b->held->claim.user].sidr_requests++;
}
static void
free_in_use(struct bench *b)
{
	LIST_INSERT_HEAD(&b->cm->free_conns, b->up, list_entry);
}
static void
free_missing(struct bench *b)
{
	roce_cm_destroy(b->cm, 0, b->sidr); /* is freed once its answer has left */
	cm_net_run(b->net, MS(60000));
	cr_assert_null(roce_cm_check(b->cm));
	cr_assert(!LIST_EMPTY(&b->cm->free_conns));
	LIST_INIT(&b->cm->free_conns);
}
static void
stateless_out_of_bounds(struct bench *b)
{
	b->cm->stateless_n = 1000;
}

Test(cm_check, each_fact_that_is_broken_is_seen)
{
	static const struct {
		void (*corrupt)(struct bench *b);
		const char *complaint;
	} of[] = {
		{table_missing, "a connection is missing from a table"},
		{table_missing_sidr, "a connection is missing from a table"},
		{table_too_many, "a connection is in a table that its state does not ask for"},
		{table_qpn_before_accept,
			"a connection is in a table that its state does not ask for"},
		{table_wrong_bucket, "a connection is in the wrong bucket"},
		{id_none, "a connection has no id"},
		{id_twice, "two connections have one id"},
		{peer_qpn_twice, "two connections have one queue pair of a peer"},
		{deadline_missing, "a connection waits without a deadline"},
		{deadline_too_many, "a connection has a deadline that its state does not ask for"},
		{deadline_elsewhere, "a deadline is not where its connection says"},
		{deadline_out_of_order, "the heap of deadlines is out of order"},
		{retries_too_many, "a message was sent more often than the REQ allows"},
		{deadline_beyond_the_end, "a peer is waited for beyond the end"},
		{deadline_count, "deadlines are counted wrong"},
		{state_unknown, "a connection has no such state"},
		{state_without_its_tables,
			"a connection is in a table that its state does not ask for"},
		{dead_not_given_back, "a dead connection was not given back"},
		{refused_elsewhere, "a refusal is held outside of time-wait"},
		{repeats_unheld, "a refusal is repeated that is not held"},
		{tx_of_another_state, "a message is to be sent that its state does not have"},
		{tx_not_queued, "a connection is missing from its queue"},
		{tx_nothing, "a connection is to send nothing"},
		{event_not_queued, "a connection is missing from its queue"},
		{event_nothing, "a connection has no event to take"},
		{event_two_ends, "a connection ends twice"},
		{event_reply_after_the_end, "a connection that ended still has its reply"},
		{event_request_of_another_state,
			"a request that the host has not seen is in another state"},
		{event_request_seen, "a request that the host has not seen is in another state"},
		{event_without_a_host, "an event is for a host that holds no handle"},
		{host_gone, "a connection goes on without its host"},
		{listener_of_decided, "a listener has a request that is decided"},
		{listener_count, "a listener counts its requests wrong"},
		{listener_without_request, "a request is missing from its listener"},
		{listener_of_another, "a listener has a request that is not its own"},
		{listeners_count, "listeners are counted wrong"},
		{conns_count, "connections are counted wrong"},
		{active_count, "connections are counted wrong"},
		{part_too_full, "a part of the table is too full"},
		{source_count, "what sources hold is counted wrong"},
		{answers_count, "what sources hold is counted wrong"},
		{user_count, "what users hold is counted wrong"},
		{passive_count, "what users hold is counted wrong"},
		{promised_count, "what users may have is counted wrong"},
		{listener_holds_less, "a listener counts its requests wrong"},
		{rest_count, "connections in time-wait are counted wrong"},
		{refused_count, "held refusals are counted wrong"},
		{sidr_count, "SIDR requests are counted wrong"},
		{sidr_user_count, "what users hold is counted wrong"},
		{free_in_use, "memory in use counts as free"},
		{free_missing, "a connection is missing from its queue"},
		{stateless_out_of_bounds, "the ring of answers is out of bounds"},
	};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const char *why;
		struct bench b;

		bench_init(&b);
		of[i].corrupt(&b);
		why = roce_cm_check(b.cm);
		cr_assert_not_null(why, "case %u: nothing said, not: %s", i, of[i].complaint);
		cr_expect_str_eq(why, of[i].complaint, "case %u: %s", i, why);
		cm_net_free(b.net);
	}
}

/* A large CM is checked a part at a time: what is broken is found in as many calls as parts. */
Test(cm_check, a_large_one_is_checked_in_turns)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_connect c = cm_net_connect_params(net);
	unsigned calls = 0;

	a->cfg.max_active = 1000;
	cm_net_restart(net, CM_NET_A);
	for (unsigned i = 0; i < 1000; i++) {
		c.qp.qpn++;
		cr_assert_not_null(roce_cm_connect(a->cm, 0, &c));
	}
	for (unsigned i = 0; i < 300; i++)
		cr_assert_null(cm_check_some(a->cm));
	cm_timer_cancel(a->cm, &a->cm->conns[333]);
	while (cm_check_some(a->cm) == NULL)
		cr_assert_leq(++calls, 1000 / 4);
	cm_net_free(net);
}
