/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that are destroyed, and events. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "choose.h"
#include "rig.h"
#include "scenarios.h"

/* Completions of a queue pair are gone with it, those that lay there too; and the completion queue
 * does not fill up with those of queue pairs that were destroyed with receives outstanding. */
void
run_destroyed(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	sge = rig_sge(&r, 0, 0, 8);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 1);
	for (int i = 0; i < 5; i++)
		rig_post(&r, &wr);
	rig_receive(&r, 1, 0, 8, 99);
	usleep(200000);
	WANT(ibv_destroy_qp(r.qp[0]) == 0);
	WANT(ibv_poll_cq(r.cq, 1, &wc) == 0);
	for (int i = 0; i < 3 * 4; i++) {
		r.qp[0] = rig_make_qp(&r, 0);
		rig_connect_qp(&r, r.qp[0], 0x1234);
		for (int k = 0; k < RIG_DEPTH; k++)
			rig_receive(&r, 0, 0, 8, 7);
		WANT(ibv_destroy_qp(r.qp[0]) == 0);
	}
	WANT(ibv_poll_cq(r.cq, 1, &wc) == 0);
	r.qp[0] = rig_make_qp(&r, 0);
	rig_close(&r);
}

/* What others rest on is not destroyed. */
void
run_busy(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq;
	struct rig r;

	rig_open(&r, true);
	WANT(ibv_dealloc_pd(r.pd) == EBUSY);
	WANT(ibv_destroy_cq(r.cq) == EBUSY);
	WANT(ibv_destroy_comp_channel(r.channel) == EBUSY);
	srq = ibv_create_srq(r.pd, &a);
	WANT(srq != NULL);
	WANT(ibv_destroy_qp(r.qp[0]) == 0);
	r.qp[0] = ibv_create_qp(r.pd, &(struct ibv_qp_init_attr){.send_cq = r.cq,
					      .recv_cq = r.cq,
					      .srq = srq,
					      .cap = {1, 1, 1, 1, 0},
					      .qp_type = IBV_QPT_RC});
	WANT(r.qp[0] != NULL && ibv_destroy_srq(srq) == EBUSY);
	WANT(ibv_destroy_qp(r.qp[0]) == 0 && ibv_destroy_srq(srq) == 0);
	r.qp[0] = NULL;
	rig_close(&r);
}

static bool
is_readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1;
}

static void *
acknowledge_late(void *cq)
{
	usleep(300000);
	ibv_ack_cq_events(cq, 1);
	return NULL;
}

static void
write_once(struct rig *r)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 8);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_RDMA_WRITE, &sge, 1);

	rig_post(r, &wr);
}

/* The descriptor is readable exactly while there is an event, none without having asked; destroying
 * waits for the acknowledgement, and takes an event back that nobody took. */
void
run_events(void)
{
	struct ibv_cq *cq;
	pthread_t thread;
	void *context;
	double begin;
	struct rig r;

	rig_open(&r, true);
	rig_connect(&r);
	write_once(&r);
	rig_wait_for(&r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(!is_readable(r.channel->fd, 100));
	WANT(fcntl(r.channel->fd, F_SETFL, O_NONBLOCK) == 0);
	WANT(ibv_get_cq_event(r.channel, &cq, &context) == -1 && errno == EAGAIN);
	WANT(ibv_req_notify_cq(r.cq, 1) == 0);
	write_once(&r);
	WANT(!is_readable(r.channel->fd, 200)); /* it is not solicited */
	WANT(ibv_req_notify_cq(r.cq, 0) == 0);
	write_once(&r);
	WANT(is_readable(r.channel->fd, 5000));
	WANT(ibv_get_cq_event(r.channel, &cq, &context) == 0 && cq == r.cq && context == &r);
	WANT(!is_readable(r.channel->fd, 0));
	for (int i = 0; i < 2; i++)
		rig_wait_for(&r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(ibv_req_notify_cq(r.cq, 0) == 0);
	write_once(&r);
	WANT(is_readable(r.channel->fd, 5000)); /* is left there */
	for (int side = 0; side < 2; side++) {
		WANT(ibv_destroy_qp(r.qp[side]) == 0);
		r.qp[side] = NULL;
	}
	begin = scenario_seconds();
	WANT(pthread_create(&thread, NULL, acknowledge_late, r.cq) == 0);
	WANT(ibv_destroy_cq(r.cq) == 0);
	WANT(scenario_seconds() - begin > 0.2);
	pthread_join(thread, NULL);
	WANT(!is_readable(r.channel->fd, 0));
	r.cq = ibv_create_cq(r.context, 1, NULL, r.channel, 0);
	WANT(r.cq != NULL);
	rig_close(&r);
}

/* The peer's request for what it may not have ends this queue pair, which is an event; that of the
 * peer's own is none. */
static void
be_denied(struct rig *r)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 8);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_RDMA_WRITE, &sge, 1);

	wr.wr.rdma.rkey ^= 0x100;
	rig_post(r, &wr);
	rig_wait_for(r, 1, IBV_WC_REM_ACCESS_ERR, 0);
	WANT(is_readable(r->context->async_fd, 5000));
}

/* A program that sees it readable reads, and would wait for nothing. */
static void
expect_denial(struct rig *r)
{
	struct ibv_async_event e;

	WANT(ibv_get_async_event(r->context, &e) == 0);
	WANT(e.event_type == IBV_EVENT_QP_ACCESS_ERR && e.element.qp == r->qp[1]);
	ibv_ack_async_event(&e);
	WANT(!is_readable(r->context->async_fd, 200));
}

void
run_async(void)
{
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	WANT(!is_readable(r.context->async_fd, 0));
	be_denied(&r);
	expect_denial(&r);
	rig_close(&r);
}

/* An event of an object that is destroyed is not told, and the descriptor does not announce it;
 * those that come later are told. */
void
run_async_destroyed(void)
{
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	be_denied(&r);
	for (int side = 0; side < 2; side++) {
		WANT(ibv_destroy_qp(r.qp[side]) == 0);
		r.qp[side] = rig_make_qp(&r, 0);
	}
	WANT(!is_readable(r.context->async_fd, 200));
	rig_connect(&r);
	be_denied(&r);
	expect_denial(&r);
	rig_close(&r);
}

/* A peer's request that comes before the step to RTS: that event is told, though read later. */
void
run_established(void)
{
	struct ibv_async_event e;
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct rig r;

	rig_open(&r, false);
	rig_connect_qp(&r, r.qp[0], r.qp[1]->qp_num);
	rig_await_peer(&r, r.qp[1], r.qp[0]->qp_num);
	sge = rig_sge(&r, 0, 0, 8);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 1);
	rig_post(&r, &wr);
	rig_wait_for(&r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(is_readable(r.context->async_fd, 5000));
	rig_go_on(r.qp[1]);
	WANT(fcntl(r.context->async_fd, F_SETFL, O_NONBLOCK) == 0); /* else it would wait */
	WANT(ibv_get_async_event(r.context, &e) == 0);
	WANT(e.event_type == IBV_EVENT_COMM_EST && e.element.qp == r.qp[1]);
	ibv_ack_async_event(&e);
	WANT(!is_readable(r.context->async_fd, 200));
	rig_close(&r);
}

/* With the calls that fill requests; of the rig's domain and queue. */
static struct ibv_qp *
make_qp_with_calls(const struct rig *r)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {4, 4, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = r->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_qp *qp = ibv_create_qp_ex(r->context, &init);

	WANT(qp != NULL);
	return qp;
}

static int
send_two(struct ibv_qp *qp)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send(ex);
	return ibv_wr_complete(ex);
}

/* The daemon ends: this is told, a thread that waits is woken, calls fail; all can be destroyed. */
void
run_removed(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE}, *bad;
	struct ibv_async_event e;
	struct ibv_cq *cq;
	struct ibv_cq_init_attr_ex attr = {.cqe = 4};
	struct ibv_poll_cq_attr plain = {0};
	struct ibv_cq_ex *ex;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	void *context;
	struct rig r;

	rig_open(&r, true);
	rig_connect(&r);
	ex = ibv_create_cq_ex(r.context, &attr);
	WANT(ex != NULL);
	qp = make_qp_with_calls(&r);
	rig_connect_qp(&r, qp, 0x1234);
	WANT(ibv_req_notify_cq(r.cq, 0) == 0);
	puts("waiting");
	fflush(stdout);
	WANT(ibv_get_cq_event(r.channel, &cq, &context) == 0);
	ibv_ack_cq_events(cq, 1);
	do
		WANT(ibv_get_async_event(r.context, &e) == 0);
	while (e.event_type != IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&e);
	WANT(ibv_poll_cq(r.cq, 1, &wc) < 0);
	WANT(ibv_post_send(r.qp[0], &wr, &bad) == EIO && bad == &wr);
	for (int i = 0; i < 2; i++) { /* nothing is held after the first */
		WANT(ibv_start_poll(ex, &plain) == EIO);
		WANT(send_two(qp) == EIO);
	}
	WANT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(ex)) == 0);
	WANT(ibv_create_cq(r.context, 1, NULL, NULL, 0) == NULL && errno == EIO);
	rig_close(&r);
}
