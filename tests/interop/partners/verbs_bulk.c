/* SPDX-License-Identifier: BSD-3-Clause */
/* verbspartner: connections in great numbers, with a message on each. */
#include "verbs.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define CQ_DEPTH   4096
#define ADDRESS_MS 20000
#define SEED	   1

/* Of one command. */
struct bulk {
	struct rdma_event_channel *channel;
	struct ibv_cq *cq;
	unsigned int established, ended, messages;
	uint64_t *us; /* of those that this side began; NULL: it serves */
};

struct one {
	uint64_t begun;
};

static void
make_qp(struct bulk *b, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = verbs_qp_attributes(b->cq);

	init.cap.max_send_wr = init.cap.max_recv_wr = 2;
	must(rdma_create_qp(id, device.pd, &init) == 0, "rdma_create_qp");
}

static void
post_message(struct rdma_cm_id *id, bool send)
{
	struct ibv_sge sge = {(uintptr_t)partner_area, BULK_MESSAGE, device.mr->lkey};
	struct ibv_send_wr swr = {.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED};
	struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr *bad_send;
	struct ibv_recv_wr *bad_recv;

	must((send ? ibv_post_send(id->qp, &swr, &bad_send)
		   : ibv_post_recv(id->qp, &rwr, &bad_recv)) == 0,
		"post of a message");
}

static void
connect_now(struct bulk *b, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7};

	make_qp(b, id);
	if (b->us == NULL) {
		post_message(id, false);
		must(rdma_accept(id, &param) == 0, "rdma_accept");
	} else {
		((struct one *)id->context)->begun = now_us();
		must(rdma_connect(id, &param) == 0, "rdma_connect");
	}
}

static void
end_of_one(struct bulk *b, struct rdma_cm_id *id)
{
	(void)rdma_disconnect(id);
	rdma_destroy_qp(id);
	if (b->us != NULL)
		free(id->context);
	b->ended++;
	must(rdma_destroy_id(id) == 0, "rdma_destroy_id");
}

static void
on_event(struct bulk *b, struct rdma_cm_id *id, enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		must(rdma_resolve_route(id, ADDRESS_MS) == 0, "rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		connect_now(b, id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (b->us != NULL) {
			b->us[b->established] = now_us() - ((struct one *)id->context)->begun;
			post_message(id, true);
		}
		b->established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		end_of_one(b, id);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		partner_die("%s, after %u connections", rdma_event_str(event), b->established);
	}
}

static void
drain(struct bulk *b)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(b->cq, 1, &wc) > 0) {
		if (wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			partner_die("message: %s", ibv_wc_status_str(wc.status));
		b->messages++;
	}
}

/* Whatever there is to do, for a moment. */
static void
turn(struct bulk *b)
{
	struct pollfd p = {b->channel->fd, POLLIN, 0};
	struct rdma_cm_event *event;

	drain(b);
	if (poll(&p, 1, 1) > 0) {
		enum rdma_cm_event_type type;
		struct rdma_cm_id *id;

		must(rdma_get_cm_event(b->channel, &event) == 0, "rdma_get_cm_event");
		type = event->event;
		id = event->id;
		rdma_ack_cm_event(event);
		on_event(b, id, type);
	}
}

static struct bulk
begin(uint64_t *us)
{
	struct bulk b = {.channel = rdma_create_event_channel(), .us = us};

	must(b.channel != NULL, "rdma_create_event_channel");
	b.cq = ibv_create_cq(device.verbs, CQ_DEPTH, NULL, NULL, 0);
	must(b.cq != NULL, "ibv_create_cq");
	pattern(partner_area, BULK_MESSAGE, SEED);
	return b;
}

static void
finish(struct bulk *b)
{
	must(ibv_destroy_cq(b->cq) == 0, "ibv_destroy_cq");
	rdma_destroy_event_channel(b->channel);
}

/* PORT COUNT */
void
run_serve(char **words)
{
	struct sockaddr_storage any = verbs_address("::", words[0]);
	uint64_t count = number_of(words[1]);
	struct bulk b = begin(NULL);
	struct rdma_cm_id *id;

	must(rdma_create_id(b.channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_bind_addr(id, (struct sockaddr *)&any) == 0, "rdma_bind_addr");
	must(rdma_listen(id, 1024) == 0, "rdma_listen");
	partner_ok("listening");
	while (b.ended < count)
		turn(&b);
	drain(&b);
	must(rdma_destroy_id(id) == 0, "rdma_destroy_id");
	finish(&b);
	partner_ok("%u messages", b.messages);
}

/* ADDRESS PORT COUNT AT-ONCE */
void
run_call(char **words)
{
	struct sockaddr_storage where = verbs_address(words[0], words[1]);
	uint64_t count = number_of(words[2]), at_once = number_of(words[3]);
	uint64_t *us = calloc(count, sizeof(*us));
	struct rdma_cm_id **ids = calloc(at_once, sizeof(*ids));
	struct bulk b = begin(us);

	for (uint64_t done = 0; done < count; done += at_once) {
		for (uint64_t i = 0; i < at_once; i++) {
			must(rdma_create_id(b.channel, &ids[i], calloc(1, sizeof(struct one)),
				     RDMA_PS_TCP) == 0,
				"rdma_create_id");
			must(rdma_resolve_addr(
				     ids[i], NULL, (struct sockaddr *)&where, ADDRESS_MS) == 0,
				"rdma_resolve_addr");
		}
		while (b.established < done + at_once || b.messages < done + at_once)
			turn(&b);
		for (uint64_t i = 0; i < at_once; i++)
			must(rdma_disconnect(ids[i]) == 0, "rdma_disconnect");
		while (b.ended < done + at_once)
			turn(&b);
	}
	finish(&b);
	partner_ok("%lu us", (unsigned long)median(us, count));
	free(ids);
	free(us);
}
