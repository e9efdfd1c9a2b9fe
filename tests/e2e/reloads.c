/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams while the daemon's addresses and routes come and go; change_cases.py does that, between
 * the words that are said here.
 */
#include <stdio.h>
#include <string.h>

#include "scenarios.h"

#define BYTES 100u

static nd_status
create_qp(struct side *s)
{
	const struct nd_qp_options options = {
		.receive_cq = s->cq,
		.initiator_cq = s->cq,
		.context = s,
		.receive_depth = 4,
		.initiator_depth = 4,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};

	return nd_ud_qp_create(s->pd, &options, ND_UD_Q_KEY, &s->qp);
}

static nd_status
lead(struct nd_ah *ah, const struct side *to)
{
	struct nd_overlapped ov = {0};

	return finish(
		nd_ah_resolve(ah, (const struct sockaddr *)&to->addr, to->addr_bytes, &ov), &ov);
}

static struct nd_ah *
handle_to(struct side *s, const struct side *to)
{
	struct nd_ah *ah;

	WANT(ND_SUCCESS, nd_ah_create(s->adapter, &ah));
	WANT(ND_SUCCESS, lead(ah, to));
	return ah;
}

static void
open_both(struct pair *p)
{
	side_open(&p->a, 64);
	side_open(&p->b, 64);
	WANT(ND_SUCCESS, create_qp(&p->a));
	WANT(ND_SUCCESS, create_qp(&p->b));
}

static nd_status
post(struct side *s, struct nd_ah *ah, const struct side *to)
{
	struct nd_sge sge = {s->buf, BYTES, nd_mr_local_token(s->mr)};

	return nd_ud_send(s->qp, NULL, &sge, 1, ah, nd_qp_number(to->qp), ND_UD_Q_KEY, 0);
}

static void
arrives(struct side *from, struct nd_ah *ah, struct side *to)
{
	struct nd_result result;

	WANT(ND_SUCCESS, side_receive(to, ND_UD_HEADER_BYTES + BYTES));
	WANT(ND_SUCCESS, post(from, ah, to));
	WANT(ND_SUCCESS, side_result(from, &result));
	WANT(ND_SUCCESS, side_result(to, &result));
	CHECK(result.bytes_transferred == ND_UD_HEADER_BYTES + BYTES);
}

static void
say(const char *word)
{
	puts(word);
	fflush(stdout);
}

/* The next of the queue pair's; what is told of the adapter is passed over. */
static enum nd_event_type
next_of_qp(struct side *s)
{
	struct nd_event event = {.qp = NULL};
	struct nd_overlapped ov = {0};

	while (event.qp != s->qp) {
		WANT(ND_PENDING, nd_adapter_notify_event(s->adapter, &ov));
		WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
		WANT(ND_SUCCESS, nd_adapter_get_event(s->adapter, &event));
	}
	return event.type;
}

/* a's address goes: its queue pair ends, its handle leads nowhere. It is back: both may begin
 * again. */
void
scenario_reload_address(struct pair *p)
{
	struct nd_result result;
	struct nd_event event;
	struct nd_ah *to_b;
	nd_status st;

	open_both(p);
	WANT(ND_NO_MORE_ENTRIES, nd_adapter_get_event(p->a.adapter, &event));
	to_b = handle_to(&p->a, &p->b);
	arrives(&p->a, to_b, &p->b);
	WANT(ND_SUCCESS, side_receive(&p->a, ND_UD_HEADER_BYTES + BYTES));
	say("ready");
	CHECK(next_of_qp(&p->a) == ND_EVENT_QP_FATAL);
	WANT(ND_CANCELED, side_result(&p->a, &result));
	WANT(ND_ADDRESS_NOT_ASSOCIATED, post(&p->a, to_b, &p->b));
	WANT(ND_NETWORK_UNREACHABLE, lead(to_b, &p->b));
	WANT(ND_INVALID_DEVICE_STATE, nd_ud_qp_modify(p->a.qp, ND_UD_Q_KEY));
	WANT(ND_SUCCESS, nd_qp_close(p->a.qp));
	WANT(ND_INVALID_ADDRESS, create_qp(&p->a));
	say("gone");
	while ((st = create_qp(&p->a)) == ND_INVALID_ADDRESS)
		sleep_ms(10); /* ndtest has an alarm */
	WANT(ND_SUCCESS, st);
	WANT(ND_SUCCESS, lead(to_b, &p->b));
	arrives(&p->a, to_b, &p->b);
	pair_close(p);
}

/* The way to b goes: so does the handle, and the queue pair stays. */
void
scenario_reload_route(struct pair *p)
{
	struct nd_ah *to_b, *to_a;
	struct nd_result result;
	nd_status st;

	open_both(p);
	to_b = handle_to(&p->a, &p->b);
	to_a = handle_to(&p->b, &p->a);
	arrives(&p->a, to_b, &p->b);
	say("ready");
	while ((st = post(&p->a, to_b, &p->b)) == ND_SUCCESS) {
		st = side_result(&p->a, &result);
		if (st == ND_SUCCESS)
			continue;
		WANT(ND_INTERNAL_ERROR, st); /* on its way when the handle ended */
		WANT(ND_SUCCESS, nd_ud_qp_modify(p->a.qp, ND_UD_Q_KEY));
	}
	WANT(ND_ADDRESS_NOT_ASSOCIATED, st);
	WANT(ND_NETWORK_UNREACHABLE, lead(to_b, &p->b));
	arrives(&p->b, to_a, &p->a);
	say("gone");
	while ((st = lead(to_b, &p->b)) == ND_NETWORK_UNREACHABLE)
		sleep_ms(10);
	WANT(ND_SUCCESS, st);
	arrives(&p->a, to_b, &p->b);
	pair_close(p);
}
