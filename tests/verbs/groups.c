/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs of datagrams in multicast groups. */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "scenarios.h"

#define Q_KEY	   0x1234u
#define GRH_BYTES  40u
#define EVERYBODY  0xffffffu /* the number of all queue pairs of a group */
#define OF_A_GROUP 8	     /* queue pairs of one client in one group */
#define TEXT_BYTES 8

static const union ibv_gid v4_group = {
	{[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 77, [14] = 1, [15] = 2}};
static const union ibv_gid v6_group = {{0xff, 0x15, [14] = 0x77, [15] = 2}};

struct groups {
	struct rig r;
	union ibv_gid group, foreign; /* of the device's family, and of the other one */
	struct ibv_ah *ah;
};

static struct ibv_qp *
make_qp(struct rig *r, uint32_t flags)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {RIG_DEPTH, RIG_DEPTH, 1, 1, 0},
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = r->pd,
		.create_flags = flags};
	struct ibv_qp *qp = ibv_create_qp_ex(r->context, &init);

	WANT(qp != NULL);
	rig_bring_up_datagrams(qp, Q_KEY);
	return qp;
}

static bool
is_v4(const union ibv_gid *gid)
{
	return memcmp(gid->raw, v4_group.raw, 12) == 0;
}

/* The handle leads to the group. */
static void
groups_open(struct groups *g)
{
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.hop_limit = 64};

	rig_open(&g->r, false);
	WANT(ibv_query_gid(g->r.context, 1, 0, &to.grh.dgid) == 0);
	g->group = is_v4(&to.grh.dgid) ? v4_group : v6_group;
	g->foreign = is_v4(&to.grh.dgid) ? v6_group : v4_group;
	to.grh.dgid = g->group;
	g->ah = ibv_create_ah(g->r.pd, &to);
	WANT(g->ah != NULL);
}

static void
groups_close(struct groups *g)
{
	WANT(ibv_destroy_ah(g->ah) == 0);
	rig_close(&g->r);
}

static void
use_datagrams(struct groups *g, uint32_t flags)
{
	for (int side = 0; side < 2; side++) {
		WANT(ibv_destroy_qp(g->r.qp[side]) == 0);
		g->r.qp[side] = make_qp(&g->r, flags);
		rig_receive(&g->r, side, 0, GRH_BYTES + TEXT_BYTES, (uint64_t)side);
	}
}

static void
send_to(struct groups *g, struct ibv_ah *ah, uint32_t number, const char *text)
{
	struct ibv_sge sge = rig_sge(&g->r, 0, 1000, TEXT_BYTES);
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};

	memset(g->r.memory[0] + 1000, 0, TEXT_BYTES);
	strcpy((char *)g->r.memory[0] + 1000, text);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = number;
	wr.wr.ud.remote_qkey = Q_KEY;
	rig_post(&g->r, &wr);
}

/* The next receive is that queue pair's, of that text. */
static void
want_text(struct groups *g, uint64_t side, const char *text)
{
	const struct ibv_wc wc = rig_wait(&g->r);

	WANT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.wr_id == side);
	WANT(wc.qp_num == g->r.qp[side]->qp_num && wc.src_qp == g->r.qp[0]->qp_num);
	WANT(wc.byte_len == GRH_BYTES + TEXT_BYTES);
	WANT(strcmp((char *)g->r.memory[side] + GRH_BYTES, text) == 0);
}

/* Both in the group: both get it, in an order of their own. */
static void
both_receive(struct groups *g)
{
	unsigned seen = 0;

	use_datagrams(g, 0);
	for (int side = 0; side < 2; side++)
		WANT(ibv_attach_mcast(g->r.qp[side], &g->group, 0) == 0);
	WANT(ibv_attach_mcast(g->r.qp[1], &g->group, 0) == 0); /* as the kernel takes it */
	send_to(g, g->ah, EVERYBODY, "both");
	for (int i = 0; i < 2; i++) {
		const struct ibv_wc wc = rig_wait(&g->r);

		WANT(wc.status == IBV_WC_SUCCESS && wc.wr_id < 2);
		WANT(strcmp((char *)g->r.memory[wc.wr_id] + GRH_BYTES, "both") == 0);
		seen |= 1u << wc.wr_id;
	}
	WANT(seen == 3);
}

/* One leaves, and the next datagram is the other's alone. What comes to the first, by its own
 * number, would come behind a copy. */
static void
one_leaves(struct groups *g)
{
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.hop_limit = 64};
	struct ibv_ah *own;

	WANT(ibv_query_gid(g->r.context, 1, 0, &to.grh.dgid) == 0);
	own = ibv_create_ah(g->r.pd, &to);
	WANT(own != NULL && ibv_detach_mcast(g->r.qp[1], &g->group, 0) == 0);
	WANT(ibv_detach_mcast(g->r.qp[1], &g->group, 0) == EINVAL);
	for (int side = 0; side < 2; side++)
		rig_receive(&g->r, side, 0, GRH_BYTES + TEXT_BYTES, (uint64_t)side);
	send_to(g, g->ah, EVERYBODY, "one");
	want_text(g, 0, "one");
	send_to(g, own, g->r.qp[1]->qp_num, "direct");
	want_text(g, 1, "direct");
	WANT(ibv_destroy_ah(own) == 0);
	WANT(ibv_destroy_qp(g->r.qp[0]) == EBUSY);
	WANT(ibv_detach_mcast(g->r.qp[0], &g->group, 0) == 0);
}

/* Those that were made so don't get what they send themselves. */
static void
own_is_blocked(struct groups *g)
{
	use_datagrams(g, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	for (int side = 0; side < 2; side++)
		WANT(ibv_attach_mcast(g->r.qp[side], &g->group, 0) == 0);
	send_to(g, g->ah, EVERYBODY, "first");
	want_text(g, 1, "first");
	rig_receive(&g->r, 1, 0, GRH_BYTES + TEXT_BYTES, 1);
	send_to(g, g->ah, EVERYBODY, "second");
	want_text(g, 1, "second"); /* not an old "first" of queue pair 0 */
	for (int side = 0; side < 2; side++)
		WANT(ibv_detach_mcast(g->r.qp[side], &g->group, 0) == 0);
}

void
run_groups(void)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB};
	struct groups g;

	groups_open(&g);
	init.pd = g.r.pd;
	init.send_cq = init.recv_cq = g.r.cq;
	WANT(ibv_create_qp_ex(g.r.context, &init) == NULL && errno == EOPNOTSUPP);
	WANT(ibv_attach_mcast(g.r.qp[0], &g.group, 0) == EINVAL); /* it is of connections */
	both_receive(&g);
	one_leaves(&g);
	own_is_blocked(&g);
	groups_close(&g);
}

/* What is no group, of the other family, or beyond the limit. */
void
run_groups_full(void)
{
	const union ibv_gid host = {{[10] = 0xff, [11] = 0xff, [12] = 192, [15] = 2}};
	const union ibv_gid of_this_host = {{0xff, 0x01, [15] = 2}};
	struct ibv_qp *qp[OF_A_GROUP + 1];
	struct groups g;

	groups_open(&g);
	for (int i = 0; i <= OF_A_GROUP; i++)
		qp[i] = make_qp(&g.r, 0);
	WANT(ibv_attach_mcast(qp[0], &host, 0) == EINVAL);
	WANT(ibv_attach_mcast(qp[0], &of_this_host, 0) == EINVAL);
	WANT(ibv_attach_mcast(qp[0], &g.foreign, 0) == EADDRNOTAVAIL);
	for (int i = 0; i < OF_A_GROUP; i++)
		WANT(ibv_attach_mcast(qp[i], &g.group, 0) == 0);
	WANT(ibv_attach_mcast(qp[OF_A_GROUP], &g.group, 0) == ENOMEM);
	WANT(ibv_detach_mcast(qp[0], &g.group, 0) == 0);
	WANT(ibv_attach_mcast(qp[OF_A_GROUP], &g.group, 0) == 0);
	WANT(ibv_detach_mcast(qp[OF_A_GROUP], &g.group, 0) == 0);
	for (int i = 1; i < OF_A_GROUP; i++)
		WANT(ibv_detach_mcast(qp[i], &g.group, 0) == 0);
	for (int i = 0; i <= OF_A_GROUP; i++)
		WANT(ibv_destroy_qp(qp[i]) == 0);
	groups_close(&g);
}
