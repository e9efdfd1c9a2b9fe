/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbspeer PORT: in the guest, the other end of tests that rping has no part for, through the
 * verbs of its kernel. Accepts one connection; its first message says what is to be done
 * (verbspeer.h). Exit status 0: all went as it must; 1: a line says what did not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "verbspeer.h"

#define SECONDS_MAX 30

void
peer_must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "verbspeer: %s: %s\n", what, strerror(errno));
	exit(1);
}

void
peer_check(int good, const char *otherwise)
{
	if (good)
		return;
	fprintf(stderr, "verbspeer: %s\n", otherwise);
	exit(1);
}

static struct rdma_cm_id *
event_id(struct rdma_event_channel *channel, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	peer_must(rdma_get_cm_event(channel, &event) == 0, "rdma_get_cm_event");
	if (event->event != want) {
		fprintf(stderr, "verbspeer: event %s instead of %s\n", rdma_event_str(event->event),
			rdma_event_str(want));
		exit(1);
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

struct ibv_wc
peer_completion(struct peer *p)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(p->cq, 1, &wc)) == 0)
		nanosleep(&moment, NULL);
	peer_must(n == 1, "ibv_poll_cq");
	return wc;
}

struct ibv_wc
peer_expect(struct peer *p, enum ibv_wc_status want, const char *what)
{
	struct ibv_wc wc = peer_completion(p);

	if (wc.status != want) {
		fprintf(stderr, "verbspeer: %s: %s instead of %s\n", what,
			ibv_wc_status_str(wc.status), ibv_wc_status_str(want));
		exit(1);
	}
	return wc;
}

void
peer_receive(struct peer *p)
{
	struct ibv_sge sge = {(uintptr_t)&p->area.in, sizeof(p->area.in), p->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	peer_must(ibv_post_recv(p->id->qp, &wr, &bad) == 0, "ibv_post_recv");
}

void
peer_post(struct peer *p, struct ibv_send_wr *wr, void *buf, uint32_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)buf, bytes, p->mr->lkey};
	struct ibv_send_wr *bad;

	if (bytes != 0) {
		wr->sg_list = &sge;
		wr->num_sge = 1;
	}
	wr->send_flags = IBV_SEND_SIGNALED;
	peer_must(ibv_post_send(p->id->qp, wr, &bad) == 0, "ibv_post_send");
}

void
peer_tell(struct peer *p, const struct message *m)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	p->area.out = *m;
	peer_post(p, &wr, &p->area.out, sizeof(p->area.out));
	peer_expect(p, IBV_WC_SUCCESS, "send of a message");
}

static struct rdma_cm_id *
listen_at(struct rdma_event_channel *channel, const char *port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(port))};
	struct rdma_cm_id *id;

	peer_must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	peer_must(rdma_bind_addr(id, (struct sockaddr *)&any) == 0, "rdma_bind_addr");
	peer_must(rdma_listen(id, 1) == 0, "rdma_listen");
	return id;
}

static void
accept_one(struct peer *p, struct rdma_event_channel *channel)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4, .rnr_retry_count = 7};

	p->id = event_id(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	p->cq = ibv_create_cq(p->id->verbs, 32, NULL, NULL, 0);
	peer_must(p->cq != NULL, "ibv_create_cq");
	attr.send_cq = attr.recv_cq = p->cq;
	peer_must(rdma_create_qp(p->id, NULL, &attr) == 0, "rdma_create_qp");
	p->mr = ibv_reg_mr(p->id->pd, &p->area, sizeof(p->area), LOCAL_ACCESS | RDMA_ACCESS);
	peer_must(p->mr != NULL, "ibv_reg_mr");
	peer_receive(p);
	peer_must(rdma_accept(p->id, &param) == 0, "rdma_accept");
	peer_check(event_id(channel, RDMA_CM_EVENT_ESTABLISHED) == p->id, "ESTABLISHED");
}

int
main(int argc, char **argv)
{
	static const struct {
		char what;
		void (*act)(struct peer *);
	} jobs[] = {
		{'T', peer_uses_window},
		{'O', peer_offers_window},
		{'F', peer_uses_word},
		{'W', peer_offers_word},
		{'I', peer_immediates},
		{'N', peer_by_numbers},
	};
	static struct peer p;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	size_t i;

	peer_check(argc == 2, "usage: verbspeer PORT");
	peer_must(channel != NULL, "rdma_create_event_channel");
	alarm(SECONDS_MAX);
	(void)listen_at(channel, argv[1]);
	accept_one(&p, channel);
	peer_expect(&p, IBV_WC_SUCCESS, "receive of what is to be done");
	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]) && p.area.in.what[0] != jobs[i].what; i++)
		;
	peer_check(i < sizeof(jobs) / sizeof(jobs[0]), "it asks for nothing that is known here");
	jobs[i].act(&p);
	printf("verbspeer: as it must be\n");
	return 0;
}
