/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagram services by librdmacm. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cm_rig.h"
#include "cm_scenarios.h"

#define Q_KEY		 0x01234567u /* of the port space */
#define QUERY_PRIV	 180
#define REPLY_PRIV	 136
#define SIDR_UNSUPPORTED 1 /* SIDR_REP: nothing listens there */
#define SIDR_REJECTED	 2
#define GRH_BYTES	 40
#define TEXT_BYTES	 8
#define NO_HOST		 77 /* the last byte of an address that no host has */

/* ---- a datagram to the service, and one back ------------------------------------------------- */

struct end {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_ah *ah; /* to the other end */
	uint32_t number;   /* of the queue pair there */
	uint32_t q_key;
	uint8_t memory[2][GRH_BYTES + TEXT_BYTES]; /* what comes, what goes */
};

static void
end_open(struct end *e, struct rdma_cm_id *id)
{
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_sge sge;

	*e = (struct end){.id = id};
	e->mr = ibv_reg_mr(id->pd, e->memory, sizeof(e->memory), IBV_ACCESS_LOCAL_WRITE);
	WANT(e->mr != NULL);
	sge = (struct ibv_sge){(uintptr_t)e->memory[0], sizeof(e->memory[0]), e->mr->lkey};
	wr.sg_list = &sge;
	WANT(ibv_post_recv(id->qp, &wr, &bad) == 0);
}

static void
end_close(struct end *e)
{
	if (e->ah != NULL)
		WANT(ibv_destroy_ah(e->ah) == 0);
	WANT(ibv_dereg_mr(e->mr) == 0);
}

static struct ibv_wc
end_wait(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (n == 0);
	WANT(n == 1 && wc.status == IBV_WC_SUCCESS);
	return wc;
}

static void
end_send(struct end *e, const char *text)
{
	struct ibv_send_wr wr = {
		.num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge = {(uintptr_t)e->memory[1], TEXT_BYTES, e->mr->lkey};
	struct ibv_send_wr *bad;

	memset(e->memory[1], 0, TEXT_BYTES);
	strcpy((char *)e->memory[1], text);
	wr.sg_list = &sge;
	wr.wr.ud.ah = e->ah;
	wr.wr.ud.remote_qpn = e->number;
	wr.wr.ud.remote_qkey = e->q_key;
	WANT(ibv_post_send(e->id->qp, &wr, &bad) == 0);
	(void)end_wait(e->id->send_cq);
}

static struct ibv_wc
end_receive(struct end *e, const char *text)
{
	const struct ibv_wc wc = end_wait(e->id->recv_cq);

	WANT(wc.byte_len == GRH_BYTES + TEXT_BYTES && (wc.wc_flags & IBV_WC_GRH) != 0);
	WANT(strcmp((char *)e->memory[0] + GRH_BYTES, text) == 0);
	return wc;
}

/* ---- the exchange -------------------------------------------------------------------------- */

/* The attributes that a program which makes its queue pair itself asks for. */
static void
expect_attributes(struct rdma_cm_id *id)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT};
	int mask = 0;

	WANT(rdma_init_qp_attr(id, &a, &mask) == 0);
	WANT(mask == (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	WANT(a.qp_state == IBV_QPS_INIT && a.pkey_index == 0 && a.port_num == 1 && a.qkey == Q_KEY);
}

static void
take_request(struct cm_rig *r)
{
	struct rdma_conn_param ask = {.private_data = "question", .private_data_len = 9};
	struct rdma_cm_event *e;

	cm_rig_resolve(r);
	expect_attributes(r->here);
	WANT(rdma_connect(r->here, &ask) == 0);
	e = cm_rig_event(r, RDMA_CM_EVENT_CONNECT_REQUEST);
	r->there = e->id;
	WANT(e->listen_id == r->listener && e->id->context == r && e->id->verbs != NULL);
	WANT(e->param.ud.private_data_len == QUERY_PRIV);
	WANT(strcmp(e->param.ud.private_data, "question") == 0);
	WANT(rdma_get_src_port(r->there) == rdma_get_dst_port(r->here));
	WANT(rdma_get_dst_port(r->there) == rdma_get_src_port(r->here));
	WANT(rdma_ack_cm_event(e) == 0);
}

/* What the answer says is what datagrams need. */
static void
take_answer(struct cm_rig *r, struct end *here)
{
	struct rdma_cm_event *e = cm_rig_event(r, RDMA_CM_EVENT_ESTABLISHED);

	WANT(e->id == r->here && e->status == 0);
	WANT(e->param.ud.private_data_len == REPLY_PRIV);
	WANT(strcmp(e->param.ud.private_data, "answer") == 0);
	WANT(e->param.ud.qp_num == r->there->qp->qp_num && e->param.ud.qkey == Q_KEY);
	here->number = e->param.ud.qp_num;
	here->q_key = e->param.ud.qkey;
	here->ah = ibv_create_ah(r->here->pd, &e->param.ud.ah_attr);
	WANT(here->ah != NULL && rdma_ack_cm_event(e) == 0);
}

static void
exchange_once(struct cm_rig *r)
{
	struct rdma_conn_param answer = {.private_data = "answer", .private_data_len = 7};
	struct end here, there;
	struct ibv_wc wc;

	take_request(r);
	cm_rig_make_qp(r->there);
	end_open(&there, r->there);
	end_open(&here, r->here);
	WANT(rdma_accept(r->there, &answer) == 0);
	take_answer(r, &here);
	end_send(&here, "ping");
	wc = end_receive(&there, "ping");
	WANT(wc.src_qp == r->here->qp->qp_num);
	there.number = wc.src_qp;
	there.q_key = Q_KEY;
	there.ah = ibv_create_ah_from_wc(
		r->there->pd, &wc, (struct ibv_grh *)there.memory[0], r->there->port_num);
	WANT(there.ah != NULL);
	end_send(&there, "pong");
	(void)end_receive(&here, "pong");
	WANT(rdma_disconnect(r->here) == 0 && rdma_disconnect(r->there) == 0);
	end_close(&here);
	end_close(&there);
	cm_rig_forget(r);
}

/* Twice: had the service an event of its own, it would be the next one. */
void
run_service(void)
{
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	exchange_once(&r);
	exchange_once(&r);
	WANT(poll(&(struct pollfd){.fd = r.channel->fd, .events = POLLIN}, 1, 0) == 0);
	cm_rig_close(&r);
}

/* ---- no answer ----------------------------------------------------------------------------- */

/* As the kernel has it: there is no such event as REJECTED. */
void
run_service_reject(void)
{
	struct rdma_cm_event *e;
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	take_request(&r);
	WANT(rdma_reject(r.there, "no", 3) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_UNREACHABLE);
	WANT(e->id == r.here && e->status == SIDR_REJECTED);
	WANT(e->param.ud.private_data_len == REPLY_PRIV);
	WANT(strcmp(e->param.ud.private_data, "no") == 0);
	WANT(rdma_ack_cm_event(e) == 0);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

void
run_service_nobody(void)
{
	struct rdma_conn_param p = {0};
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	WANT(rdma_destroy_id(r.listener) == 0);
	r.listener = NULL;
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &p) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_UNREACHABLE) == SIDR_UNSUPPORTED);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* A host that has no daemon, where the network says so: the host's own loopback; else an address
 * that no host has. */
void
run_service_nowhere(void)
{
	struct rdma_conn_param p = {0};
	struct cm_rig r;
	uint8_t *address;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	WANT(r.address.ss_family == AF_INET);
	address = (uint8_t *)&((struct sockaddr_in *)&r.address)->sin_addr;
	address[3] = NO_HOST;
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &p) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_UNREACHABLE) ==
		(address[0] == IN_LOOPBACKNET ? -ECONNREFUSED : -EHOSTUNREACH));
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* One number in both port spaces, of two identifiers: neither hears of the other's peers. */
void
run_service_spaces(void)
{
	struct cm_rig connections, services;

	cm_rig_open(&connections);
	cm_rig_open_in(&services, RDMA_PS_UDP);
	WANT(rdma_destroy_id(services.listener) == 0);
	services.address = connections.address;
	services.listener = cm_rig_id(&services);
	cm_rig_listen(&services, services.listener);
	WANT(rdma_get_src_port(services.listener) == rdma_get_src_port(connections.listener));
	exchange_once(&services);
	cm_rig_connect(&connections);
	exchange_once(&services);
	cm_rig_disconnect(&connections);
	cm_rig_forget(&connections);
	cm_rig_close(&connections);
	exchange_once(&services);
	cm_rig_close(&services);
}

/* Private data as long as the messages have room for, and not longer; numbers of queue pairs of
 * this process alone. */
void
run_service_limits(void)
{
	uint8_t data[QUERY_PRIV + 1] = {[0 ... QUERY_PRIV] = 7};
	struct rdma_conn_param p = {.private_data = data, .private_data_len = sizeof(data)};
	struct rdma_cm_event *e;
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &p) == -1 && errno == EINVAL);
	p.private_data_len = QUERY_PRIV;
	WANT(rdma_connect(r.here, &p) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_CONNECT_REQUEST);
	r.there = e->id;
	WANT(memcmp(e->param.ud.private_data, data, QUERY_PRIV) == 0 && rdma_ack_cm_event(e) == 0);
	p = (struct rdma_conn_param){.qp_num = 0xfffff0};
	WANT(rdma_accept(r.there, &p) == -1 && errno == EINVAL);
	p = (struct rdma_conn_param){.qp_num = r.here->qp->qp_num,
		.private_data = data,
		.private_data_len = REPLY_PRIV + 1};
	WANT(rdma_accept(r.there, &p) == -1 && errno == EINVAL);
	WANT(rdma_reject(r.there, data, REPLY_PRIV + 1) == -1 && errno == EINVAL);
	p.private_data_len = REPLY_PRIV;
	WANT(rdma_accept(r.there, &p) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_ESTABLISHED);
	WANT(e->param.ud.qp_num == r.here->qp->qp_num);
	WANT(memcmp(e->param.ud.private_data, data, REPLY_PRIV) == 0 && rdma_ack_cm_event(e) == 0);
	WANT(rdma_accept(r.there, &p) == -1 && errno == EINVAL);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* Asked, and not answered, to be killed. */
void
run_service_waits(void)
{
	struct rdma_conn_param p = {0};
	struct cm_rig r;

	cm_rig_open_in(&r, RDMA_PS_UDP);
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &p) == 0);
	cm_rig_asked(&r);
	puts("waiting");
	fflush(stdout);
	pause();
}
