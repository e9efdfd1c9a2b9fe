/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that are registered anew. */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "scenarios.h"

static void
write_to(struct rig *r, const struct ibv_mr *mr, enum ibv_wc_status status)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 8);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_RDMA_WRITE, &sge, 1);

	wr.wr.rdma.remote_addr = (uintptr_t)mr->addr;
	wr.wr.rdma.rkey = mr->rkey;
	rig_post(r, &wr);
	rig_wait_for(r, 1, status, IBV_WC_RDMA_WRITE);
}

static void
want_unchanged(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t n, int access)
{
	const struct ibv_mr before = *mr;

	errno = 0;
	WANT(ibv_rereg_mr(mr, flags, pd, addr, n, access) == IBV_REREG_MR_ERR_INPUT);
	WANT(errno == EINVAL || errno == EFAULT || errno == EOPNOTSUPP);
	WANT(memcmp(mr, &before, sizeof(before)) == 0);
}

/* What can't be leaves the region as it was. */
static void
what_fails(struct rig *r, struct ibv_mr *mr)
{
	const int place = IBV_REREG_MR_CHANGE_TRANSLATION, rights = IBV_REREG_MR_CHANGE_ACCESS;

	want_unchanged(mr, 0, NULL, NULL, 0, RIG_ALL);
	want_unchanged(mr, 8, NULL, NULL, 0, RIG_ALL);
	want_unchanged(mr, place, NULL, NULL, 4096, 0);
	want_unchanged(mr, place, NULL, r->memory[1], 0, 0);
	want_unchanged(mr, place, NULL, (void *)4096, 4096, 0);
	want_unchanged(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0);
	want_unchanged(mr, rights, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE);
	want_unchanged(mr, rights, NULL, NULL, 0, IBV_ACCESS_ZERO_BASED);
	write_to(r, mr, IBV_WC_SUCCESS);
}

/* Rights, place and domain, one after the other; at last the key of before opens nothing. */
void
run_rereg(void)
{
	struct ibv_mr *mr, before;
	struct ibv_pd *pd;
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	memset(r.memory[0], 7, 8);
	pd = ibv_alloc_pd(r.context);
	WANT(pd != NULL);
	mr = ibv_reg_mr(pd, r.memory[1], 4096, 0);
	WANT(mr != NULL && ibv_dealloc_pd(pd) == EBUSY);
	WANT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, r.pd, NULL, 0, 0) == 0);
	WANT(mr->pd == r.pd && ibv_dealloc_pd(pd) == 0);
	WANT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIG_ALL) == 0);
	WANT(mr->addr == r.memory[1] && mr->length == 4096);
	write_to(&r, mr, IBV_WC_SUCCESS);
	WANT(r.memory[1][0] == 7);
	what_fails(&r, mr);
	before = *mr;
	WANT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, r.memory[1] + 8192, 100, 0) ==
		0);
	WANT(mr->addr == r.memory[1] + 8192 && mr->length == 100 && mr->rkey != before.rkey);
	write_to(&r, mr, IBV_WC_SUCCESS);
	WANT(r.memory[1][8192] == 7);
	write_to(&r, &before, IBV_WC_REM_ACCESS_ERR);
	WANT(ibv_dereg_mr(mr) == 0);
	rig_close(&r);
}
