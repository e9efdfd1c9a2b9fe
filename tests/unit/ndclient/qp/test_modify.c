/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nd_qp_modify() and events, with a daemon at the other end of the socket: the test, which answers
 * when, and what, it likes.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/qp/modify.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/handlers.h"

#define INDEX 5u /* of the queue pair, at the daemon */

struct bench {
	struct nd_adapter *a;
	struct nd_qp *qp;
	struct nd_cq cq[2]; /* of requests, of receives */
	struct ndsh_cq_page page[2];
	struct nd_overlapped ov;
	uint32_t state;
	nd_status status; /* of the call in the thread */
	int daemon;
	pthread_t thread;
};

static struct bench *
make(void)
{
	struct bench *b = aligned_alloc(64, (sizeof(*b) + 63) & ~(size_t)63);
	int fd[2];

	memset(b, 0, sizeof(*b));

	b->a = nd_adapter_new();
	b->qp = aligned_alloc(64, sizeof(*b->qp));
	memset(b->qp, 0, sizeof(*b->qp));
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
	b->a->abi_minor = NDSH_ABI_MINOR;
	TAILQ_INIT(&b->qp->bound);
	TAILQ_INIT(&b->qp->invalidating);
	b->a->socket = fd[0];
	b->daemon = fd[1];
	b->qp->adapter = b->a;
	b->qp->index = INDEX;
	b->qp->context = b;
	for (int i = 0; i < 2; i++)
		b->cq[i].reader.page = &b->page[i];
	b->qp->send_cq = &b->cq[0];
	b->qp->recv_cq = &b->cq[1];
	b->a->qps->by_handle[7] = b->a->qps->by_index[INDEX] = b->qp;
	b->a->qps->end = 8;
	b->a->handlers = &nd_handlers;
	cr_assert_eq(nd_control_start(b->a), ND_SUCCESS);
	return b;
}

static void
drop(struct bench *b)
{
	nd_control_stop(b->a);
	close(b->daemon);
	close(b->a->socket);
	nd_adapter_free(b->a);
	free(b->qp);
	free(b);
}

static void *
modify(void *arg)
{
	struct bench *b = arg;

	b->status = nd_qp_modify(b->qp, b->state, NULL, &b->ov);
	return NULL;
}

static void
say(struct bench *b, const void *m, size_t bytes)
{
	cr_assert_eq(send(b->daemon, m, bytes, 0), (ssize_t)bytes);
}

/* Ask for the state, and let the daemon answer. */
static void
ask(struct bench *b, uint32_t state, nd_status answer, const char *why)
{
	struct ndsh_qp_modify_reply reply = {0};
	struct ndsh_qp_modify m;

	b->state = state;
	pthread_create(&b->thread, NULL, modify, b);
	cr_assert_eq(recv(b->daemon, &m, sizeof(m), 0), (ssize_t)sizeof(m));
	cr_assert(m.h.type == NDSH_MSG_QP_MODIFY && m.qp == INDEX && m.state == state);
	reply.h = m.h;
	reply.h.type |= NDSH_REPLY;
	reply.h.status = answer;
	memcpy(reply.why, why, strlen(why));
	say(b, &reply, sizeof(reply));
	pthread_join(b->thread, NULL);
}

static void
event(struct bench *b, uint32_t index, nd_status status)
{
	const struct ndsh_ev_qp m = {
		.h = {.type = NDSH_EV_QP_MODIFIED, .status = status}, .qp = index};

	say(b, &m, sizeof(m));
}

/* Those are entries of the life before. */
Test(ndclient_modify, a_reset_remembers_what_its_queues_had)
{
	struct bench *b = make();

	b->page[0].produced = 0x100000005;
	b->page[1].produced = 7;
	ask(b, ND_QP_STATE_ERROR, NDSH_OK, "");
	cr_expect(b->qp->begun[0] == 0 && b->qp->begun[1] == 0);
	ask(b, ND_QP_STATE_RESET, NDSH_ERR_INVALID_STATE, "no");
	cr_expect(b->qp->begun[0] == 0 && b->qp->begun[1] == 0);
	ask(b, ND_QP_STATE_RESET, NDSH_OK, "");
	cr_expect(b->qp->begun[0] == 0x100000005 && b->qp->begun[1] == 7);
	drop(b);
}

Test(ndclient_modify, what_may_be_posted_follows_the_state)
{
	static const struct {
		uint32_t state;
		enum nd_qp_state posts;
	} of[] = {
		{ND_QP_STATE_RTR, ND_QP_UNCONNECTED},
		{ND_QP_STATE_RTS, ND_QP_CONNECTED},
		{ND_QP_STATE_SQD, ND_QP_CONNECTED},
		{ND_QP_STATE_ERROR, ND_QP_CONNECTED},
		{ND_QP_STATE_RESET, ND_QP_UNCONNECTED},
		{ND_QP_STATE_INIT, ND_QP_UNCONNECTED},
	};
	struct bench *b = make();

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		ask(b, of[i].state, ND_SUCCESS, "");
		cr_assert_eq(b->status, ND_PENDING);
		cr_assert_eq(nd_overlapped_status(&b->ov), ND_SUCCESS);
		cr_assert_eq(b->qp->state, of[i].posts, "state %u", of[i].state);
	}
	drop(b);
}

Test(ndclient_modify, a_refusal_is_told_in_the_daemons_words)
{
	struct bench *b = make();
	struct nd_overlapped ov = {0};

	b->state = ND_QP_STATE_RTS;
	ask(b, ND_QP_STATE_RTS, ND_INVALID_PARAMETER_MIX, "INIT to RTS also needs: path");
	cr_assert_eq(b->status, ND_INVALID_PARAMETER_MIX);
	cr_assert_eq(b->qp->state, ND_QP_UNCONNECTED);
	/* The next one is a call like the first. */
	ask(b, ND_QP_STATE_RTS, ND_SUCCESS, "");
	cr_assert_eq(b->status, ND_PENDING);
	b->a->abi_minor = NDSH_MINOR_QP_MODIFY - 1;
	cr_assert_eq(nd_qp_modify(b->qp, ND_QP_STATE_SQD, NULL, &ov), ND_NOT_SUPPORTED);
	cr_assert_not_null(strstr(nd_last_error(), "too old"));
	cr_assert_eq(nd_qp_query(b->qp, &(struct nd_qp_info){0}), ND_NOT_SUPPORTED);
	cr_assert_eq(nd_adapter_notify_event(b->a, &ov), ND_NOT_SUPPORTED);
	cr_assert_eq(nd_adapter_get_event(b->a, &(struct nd_event){0}), ND_NOT_SUPPORTED);
	drop(b);
}

Test(ndclient_modify, one_that_waits_ends_once_by_the_event_the_close_or_the_daemons_end)
{
	struct bench *b = make();
	struct nd_overlapped other = {0};

	ask(b, ND_QP_STATE_RTS, ND_PENDING, "");
	cr_assert_eq(b->status, ND_PENDING);
	cr_assert_eq(nd_qp_modify(b->qp, ND_QP_STATE_RTS, NULL, &other), ND_DEVICE_BUSY);
	event(b, INDEX + 1, ND_SUCCESS); /* another's */
	event(b, INDEX, ND_HOST_UNREACHABLE);
	cr_assert_eq(nd_overlapped_wait(&b->ov, 20000), ND_HOST_UNREACHABLE);
	cr_assert_eq(b->qp->state, ND_QP_UNCONNECTED);
	event(b, INDEX, ND_SUCCESS); /* no request waits: it means nothing */

	ask(b, ND_QP_STATE_RTS, ND_PENDING, "");
	event(b, INDEX, ND_SUCCESS);
	cr_assert_eq(nd_overlapped_wait(&b->ov, 20000), ND_SUCCESS);
	cr_assert_eq(b->qp->state, ND_QP_CONNECTED);

	ask(b, ND_QP_STATE_SQD, ND_PENDING, "");
	pthread_mutex_lock(&b->a->lock);
	nd_qp_end_modify(b->qp, ND_CANCELED); /* as a close does */
	pthread_mutex_unlock(&b->a->lock);
	cr_assert_eq(nd_overlapped_status(&b->ov), ND_CANCELED);

	ask(b, ND_QP_STATE_SQD, ND_PENDING, "");
	shutdown(b->daemon, SHUT_RDWR);
	cr_assert_eq(nd_overlapped_wait(&b->ov, 20000), ND_DEVICE_REMOVED);
	cr_assert_eq(nd_qp_modify(b->qp, ND_QP_STATE_RTS, NULL, &other), ND_DEVICE_REMOVED);
	drop(b);
}

static void
happens(struct bench *b, enum ndsh_async what, uint32_t id)
{
	const struct ndsh_ev_async m = {
		.h.type = NDSH_EV_ASYNC, .event = what, .id = id, .detail = NDSH_WC_FATAL_ERR};

	say(b, &m, sizeof(m));
}

/* Those of unknown objects and of kinds that are not known here are passed over. */
Test(ndclient_modify, events_wait_in_their_objects_in_order_and_once)
{
	static const enum nd_event_type want[] = {ND_EVENT_LINK_UP, ND_EVENT_ADDRESSES,
		ND_EVENT_DRAINED, ND_EVENT_QP_FATAL, ND_EVENT_LAST_RECEIVE,
		ND_EVENT_DEVICE_REMOVED};
	struct bench *b = make();
	struct nd_overlapped ov = {0};
	struct nd_event event;

	b->a->events_on = true;
	happens(b, NDSH_ASYNC_LINK_DOWN, 0);
	for (int i = 0; i < 100; i++)
		happens(b, NDSH_ASYNC_SQ_DRAINED, INDEX);
	happens(b, NDSH_ASYNC_LAST_WQE, INDEX);
	happens(b, NDSH_ASYNC_LAST_WQE, INDEX + 1);
	happens(b, NDSH_ASYNC_CQ_ERROR, 3);
	happens(b, NDSH_ASYNC_ADDRESSES, 0);
	happens(b, NDSH_ASYNC_ADDRESSES + 1, INDEX);
	happens(b, NDSH_ASYNC_LINK_UP, 0);
	happens(b, NDSH_ASYNC_QP_FATAL, INDEX);
	shutdown(b->daemon, SHUT_WR);
	while (nd_adapter_notify_event(b->a, &ov) != ND_PENDING || !nd_gone(b->a))
		(void)nd_overlapped_wait(&ov, 1);
	for (size_t seen = 0; seen < sizeof(want) / sizeof(want[0]); seen++) {
		unsigned n = 0;

		cr_assert_eq(nd_adapter_get_event(b->a, &event), ND_SUCCESS);
		for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
			n += event.type == want[i];
		cr_assert_eq(n, 1, "event %u", event.type);
		cr_assert_eq(event.qp == b->qp, event.context == b);
		cr_assert_eq(event.detail, event.type == ND_EVENT_QP_FATAL ? NDSH_WC_FATAL_ERR : 0);
	}
	cr_assert_eq(nd_adapter_get_event(b->a, &event), ND_DEVICE_REMOVED);
	drop(b);
}
