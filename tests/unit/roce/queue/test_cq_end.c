/* SPDX-License-Identifier: BSD-3-Clause */
/* A completion queue that fails, and that a thousand queue pairs use: they fail in portions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "rigs/zeroed.h"
#include "roce/check.h"
#include "roce/queue/check.h"
#include "roce/queue/cq.h"
#include "roce/shard/principal.h"

#define QPS	1000u
#define AT_ONCE 64u /* one turn fails no more */
#define CLIENTS 2u

struct bench {
	struct roce_shard *s;
	uint32_t pd;
	struct roce_principal principal[CLIENTS];
	struct roce_client client[CLIENTS];
	struct roce_cq *cq[CLIENTS];
	struct roce_qp *qp[QPS]; /* of the first client */
	struct roce_qp *lone;	 /* of the other one */
	void *cq_mem[CLIENTS], *block[QPS + 2];
	unsigned blocks;
};

static struct roce_qp *
qp_new(struct bench *b, unsigned client)
{
	struct roce_qp *qp = lone_qp_new(b->s, b->pd, b->cq[client], &b->block[b->blocks++]);

	cr_assert_not_null(qp);
	return qp;
}

static struct bench *
bench_new(void)
{
	const struct roce_principal_cfg one = {
		.weight = 1, .pool = {{0, ROCE_CAP_NONE}, {0, ROCE_CAP_NONE}}};
	struct roce_shard_cfg cfg = lone_config();
	struct bench *b = calloc(1, sizeof(*b));

	cfg.max_qps = QPS + 2;
	b->s = lone_shard_new(&cfg);
	b->pd = roce_pd_create(b->s);
	for (unsigned i = 0; i < CLIENTS; i++) {
		cr_assert(roce_principal_init(b->s, &b->principal[i], &one));
		roce_client_init(&b->client[i], &b->principal[i]);
		b->cq_mem[i] = zeroed(ndsh_cq_bytes(16));
		b->cq[i] = roce_cq_create(b->s, &b->client[i], b->cq_mem[i], 16, NULL);
	}
	for (unsigned i = 0; i < QPS; i++)
		b->qp[i] = qp_new(b, 0);
	b->lone = qp_new(b, 1);
	return b;
}

static void
bench_free(struct bench *b)
{
	while (b->blocks > 0)
		free(b->block[--b->blocks]);
	for (unsigned i = 0; i < CLIENTS; i++)
		free(b->cq_mem[i]);
	free(b->s);
	free(b);
}

static bool
has_failed(const struct roce_qp *qp)
{
	return roce_qp_state_get(qp) == ROCE_QPS_ERR;
}

static unsigned
failed(const struct bench *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < QPS; i++)
		n += b->qp[i] != NULL && has_failed(b->qp[i]);
	return n;
}

static void
expect_sound(const struct bench *b)
{
	cr_assert(eq(ptr, (void *)roce_cq_check(b->s, b->cq[0]), NULL));
	cr_assert(eq(ptr, (void *)roce_shard_check_qps(b->s), NULL));
}

/* Turns until the queue needs none; returns how many. */
static unsigned
turns(struct bench *b)
{
	unsigned n = 0;

	for (; base_linked(&b->cq[0]->broken); n++) {
		unsigned before = failed(b);

		cr_assert(not(roce_shard_rest(b->s)), "the next turn is needed");
		roce_shard_publish(b->s);
		cr_assert(le(uint, failed(b) - before, AT_ONCE));
		expect_sound(b);
		while (roce_shard_poll_rings(b->s, 0, 1) != 0)
			; /* what is to be flushed */
	}
	return n;
}

/* checks W-EVT-03[1,2]: the queue's own end is told at once. */
Test(cq_end, W_EVT_03_its_queue_pairs_fail_in_portions)
{
	struct bench *b = bench_new();
	struct roce_event ev;
	unsigned n;

	roce_cq_fail(b->s, b->cq[0]);
	cr_assert(roce_shard_event(b->s, &ev));
	cr_assert(eq(int, ev.type, ROCE_EV_CQ_ERROR));
	n = turns(b);
	cr_expect(ge(uint, n, QPS / AT_ONCE));
	cr_expect(le(uint, n, 2 * QPS / AT_ONCE + 2), "each is met once for each side");
	cr_expect(eq(uint, failed(b), QPS));
	for (unsigned i = 0; i < QPS; i++)
		cr_assert(eq(int, roce_qp_reason(b->qp[i]), ROCE_REASON_CQ_FATAL));
	cr_expect(not(has_failed(b->lone)));
	cr_expect(roce_shard_rest(b->s));
	bench_free(b);
}

/* Another principal's queue does not wait for it. */
Test(cq_end, each_principal_has_a_part_of_a_turn)
{
	struct bench *b = bench_new();

	roce_cq_fail(b->s, b->cq[0]);
	roce_cq_fail(b->s, b->cq[1]);
	roce_shard_publish(b->s);
	cr_expect(has_failed(b->lone));
	cr_expect(ne(uint, failed(b), 0));
	cr_expect(lt(uint, failed(b), QPS));
	bench_free(b);
}

/* What the client does meanwhile: those that go are gone, and what comes later is as it is. */
Test(cq_end, queue_pairs_come_and_go_meanwhile)
{
	struct bench *b = bench_new();
	struct roce_qp *late;
	uint32_t n = QPS;

	roce_cq_fail(b->s, b->cq[0]);
	roce_shard_publish(b->s);
	late = qp_new(b, 0);
	for (unsigned i = 0; i < QPS; i += 3, n--) {
		cr_assert(roce_qp_destroy(b->s, b->qp[i]));
		b->qp[i] = NULL;
	}
	expect_sound(b);
	cr_expect(not(roce_cq_destroy(b->s, b->cq[0])), "some are to fail");
	(void)turns(b);
	cr_expect(eq(uint, failed(b), n));
	cr_expect(eq(int, roce_qp_state_get(late), ROCE_QPS_RESET));
	cr_assert(roce_qp_destroy(b->s, late));
	for (unsigned i = 0; i < QPS; i++)
		cr_assert(b->qp[i] == NULL || roce_qp_destroy(b->s, b->qp[i]));
	cr_expect(roce_cq_destroy(b->s, b->cq[0]));
	cr_expect(roce_client_fini(b->s, &b->client[0]));
	bench_free(b);
}

Test(cq_end, a_queue_goes_before_all_have_failed)
{
	struct bench *b = bench_new();

	roce_cq_fail(b->s, b->cq[0]);
	roce_shard_publish(b->s);
	for (unsigned i = 0; i < QPS; i++)
		cr_assert(roce_qp_destroy(b->s, b->qp[i]));
	cr_expect(roce_cq_destroy(b->s, b->cq[0]));
	roce_shard_publish(b->s);
	while (roce_shard_poll_rings(b->s, 0, 1) != 0)
		;
	cr_expect(roce_shard_rest(b->s));
	cr_expect(roce_client_fini(b->s, &b->client[0]));
	bench_free(b);
}
