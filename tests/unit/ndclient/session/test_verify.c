/* SPDX-License-Identifier: BSD-3-Clause */
/* The verifier: each breach is told once, with its rule; what is right says nothing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/listener.h"
#include "ndclient/cq/cq.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/verify.h"

/* What the library wrote to stderr since capture(). */
static FILE *captured;

static void
capture(void)
{
	captured = tmpfile();
	cr_assert(captured != NULL);
	cr_assert(ge(int, dup2(fileno(captured), STDERR_FILENO), 0));
	nd_verify_setup(&(struct nd_open_options){.verify = 1});
}

/* How many lines name the rule; *all: how many there are. */
static int
lines_of(const char *rule, int *all)
{
	char line[512];
	int n = 0;

	*all = 0;
	rewind(captured);
	while (fgets(line, sizeof(line), captured) != NULL) {
		(*all)++;
		cr_expect(strncmp(line, "libndclient: ", 13) == 0, "%s", line);
		n += strstr(line, rule) != NULL;
	}
	return n;
}

#define EXPECT_TOLD(rule, n)                                                                       \
	do {                                                                                       \
		int told;                                                                          \
		cr_expect(eq(int, lines_of(rule, &told), n), rule);                                \
		cr_expect(eq(int, told, n), "nothing else");                                       \
	} while (0)

static struct nd_qp *
make_qp(void)
{
	const struct ndsh_qp_dims d = {
		.sq_depth = 8, .rq_depth = 8, .sq_sge = 2, .rq_sge = 2, .inline_bytes = 32};
	static struct ndsh_session_page page;
	struct nd_adapter *a = nd_adapter_new();
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));
	struct ndsh_qp_layout l;

	memset(qp, 0, sizeof(*qp));
	cr_assert(ndsh_qp_layout(&d, &l));
	qp->page = aligned_alloc(64, l.total_bytes);
	memset(qp->page, 0, l.total_bytes);
	a->page = &page;
	a->wake_fd = -1;
	a->max_transfer_bytes = 1000;
	qp->adapter = a;
	qp->state = ND_QP_CONNECTED;
	qp->sq_sge = qp->rq_sge = 2;
	qp->inline_bytes = 32;
	TAILQ_INIT(&qp->bound);
	TAILQ_INIT(&qp->invalidating);
	ndsh_sq_view(&qp->sq, qp->page, &d);
	ndsh_rq_view(&qp->rq, qp->page, &d);
	return qp;
}

static void
drop_qp(struct nd_qp *qp)
{
	free(qp->page);
	nd_adapter_free(qp->adapter);
	free(qp);
}

/* checks R-OV-02[4] */
Test(ndclient_verify, R_OV_02_a_request_that_is_under_way_is_not_taken_again)
{
	struct nd_adapter *a = nd_adapter_new();
	struct nd_connector c = {.adapter = a, .state = ND_CONN_CONNECTED};
	struct nd_listener l = {.adapter = a, .at.on = true};
	struct nd_cq cq = {.adapter = a};
	struct nd_qp qp = {.adapter = a};
	const struct sockaddr_in dest = {
		.sin_family = AF_INET, .sin_port = 1, .sin_addr.s_addr = 1};
	const struct sockaddr *to = (const struct sockaddr *)&dest;
	struct nd_overlapped ov = {0};

	pthread_mutex_init(&a->lock, NULL);
	capture();
	cr_assert(eq(i32, nd_connector_notify_disconnect(&c, &ov), ND_PENDING));
	cr_expect(eq(i32, nd_connector_notify_disconnect(&c, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_connector_disconnect(&c, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_connector_complete_connect(&c, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_connector_accept(&c, &qp, 0, 0, NULL, 0, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_connector_connect(&c, &qp, to, sizeof(dest), 0, 0, NULL, 0, &ov),
		ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_listener_get_request(&l, &c, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_cq_notify(&cq, ND_CQ_NOTIFY_ANY, &ov), ND_INVALID_PARAMETER));
	EXPECT_TOLD("R-OV-02", 7);
	nd_conn_end_waiters(&c, ND_CANCELED);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_CANCELED), "completed once, as it should");
	cr_expect(eq(i32, nd_connector_notify_disconnect(&c, &ov), ND_PENDING));
	EXPECT_TOLD("R-OV-02", 7);
	nd_conn_end_waiters(&c, ND_CANCELED);
	nd_adapter_free(a);
}

/* checks R-POST-11 */
Test(ndclient_verify, R_POST_10_two_threads_in_one_queue)
{
	struct nd_qp *qp = make_qp();

	capture();
	cr_expect(eq(i32, nd_qp_send(qp, NULL, NULL, 0, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_send(qp, NULL, NULL, 3, 0), ND_DATA_OVERRUN));
	cr_expect(eq(i32, nd_qp_send(qp, NULL, NULL, 0, 0), ND_SUCCESS));
	qp->sq_inside = 1; /* another thread is in the middle of a post */
	cr_expect(eq(i32, nd_qp_receive(qp, NULL, NULL, 0), ND_SUCCESS));
	EXPECT_TOLD("R-POST-10", 0);
	cr_expect(eq(i32, nd_qp_write(qp, NULL, NULL, 0, 0, 0, 0), ND_SUCCESS));
	EXPECT_TOLD("R-POST-10", 1);
	qp->rq_inside = 1;
	cr_expect(eq(i32, nd_qp_send(qp, NULL, NULL, 0, 0), ND_SUCCESS));
	EXPECT_TOLD("R-POST-10", 1);
	cr_expect(eq(i32, nd_qp_receive(qp, NULL, NULL, 0), ND_SUCCESS));
	EXPECT_TOLD("R-POST-10", 2);
	drop_qp(qp);
}

Test(ndclient_verify, R_LIFE_11_objects_closed_while_a_call_runs)
{
	struct nd_qp *qp = make_qp();
	struct nd_cq cq = {.adapter = qp->adapter};
	struct nd_pd pd = {.adapter = qp->adapter};
	struct nd_mr mr = {.obj.holders = 1, .pd = &pd};
	struct nd_mw mw = {.pd = &pd};

	capture();
	qp->pd = &pd;
	nd_qp_verify_close(qp);
	nd_cq_verify_close(&cq);
	nd_mw_verify_close(&mw);
	cr_assert(eq(i32, nd_qp_bind(qp, NULL, &mr, &mw, NULL, 0, 0), ND_SUCCESS));
	nd_mw_verify_close(&mw);
	EXPECT_TOLD("R-LIFE-11", 0);
	cr_assert(eq(i32, nd_qp_invalidate(qp, NULL, &mw, 0), ND_SUCCESS));
	nd_mw_verify_close(&mw);
	EXPECT_TOLD("R-LIFE-11", 1);
	qp->page->sq_done = 2;
	nd_mw_verify_close(&mw);
	EXPECT_TOLD("R-LIFE-11", 1);
	qp->rq_inside = 1;
	nd_qp_verify_close(qp);
	cq.inside = 1;
	nd_cq_verify_close(&cq);
	EXPECT_TOLD("R-LIFE-11", 3);
	drop_qp(qp);
}

Test(ndclient_verify, off_it_says_nothing_and_a_flood_is_bounded)
{
	struct nd_qp *qp = make_qp();
	int all;

	unsetenv("NDD_VERIFY");
	nd_verify_setup(NULL);
	nd_verify_setup(&(struct nd_open_options){0});
	setenv("NDD_VERIFY", "0", 1);
	nd_verify_setup(NULL);
	cr_expect(not(nd_verifying()));
	qp->sq_inside = 1;
	cr_expect(eq(i32, nd_qp_send(qp, NULL, NULL, 0, 0), ND_SUCCESS));
	cr_expect(eq(u32, qp->sq_inside, 1), "off it touches nothing");
	setenv("NDD_VERIFY", "1", 1);
	nd_verify_setup(NULL);
	cr_expect(nd_verifying());
	capture();
	for (int i = 0; i < 1000; i++)
		nd_breach("R-OV-02", "%d", i);
	cr_expect(eq(int, lines_of("R-OV-02", &all), 100));
	drop_qp(qp);
}
