/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windowpeer PORT: in the guest, the peer of tests of remote invalidation. Accepts one connection,
 * whose first message says what is to be done:
 *
 * - 'T' address token bytes: a window of the other side. Write to it, invalidate it with a send,
 *   and write again, which must be refused.
 *
 * - 'O': bind a window of our own, tell it the same way, and receive the send that invalidates it.
 *   The next write that the other side tries must be refused.
 *
 * Exit status 0: all went as it must; 1: a line says what did not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES	     5000 /* several packets */
#define SECONDS_MAX  30
#define FIRST	     0x5a /* written while the window is bound */
#define SECOND	     0xa5 /* written when it is not */
#define RDMA_ACCESS  (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define LOCAL_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)

struct message {
	char what[4];
	uint32_t token; /* in the order of the wire */
	uint32_t bytes, reserved;
	uint64_t address;
};

struct peer {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct {
		struct message in, out;
		uint8_t target[BYTES], source[BYTES];
	} area;
};

/* Of calls that set errno. */
static void
must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "windowpeer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
check(int good, const char *otherwise)
{
	if (good)
		return;
	fprintf(stderr, "windowpeer: %s\n", otherwise);
	exit(1);
}

static struct rdma_cm_id *
event_id(struct rdma_event_channel *channel, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	must(rdma_get_cm_event(channel, &event) == 0, "rdma_get_cm_event");
	if (event->event != want) {
		fprintf(stderr, "windowpeer: event %s instead of %s\n",
			rdma_event_str(event->event), rdma_event_str(want));
		exit(1);
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

/* The next completion, whatever its status. */
static struct ibv_wc
completion(struct peer *p)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(p->cq, 1, &wc)) == 0)
		nanosleep(&moment, NULL);
	must(n == 1, "ibv_poll_cq");
	return wc;
}

static struct ibv_wc
expect(struct peer *p, enum ibv_wc_status want, const char *what)
{
	struct ibv_wc wc = completion(p);

	if (wc.status != want) {
		fprintf(stderr, "windowpeer: %s: %s instead of %s\n", what,
			ibv_wc_status_str(wc.status), ibv_wc_status_str(want));
		exit(1);
	}
	return wc;
}

static void
receive(struct peer *p)
{
	struct ibv_sge sge = {(uintptr_t)&p->area.in, sizeof(p->area.in), p->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	must(ibv_post_recv(p->id->qp, &wr, &bad) == 0, "ibv_post_recv");
}

static void
post(struct peer *p, struct ibv_send_wr *wr, void *buf, uint32_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)buf, bytes, p->mr->lkey};
	struct ibv_send_wr *bad;

	if (bytes != 0) {
		wr->sg_list = &sge;
		wr->num_sge = 1;
	}
	wr->send_flags = IBV_SEND_SIGNALED;
	must(ibv_post_send(p->id->qp, wr, &bad) == 0, "ibv_post_send");
}

static void
post_write(struct peer *p, uint8_t byte)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {p->area.in.address, ntohl(p->area.in.token)}};

	memset(p->area.source, byte, BYTES);
	post(p, &wr, p->area.source, p->area.in.bytes);
}

static void
use_theirs(struct peer *p)
{
	struct ibv_send_wr inv = {
		.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = ntohl(p->area.in.token)};

	check(p->area.in.bytes <= BYTES, "a window that is too large");
	post_write(p, FIRST);
	expect(p, IBV_WC_SUCCESS, "write to their window");
	strcpy(p->area.out.what, "inv");
	post(p, &inv, &p->area.out, sizeof(p->area.out));
	expect(p, IBV_WC_SUCCESS, "send with invalidate");
	post_write(p, SECOND);
	expect(p, IBV_WC_REM_ACCESS_ERR, "write to their dead window");
}

/* rdma_rxe hands the kernel's flags to its library as they are, where the same bit has another
 * name: IB_WC_WITH_INVALIDATE is 1 << 2 there. */
#define KERNEL_WC_WITH_INVALIDATE (1 << 2)

static void
offer_ours(struct peer *p)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->id->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr bind = {.opcode = IBV_WR_BIND_MW}, tell = {.opcode = IBV_WR_SEND};
	struct ibv_wc wc;
	uint32_t rkey;

	must(mw != NULL, "ibv_alloc_mw");
	receive(p);
	rkey = ibv_inc_rkey(mw->rkey); /* rdma_rxe wants to find the old one in mw */
	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = rkey;
	bind.bind_mw.bind_info =
		(struct ibv_mw_bind_info){p->mr, (uintptr_t)p->area.target, BYTES, RDMA_ACCESS};
	post(p, &bind, NULL, 0);
	expect(p, IBV_WC_SUCCESS, "bind");
	p->area.out = (struct message){"O", htonl(rkey), BYTES, 0, (uintptr_t)p->area.target};
	post(p, &tell, &p->area.out, sizeof(p->area.out));
	expect(p, IBV_WC_SUCCESS, "send of our window");
	wc = expect(p, IBV_WC_SUCCESS, "receive of the invalidation");
	check(wc.wc_flags & (IBV_WC_WITH_INV | KERNEL_WC_WITH_INVALIDATE),
		"the completion says nothing of an invalidation");
	check(wc.invalidated_rkey == rkey, "another key was invalidated");
	for (uint32_t i = 0; i < BYTES; i++)
		check(p->area.target[i] == FIRST, "the write before has not arrived");
	receive(p);
	post(p, &tell, &p->area.out, sizeof(p->area.out));
	expect(p, IBV_WC_SUCCESS, "send that asks for another write");
	(void)completion(p); /* refused, it ends the queue pair and flushes the receive */
	for (uint32_t i = 0; i < BYTES; i++)
		check(p->area.target[i] == FIRST, "a write came through the dead window");
}

static struct rdma_cm_id *
listen_at(struct rdma_event_channel *channel, const char *port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(port))};
	struct rdma_cm_id *id;

	must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_bind_addr(id, (struct sockaddr *)&any) == 0, "rdma_bind_addr");
	must(rdma_listen(id, 1) == 0, "rdma_listen");
	return id;
}

static void
accept_one(struct peer *p, struct rdma_event_channel *channel)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7};

	p->id = event_id(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	p->cq = ibv_create_cq(p->id->verbs, 32, NULL, NULL, 0);
	must(p->cq != NULL, "ibv_create_cq");
	attr.send_cq = attr.recv_cq = p->cq;
	must(rdma_create_qp(p->id, NULL, &attr) == 0, "rdma_create_qp");
	p->mr = ibv_reg_mr(p->id->pd, &p->area, sizeof(p->area), LOCAL_ACCESS | RDMA_ACCESS);
	must(p->mr != NULL, "ibv_reg_mr");
	receive(p);
	must(rdma_accept(p->id, &param) == 0, "rdma_accept");
	check(event_id(channel, RDMA_CM_EVENT_ESTABLISHED) == p->id, "ESTABLISHED");
}

int
main(int argc, char **argv)
{
	static struct peer p;
	struct rdma_event_channel *channel = rdma_create_event_channel();

	check(argc == 2, "usage: windowpeer PORT");
	must(channel != NULL, "rdma_create_event_channel");
	alarm(SECONDS_MAX);
	(void)listen_at(channel, argv[1]);
	accept_one(&p, channel);
	expect(&p, IBV_WC_SUCCESS, "receive of what is to be done");
	if (p.area.in.what[0] == 'T')
		use_theirs(&p);
	else
		offer_ours(&p);
	printf("windowpeer: as it must be\n");
	return 0;
}
