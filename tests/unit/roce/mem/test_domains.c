/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two clients of one daemon: what belongs to the protection domain of one is nothing to queue pairs
 * of the other, whether their own requests name it or their peers do. Queue pair 0 of side 1 is in
 * the domain of all memory there, queue pair 1 in a domain of its own.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/fast.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

#define ALL_RIGHTS                                                                                 \
	(NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |            \
		NDSH_ACCESS_REMOTE_ATOMIC)
#define OTHER 1u /* the queue pair in the other domain */

static struct pair *
domains_pair(void)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2,
		.access = ALL_RIGHTS & ~(uint32_t)NDSH_ACCESS_LOCAL_WRITE,
		.mr_access = ALL_RIGHTS,
		.moved = true});
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *qp = p->side[1].q[OTHER].qp;
	uint32_t pd = roce_pd_create(s);

	cr_assert(roce_pd_get(s, pd));
	roce_pd_put(s, qp->pd);
	qp->pd = pd;
	memset(p->side[0].arena, 0x11, 4096);
	memset(p->side[1].arena, 0x22, 4096);
	memset(p->side[1].moved, 0x33, 4096);
	return p;
}

static void
domains_free(struct pair *p)
{
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *qp = p->side[1].q[OTHER].qp;
	uint32_t pd = qp->pd;

	qp->pd = p->side[1].pd;
	cr_assert(roce_pd_get(s, qp->pd));
	roce_pd_put(s, pd);
	cr_assert(roce_pd_destroy(s, pd), "something is left in it");
	pair_free(p);
}

static void
expect_untouched(const struct pair *p)
{
	for (uint32_t i = 0; i < 4096; i++)
		cr_assert(p->side[0].arena[i] == 0x11 && p->side[1].arena[i] == 0x22 &&
			  p->side[1].moved[i] == 0x33);
}

/* The memory that a token of the first domain opens to peers. */
struct opened {
	uint32_t token;
	uint64_t va;
};

enum { REGION, MOVED, FAST, WINDOW, KINDS };

/* Through the queue pair of its domain it is open: else a refusal would say nothing. */
static struct opened
open_kind(struct pair *p, unsigned kind, struct fast **f, struct window *v)
{
	struct opened o = {.token = p->side[1].key, .va = PAIR_VA};

	if (kind == MOVED) {
		o.token = p->side[1].moved_key;
		o.va = (uintptr_t)p->side[1].moved;
	} else if (kind == FAST) {
		*f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
		o.token = (*f)->token;
		o.va = FAST_BASE;
	} else if (kind == WINDOW) {
		*v = window_new(p);
		window_bind(p, 0, 1, v, WINDOW_RW);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		o.token = v->token;
		o.va = PAIR_VA + WINDOW_AT;
	}
	return o;
}

static void
close_kind(struct pair *p, unsigned kind, struct fast *f, struct window *v)
{
	if (kind == WINDOW)
		window_free(p, v);
	if (kind == FAST) {
		roce_frmr_destroy(p->side[1].shard, f->mr);
		free(f->mem);
		free(f);
	}
}

static void
ask(struct pair *p, unsigned i, uint8_t op, const struct opened *o)
{
	const struct ndsh_sge ours = pair_sge(p, 0, 0, 8);

	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = op,
			.raddr = o->va,
			.rkey = o->token,
			.ctrl = NDSH_CTRL(op, 1, 0, 0)},
		&ours, NULL);
	cr_assert(pair_run(p, PAIR_LONG));
}

/* checks R-MR-02, W-RESP-13[3,7]: every kind of memory, every operation of a peer. */
Test(domains, a_peer_opens_nothing_of_another)
{
	static const uint8_t ops[] = {NDSH_OP_WRITE, NDSH_OP_READ, NDSH_OP_FETCH_ADD};

	for (unsigned i = 0; i < KINDS * 3; i++) {
		const unsigned kind = i / 3;
		const uint8_t op = ops[i % 3];
		struct pair *p = domains_pair();
		struct fast *f = NULL;
		struct window v;
		struct opened o = open_kind(p, kind, &f, &v);

		ask(p, OTHER, op, &o);
		pair_expect(p, 0, op, NDSH_WC_REM_ACCESS_ERR);
		pair_expect_dead(p, 1, OTHER, ROCE_REASON_SENT_REM_ACCESS);
		expect_untouched(p);
		if (op != NDSH_OP_FETCH_ADD || kind < FAST) {
			ask(p, 0, op, &o);
			pair_expect(p, 0, op, NDSH_WC_SUCCESS);
		}
		close_kind(p, kind, f, &v);
		domains_free(p);
	}
}

/* checks W-INV-02[1,2], R-INV-09: nor ends it anything, by SEND with Invalidate. */
Test(domains, a_peer_ends_nothing_of_another)
{
	for (unsigned kind = FAST; kind < KINDS; kind++) {
		struct pair *p = domains_pair();
		struct fast *f = NULL;
		struct window v;
		struct opened o = open_kind(p, kind, &f, &v);
		struct ndsh_sge nothing = {0};

		ndsh_rq_push(&p->side[1].q[OTHER].rq, 5, &nothing, 0);
		window_send_inv(p, OTHER, 6, 0, o.token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 6, NDSH_WC_REM_ACCESS_ERR);
		pair_expect(p, 1, 5, NDSH_WC_REM_INV_REQ_ERR);
		pair_expect_dead(p, 1, OTHER, ROCE_REASON_RECV_INV);
		ask(p, 0, NDSH_OP_READ, &o);
		pair_expect(p, 0, NDSH_OP_READ, NDSH_WC_SUCCESS);
		close_kind(p, kind, f, &v);
		domains_free(p);
	}
}

/* checks W-INV-02[2,3]: nor, within one domain, what grants a peer nothing, or what is dead. */
Test(domains, a_peer_ends_nothing_that_it_was_not_given)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = domains_pair();
		struct fast *f = NULL;
		struct window v;
		struct opened o = {0};

		if (i == 0) {
			f = fast_ready(p, FAST_LOCAL);
			o.token = f->token;
		} else {
			o = open_kind(p, i == 1 ? FAST : WINDOW, &f, &v);
			window_invalidate(p, 0, 3, o.token, 0);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
		}
		pair_recv(p, 1, 0, 5, 0, 64);
		window_send_inv(p, 0, 6, 0, o.token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 6, NDSH_WC_REM_ACCESS_ERR);
		pair_expect(p, 1, 5, NDSH_WC_REM_INV_REQ_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_INV);
		close_kind(p, i == 2 ? WINDOW : FAST, f, &v);
		domains_free(p);
	}
}

/* checks R-MR-02: a local request that names memory of another domain fails, and moves no byte: as
 * the source of a SEND or WRITE, as the sink of a READ or an atomic, as a receive. */
Test(domains, no_local_request_uses_memory_of_another)
{
	static const uint8_t ops[] = {
		NDSH_OP_SEND, NDSH_OP_WRITE, NDSH_OP_READ, NDSH_OP_FETCH_ADD, NDSH_OP_CMP_SWAP};

	for (unsigned i = 0; i < 3 * 6; i++) {
		const unsigned kind = i / 6;
		struct pair *p = domains_pair();
		struct fast *f = NULL;
		struct window v;
		struct opened o = open_kind(p, kind, &f, &v);
		const struct ndsh_sge sge = {
			.addr = o.va, .len = 8, .key = kind == FAST ? f->local : o.token};

		pair_recv(p, 0, OTHER, 9, 0, 64);
		if (i % 6 == 5) {
			ndsh_rq_push(&p->side[1].q[OTHER].rq, 3, &sge, 1);
			pair_send(p, 0, OTHER, 4, 0, 8, 0);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 1, 3, NDSH_WC_LOC_PROT_ERR);
			pair_expect(p, 0, 4, NDSH_WC_REM_OP_ERR);
		} else {
			pair_post_sge(p, 1, OTHER, 3, ops[i % 6], 0, &sge);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 1, 3, NDSH_WC_LOC_PROT_ERR);
		}
		pair_expect_none(p, 1);
		expect_untouched(p);
		cr_assert_eq(roce_qp_state_get(p->side[1].q[OTHER].qp), ROCE_QPS_ERR);
		close_kind(p, kind, f, &v);
		domains_free(p);
	}
}

/* checks W-MEM-05[1,5]: requests that would end it, or register it anew, or open a window on it. */
Test(domains, no_local_request_changes_what_is_of_another)
{
	for (unsigned i = 0; i < 4; i++) {
		struct pair *p = domains_pair();
		struct fast *f = NULL;
		struct window v, w = {0};
		struct opened o = open_kind(p, i < 2 ? FAST : WINDOW, &f, &v);

		if (i == 0 || i == 2) {
			window_invalidate(p, OTHER, 3, o.token, 0);
		} else if (i == 1) {
			uint32_t live = f->token;

			fast_register(p, OTHER, 3, f, 0, 1, 8, FAST_LOCAL);
			f->token = live;
		} else { /* a window of the queue pair's own domain on a region that is not */
			w.mw = roce_mw_create(
				p->side[1].shard, p->side[1].q[OTHER].qp->pd, &w.slot, &w.secret);
			window_bind(p, OTHER, 3, &w, WINDOW_RW);
		}
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 3, i == 3 ? NDSH_WC_BIND_ERR : NDSH_WC_LOC_QP_OP_ERR);
		ask(p, 0, NDSH_OP_READ, &o);
		pair_expect(p, 0, NDSH_OP_READ, NDSH_WC_SUCCESS);
		if (i == 3)
			window_free(p, &w);
		close_kind(p, i < 2 ? FAST : WINDOW, f, &v);
		domains_free(p);
	}
}

/* checks W-MEM-05[5]: a region that is not registered is free for its own domain alone. */
Test(domains, no_queue_pair_registers_a_region_of_another)
{
	struct pair *p = domains_pair();
	struct fast *f = fast_new(p, true);
	struct opened o = {.va = FAST_BASE};

	fast_register(p, OTHER, 3, f, 0, 1, 8, FAST_LOCAL | WINDOW_RW);
	o.token = f->token;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_LOC_QP_OP_ERR);
	ask(p, 0, NDSH_OP_READ, &o);
	pair_expect(p, 0, NDSH_OP_READ, NDSH_WC_REM_ACCESS_ERR);
	close_kind(p, FAST, f, NULL);
	domains_free(p);
}

/* A READ that ends the registration of its sink ends none of another domain, though it has no byte
 * to place there that would be refused. */
Test(domains, no_read_of_no_bytes_ends_what_is_of_another)
{
	struct pair *p = domains_pair();
	struct fast *f = NULL;
	struct window v;
	struct opened o = open_kind(p, FAST, &f, &v);
	const struct ndsh_sge sink = {.addr = FAST_BASE, .len = 0, .key = f->local};

	pair_post_sge(p, 1, OTHER, 3, NDSH_OP_READ, NDSH_WRF_LOCAL_INV, &sink);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_LOC_QP_OP_ERR);
	ask(p, 0, NDSH_OP_READ, &o);
	pair_expect(p, 0, NDSH_OP_READ, NDSH_WC_SUCCESS);
	close_kind(p, FAST, f, &v);
	domains_free(p);
}
