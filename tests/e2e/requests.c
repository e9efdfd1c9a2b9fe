/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that go wrong, and the statuses they end with. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scenarios.h"

/* a's completion queue takes more than it has room for. */
static void
overrun(struct pair *p)
{
	struct nd_overlapped fault = {0};

	WANT(ND_SUCCESS, nd_cq_status(p->a.cq));
	WANT(ND_PENDING, nd_cq_notify(p->a.cq, ND_CQ_NOTIFY_ERRORS, &fault));
	for (int i = 0; i < 1024; i++) {
		nd_status status = side_write(&p->a, &p->b, 8, nd_mr_remote_token(p->b.mr));

		if (status != ND_SUCCESS) /* it may have overrun by now */
			break;
	}
	WANT(ND_BUFFER_OVERFLOW, nd_overlapped_wait(&fault, PATIENCE_MS));
}

/* It says what killed it, whatever is asked, and however often. */
static void
check_dead(struct nd_cq *cq)
{
	struct nd_overlapped late[2] = {0};
	struct nd_result_ex ex;
	struct nd_result r;

	for (int i = 0; i < 3; i++) {
		WANT(ND_BUFFER_OVERFLOW, nd_cq_status(cq));
		WANT(ND_BUFFER_OVERFLOW, nd_cq_get_results(cq, &r, 1));
		WANT(ND_BUFFER_OVERFLOW, nd_cq_get_results_ex(cq, &ex, 1));
		for (uint32_t type = 0; type < 3; type++)
			WANT(ND_BUFFER_OVERFLOW,
				finish(nd_cq_notify(cq, type, &late[0]), &late[0]));
	}
}

static void
open_small(struct pair *p)
{
	side_open(&p->a, 4);
	side_open(&p->b, 64);
	side_create_qp(&p->a, 1024);
	side_create_qp(&p->b, 16);
	pair_connect(p);
}

/*
 * checks R-CQ-08[2,4], R-CQ-31[1,2,4,5,6], R-CR-01[4]: an entry too many ends the CQ and the queue
 * pairs at it, and is told to all waiters, present and later; what was queued before stays
 * readable. Another CQ and queue pair of the same adapter live on.
 */
void
scenario_full_cq(struct pair *p)
{
	struct pair other = *p;
	struct nd_overlapped end = {0};
	struct nd_result result;
	int32_t n;

	pair_open(&other);
	open_small(p);
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &end));
	overrun(p);
	WANT(ND_BUFFER_OVERFLOW, nd_cq_status(p->a.cq));
	while ((n = nd_cq_get_results(p->a.cq, &result, 1)) > 0)
		WANT(ND_SUCCESS, result.status);
	WANT(ND_BUFFER_OVERFLOW, n);
	check_dead(p->a.cq);
	WANT(ND_SUCCESS, nd_overlapped_wait(&end, PATIENCE_MS));
	pair_works(&other);
	pair_close(&other);
	pair_close(p);
}

/* checks R-CQ-08[5]: the daemon goes, and what the queue died of does not. */
void
scenario_full_cq_daemon_dies(struct pair *p)
{
	struct nd_adapter_info info;
	struct nd_result result;
	struct nd_cq *idle;

	open_small(p);
	WANT(ND_SUCCESS, nd_cq_create(p->a.adapter, 4, &idle));
	overrun(p);
	CHECK(p->daemon_a > 0 && kill(p->daemon_a, SIGKILL) == 0);
	while (nd_adapter_query(p->a.adapter, &info) == ND_SUCCESS)
		sleep_ms(1);
	while (nd_cq_get_results(p->a.cq, &result, 1) > 0)
		WANT(ND_SUCCESS, result.status);
	check_dead(p->a.cq);
	WANT(ND_BUFFER_OVERFLOW, nd_cq_arm(p->a.cq, ND_CQ_NOTIFY_ANY));
	WANT(ND_DEVICE_REMOVED, nd_cq_status(idle));
	pair_close(p);
}

/* a's queue pair receives by a completion queue of its own, which is for four entries. */
static struct nd_cq *
connect_with_small_cq(
	struct pair *p, uint32_t receive_depth, uint32_t initiator_depth, uint32_t peer_depth)
{
	struct nd_qp_options options = {
		.receive_depth = receive_depth,
		.initiator_depth = initiator_depth,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};
	struct nd_cq *cq;

	side_open(&p->a, 64);
	side_open(&p->b, 2 * peer_depth);
	WANT(ND_SUCCESS, nd_cq_create(p->a.adapter, 4, &cq));
	options.receive_cq = cq;
	options.initiator_cq = p->a.cq;
	WANT(ND_SUCCESS, nd_qp_create(p->a.pd, &options, &p->a.qp));
	side_create_qp(&p->b, peer_depth);
	pair_connect(p);
	return cq;
}

/* checks R-CQ-31[2,3,4]: a's queue pair receives by a queue of its own, which overruns. */
void
scenario_full_receive_cq(struct pair *p)
{
	struct nd_overlapped waiter[2] = {0}, end = {0};
	struct nd_cq *cq = connect_with_small_cq(p, 1024, 16, 1024);
	struct nd_result result;

	WANT(ND_PENDING, nd_cq_notify(cq, ND_CQ_NOTIFY_ERRORS, &waiter[0]));
	WANT(ND_PENDING, nd_cq_notify(cq, ND_CQ_NOTIFY_ERRORS, &waiter[1]));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &end));
	for (int i = 0; i < 1024; i++)
		WANT(ND_SUCCESS, side_receive(&p->a, 8));
	for (int i = 0; i < 1024; i++)
		if (side_send(&p->b, 8) != ND_SUCCESS) /* it may have overrun by now */
			break;
	for (int i = 0; i < 2; i++)
		WANT(ND_BUFFER_OVERFLOW, nd_overlapped_wait(&waiter[i], PATIENCE_MS));
	WANT(ND_SUCCESS, nd_overlapped_wait(&end, PATIENCE_MS));
	WANT(ND_SUCCESS, side_send(&p->a, 8));
	WANT(ND_CANCELED, side_result(&p->a, &result));
	pair_close(p);
}

/*
 * checks R-SR-05[1,2]: the sender learns of it in less than 5 s; the receiver of nothing
 * meanwhile.
 */
void
scenario_no_receive(struct pair *p)
{
	struct nd_result result;
	time_t begin;

	pair_open(p);
	begin = time(NULL);
	WANT(ND_SUCCESS, side_send(&p->a, 100));
	WANT(ND_IO_TIMEOUT, side_result(&p->a, &result));
	CHECK(time(NULL) - begin < 5);
	CHECK(result.request_type == ND_REQUEST_SEND);
	CHECK(side_quiet(&p->b, 1));
	pair_close(p);
}

/* A receive that comes while the sender is held off (RNR) gets the message, once; checks
 * R-CR-05. */
void
scenario_late_receive(struct pair *p)
{
	struct nd_result result;

	pair_open(p);
	memcpy(p->a.buf, "late but whole", 15);
	WANT(ND_SUCCESS, side_send(&p->a, 15));
	sleep_ms(5);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.bytes_transferred == 15 && strcmp(p->b.buf, "late but whole") == 0);
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(side_quiet(&p->b, 50));
	pair_close(p);
}

/* checks R-SR-03[1-4], R-SR-04: both ends fail, and no byte goes beyond the receive. */
void
scenario_long_send(struct pair *p)
{
	struct nd_result result;

	pair_open(p);
	memset(p->a.buf, 0x5a, BUFFER_BYTES);
	memset(p->b.buf, 0, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_receive(&p->b, 1000));
	WANT(ND_SUCCESS, side_send(&p->a, 5000));
	WANT(ND_DATA_ERROR, side_result(&p->a, &result));
	WANT(ND_DATA_OVERRUN, side_result(&p->b, &result));
	for (int i = 1000; i < BUFFER_BYTES; i++)
		CHECK(p->b.buf[i] == 0);
	for (int i = 0; i < 2; i++) { /* the connection is over, for either end */
		struct side *side = i == 0 ? &p->a : &p->b;

		WANT(ND_SUCCESS, side_receive(side, 8));
		WANT(ND_CANCELED, side_result(side, &result));
	}
	pair_close(p);
}

/* One connection for each request, as it does not survive. */
static void
refused(struct pair *p, int write, uint32_t bytes, uint32_t token)
{
	pair_refuses(p, write, p->b.buf, bytes, token);
	pair_close(p);
}

void
scenario_wrong_key(struct pair *p)
{
	for (int write = 0; write <= 1; write++) {
		pair_open(p);
		refused(p, write, 100, nd_mr_remote_token(p->b.mr) ^ 0x00010001);
	}
}

/* One byte more than the peer's region, where our own is as large as need be. */
void
scenario_out_of_bounds(struct pair *p)
{
	for (int write = 0; write <= 1; write++) {
		struct nd_mr *smaller;

		pair_open(p);
		WANT(ND_SUCCESS,
			region_new(p->b.pd, p->b.buf, 99,
				ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
					ND_MR_FLAG_ALLOW_REMOTE_WRITE,
				&smaller));
		refused(p, write, 100, nd_mr_remote_token(smaller));
	}
}

/* A region that may be written, but not read, and the reverse; registered while connected: checks
 * R-MR-12. */
void
scenario_no_right(struct pair *p)
{
	for (int write = 0; write <= 1; write++) {
		struct nd_mr *region;

		pair_open(p);
		WANT(ND_SUCCESS, region_new(p->b.pd, p->b.buf, BUFFER_BYTES,
					 write ? ND_MR_FLAG_ALLOW_REMOTE_READ
					       : ND_MR_FLAG_ALLOW_REMOTE_WRITE,
					 &region));
		refused(p, write, 100, nd_mr_remote_token(region));
	}
}

/* The key of a region that is no more; checks R-MR-08[2]. */
void
scenario_dead_key(struct pair *p)
{
	for (int write = 0; write <= 1; write++) {
		struct nd_mr *region;
		uint32_t token;

		pair_open(p);
		WANT(ND_SUCCESS,
			region_new(p->b.pd, p->b.buf, BUFFER_BYTES,
				ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_ALLOW_REMOTE_WRITE,
				&region));
		token = nd_mr_remote_token(region);
		WANT(ND_SUCCESS, nd_mr_deregister(region, NULL));
		refused(p, write, 100, token);
	}
}

/* checks R-CQ-14: a notification for a new entry, none for entries that were taken. */
void
scenario_notify(struct pair *p)
{
	struct nd_overlapped ov = {0};
	struct nd_result result;

	pair_open(p);
	WANT(ND_PENDING, nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_ANY, &ov));
	CHECK(nd_overlapped_wait(&ov, 50) == ND_TIMEOUT);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_SUCCESS, side_send(&p->a, 10));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.bytes_transferred == 10 && result.qp_context == &p->b);
	memset(&ov, 0, sizeof(ov));
	WANT(ND_PENDING, nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_ANY, &ov));
	CHECK(nd_overlapped_wait(&ov, 50) == ND_TIMEOUT);
	WANT(ND_SUCCESS, nd_cq_cancel(p->b.cq));
	WANT(ND_CANCELED, nd_overlapped_wait(&ov, PATIENCE_MS));
	pair_close(p);
}

/*
 * checks R-POST-04[1,4,6]: a queue pair that asked for one SGE takes two, a depth of five makes
 * eight, and a completion queue of four takes eight entries.
 */
void
scenario_grants(struct pair *p)
{
	struct nd_cq *cq = connect_with_small_cq(p, 5, 5, 32);
	struct nd_sge sge[2];
	struct nd_result result;
	uint32_t posted = 0;
	nd_status status;

	sge[0] = (struct nd_sge){p->a.buf, 10, nd_mr_local_token(p->a.mr)};
	sge[1] = (struct nd_sge){p->a.buf + 100, 20, nd_mr_local_token(p->a.mr)};
	memset(p->a.buf, 0x41, 200);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_SUCCESS, nd_qp_send(p->a.qp, NULL, sge, 2, 0));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.bytes_transferred == 30 && memcmp(p->b.buf, p->a.buf, 30) == 0);
	while ((status = nd_qp_receive(p->a.qp, NULL, sge, 2)) == ND_SUCCESS)
		posted++;
	WANT(ND_NO_MORE_ENTRIES, status);
	CHECK(posted == 8);
	WANT(ND_SUCCESS, nd_qp_flush(p->a.qp));
	p->a.cq = cq;
	for (uint32_t i = 0; i < posted; i++)
		WANT(ND_CANCELED, side_result(&p->a, &result));
	CHECK(side_quiet(&p->a, 20));
	pair_close(p);
}
