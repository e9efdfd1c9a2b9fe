/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions with an iova: SGEs, windows and peers name their bytes by it, not by addresses. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "places.h"
#include "rig.h"
#include "scenarios.h"

struct sides {
	struct rig r;
	struct place side[2];
};

/* ---- contents ----------------------------------------------------------------------------- */

/* The same bytes of both sides; those beside them stay 0. */
static void
one_sided(struct sides *s, uint32_t off[2], uint32_t bytes)
{
	struct ibv_sge sge = place_sge(&s->side[0], off[0], bytes);
	struct ibv_send_wr write = place_request(&s->side[1], IBV_WR_RDMA_WRITE, &sge, off[1]);
	struct ibv_send_wr read = place_request(&s->side[1], IBV_WR_RDMA_READ, &sge, off[1]);

	memset(s->side[1].at, 0, s->side[1].bytes);
	place_fill(&s->side[0], off[0], bytes, 1);
	rig_post(&s->r, &write);
	rig_wait_for(&s->r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(place_holds(&s->side[1], off[1], bytes, 1));
	WANT(off[1] == 0 || s->side[1].at[off[1] - 1] == 0);
	WANT(off[1] + bytes == s->side[1].bytes || s->side[1].at[off[1] + bytes] == 0);
	place_fill(&s->side[1], off[1], bytes, 2);
	rig_post(&s->r, &read);
	rig_wait_for(&s->r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_READ);
	WANT(place_holds(&s->side[0], off[0], bytes, 2));
}

/* In two pieces each, which follow each other in memory, the second first. */
static void
two_sided(struct sides *s, uint32_t off[2], uint32_t bytes)
{
	uint32_t half = bytes / 2, rest = bytes - half;
	struct ibv_sge from[2] = {
		place_sge(&s->side[0], off[0] + half, rest), place_sge(&s->side[0], off[0], half)};
	struct ibv_sge to[2] = {
		place_sge(&s->side[1], off[1] + half, rest), place_sge(&s->side[1], off[1], half)};
	struct ibv_recv_wr receive = {.wr_id = 2, .sg_list = to, .num_sge = 2}, *bad;
	struct ibv_send_wr send = place_request(&s->side[1], IBV_WR_SEND, from, 0);
	unsigned seen = 0;

	send.num_sge = 2;
	place_fill(&s->side[0], off[0], bytes, 3);
	memset(s->side[1].at + off[1], 0, bytes);
	WANT(ibv_post_recv(s->r.qp[1], &receive, &bad) == 0);
	rig_post(&s->r, &send);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = rig_wait(&s->r);

		WANT(wc.status == IBV_WC_SUCCESS);
		seen |= 1u << wc.wr_id;
	}
	WANT(seen == 6 && place_holds(&s->side[1], off[1], bytes, 3));
}

/* Where iova and memory of both sides are aligned. */
static void
atomic_one(struct sides *s)
{
	struct place *there = &s->side[1];
	uint32_t off = (uint32_t)(-(uintptr_t)there->at & 7u);
	struct ibv_sge sge = place_sge(&s->side[0], 5, 8);
	struct ibv_send_wr wr = place_request(there, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, off);
	uint64_t got;

	if (wr.wr.atomic.remote_addr % 8 != 0)
		return;
	*(uint64_t *)(void *)(there->at + off) = 0x1020304050607080;
	rig_post(&s->r, &wr);
	rig_wait_for(&s->r, 1, IBV_WC_SUCCESS, IBV_WC_FETCH_ADD);
	memcpy(&got, s->side[0].at + 5, sizeof(got));
	WANT(got == 0x1020304050607080);
	WANT(*(uint64_t *)(void *)(there->at + off) == 0x1020304050607081);
}

/* Bytes that go into the request, beside it, and neither; at both ends of the regions. */
static void
all_contents(struct sides *s)
{
	const uint32_t sizes[] = {1, 9, 64, 300, 4097, 16384, 16385, PLACE_SMALL - 3};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t first[2] = {0, 0};
		uint32_t last[2] = {s->side[0].bytes - sizes[i], s->side[1].bytes - sizes[i]};

		one_sided(s, first, sizes[i]);
		one_sided(s, last, sizes[i]);
		two_sided(s, first, sizes[i]);
		two_sided(s, last, sizes[i]);
	}
	atomic_one(s);
}

static uint64_t
an_iova(unsigned i, const struct place *p)
{
	switch (i) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - p->bytes;
	case 2: /* as adapters want it */
		return 0x123456789000 + ((uintptr_t)p->at & 4095);
	case 3:
		return 12345;
	case 4: /* most of it is where most of the region's own addresses are */
		return (uintptr_t)p->at + 64;
	default:
		return (uintptr_t)p->at;
	}
}
#define IOVAS 6u

static void
contents_of(struct sides *s, const enum place_kind kind[2], unsigned i)
{
	uint8_t stack[2][PLACE_SMALL];

	for (int side = 0; side < 2; side++) {
		struct place *p = &s->side[side];

		p->at = place_memory(kind[side], stack[side], &p->bytes);
		place_register(&s->r, p, an_iova((i + (unsigned)side) % IOVAS, p), RIG_ALL);
	}
	all_contents(s);
	for (int side = 0; side < 2; side++) {
		WANT(ibv_dereg_mr(s->side[side].mr) == 0);
		place_memory_free(kind[side], &s->side[side]);
	}
}

void
run_iova(void)
{
	struct sides s;

	rig_open(&s.r, false);
	rig_connect(&s.r);
	for (unsigned k = 0; k < PLACE_KINDS; k++)
		for (unsigned i = 0; i < IOVAS; i++)
			contents_of(&s, (enum place_kind[2]){k, (k + i) % PLACE_KINDS}, i);
	rig_close(&s.r);
}

/* ---- two regions of each kind ------------------------------------------------------------- */

/* Both of one kind that a child of fork() has seen, with iovas that no address is; that of side 1
 * is not aligned as its memory is. */
static void
sides_open(struct sides *s, enum place_kind kind, int access)
{
	rig_open(&s->r, false);
	rig_connect(&s->r);
	for (int side = 0; side < 2; side++) {
		struct place *p = &s->side[side];
		pid_t child;

		p->at = place_memory(kind, NULL, &p->bytes);
		place_register(&s->r, p, side == 0 ? 0 : UINT64_MAX - p->bytes - 6, access);
		child = fork();
		if (child == 0)
			_exit(0);
		WANT(child > 0 && waitpid(child, NULL, 0) == child);
	}
}

static void
sides_close(struct sides *s, enum place_kind kind)
{
	for (int side = 0; side < 2; side++) {
		WANT(ibv_dereg_mr(s->side[side].mr) == 0);
		place_memory_free(kind, &s->side[side]);
	}
	rig_close(&s->r);
}

static const enum place_kind two_kinds[] = {PLACE_MAPPED, PLACE_HEAP};

/* ---- what is refused ---------------------------------------------------------------------- */

static void
fails(struct sides *s, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	rig_post(&s->r, wr);
	rig_wait_for(&s->r, 1, status, 0);
	rig_connect_again(&s->r);
}

/* side 0: as an SGE; 1: as the peer's address. */
static void
is_outside(struct sides *s, int side, uint64_t addr, uint32_t bytes)
{
	const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};

	for (int i = 0; i < 2; i++) {
		struct ibv_sge sge = place_sge(&s->side[0], 0, bytes);
		struct ibv_send_wr wr = place_request(&s->side[1], ops[i], &sge, 0);

		if (side == 0)
			sge.addr = addr;
		else
			wr.wr.rdma.remote_addr = addr;
		fails(s, &wr, side == 0 ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR);
	}
}

/* A receive of which the last byte is not in the region. */
static void
receives_outside(struct sides *s)
{
	struct place *p = &s->side[1];
	struct ibv_sge from = place_sge(&s->side[0], 0, 2), to = place_sge(p, p->bytes - 1, 2);
	struct ibv_recv_wr receive = {.wr_id = 2, .sg_list = &to, .num_sge = 1}, *bad;
	struct ibv_send_wr send = place_request(p, IBV_WR_SEND, &from, 0);

	WANT(ibv_post_recv(s->r.qp[1], &receive, &bad) == 0);
	rig_post(&s->r, &send);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = rig_wait(&s->r);

		WANT(wc.status == (wc.wr_id == 1 ? IBV_WC_REM_OP_ERR : IBV_WC_LOC_PROT_ERR));
	}
	rig_connect_again(&s->r);
}

/* In memory, not by its iova. */
static void
atomic_on_what_is_not_aligned(struct sides *s)
{
	struct place *p = &s->side[1];
	struct ibv_sge sge = place_sge(&s->side[0], 0, 8);
	struct ibv_send_wr wr = place_request(p, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 0);

	wr.wr.atomic.remote_addr = (p->iova + 7) & ~7ull;
	memset(p->at, 0, 16);
	fails(s, &wr, IBV_WC_REM_ACCESS_ERR);
	WANT(p->at[0] == 0 && memcmp(p->at, p->at + 1, 15) == 0);
}

void
run_iova_bounds(void)
{
	struct sides s;

	for (int k = 0; k < 2; k++) {
		sides_open(&s, two_kinds[k], RIG_ALL);
		for (int side = 0; side < 2; side++) {
			const struct place *p = &s.side[side];

			is_outside(&s, side, p->iova - 1, 2);
			is_outside(&s, side, p->iova - 1, 1);
			is_outside(&s, side, p->iova + p->bytes - 1, 2);
			is_outside(&s, side, p->iova + p->bytes, 1);
			is_outside(&s, side, (uintptr_t)p->at, 8);
		}
		receives_outside(&s);
		atomic_on_what_is_not_aligned(&s);
		all_contents(&s); /* nothing of that has harmed them */
		sides_close(&s, two_kinds[k]);
	}
}

static void
is_refused(struct rig *r, uint64_t iova, size_t bytes, int access)
{
	errno = 0;
	WANT(ibv_reg_mr_iova(r->pd, r->memory[0], bytes, iova, access) == NULL);
	WANT(errno == EINVAL);
	errno = 0;
	WANT(ibv_reg_mr_iova2(r->pd, r->memory[0], bytes, iova, (unsigned int)access) == NULL);
	WANT(errno == EINVAL);
}

void
run_iova_refused(void)
{
	struct rig r;

	rig_open(&r, false);
	is_refused(&r, UINT64_MAX, 1, RIG_ALL);
	is_refused(&r, UINT64_MAX - 4095, 4096, RIG_ALL);
	is_refused(&r, 1, SIZE_MAX, RIG_ALL);
	is_refused(&r, 0, 0, RIG_ALL);
	is_refused(&r, 4096, 4096, RIG_ALL | IBV_ACCESS_ZERO_BASED);
	is_refused(&r, 0, 4096, IBV_ACCESS_REMOTE_WRITE);
	WANT(ibv_reg_mr_iova(r.pd, (void *)4096, 4096, (uintptr_t)r.memory[0], 0) == NULL);
	WANT(errno == EFAULT);
	rig_close(&r);
}

/* ---- shared receive queues ---------------------------------------------------------------- */

void
run_iova_srq(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 4}};
	struct sides s;

	for (int k = 0; k < 2; k++) {
		struct ibv_qp_init_attr a = {.cap = {8, 0, 4, 0, 64}, .qp_type = IBV_QPT_RC};
		struct ibv_recv_wr receive = {.wr_id = 2, .num_sge = 1}, *bad;
		struct ibv_send_wr send;
		struct ibv_sge from, to;
		uint32_t last;

		sides_open(&s, two_kinds[k], RIG_ALL);
		a.srq = ibv_create_srq(s.r.pd, &init);
		a.send_cq = a.recv_cq = s.r.cq;
		WANT(a.srq != NULL && ibv_destroy_qp(s.r.qp[1]) == 0);
		s.r.qp[1] = ibv_create_qp(s.r.pd, &a);
		WANT(s.r.qp[1] != NULL);
		rig_connect_again(&s.r);
		last = s.side[1].bytes - 3000;
		from = place_sge(&s.side[0], 10, 3000);
		to = place_sge(&s.side[1], last, 3000);
		receive.sg_list = &to;
		send = place_request(&s.side[1], IBV_WR_SEND, &from, 0);
		place_fill(&s.side[0], 10, 3000, 4);
		WANT(ibv_post_srq_recv(a.srq, &receive, &bad) == 0);
		rig_post(&s.r, &send);
		for (int i = 0; i < 2; i++)
			WANT(rig_wait(&s.r).status == IBV_WC_SUCCESS);
		WANT(place_holds(&s.side[1], last, 3000, 4));
		WANT(ibv_destroy_qp(s.r.qp[1]) == 0 && ibv_destroy_srq(a.srq) == 0);
		s.r.qp[1] = NULL;
		sides_close(&s, two_kinds[k]);
	}
}

/* ---- zero-based regions, and regions that are registered anew ----------------------------- */

static void
zero_based(struct sides *s, struct place *p)
{
	const int access = RIG_ALL | IBV_ACCESS_ZERO_BASED;
	const uint64_t same[] = {0, (uintptr_t)p->at};

	for (int i = 0; i < 3; i++) {
		WANT(ibv_dereg_mr(p->mr) == 0);
		p->mr = i < 2 ? ibv_reg_mr_iova(s->r.pd, p->at, p->bytes, same[i], access)
			      : ibv_reg_mr(s->r.pd, p->at, p->bytes, access);
		WANT(p->mr != NULL && p->mr->addr == p->at);
		p->iova = 0;
		all_contents(s);
	}
}

/* A change of rights leaves the iova, one of the place has none but 0 of a zero-based region. */
static void
anew(struct sides *s, struct place *p)
{
	const int rights = IBV_REREG_MR_CHANGE_ACCESS, where = IBV_REREG_MR_CHANGE_TRANSLATION;

	WANT(ibv_dereg_mr(p->mr) == 0);
	place_register(&s->r, p, 12345, RIG_ALL);
	WANT(ibv_rereg_mr(p->mr, rights, NULL, NULL, 0, RIG_ALL | IBV_ACCESS_ZERO_BASED) ==
			IBV_REREG_MR_ERR_INPUT &&
		errno == EINVAL);
	WANT(ibv_rereg_mr(p->mr, rights, NULL, NULL, 0, RIG_ALL | IBV_ACCESS_MW_BIND) == 0);
	all_contents(s);
	WANT(ibv_rereg_mr(p->mr, where, NULL, p->at, p->bytes, 0) == 0);
	p->iova = (uintptr_t)p->at;
	all_contents(s);
	WANT(ibv_rereg_mr(p->mr, where | rights, NULL, p->at, p->bytes,
		     RIG_ALL | IBV_ACCESS_ZERO_BASED) == 0);
	p->iova = 0;
	all_contents(s);
	WANT(ibv_rereg_mr(p->mr, where, NULL, p->at, p->bytes, 0) == 0);
	all_contents(s);
	WANT(ibv_rereg_mr(p->mr, rights, NULL, NULL, 0, RIG_ALL) == 0);
	all_contents(s);
}

void
run_iova_zero_based(void)
{
	struct sides s;

	for (int k = 0; k < 2; k++) {
		sides_open(&s, two_kinds[k], RIG_ALL);
		for (int side = 0; side < 2; side++) {
			zero_based(&s, &s.side[side]);
			anew(&s, &s.side[side]);
		}
		sides_close(&s, two_kinds[k]);
	}
}

/* ---- windows ------------------------------------------------------------------------------ */

#define AT    4096u
#define BYTES 8192u

static struct ibv_mw *
bind_to(struct sides *s, enum ibv_mw_type type, enum ibv_wc_status status)
{
	const struct ibv_mw_bind_info info = {s->side[1].mr, s->side[1].iova + AT, BYTES,
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	struct ibv_mw *mw = ibv_alloc_mw(s->r.pd, type);

	WANT(mw != NULL);
	if (type == IBV_MW_TYPE_1) {
		struct ibv_mw_bind b = {
			.wr_id = 3, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};

		WANT(ibv_bind_mw(s->r.qp[1], mw, &b) == 0);
	} else {
		struct ibv_send_wr *bad, wr = {.wr_id = 3,
						 .opcode = IBV_WR_BIND_MW,
						 .send_flags = IBV_SEND_SIGNALED,
						 .bind_mw = {mw, mw->rkey, info}};

		WANT(ibv_post_send(s->r.qp[1], &wr, &bad) == 0);
	}
	rig_wait_for(&s->r, 3, status, IBV_WC_BIND_MW);
	return mw;
}

static void
through(struct sides *s, const struct ibv_mw *mw, uint64_t off, uint32_t bytes, bool opens)
{
	struct ibv_sge sge = place_sge(&s->side[0], 0, bytes);
	struct ibv_send_wr wr = place_request(&s->side[1], IBV_WR_RDMA_WRITE, &sge, 0);

	wr.wr.rdma.remote_addr = s->side[1].iova + off;
	wr.wr.rdma.rkey = mw->rkey;
	place_fill(&s->side[0], 0, bytes, 5);
	if (!opens) {
		fails(s, &wr, IBV_WC_REM_ACCESS_ERR);
		return;
	}
	rig_post(&s->r, &wr);
	rig_wait_for(&s->r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(place_holds(&s->side[1], (uint32_t)off, bytes, 5));
	wr.opcode = IBV_WR_RDMA_READ;
	place_fill(&s->side[1], (uint32_t)off, bytes, 6);
	rig_post(&s->r, &wr);
	rig_wait_for(&s->r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_READ);
	WANT(place_holds(&s->side[0], 0, bytes, 6));
}

static void
windows_of(enum place_kind kind, enum ibv_mw_type type)
{
	const uint64_t outside[] = {AT - 1, AT + BYTES - 1};
	struct ibv_mw *mw;
	struct sides s;

	sides_open(&s, kind, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	for (int i = 0; i < 2; i++) {
		mw = bind_to(&s, type, IBV_WC_SUCCESS);
		through(&s, mw, AT, BYTES, true);
		through(&s, mw, AT + 1, BYTES - 1, true);
		WANT(ibv_dereg_mr(s.side[1].mr) == EBUSY);
		through(&s, mw, outside[i], 2, false);
		WANT(ibv_dealloc_mw(mw) == 0);
	}
	/* An iova of 0 is no reason to refuse it, a region that was asked for as zero based is. */
	WANT(ibv_dereg_mr(s.side[1].mr) == 0);
	place_register(&s.r, &s.side[1], 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	mw = bind_to(&s, type, IBV_WC_SUCCESS);
	through(&s, mw, AT, BYTES, true);
	WANT(ibv_dealloc_mw(mw) == 0 && ibv_dereg_mr(s.side[1].mr) == 0);
	place_register(&s.r, &s.side[1], 0,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED);
	mw = bind_to(&s, type, IBV_WC_MW_BIND_ERR);
	WANT(ibv_dealloc_mw(mw) == 0);
	sides_close(&s, kind);
}

void
run_iova_windows(void)
{
	for (int k = 0; k < 2; k++) {
		windows_of(two_kinds[k], IBV_MW_TYPE_1);
		windows_of(two_kinds[k], IBV_MW_TYPE_2);
	}
}
