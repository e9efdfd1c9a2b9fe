/* SPDX-License-Identifier: BSD-3-Clause */
/* ndpartner: connections in great numbers, with a message on each. */
#include "nd.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CQ_DEPTH 4096
#define AT_ONCE	 512 /* that are served at a time */
#define SEED	 1

enum phase { FREE, BEGUN, UP, LEAVING };

struct one {
	enum phase phase;
	struct nd_connector *connector;
	struct nd_qp *qp;
	struct nd_overlapped step, gone;
	uint64_t begun;
};

static struct one ones[AT_ONCE];
static struct nd_cq *cq;

static struct nd_sge
message(void)
{
	return (struct nd_sge){partner_area, BULK_MESSAGE, nd_mr_local_token(device.mr)};
}

static void
begin(void)
{
	memset(ones, 0, sizeof(ones));
	must(nd_cq_create(device.adapter, CQ_DEPTH, &cq), "nd_cq_create");
	pattern(partner_area, BULK_MESSAGE, SEED);
}

/* How many messages have come, or gone, since this was asked last. */
static unsigned int
messages(void)
{
	struct nd_result r;
	unsigned int count = 0;

	while (nd_cq_get_results(cq, &r, 1) == 1) {
		if (r.status == ND_SUCCESS)
			count++;
		else if (r.status != ND_CANCELED)
			partner_die("message: %s", nd_status_name(r.status));
	}
	return count;
}

static void
rest(void)
{
	const struct timespec moment = {.tv_nsec = 100000};

	nanosleep(&moment, NULL);
}

static void
one_close(struct one *o)
{
	must(nd_qp_close(o->qp), "nd_qp_close");
	(void)nd_connector_close(o->connector);
	o->phase = FREE;
}

static bool
has_ended(struct nd_overlapped *ov, nd_status *st)
{
	*st = nd_overlapped_status(ov);
	return *st != ND_PENDING;
}

/* One that is served is looked after; true: it came to its end now. */
static bool
serve_one(struct one *o)
{
	nd_status st;

	if (o->phase == BEGUN && has_ended(&o->step, &st)) {
		must(st, "nd_connector_accept");
		st = nd_connector_notify_disconnect(o->connector, &o->gone);
		if (st != ND_PENDING)
			must(st, "nd_connector_notify_disconnect");
		o->phase = UP;
	}
	if (o->phase == UP && has_ended(&o->gone, &st)) {
		o->phase = LEAVING;
		(void)nd_connector_disconnect(o->connector, &o->step);
	}
	if (o->phase == LEAVING && has_ended(&o->step, &st)) {
		one_close(o);
		return true;
	}
	return false;
}

static struct one *
one_free(void)
{
	for (struct one *o = ones; o < ones + AT_ONCE; o++)
		if (o->phase == FREE)
			return o;
	partner_die("more connections at a time than this program serves");
}

static void
serve_request(struct nd_connector *c)
{
	struct nd_sge sge = message();
	struct one *o = one_free();
	nd_status st;

	*o = (struct one){.phase = BEGUN, .connector = c, .qp = new_qp(cq, 2)};
	must(nd_qp_receive(o->qp, NULL, &sge, 1), "nd_qp_receive");
	st = nd_connector_accept(c, o->qp, 1, 1, NULL, 0, &o->step);
	if (st != ND_PENDING)
		must(st, "nd_connector_accept");
}

static void
take_next(struct nd_listener *l, struct nd_connector **next, struct nd_overlapped *request)
{
	nd_status st;

	must(nd_connector_create(device.adapter, next), "nd_connector_create");
	st = nd_listener_get_request(l, *next, request);
	must(st == ND_PENDING ? ND_SUCCESS : st, "nd_listener_get_request");
}

/* PORT COUNT */
void
run_serve(char **words)
{
	uint64_t count = number_of(words[1]), ended = 0;
	struct sockaddr_storage where = device.local;
	struct nd_overlapped request = {0};
	unsigned int came = 0;
	struct nd_connector *next;
	struct nd_listener *l;
	nd_status st;

	begin();
	((struct sockaddr_in *)&where)->sin_port = htons((uint16_t)number_of(words[0]));
	must(nd_listener_create(device.adapter, &l), "nd_listener_create");
	must(nd_listener_listen(l, (struct sockaddr *)&where, device.local_bytes, 0),
		"nd_listener_listen");
	take_next(l, &next, &request);
	partner_ok("listening");
	while (ended < count) {
		while (has_ended(&request, &st)) {
			must(st, "nd_listener_get_request");
			serve_request(next);
			take_next(l, &next, &request);
		}
		for (struct one *o = ones; o < ones + AT_ONCE; o++)
			ended += serve_one(o);
		came += messages();
		rest();
	}
	came += messages();
	(void)nd_listener_close(l);
	(void)nd_connector_close(next);
	must(nd_cq_close(cq), "nd_cq_close");
	partner_ok("%u messages", came);
}

/* true: it is established now, and its message under way. */
static bool
call_one(struct one *o, uint64_t *us)
{
	struct nd_sge sge = message();
	nd_status st;

	if (o->phase != BEGUN || !has_ended(&o->step, &st))
		return false;
	must(st, "nd_connector_connect");
	must(wait_for(nd_connector_complete_connect(o->connector, &o->step), &o->step),
		"nd_connector_complete_connect");
	*us = now_us() - o->begun;
	o->phase = UP;
	must(nd_qp_send(o->qp, NULL, &sge, 1, 0), "nd_qp_send");
	return true;
}

static void
call_some(uint64_t at_once, const struct sockaddr *where, socklen_t bytes, uint64_t *us)
{
	uint64_t up = 0, sent = 0;
	nd_status st;

	for (struct one *o = ones; o < ones + at_once; o++) {
		*o = (struct one){.phase = BEGUN, .qp = new_qp(cq, 2)};
		must(nd_connector_create(device.adapter, &o->connector), "nd_connector_create");
		o->begun = now_us();
		st = nd_connector_connect(
			o->connector, o->qp, where, bytes, 1, 1, NULL, 0, &o->step);
		must(st == ND_PENDING ? ND_SUCCESS : st, "nd_connector_connect");
	}
	while (up < at_once || sent < at_once) {
		for (struct one *o = ones; o < ones + at_once; o++)
			up += call_one(o, &us[up]);
		sent += messages();
		rest();
	}
	for (struct one *o = ones; o < ones + at_once; o++) {
		st = nd_connector_disconnect(o->connector, &o->step);
		if (st != ND_PENDING)
			must(st, "nd_connector_disconnect");
	}
	for (struct one *o = ones; o < ones + at_once; o++) {
		must(wait_for(ND_PENDING, &o->step), "nd_connector_disconnect");
		one_close(o);
	}
}

/* ADDRESS PORT COUNT AT-ONCE */
void
run_call(char **words)
{
	uint64_t count = number_of(words[2]), at_once = number_of(words[3]);
	uint64_t *us = calloc(count + at_once, sizeof(*us));
	struct sockaddr_storage where;
	socklen_t bytes = nd_address(words[0], words[1], &where);

	if (at_once > AT_ONCE)
		partner_die("so many at once are too many");
	begin();
	for (uint64_t done = 0; done < count; done += at_once)
		call_some(at_once, (struct sockaddr *)&where, bytes, us + done);
	must(nd_cq_close(cq), "nd_cq_close");
	partner_ok("%lu us", (unsigned long)median(us, count));
	free(us);
}
