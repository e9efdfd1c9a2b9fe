/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection, thread and parent domains; and how many objects there can be. */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "scenarios.h"

static void
want_no_domain(const struct rig *r, struct ibv_parent_domain_init_attr attr, int error)
{
	errno = 0;
	WANT(ibv_alloc_parent_domain(r->context, &attr) == NULL && errno == error);
}

static void
what_is_refused(const struct rig *r, struct ibv_pd *parent)
{
	struct ibv_td_init_attr unknown = {.comp_mask = 1};

	WANT(ibv_alloc_td(r->context, &unknown) == NULL && errno == EOPNOTSUPP);
	want_no_domain(r, (struct ibv_parent_domain_init_attr){.pd = NULL}, EINVAL);
	want_no_domain(r, (struct ibv_parent_domain_init_attr){.pd = parent}, EINVAL);
	want_no_domain(r,
		(struct ibv_parent_domain_init_attr){
			.pd = r->pd, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS},
		EOPNOTSUPP);
}

/* A queue pair in a parent domain writes from a region of the domain inside, and the reverse. */
static void
write_across(struct rig *r, struct ibv_pd *parent)
{
	struct ibv_mr *mr = ibv_reg_mr(parent, r->memory[0], RIG_BYTES, RIG_ALL);
	struct ibv_sge sge = {(uintptr_t)r->memory[0], 8, 0};
	struct ibv_send_wr wr = rig_request(r, IBV_WR_RDMA_WRITE, &sge, 1);

	WANT(mr != NULL && mr->pd == parent);
	for (int i = 0; i < 2; i++) {
		memset(r->memory[0], i + 1, 8);
		sge.lkey = i == 0 ? mr->lkey : r->mr[0]->lkey;
		rig_post(r, &wr);
		rig_wait_for(r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
		WANT(r->memory[1][7] == i + 1);
	}
	WANT(ibv_dereg_mr(mr) == 0);
}

static void
use_domain(struct rig *r, struct ibv_pd *parent)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parent};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(r->context, &attr);
	struct ibv_pd *inner = r->pd;

	WANT(cq != NULL && ibv_dealloc_pd(parent) == EBUSY);
	WANT(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
	WANT(ibv_destroy_qp(r->qp[0]) == 0);
	r->pd = parent;
	r->qp[0] = rig_make_qp(r, 0);
	r->pd = inner;
	WANT(r->qp[0]->pd == parent && ibv_dealloc_pd(parent) == EBUSY);
	rig_connect(r);
	write_across(r, parent);
	WANT(ibv_destroy_qp(r->qp[0]) == 0);
	r->qp[0] = NULL;
}

/* A parent domain is used where a protection domain is; each outlives what rests on it. */
void
run_domains(void)
{
	struct ibv_td_init_attr plain = {0};
	struct ibv_pd *pd, *parent;
	struct ibv_td *td;
	struct rig r;

	rig_open(&r, false);
	pd = ibv_alloc_pd(r.context);
	td = ibv_alloc_td(r.context, &plain);
	WANT(pd != NULL && td != NULL && td->context == r.context);
	parent = ibv_alloc_parent_domain(
		r.context, &(struct ibv_parent_domain_init_attr){.pd = pd, .td = td});
	WANT(parent != NULL && parent != pd && parent->context == r.context);
	WANT(ibv_dealloc_pd(pd) == EBUSY && ibv_dealloc_td(td) == EBUSY);
	what_is_refused(&r, parent);
	WANT(ibv_dealloc_pd(parent) == 0 && ibv_dealloc_td(td) == 0 && ibv_dealloc_pd(pd) == 0);
	parent = ibv_alloc_parent_domain(
		r.context, &(struct ibv_parent_domain_init_attr){.pd = r.pd});
	WANT(parent != NULL);
	use_domain(&r, parent);
	WANT(ibv_dealloc_pd(parent) == 0);
	rig_close(&r);
}

/* ---- how many ----------------------------------------------------------------------------- */

#define MOST 4096

static void
count_cqs(const struct rig *r, int most)
{
	static struct ibv_cq *cq[MOST];
	int n = 0;

	while (n < MOST && (cq[n] = ibv_create_cq(r->context, 1, NULL, NULL, 0)) != NULL)
		n++;
	WANT(errno == ENOMEM);
	if (n + 1 != most)
		fprintf(stderr, "%d and one completion queues, %d were told\n", n, most);
	WANT(n + 1 == most);
	while (n > 0)
		WANT(ibv_destroy_cq(cq[--n]) == 0);
}

static void
count_qps(const struct rig *r, int most)
{
	struct ibv_qp_init_attr init = {
		.send_cq = r->cq, .recv_cq = r->cq, .cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	static struct ibv_qp *qp[MOST];
	int n = 0;

	while (n < MOST && (qp[n] = ibv_create_qp(r->pd, &init)) != NULL)
		n++;
	WANT(errno == ENOMEM);
	if (n + 2 != most)
		fprintf(stderr, "%d and two queue pairs, %d were told\n", n, most);
	WANT(n + 2 == most);
	while (n > 0)
		WANT(ibv_destroy_qp(qp[--n]) == 0);
}

static void
count_pds(const struct rig *r, int most)
{
	static struct ibv_pd *pd[MOST];
	int n = 0;

	while (n < MOST && (pd[n] = ibv_alloc_pd(r->context)) != NULL)
		n++;
	WANT(errno == ENOMEM && n + 1 == most);
	while (n > 0)
		WANT(ibv_dealloc_pd(pd[--n]) == 0);
}

static void
count_mrs(const struct rig *r, int most)
{
	static struct ibv_mr *mr[8 * MOST];
	int n = 0;

	while (n < 8 * MOST && (mr[n] = ibv_reg_mr(r->pd, r->memory[0], 4096, 0)) != NULL)
		n++;
	WANT(errno == ENOMEM);
	if (n + 2 != most)
		fprintf(stderr, "%d and two regions, %d were told\n", n, most);
	WANT(n + 2 == most);
	while (n > 0)
		WANT(ibv_dereg_mr(mr[--n]) == 0);
}

/* As many as the device says, to the last, beside those of the rig; then ENOMEM. */
void
run_numbers(void)
{
	struct ibv_device_attr_ex d;
	struct rig r;

	rig_open(&r, false);
	WANT(ibv_query_device_ex(r.context, NULL, &d) == 0);
	count_cqs(&r, d.orig_attr.max_cq);
	count_qps(&r, d.orig_attr.max_qp);
	count_pds(&r, d.orig_attr.max_pd);
	count_mrs(&r, d.orig_attr.max_mr);
	rig_close(&r);
}
