/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows: qp[1] has them, qp[0] comes through them. */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "scenarios.h"

#define AT     4096u
#define BYTES  8192u
#define RIGHTS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* A rig with a region that gives nothing to peers, and a window. */
struct glass {
	struct rig r;
	struct ibv_mr *mr; /* all of memory[1] */
	struct ibv_mw *mw;
};

static void
glass_open_type(struct glass *g, int access, enum ibv_mw_type type)
{
	rig_open(&g->r, false);
	rig_connect(&g->r);
	g->mr = ibv_reg_mr(g->r.pd, g->r.memory[1], RIG_BYTES, access);
	g->mw = ibv_alloc_mw(g->r.pd, type);
	WANT(g->mr != NULL && g->mw != NULL && g->mw->type == type);
	WANT(g->mw->pd == g->r.pd && g->mw->context == g->r.context);
}

static void
glass_open(struct glass *g, int access)
{
	glass_open_type(g, access, IBV_MW_TYPE_2);
}

static void
glass_close(struct glass *g)
{
	WANT(ibv_dealloc_pd(g->r.pd) == EBUSY);
	WANT(ibv_dealloc_mw(g->mw) == 0);
	WANT(ibv_dereg_mr(g->mr) == 0);
	rig_close(&g->r);
}

static struct ibv_send_wr
bind_request(const struct glass *g, uint32_t rkey, uint64_t id)
{
	return (struct ibv_send_wr){.wr_id = id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = g->mw,
			.rkey = rkey,
			.bind_info = {g->mr, (uintptr_t)g->r.memory[1] + AT, BYTES, RIGHTS}}};
}

static int
post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(qp, wr, &bad);

	WANT(err == 0 || bad == wr);
	return err;
}

static void
bind_and_wait(struct glass *g, uint32_t rkey)
{
	struct ibv_send_wr wr = bind_request(g, rkey, 1);

	WANT(post(g->r.qp[1], &wr) == 0);
	rig_wait_for(&g->r, 1, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
}

static void
invalidate(struct glass *g, struct ibv_qp *qp, uint32_t rkey, enum ibv_wc_status status)
{
	struct ibv_sge nothing = {.length = 1};
	struct ibv_send_wr wr = {.wr_id = 2,
		.sg_list = &nothing, /* it is not looked at */
		.num_sge = 1,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.invalidate_rkey = rkey};

	WANT(post(qp, &wr) == 0);
	rig_wait_for(&g->r, 2, status, IBV_WC_LOCAL_INV);
}

static void
reach(struct glass *g, enum ibv_wr_opcode op, uint32_t rkey, size_t at, uint32_t bytes,
	enum ibv_wc_status status, enum ibv_wc_opcode done)
{
	struct ibv_sge sge = rig_sge(&g->r, 0, at, bytes);
	struct ibv_send_wr wr = rig_request(&g->r, op, &sge, 3);

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr += at;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr += at;
		wr.wr.rdma.rkey = rkey;
	}
	rig_post(&g->r, &wr);
	rig_wait_for(&g->r, 3, status, done);
}

static void
write_through(struct glass *g, uint32_t rkey, uint8_t pattern)
{
	memset(g->r.memory[0] + AT, pattern, BYTES);
	reach(g, IBV_WR_RDMA_WRITE, rkey, AT, BYTES, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(memcmp(g->r.memory[0] + AT, g->r.memory[1] + AT, BYTES) == 0);
}

static void
read_through(struct glass *g, uint32_t rkey, uint8_t pattern)
{
	memset(g->r.memory[1] + AT, pattern, BYTES);
	reach(g, IBV_WR_RDMA_READ, rkey, AT, BYTES, IBV_WC_SUCCESS, IBV_WC_RDMA_READ);
	WANT(memcmp(g->r.memory[0] + AT, g->r.memory[1] + AT, BYTES) == 0);
}

static void
denied(struct glass *g, enum ibv_wr_opcode op, uint32_t rkey, size_t at, uint32_t bytes)
{
	uint8_t before = g->r.memory[1][at];

	g->r.memory[0][at] = (uint8_t)~before;
	reach(g, op, rkey, at, bytes, IBV_WC_REM_ACCESS_ERR, 0);
	WANT(g->r.memory[1][at] == before);
}

static void
device_says_so(struct rig *r)
{
	struct ibv_device_attr d;

	WANT(ibv_query_device(r->context, &d) == 0);
	WANT(d.max_mw > 0 && (d.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B));
	WANT(d.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	WANT(d.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS); /* SEND with invalidate */
	WANT(ibv_alloc_mw(r->pd, (enum ibv_mw_type)0) == NULL && errno == EINVAL);
	WANT(ibv_alloc_mw(r->pd, (enum ibv_mw_type)3) == NULL && errno == EINVAL);
}

/* Bound with several keys, one after the other, and used; invalidated by both sides. */
void
run_windows(void)
{
	struct glass g;
	uint32_t key;

	glass_open(&g, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	device_says_so(&g.r);
	key = g.mw->rkey;
	for (uint8_t i = 1; i <= 3; i++, key = ibv_inc_rkey(key)) {
		bind_and_wait(&g, key);
		write_through(&g, key, i);
		read_through(&g, key, (uint8_t)(0x80 | i));
		WANT(ibv_dereg_mr(g.mr) == EBUSY);
		WANT(ibv_rereg_mr(g.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIG_ALL) ==
				IBV_REREG_MR_ERR_INPUT &&
			errno == EBUSY);
		invalidate(&g, g.r.qp[1], key, IBV_WC_SUCCESS);
	}
	key = (key & ~0xffu) | 0xff;
	bind_and_wait(&g, key);
	memset(g.r.memory[1] + AT, 0, 8);
	reach(&g, IBV_WR_ATOMIC_FETCH_AND_ADD, key, AT, 8, IBV_WC_SUCCESS, IBV_WC_FETCH_ADD);
	WANT(g.r.memory[1][AT] == 1);
	WANT(ibv_dealloc_mw(g.mw) == 0); /* bound as it is */
	WANT(ibv_rereg_mr(g.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND) == 0);
	denied(&g, IBV_WR_RDMA_WRITE, key, AT, 8);
	g.mw = ibv_alloc_mw(g.r.pd, IBV_MW_TYPE_2);
	WANT(g.mw != NULL);
	glass_close(&g);
}

/* The peer's send ends it, and its receive says which. */
void
run_windows_peer(void)
{
	struct glass g;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc[2];
	uint32_t key;

	glass_open(&g, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	key = ibv_inc_rkey(g.mw->rkey);
	bind_and_wait(&g, key);
	write_through(&g, key, 7);
	rig_receive(&g.r, 1, 0, 64, 4);
	sge = rig_sge(&g.r, 0, 0, 8);
	wr = rig_request(&g.r, IBV_WR_SEND_WITH_INV, &sge, 5);
	wr.invalidate_rkey = key;
	rig_post(&g.r, &wr);
	wc[0] = rig_wait(&g.r);
	wc[1] = rig_wait(&g.r);
	if (wc[0].wr_id == 5)
		wc[0] = wc[1];
	WANT(wc[0].wr_id == 4 && wc[0].status == IBV_WC_SUCCESS);
	WANT((wc[0].wc_flags & IBV_WC_WITH_INV) && wc[0].invalidated_rkey == key);
	bind_and_wait(&g, key); /* it is free, and the key that it had may be taken */
	write_through(&g, key, 8);
	invalidate(&g, g.r.qp[1], key, IBV_WC_SUCCESS);
	denied(&g, IBV_WR_RDMA_READ, key, AT, 8);
	glass_close(&g);
}

/* A bind that is changed in one thing is refused when its turn comes. */
static void
bind_is_refused(int access, uint64_t at, uint64_t bytes, unsigned int rights, bool bound)
{
	struct glass g;
	struct ibv_send_wr wr;

	glass_open(&g, access);
	if (bound)
		bind_and_wait(&g, g.mw->rkey);
	wr = bind_request(&g, ibv_inc_rkey(g.mw->rkey), 6);
	wr.bind_mw.bind_info.addr = (uintptr_t)g.r.memory[1] + at;
	wr.bind_mw.bind_info.length = bytes;
	wr.bind_mw.bind_info.mw_access_flags = rights;
	WANT(post(g.r.qp[1], &wr) == 0);
	rig_wait_for(&g.r, 6, IBV_WC_MW_BIND_ERR, 0);
	glass_close(&g);
}

static int
posting(struct glass *g, uint32_t rkey, struct ibv_mw *mw, struct ibv_mr *mr, unsigned int rights)
{
	struct ibv_send_wr wr = bind_request(g, rkey, 7);

	wr.bind_mw.mw = mw;
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.mw_access_flags = rights;
	return post(g->r.qp[1], &wr);
}

static void
refused_at_once(void)
{
	struct glass g;
	uint32_t key;

	glass_open(&g, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	key = g.mw->rkey;
	WANT(posting(&g, key, NULL, g.mr, RIGHTS) == EINVAL);
	WANT(posting(&g, key, g.mw, NULL, RIGHTS) == EINVAL);
	WANT(posting(&g, key ^ 0x100, g.mw, g.mr, RIGHTS) == EINVAL);
	WANT(posting(&g, key ^ 0x80000000, g.mw, g.mr, RIGHTS) == EINVAL);
	WANT(posting(&g, key, g.mw, g.mr, RIGHTS | IBV_ACCESS_ZERO_BASED) == EINVAL);
	bind_and_wait(&g, key); /* nothing of that was posted */
	glass_close(&g);
}

void
run_windows_refused(void)
{
	const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	const unsigned int read = IBV_ACCESS_REMOTE_READ;

	bind_is_refused(all, AT, BYTES, read, true);
	bind_is_refused(all, AT, 0, read, false);
	bind_is_refused(all, RIG_BYTES - 8, 9, read, false);
	bind_is_refused(RIG_ALL, AT, BYTES, read, false);
	bind_is_refused(IBV_ACCESS_MW_BIND, AT, BYTES, IBV_ACCESS_REMOTE_WRITE, false);
	bind_is_refused(IBV_ACCESS_MW_BIND, AT, BYTES, IBV_ACCESS_REMOTE_ATOMIC, false);
	refused_at_once();
}

/* What is not the window's, or not of its rights, or of its queue pair. */
void
run_windows_denied(void)
{
	struct glass g;
	struct ibv_send_wr wr;
	uint32_t key;

	for (unsigned i = 0; i < 5; i++) {
		glass_open(&g, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		key = g.mw->rkey;
		wr = bind_request(&g, key, 1);
		wr.bind_mw.bind_info.mw_access_flags =
			i == 3 ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE : RIGHTS;
		/* The peer of qp[0] is qp[1]: qp[0]'s windows are for qp[1] alone. */
		WANT(post(g.r.qp[i != 4], &wr) == 0);
		rig_wait_for(&g.r, 1, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
		if (i == 0)
			denied(&g, IBV_WR_RDMA_WRITE, key, AT - 1, 2);
		else if (i == 1)
			denied(&g, IBV_WR_RDMA_WRITE, key, AT + BYTES - 1, 2);
		else if (i == 2)
			denied(&g, IBV_WR_RDMA_WRITE, ibv_inc_rkey(key), AT, 8);
		else
			denied(&g, IBV_WR_RDMA_WRITE, key, AT, 8);
		glass_close(&g);
	}
	glass_open(&g, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	bind_and_wait(&g, g.mw->rkey);
	invalidate(&g, g.r.qp[0], g.mw->rkey, IBV_WC_LOC_QP_OP_ERR); /* another's */
	glass_close(&g);
}

/* ---- type 1 ------------------------------------------------------------------------------- */

#define WINDOWS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)

/* By the call; 0 bytes: of no region. */
static int
call_bind(struct glass *g, struct ibv_qp *qp, size_t at, uint64_t bytes)
{
	struct ibv_mw_bind b = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED};
	uint32_t before = g->mw->rkey;
	int err;

	if (bytes > 0)
		b.bind_info = (struct ibv_mw_bind_info){
			g->mr, (uintptr_t)g->r.memory[1] + at, bytes, RIGHTS};
	err = ibv_bind_mw(qp, g->mw, &b);
	WANT(g->mw->rkey == (err == 0 ? ibv_inc_rkey(before) : before));
	return err;
}

static void
call_and_wait(struct glass *g, struct ibv_qp *qp, size_t at, uint64_t bytes)
{
	WANT(call_bind(g, qp, at, bytes) == 0);
	rig_wait_for(&g->r, 1, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
}

/* Bound by either queue pair of the domain, again and again, and unbound. */
static void
bound_at_will(void)
{
	struct glass g;
	uint32_t key;

	glass_open_type(&g, WINDOWS, IBV_MW_TYPE_1);
	call_and_wait(&g, g.r.qp[0], AT, BYTES);
	write_through(&g, g.mw->rkey, 1);
	for (int i = 0; i < 300; i++) /* more than there are keys */
		call_and_wait(&g, g.r.qp[i & 1], AT, BYTES + (uint64_t)(i & 7));
	write_through(&g, g.mw->rkey, 2);
	read_through(&g, g.mw->rkey, 3);
	WANT(ibv_dereg_mr(g.mr) == EBUSY);
	key = g.mw->rkey;
	call_and_wait(&g, g.r.qp[1], 0, 0);
	WANT(ibv_rereg_mr(g.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, WINDOWS) == 0);
	call_and_wait(&g, g.r.qp[1], AT, BYTES);
	write_through(&g, g.mw->rkey, 4);
	denied(&g, IBV_WR_RDMA_WRITE, key, AT, 8);
	glass_close(&g); /* bound as it is */
}

/* It stays when its queue pair goes, and is not the peer's to end, nor the owner's by LOCAL_INV. */
static void
never_invalidated(void)
{
	struct glass g;

	glass_open_type(&g, WINDOWS, IBV_MW_TYPE_1);
	call_and_wait(&g, g.r.qp[1], AT, BYTES);
	invalidate(&g, g.r.qp[1], g.mw->rkey, IBV_WC_LOC_QP_OP_ERR);
	for (int side = 0; side < 2; side++) {
		WANT(ibv_destroy_qp(g.r.qp[side]) == 0);
		g.r.qp[side] = rig_make_qp(&g.r, 0);
	}
	rig_connect(&g.r);
	write_through(&g, g.mw->rkey, 5);
	WANT(ibv_dereg_mr(g.mr) == EBUSY);
	glass_close(&g);
}

static void
refused_of_type_1(void)
{
	struct glass g;
	struct ibv_send_wr wr;
	struct ibv_mw *one;
	uint32_t key;

	glass_open_type(&g, WINDOWS, IBV_MW_TYPE_1);
	wr = bind_request(&g, g.mw->rkey, 6);
	WANT(post(g.r.qp[1], &wr) == EINVAL); /* there is a call for it */
	one = g.mw;
	g.mw = ibv_alloc_mw(g.r.pd, IBV_MW_TYPE_2);
	WANT(g.mw != NULL && call_bind(&g, g.r.qp[1], AT, BYTES) == EINVAL);
	WANT(ibv_dealloc_mw(g.mw) == 0);
	g.mw = one;
	call_and_wait(&g, g.r.qp[1], AT, BYTES);
	key = g.mw->rkey;
	WANT(call_bind(&g, g.r.qp[1], RIG_BYTES - 8, 9) == 0);
	rig_wait_for(&g.r, 1, IBV_WC_MW_BIND_ERR, 0);
	WANT(ibv_dereg_mr(g.mr) == EBUSY); /* as it was before that */
	WANT(call_bind(&g, g.r.qp[1], AT, BYTES) == 0);
	rig_wait_for(&g.r, 1, IBV_WC_WR_FLUSH_ERR, 0);
	g.mw->rkey = key;
	call_and_wait(&g, g.r.qp[0], AT, BYTES);
	glass_close(&g);
	glass_open_type(&g, RIG_ALL, IBV_MW_TYPE_1);
	WANT(call_bind(&g, g.r.qp[1], AT, BYTES) == 0);
	rig_wait_for(&g.r, 1, IBV_WC_MW_BIND_ERR, 0);
	glass_close(&g);
}

void
run_windows_type_1(void)
{
	bound_at_will();
	never_invalidated();
	refused_of_type_1();
}

/* ---- step by step ------------------------------------------------------------------------- */

static struct ibv_qp_ex *
glass_with_calls(struct glass *g)
{
	struct ibv_qp_init_attr_ex init = {.cap = {RIG_DEPTH, RIG_DEPTH, 4, 4, 64},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV};

	glass_open(g, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	WANT(ibv_destroy_qp(g->r.qp[1]) == 0);
	init.pd = g->r.pd;
	init.send_cq = init.recv_cq = g->r.cq;
	g->r.qp[1] = ibv_create_qp_ex(g->r.context, &init);
	WANT(g->r.qp[1] != NULL);
	WANT(ibv_destroy_qp(g->r.qp[0]) == 0);
	g->r.qp[0] = rig_make_qp(&g->r, 0);
	rig_connect(&g->r);
	return ibv_qp_to_qp_ex(g->r.qp[1]);
}

static void
add_bind(struct glass *g, struct ibv_qp_ex *ex, uint32_t key)
{
	const struct ibv_mw_bind_info info = {g->mr, (uintptr_t)g->r.memory[1] + AT, BYTES, RIGHTS};

	ex->wr_id = 8;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(ex, g->mw, key, &info);
}

static void
add_invalidation(struct ibv_qp_ex *ex, uint32_t key)
{
	ex->wr_id = 9;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(ex, key);
}

/* Binds of a batch that is aborted, or has an error, were none: the window is free, twice. */
void
run_windows_batches(void)
{
	struct glass g;
	struct ibv_qp_ex *ex = glass_with_calls(&g);
	uint32_t key = g.mw->rkey;

	ibv_wr_start(ex);
	add_bind(&g, ex, key);
	add_invalidation(ex, key);
	add_bind(&g, ex, key);
	ibv_wr_abort(ex);
	ibv_wr_start(ex);
	add_bind(&g, ex, key);
	add_bind(&g, ex, key ^ 0x100);
	WANT(ibv_wr_complete(ex) == EINVAL);
	ibv_wr_start(ex);
	add_bind(&g, ex, key);
	add_invalidation(ex, key);
	add_bind(&g, ex, ibv_inc_rkey(key));
	WANT(ibv_wr_complete(ex) == 0);
	rig_wait_for(&g.r, 8, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
	rig_wait_for(&g.r, 9, IBV_WC_SUCCESS, IBV_WC_LOCAL_INV);
	rig_wait_for(&g.r, 8, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
	write_through(&g, ibv_inc_rkey(key), 9);
	denied(&g, IBV_WR_RDMA_WRITE, key, AT, 8);
	glass_close(&g);
}
