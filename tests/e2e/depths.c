/* SPDX-License-Identifier: BSD-3-Clause */
/* Deep queues: filled, emptied, grown, and as deep as there is memory for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

#define ROUNDS 3 /* over the whole ring: either phase, and back */
#define BATCH  64

/* Memory for count words of a side, and a region over it. */
struct words {
	uint64_t *word;
	struct nd_mr *mr;
};

static struct words
words_new(struct side *s, uint32_t count)
{
	struct words w = {.word = nd_alloc(s->adapter, count * sizeof(uint64_t))};

	CHECK(w.word != NULL);
	WANT(ND_SUCCESS, region_new(s->pd, w.word, count * sizeof(uint64_t),
				 ND_MR_FLAG_ALLOW_LOCAL_WRITE, &w.mr));
	return w;
}

static struct nd_sge
words_sge(const struct words *w, uintptr_t i)
{
	return (struct nd_sge){&w->word[i], sizeof(uint64_t), nd_mr_local_token(w->mr)};
}

/* The next count results are of this type and status, for the contexts from 0 on, in order. */
static void
expect_all(struct side *s, uint32_t type, nd_status status, uint32_t count)
{
	struct nd_result r[BATCH];
	uint32_t done = 0;

	for (int idle = 0; done < count; idle++) {
		int32_t got =
			nd_cq_get_results(s->cq, r, count - done < BATCH ? count - done : BATCH);

		CHECK(got >= 0 && idle < PATIENCE_MS);
		if (got == 0) {
			sleep_ms(1);
			continue;
		}
		idle = 0;
		for (int32_t i = 0; i < got; i++) {
			WANT(status, r[i].status);
			CHECK(r[i].request_type == type);
			CHECK(r[i].request_context == (void *)(uintptr_t)done++);
		}
	}
}

/* As many receives as the queue holds, and no more; then as many sends, all at once. Each message
 * is in its receive, whose completions come in order. */
static void
fill_round(struct pair *p, const struct words *from, const struct words *to, uint32_t depth,
	uint64_t mark)
{
	struct nd_sge sge;

	for (uintptr_t i = 0; i < depth; i++) {
		sge = words_sge(to, i);
		to->word[i] = 0;
		WANT(ND_SUCCESS, nd_qp_receive(p->b.qp, (void *)i, &sge, 1));
	}
	WANT(ND_NO_MORE_ENTRIES, nd_qp_receive(p->b.qp, NULL, &sge, 1));
	for (uintptr_t i = 0; i < depth; i++) {
		sge = words_sge(from, i);
		from->word[i] = mark + i;
		WANT(ND_SUCCESS, nd_qp_send(p->a.qp, (void *)i, &sge, 1, 0));
	}
	expect_all(&p->b, ND_REQUEST_RECEIVE, ND_SUCCESS, depth);
	expect_all(&p->a, ND_REQUEST_SEND, ND_SUCCESS, depth);
	for (uint32_t i = 0; i < depth; i++)
		CHECK(to->word[i] == mark + i);
}

static void
deep_receives(struct pair *p, uint32_t depth)
{
	struct words from, to;

	side_open(&p->a, depth);
	side_open(&p->b, depth);
	side_create_qp(&p->a, depth);
	side_create_qp(&p->b, depth);
	from = words_new(&p->a, depth);
	to = words_new(&p->b, depth);
	pair_connect(p);
	for (uint64_t round = 1; round <= ROUNDS; round++)
		fill_round(p, &from, &to, depth, round << 32);
	CHECK(side_quiet(&p->a, 2) && side_quiet(&p->b, 2));
	pair_close(p);
}

/* checks R-POST-04[1], R-ORD-01: queues that are deeper than the pool of requests in flight of
 * most daemons, filled to the last slot, several times around. */
void
scenario_deep_receives(struct pair *p)
{
	deep_receives(p, 16384);
	deep_receives(p, 65536);
}

/* A connection whose queues hold depth requests each, none of which can be done. */
static void
flood(struct pair *p, uint32_t depth)
{
	struct nd_sge sge;

	side_open(&p->a, 2 * depth);
	side_open(&p->b, 64);
	side_create_qp(&p->a, depth);
	side_create_qp(&p->b, 16);
	pair_connect(p);
	sge = (struct nd_sge){p->a.buf, 8, nd_mr_local_token(p->a.mr)};
	for (uintptr_t i = 0; i < depth; i++) {
		WANT(ND_SUCCESS, nd_qp_receive(p->a.qp, (void *)i, &sge, 1));
		WANT(ND_SUCCESS, nd_qp_send(p->a.qp, (void *)i, &sge, 1, 0));
	}
}

/* checks R-FL-01[1], R-FL-02, R-FL-03, R-DISC-12[1,3]: flushed, and closed. Each request is
 * cancelled once, in order; those of a queue pair that is closed are there when the close returns.
 */
void
scenario_deep_flush(struct pair *p)
{
	static const uint32_t depth = 65536;

	for (int closed = 0; closed < 2; closed++) {
		flood(p, depth);
		WANT(ND_SUCCESS, closed ? nd_qp_close(p->a.qp) : nd_qp_flush(p->a.qp));
		expect_all(&p->a, ND_REQUEST_SEND, ND_CANCELED, depth);
		expect_all(&p->a, ND_REQUEST_RECEIVE, ND_CANCELED, depth);
		CHECK(side_quiet(&p->a, 20));
		pair_close(p);
	}
}

/* Message i to the receive that has it as its context. */
static void
srq_message(struct pair *p, const struct words *to, uintptr_t i)
{
	struct nd_result r;

	memcpy(p->a.buf, &i, sizeof(i));
	WANT(ND_SUCCESS, side_send(&p->a, sizeof(i)));
	WANT(ND_SUCCESS, side_result(&p->a, &r));
	WANT(ND_SUCCESS, side_result(&p->b, &r));
	CHECK(r.request_type == ND_REQUEST_RECEIVE && r.request_context == (void *)i);
	CHECK(to->word[i] == i);
}

/*
 * checks R-SRQ-05[4], R-SRQ-06[1]: a shared receive queue that holds receives gets a greater depth,
 * again and again, from 2 to 65,536: what waits keeps its order and its memory, and there is room
 * for the rest.
 */
void
scenario_deep_srq(struct pair *p)
{
	const uint32_t most = 65536;
	struct nd_qp_options options = {.initiator_depth = 16, .max_initiator_sge = 1};
	uint32_t depth = 2;
	uintptr_t posted = 0, taken = 0;
	struct words to;
	struct nd_sge sge;

	side_open(&p->a, 64);
	side_open(&p->b, most);
	to = words_new(&p->b, 2 * most);
	side_create_qp(&p->a, 16);
	WANT(ND_SUCCESS, nd_srq_create(p->b.pd, depth, 1, 0, &options.srq));
	options.receive_cq = options.initiator_cq = p->b.cq;
	WANT(ND_SUCCESS, nd_qp_create(p->b.pd, &options, &p->b.qp));
	pair_connect(p);
	for (;; depth *= 8) {
		for (; posted - taken < depth; posted++) {
			sge = words_sge(&to, posted);
			WANT(ND_SUCCESS, nd_srq_receive(options.srq, (void *)posted, &sge, 1));
		}
		sge = words_sge(&to, 0);
		WANT(ND_NO_MORE_ENTRIES, nd_srq_receive(options.srq, NULL, &sge, 1));
		srq_message(p, &to, taken++);
		if (depth == most)
			break;
		WANT(ND_SUCCESS, nd_srq_modify(options.srq, 8 * depth, 0));
	}
	while (taken < 300)
		srq_message(p, &to, taken++);
	pair_close(p);
}

/* The most of all: what nd_adapter_query() tells is there, and one more is not. */
static void
deepest_queues(struct pair *p, const struct nd_adapter_info *info)
{
	struct nd_qp_options options = {.receive_depth = info->max_receive_depth,
		.initiator_depth = info->max_initiator_depth,
		.max_receive_sge = info->max_receive_sge,
		.max_initiator_sge = info->max_initiator_sge,
		.inline_bytes = info->max_inline_bytes};
	struct nd_cq *cq;
	struct nd_srq *srq;
	struct nd_qp *qp;

	WANT(ND_INVALID_PARAMETER_3, nd_cq_create(p->a.adapter, info->max_cq_depth + 1, &cq));
	WANT(ND_SUCCESS, nd_cq_create(p->a.adapter, info->max_cq_depth, &cq));
	WANT(ND_INVALID_PARAMETER_3,
		nd_srq_create(p->a.pd, info->max_srq_depth + 1, info->max_receive_sge, 0, &srq));
	WANT(ND_SUCCESS,
		nd_srq_create(p->a.pd, info->max_srq_depth, info->max_receive_sge, 0, &srq));
	options.receive_cq = options.initiator_cq = cq;
	options.receive_depth++;
	WANT(ND_INVALID_PARAMETER_5, nd_qp_create(p->a.pd, &options, &qp));
	options.receive_depth--;
	options.initiator_depth++;
	WANT(ND_INVALID_PARAMETER_6, nd_qp_create(p->a.pd, &options, &qp));
	options.initiator_depth--;
	WANT(ND_SUCCESS, nd_qp_create(p->a.pd, &options, &qp));
	WANT(ND_SUCCESS, nd_qp_close(qp));
	WANT(ND_SUCCESS, nd_srq_close(srq));
	WANT(ND_SUCCESS, nd_cq_close(cq));
}

/* Deep queue pairs until memory is what lacks; how many there were. */
static uint32_t
until_refused(struct pair *p, uint32_t depth)
{
	struct nd_qp_options options = {.receive_cq = p->a.cq,
		.initiator_cq = p->a.cq,
		.receive_depth = depth,
		.initiator_depth = depth,
		.max_receive_sge = 16,
		.max_initiator_sge = 16,
		.inline_bytes = 256};
	struct nd_qp *qp[64];
	uint32_t count = 0;
	nd_status st;

	while ((st = nd_qp_create(p->a.pd, &options, &qp[count])) == ND_SUCCESS)
		CHECK(++count < 64);
	WANT(ND_INSUFFICIENT_RESOURCES, st);
	CHECK(strstr(nd_last_error(), "memory_mb") != NULL);
	for (uint32_t i = 0; i < count; i++)
		WANT(ND_SUCCESS, nd_qp_close(qp[i]));
	return count;
}

/*
 * checks R-POST-04[7]: depths are limited by the session's memory, and so is what the adapter
 * tells. Memory that deep queues had comes back as a whole.
 */
void
scenario_deep_limits(struct pair *p)
{
	struct nd_adapter_info info;
	uint32_t count;

	side_open(&p->a, 64);
	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	CHECK(info.max_receive_depth >= 65536 && info.max_srq_depth >= 65536);
	CHECK(info.max_receive_depth == info.max_initiator_depth);
	CHECK(info.max_cq_depth >= 4 * info.max_receive_depth);
	deepest_queues(p, &info);
	count = until_refused(p, info.max_receive_depth);
	CHECK(count >= 4);
	CHECK(until_refused(p, info.max_receive_depth) == count);
	deepest_queues(p, &info);
	side_close(&p->a);
}
