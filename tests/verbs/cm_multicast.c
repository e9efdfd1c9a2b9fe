/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins of multicast groups by librdmacm. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "cm_rig.h"
#include "cm_scenarios.h"

#define Q_KEY	   0x01234567u /* of the port space */
#define EVERYBODY  0xffffffu
#define GRH_BYTES  40
#define TEXT_BYTES 8
#define OF_A_GROUP 8 /* queue pairs of one client in one group */
#define MANY	   500

/* ---- identifiers of the device, and groups ------------------------------------------------- */

static struct sockaddr_storage
address_of(const char *text)
{
	struct sockaddr_storage a = {.ss_family = AF_INET};

	if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&a)->sin_addr) == 1)
		return a;
	a.ss_family = AF_INET6;
	WANT(inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&a)->sin6_addr) == 1);
	return a;
}

/* Of the device's family. */
static struct sockaddr_storage
group_of(const struct cm_rig *r)
{
	return address_of(r->address.ss_family == AF_INET ? "239.77.3.4" : "ff15::77:4");
}

/* Bound to the device, at a port of its own. */
static struct rdma_cm_id *
bound_id(struct cm_rig *r)
{
	struct rdma_cm_id *id = cm_rig_id(r);

	cm_rig_set_port(r, 0);
	WANT(rdma_bind_addr(id, (struct sockaddr *)&r->address) == 0 && id->verbs != NULL);
	return id;
}

static int
join(struct rdma_cm_id *id, struct sockaddr_storage *group)
{
	return rdma_join_multicast(id, (struct sockaddr *)group, group);
}

static int
leave(struct rdma_cm_id *id, struct sockaddr_storage *group)
{
	return rdma_leave_multicast(id, (struct sockaddr *)group);
}

static void
want_join(struct cm_rig *r, struct rdma_cm_id *id, struct sockaddr_storage *group)
{
	WANT(join(id, group) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_MULTICAST_JOIN) == 0);
}

static void
destroy(struct rdma_cm_id *id)
{
	if (id->qp != NULL)
		rdma_destroy_qp(id);
	WANT(rdma_destroy_id(id) == 0);
}

/* ---- what a join says, and a datagram by it -------------------------------------------------- */

static void
want_gid(const struct sockaddr_storage *group, const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)group;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)group;

	if (group->ss_family == AF_INET6) {
		WANT(memcmp(gid->raw, &v6->sin6_addr, 16) == 0);
		return;
	}
	WANT(memcmp(gid->raw, mapped, sizeof(mapped)) == 0);
	WANT(memcmp(gid->raw + 12, &v4->sin_addr, 4) == 0);
}

/* A handle to the group. */
static struct ibv_ah *
join_and_look(struct cm_rig *r, struct rdma_cm_id *id, struct sockaddr_storage *group)
{
	struct rdma_cm_event *e;
	struct ibv_ah *ah;

	WANT(join(id, group) == 0);
	e = cm_rig_event(r, RDMA_CM_EVENT_MULTICAST_JOIN);
	WANT(e->id == id && e->status == 0 && e->param.ud.private_data == group);
	WANT(e->param.ud.qp_num == EVERYBODY && e->param.ud.qkey == Q_KEY);
	WANT(e->param.ud.ah_attr.is_global == 1 && e->param.ud.ah_attr.port_num == 1);
	WANT(e->param.ud.ah_attr.grh.hop_limit == 64 && e->param.ud.ah_attr.grh.sgid_index == 0);
	want_gid(group, &e->param.ud.ah_attr.grh.dgid);
	ah = ibv_create_ah(id->pd, &e->param.ud.ah_attr);
	WANT(ah != NULL && rdma_ack_cm_event(e) == 0);
	return ah;
}

static void
receive_post(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_sge sge = {(uintptr_t)mr->addr, GRH_BYTES + TEXT_BYTES, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	WANT(ibv_post_recv(id->qp, &wr, &bad) == 0);
}

static void
send_text(struct rdma_cm_id *id, struct ibv_mr *mr, struct ibv_ah *ah, const char *text)
{
	uint8_t *from = (uint8_t *)mr->addr + GRH_BYTES + TEXT_BYTES;
	struct ibv_sge sge = {(uintptr_t)from, TEXT_BYTES, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	memset(from, 0, TEXT_BYTES);
	strcpy((char *)from, text);
	wr.wr.ud = (typeof(wr.wr.ud)){.ah = ah, .remote_qpn = EVERYBODY, .remote_qkey = Q_KEY};
	WANT(ibv_post_send(id->qp, &wr, &bad) == 0);
}

static void
want_text(struct rdma_cm_id *id, const struct ibv_mr *mr, const char *text)
{
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(id->recv_cq, 1, &wc);
	while (n == 0);
	WANT(n == 1 && wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH_BYTES + TEXT_BYTES);
	WANT(strcmp((const char *)mr->addr + GRH_BYTES, text) == 0);
}

/* The member gets the first and the third datagram: when the second is sent it has left. The
 * sender, which is in the group, gets its own: so the second has been given to all that are in it
 * before the member comes back. A join that the program has not looked at is left, too, and leaves
 * no event. */
static void
exchange(struct cm_rig *r, struct rdma_cm_id *sender, struct rdma_cm_id *member)
{
	static uint8_t memory[2][GRH_BYTES + 2 * TEXT_BYTES];
	struct sockaddr_storage group = group_of(r);
	struct ibv_mr *mr[2];
	struct ibv_ah *ah;

	cm_rig_make_qp(sender);
	cm_rig_make_qp(member);
	mr[0] = ibv_reg_mr(sender->pd, memory[0], sizeof(memory[0]), IBV_ACCESS_LOCAL_WRITE);
	mr[1] = ibv_reg_mr(member->pd, memory[1], sizeof(memory[1]), IBV_ACCESS_LOCAL_WRITE);
	WANT(mr[0] != NULL && mr[1] != NULL);
	for (int i = 0; i < 3; i++) {
		receive_post(member, mr[1]);
		receive_post(sender, mr[0]);
	}
	want_join(r, member, &group);
	ah = join_and_look(r, sender, &group);
	send_text(sender, mr[0], ah, "first");
	want_text(member, mr[1], "first");
	want_text(sender, mr[0], "first");
	WANT(leave(member, &group) == 0);
	WANT(leave(member, &group) == -1 && errno == EADDRNOTAVAIL);
	send_text(sender, mr[0], ah, "second");
	want_text(sender, mr[0], "second");
	WANT(join(member, &group) == 0 && leave(member, &group) == 0);
	want_join(r, member, &group);
	send_text(sender, mr[0], ah, "third");
	want_text(member, mr[1], "third");
	want_text(sender, mr[0], "third");
	WANT(leave(member, &group) == 0 && leave(sender, &group) == 0);
	WANT(ibv_destroy_ah(ah) == 0 && ibv_dereg_mr(mr[0]) == 0 && ibv_dereg_mr(mr[1]) == 0);
}

/* One end bound to the device; one that has found it on the way to the group. */
void
run_multicast(void)
{
	struct sockaddr_storage group;
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	group = group_of(&r);
	r.here = bound_id(&r);
	r.there = bound_id(&r);
	WANT(rdma_resolve_addr(r.there, NULL, (struct sockaddr *)&group, 1000) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_ADDR_RESOLVED) == 0);
	exchange(&r, r.here, r.there);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* ---- what is refused ------------------------------------------------------------------ */

static void
want_refusal(struct rdma_cm_id *id, const char *group, int error)
{
	struct sockaddr_storage to = address_of(group);

	errno = 0;
	WANT(join(id, &to) == -1 && errno == error);
}

/* Connections have no groups; what has no device, or is on its way to a service, joins none. */
static void
states_are_refused(struct cm_rig *r)
{
	struct sockaddr_storage any = address_of("0.0.0.0");
	struct rdma_cm_id *id = cm_rig_id(r), *connects;

	want_refusal(id, "239.77.3.4", EINVAL);
	WANT(rdma_bind_addr(id, (struct sockaddr *)&any) == 0);
	want_refusal(id, "239.77.3.4", EINVAL);
	destroy(id);
	cm_rig_set_port(r, rdma_get_src_port(r->listener));
	cm_rig_resolve(r);
	want_refusal(r->here, "239.77.3.4", EINVAL);
	want_refusal(r->listener, "239.77.3.4", EINVAL);
	cm_rig_forget(r);
	r->space = RDMA_PS_TCP;
	connects = bound_id(r);
	want_refusal(connects, "239.77.3.4", EINVAL);
	destroy(connects);
	r->space = RDMA_PS_UDP;
}

void
run_multicast_refused(void)
{
	struct rdma_cm_id *id;
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	states_are_refused(&r);
	refuse_group_commands(r.channel->fd);
	id = bound_id(&r);
	want_refusal(id, "0.0.0.0", EINVAL);
	want_refusal(id, "192.0.2.1", EINVAL);
	want_refusal(id, "255.255.255.255", EINVAL);
	want_refusal(id, "ff01::1", EINVAL);
	want_refusal(id, "2001:db8::1", EINVAL);
	want_refusal(id, r.address.ss_family == AF_INET ? "ff15::1" : "239.1.1.1", EADDRNOTAVAIL);
	destroy(id);
	cm_rig_close(&r);
}

/* ---- how many ------------------------------------------------------------------------- */

/* A queue pair too many for the group is an event, and no harm to those that are in it. */
static void
one_too_many(struct cm_rig *r)
{
	struct sockaddr_storage group = group_of(r);
	struct rdma_cm_id *id[OF_A_GROUP + 1];

	for (int i = 0; i <= OF_A_GROUP; i++) {
		id[i] = bound_id(r);
		cm_rig_make_qp(id[i]);
		if (i < OF_A_GROUP)
			want_join(r, id[i], &group);
	}
	WANT(join(id[OF_A_GROUP], &group) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_MULTICAST_ERROR) == -1);
	WANT(leave(id[OF_A_GROUP], &group) == 0 && leave(id[0], &group) == 0);
	want_join(r, id[OF_A_GROUP], &group);
	for (int i = 1; i <= OF_A_GROUP; i++)
		WANT(leave(id[i], &group) == 0);
	for (int i = 0; i <= OF_A_GROUP; i++)
		destroy(id[i]);
}

/* Without a queue pair; events that were not taken go with the identifier. */
static void
joins_end_with_it(struct cm_rig *r)
{
	struct sockaddr_storage group = group_of(r);
	struct rdma_cm_id *id = bound_id(r);

	for (int i = 0; i < MANY; i++)
		WANT(join(id, &group) == 0);
	for (int i = 0; i < MANY / 2; i++)
		WANT(cm_rig_expect(r, RDMA_CM_EVENT_MULTICAST_JOIN) == 0);
	destroy(id);
	id = bound_id(r);
	WANT(rdma_resolve_addr(id, NULL, (struct sockaddr *)&group, 1000) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_ADDR_RESOLVED) == 0); /* the next event there is */
	destroy(id);
}

void
run_multicast_limits(void)
{
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	one_too_many(&r);
	joins_end_with_it(&r);
	cm_rig_close(&r);
}
