/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a daemon, and of a client. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenarios.h"
#include "window.h"

/*
 * checks R-DISC-11[4], R-LIFE-12[1,2]: daemon a is killed while everything waits on it: each
 * request ends with ND_DEVICE_REMOVED, each call says so, nothing hangs. The end at daemon b learns
 * of it by its retries, and works on.
 */
void
scenario_device_removed(struct pair *p)
{
	struct nd_overlapped notify = {0}, disconnect = {0}, get = {0}, connect = {0};
	struct nd_connector *waiting, *unused;
	struct nd_listener *listener;
	struct nd_result result;
	struct side spare;
	struct nd_pd *pd;
	int32_t n;

	pair_open(p);
	spare = p->a;
	side_create_qp(&spare, 4);
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &waiting));
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &unused));
	WANT(ND_SUCCESS, nd_listener_create(p->a.adapter, &listener));
	WANT(ND_SUCCESS,
		nd_listener_listen(listener, (struct sockaddr *)&p->a.addr, p->a.addr_bytes, 0));
	WANT(ND_PENDING, nd_listener_get_request(listener, waiting, &get));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->a.connector, &disconnect));
	WANT(ND_PENDING, nd_cq_notify(p->a.cq, ND_CQ_NOTIFY_ANY, &notify));
	WANT(ND_SUCCESS, side_receive(&p->a, 100));

	CHECK(p->daemon_a > 0 && kill(p->daemon_a, SIGKILL) == 0);
	WANT(ND_DEVICE_REMOVED, nd_overlapped_wait(&notify, PATIENCE_MS));
	WANT(ND_DEVICE_REMOVED, nd_overlapped_wait(&disconnect, PATIENCE_MS));
	WANT(ND_DEVICE_REMOVED, nd_overlapped_wait(&get, PATIENCE_MS));
	while ((n = nd_cq_get_results(p->a.cq, &result, 1)) > 0)
		WANT(ND_DEVICE_REMOVED, result.status);
	WANT(ND_DEVICE_REMOVED, n);
	WANT(ND_DEVICE_REMOVED, side_send(&p->a, 10));
	WANT(ND_DEVICE_REMOVED, side_receive(&p->a, 10));
	WANT(ND_DEVICE_REMOVED, nd_pd_create(p->a.adapter, &pd));
	WANT(ND_DEVICE_REMOVED,
		finish(nd_connector_connect(unused, spare.qp, (struct sockaddr *)&p->b.addr,
			       p->b.addr_bytes, 1, 1, NULL, 0, &connect),
			&connect));
	CHECK(p->a.buf[0] == 0); /* its memory is still there to be read */
	side_close(&p->a);

	WANT(ND_SUCCESS, side_write(&p->b, &p->a, 100, 1));
	WANT(ND_IO_TIMEOUT, side_result(&p->b, &result));
	WANT(ND_SUCCESS, nd_pd_create(p->b.adapter, &pd));
	side_close(&p->b);
}

/* Sessions of a process end with it, whatever a forked child keeps open. The runner kills the
 * parent and looks at the daemon; the child ends when its standard input does. */
void
scenario_fork(struct pair *p)
{
	char byte;

	pair_open(p);
	alarm(0);
	if (fork() == 0) {
		printf("child %d\n", getpid());
		fflush(stdout);
	}
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

/* A connection with objects, bound windows and requests under way, until the runner ends
 * something. */
void
scenario_hold(struct pair *p)
{
	struct nd_overlapped told = {0};

	pair_open(p);
	window_bind(&p->a, window_new(&p->a), 0, BUFFER_BYTES, READ_AND_WRITE);
	window_bind(&p->b, window_new(&p->b), 0, BUFFER_BYTES, READ_AND_WRITE);
	(void)window_new(&p->b);
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->a.connector, &told));
	printf("holding\n");
	fflush(stdout);
	WANT(ND_DEVICE_REMOVED, nd_overlapped_wait(&told, -1));
}
