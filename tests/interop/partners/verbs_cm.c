/* SPDX-License-Identifier: BSD-3-Clause */
/* verbspartner: connections by rdma_cm, one at a time by name. */
#include "verbs.h"

#include <poll.h>
#include <string.h>

#define ADDRESS_MS 20000
#define READS	   4

static struct rdma_cm_id *listener;
/* A connection request without a name yet: an id with a context of its own. */
static struct end waiting[ENDS_MAX];
static unsigned int waiting_count;

static void
news_put(struct end *e, const struct rdma_cm_event *event)
{
	struct news *n = &e->news[e->news_count++];

	if (e->news_count > NEWS_MAX)
		partner_die("more events of a connection than are kept");
	n->event = event->event;
	n->status = event->status;
	n->private_bytes = event->param.conn.private_data_len;
	memcpy(n->private_data, event->param.conn.private_data, n->private_bytes);
}

/* Read one event and keep it where it belongs; false: none within ms. */
static bool
pump(int ms)
{
	struct pollfd p = {device.channel->fd, POLLIN, 0};
	struct rdma_cm_event *event;

	if (poll(&p, 1, ms) <= 0)
		return false;
	must(rdma_get_cm_event(device.channel, &event) == 0, "rdma_get_cm_event");
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		struct end *e = &waiting[waiting_count++];

		if (waiting_count > ENDS_MAX)
			partner_die("more requests than are kept");
		*e = (struct end){.id = event->id};
		news_put(e, event);
	} else if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT && event->id->context != NULL) {
		news_put(event->id->context, event);
	}
	rdma_ack_cm_event(event);
	return true;
}

/* The next event of that connection. */
static bool
news_of(struct end *e, uint64_t ms, struct news *n)
{
	uint64_t end = now_us() + ms * 1000;

	while (e->news_count == 0) {
		uint64_t now = now_us();

		if (now >= end || !pump((int)((end - now) / 1000) + 1))
			return false;
	}
	*n = e->news[0];
	memmove(e->news, e->news + 1, --e->news_count * sizeof(*n));
	return true;
}

static void
make_qp(struct end *e)
{
	struct ibv_qp_init_attr init = verbs_qp_attributes(device.cq);

	must(rdma_create_qp(e->id, device.pd, &init) == 0, "rdma_create_qp");
	e->qp = e->id->qp;
}

static struct rdma_conn_param
parameters(const char *bytes, const char *seed)
{
	static uint8_t private_data[PRIVATE_MAX];
	uint8_t length = (uint8_t)number_of(bytes);

	pattern(private_data, length, number_of(seed));
	return (struct rdma_conn_param){.private_data = private_data,
		.private_data_len = length,
		.responder_resources = READS,
		.initiator_depth = READS,
		.retry_count = 7,
		.rnr_retry_count = 7};
}

void
run_listen(char **words)
{
	struct sockaddr_storage any = verbs_address("::", words[0]);

	must(rdma_create_id(device.channel, &listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_bind_addr(listener, (struct sockaddr *)&any) == 0, "rdma_bind_addr");
	must(rdma_listen(listener, 1024) == 0, "rdma_listen");
	partner_ok("%s", "");
}

static void
expect(struct end *e, enum rdma_cm_event_type want)
{
	struct news n;

	if (!news_of(e, ADDRESS_MS, &n) || n.event != want)
		partner_die("no %s", rdma_event_str(want));
}

/* NAME ADDRESS PORT BYTES SEED */
void
run_ask(char **words)
{
	struct sockaddr_storage where = verbs_address(words[1], words[2]);
	struct rdma_conn_param param = parameters(words[3], words[4]);
	struct end *e = end_new(words[0]);

	must(rdma_create_id(device.channel, &e->id, e, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_resolve_addr(e->id, NULL, (struct sockaddr *)&where, ADDRESS_MS) == 0,
		"rdma_resolve_addr");
	expect(e, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(rdma_resolve_route(e->id, ADDRESS_MS) == 0, "rdma_resolve_route");
	expect(e, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(e);
	if (rdma_connect(e->id, &param) != 0)
		partner_error("rdma_connect refuses");
	else
		partner_ok("%s", "");
}

void
run_asked(char **words)
{
	uint64_t end = now_us() + number_of(words[1]) * 1000;
	struct end *e;

	while (waiting_count == 0) {
		uint64_t now = now_us();

		if (now >= end || !pump((int)((end - now) / 1000) + 1)) {
			partner_ok("none");
			return;
		}
	}
	e = end_new(words[0]);
	e->id = waiting[0].id;
	e->id->context = e;
	partner_ok("%s", hex(waiting[0].news[0].private_data, waiting[0].news[0].private_bytes));
	memmove(waiting, waiting + 1, --waiting_count * sizeof(waiting[0]));
}

void
run_accept(char **words)
{
	struct end *e = end_of(words[0]);
	struct rdma_conn_param param = parameters(words[1], words[2]);

	make_qp(e);
	if (rdma_accept(e->id, &param) != 0)
		partner_error("rdma_accept refuses");
	else
		partner_ok("%s", "");
}

void
run_reject(char **words)
{
	struct end *e = end_of(words[0]);
	struct rdma_conn_param param = parameters(words[1], words[2]);

	if (rdma_reject(e->id, param.private_data, param.private_data_len) != 0)
		partner_error("rdma_reject refuses");
	else
		partner_ok("%s", "");
}

void
run_outcome(char **words)
{
	struct end *e = end_of(words[0]);
	struct news n;

	if (!news_of(e, number_of(words[1]), &n))
		partner_ok("none");
	else if (n.event == RDMA_CM_EVENT_ESTABLISHED)
		partner_ok("established %s", hex(n.private_data, n.private_bytes));
	else if (n.event == RDMA_CM_EVENT_REJECTED)
		partner_ok("refused %d %s", n.status, hex(n.private_data, n.private_bytes));
	else
		partner_ok("%s", rdma_event_str(n.event) + strlen("RDMA_CM_EVENT_"));
}

void
run_leave(char **words)
{
	struct end *e = end_of(words[0]);

	e->leaving = true;
	must(rdma_disconnect(e->id) == 0, "rdma_disconnect");
	partner_ok("%s", "");
}

void
run_left(char **words)
{
	struct end *e = end_of(words[0]);
	struct news n;

	if (!news_of(e, number_of(words[1]), &n)) {
		partner_ok("none");
		return;
	}
	if (n.event != RDMA_CM_EVENT_DISCONNECTED)
		partner_die("%s instead of the end", rdma_event_str(n.event));
	if (!e->leaving)
		must(rdma_disconnect(e->id) == 0, "rdma_disconnect"); /* which answers */
	partner_ok("left");
}
