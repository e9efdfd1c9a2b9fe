/* SPDX-License-Identifier: BSD-3-Clause */
/* ndpartner: connections, one at a time by name. */
#include "nd.h"

#include <arpa/inet.h>
#include <string.h>

static struct nd_listener *listener;
/* The next request goes here. */
static struct nd_connector *fresh;
static struct nd_overlapped request;

static void
take_next(void)
{
	nd_status st;

	must(nd_connector_create(device.adapter, &fresh), "nd_connector_create");
	st = nd_listener_get_request(listener, fresh, &request);
	must(st == ND_PENDING ? ND_SUCCESS : st, "nd_listener_get_request");
}

void
run_listen(char **words)
{
	struct sockaddr_storage where = device.local;

	/* The port is at one place in the addresses of both families. */
	((struct sockaddr_in *)&where)->sin_port = htons((uint16_t)number_of(words[0]));
	must(nd_listener_create(device.adapter, &listener), "nd_listener_create");
	must(nd_listener_listen(listener, (struct sockaddr *)&where, device.local_bytes, 0),
		"nd_listener_listen");
	take_next();
	partner_ok("%s", "");
}

static const uint8_t *
private_data(const char *bytes, const char *seed, uint32_t *length)
{
	static uint8_t data[PRIVATE_MAX];

	*length = (uint32_t)number_of(bytes);
	if (*length > sizeof(data))
		partner_die("too much private data for this program");
	pattern(data, *length, number_of(seed));
	return data;
}

static const char *
peers_data(const struct end *e)
{
	uint8_t data[PRIVATE_MAX];
	uint32_t bytes = sizeof(data);

	must(nd_connector_private_data(e->connector, data, &bytes), "nd_connector_private_data");
	return hex(data, bytes);
}

/* Inline refusals are answers, too. */
static void
answer(nd_status st)
{
	if (st == ND_PENDING || st == ND_SUCCESS)
		partner_ok("%s", "");
	else
		partner_error("%s", status_word(st));
}

/* NAME ADDRESS PORT BYTES SEED */
void
run_ask(char **words)
{
	struct sockaddr_storage where;
	socklen_t where_bytes = nd_address(words[1], words[2], &where);
	struct end *e = end_new(words[0]);
	uint32_t bytes;
	const uint8_t *data = private_data(words[3], words[4], &bytes);

	e->qp = new_qp(device.cq, DEPTH);
	e->active = true;
	must(nd_connector_create(device.adapter, &e->connector), "nd_connector_create");
	answer(nd_connector_connect(e->connector, e->qp, (struct sockaddr *)&where, where_bytes,
		READS, READS, data, bytes, &e->step));
}

void
run_asked(char **words)
{
	struct end *e;
	nd_status st = nd_overlapped_wait(&request, (int)number_of(words[1]));

	if (st == ND_TIMEOUT) {
		partner_ok("none");
		return;
	}
	must(st, "nd_listener_get_request");
	e = end_new(words[0]);
	e->connector = fresh;
	partner_ok("%s", peers_data(e));
	take_next();
}

void
run_accept(char **words)
{
	struct end *e = end_of(words[0]);
	uint32_t bytes;
	const uint8_t *data = private_data(words[1], words[2], &bytes);

	if (e->qp == NULL)
		e->qp = new_qp(device.cq, DEPTH);
	answer(nd_connector_accept(e->connector, e->qp, READS, READS, data, bytes, &e->step));
}

void
run_reject(char **words)
{
	uint32_t bytes;
	const uint8_t *data = private_data(words[1], words[2], &bytes);

	answer(nd_connector_reject(end_of(words[0])->connector, data, bytes));
}

void
run_outcome(char **words)
{
	struct end *e = end_of(words[0]);
	nd_status st = nd_overlapped_wait(&e->step, (int)number_of(words[1]));
	const char *data = "-";

	if (st == ND_TIMEOUT) {
		partner_ok("none");
	} else if (st == ND_CONNECTION_REFUSED && e->active) {
		uint32_t reason = nd_connector_reject_reason(e->connector);

		partner_ok("refused %u %s", reason, peers_data(e));
	} else if (st != ND_SUCCESS) {
		partner_ok("%s", status_word(st));
	} else {
		if (e->active) {
			data = peers_data(e);
			must(wait_for(nd_connector_complete_connect(e->connector, &e->step),
				     &e->step),
				"nd_connector_complete_connect");
		}
		partner_ok("established %s", data);
	}
}

void
run_leave(char **words)
{
	struct end *e = end_of(words[0]);

	e->leaving = true;
	answer(nd_connector_disconnect(e->connector, &e->farewell));
}

void
run_left(char **words)
{
	struct end *e = end_of(words[0]);
	int ms = (int)number_of(words[1]);
	nd_status st = ND_PENDING;

	if (!e->leaving && !e->watching) {
		e->watching = true;
		st = nd_connector_notify_disconnect(e->connector, &e->gone);
	}
	if (!e->leaving) {
		if (st == ND_PENDING)
			st = nd_overlapped_wait(&e->gone, ms);
		if (st == ND_TIMEOUT) {
			partner_ok("none");
			return;
		}
		must(st, "nd_connector_notify_disconnect");
		e->leaving = true;
		st = nd_connector_disconnect(e->connector, &e->farewell);
		if (st != ND_PENDING) {
			partner_ok("left"); /* nothing is left to be told */
			return;
		}
	}
	st = nd_overlapped_wait(&e->farewell, ms);
	if (st == ND_TIMEOUT && nd_overlapped_status(&e->farewell) == ND_PENDING)
		partner_ok("none");
	else
		partner_ok("%s", st == ND_SUCCESS ? "left" : status_word(st));
}
