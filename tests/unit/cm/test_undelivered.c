/* SPDX-License-Identifier: BSD-3-Clause */
/* What the network says of a REQ or SIDR_REQ: when it is believed, and what comes of it. */
#include <criterion/criterion.h>

#include "cm/manager.h"
#include "cm/sidr.h"
#include "rigs/cm_at.h"

/* As the network would quote the connection's REQ. */
static struct cm_mad
quoted_req(const struct cm_at_bench *b)
{
	const struct roce_gid *peer = &b->net->host[CM_NET_P].gid,
			      *me = &b->net->host[CM_NET_A].gid;
	const struct cm_ip_hdr ip = {.src = *me, .dst = *peer, .src_port = 40000};
	struct cm_mad m = cm_at_mad(b, REQ_SAME);

	m.tid = b->conn->tid;
	m.local_id = b->conn->local_id;
	m.sgid = *me;
	m.dgid = *peer;
	cm_ip_hdr_encode(m.priv, &ip);
	return m;
}

static void
undelivered(struct cm_at_bench *b, const struct cm_mad *m, const struct roce_gid *to,
	enum roce_cm_undelivered why)
{
	uint8_t mad[ROCE_MAD_BYTES];

	cm_mad_encode(mad, m);
	roce_cm_undelivered(b->cm, b->net->now_ns, to, mad, why);
}

static bool
has_ended(struct cm_at_bench *b, enum roce_cm_undelivered why)
{
	struct roce_cm_event ev;

	if (!roce_cm_event(b->cm, &ev))
		return false;
	cr_assert_eq(ev.type, ROCE_CM_EV_UNREACHABLE);
	cr_assert_eq(ev.undelivered, why);
	return true;
}

/* checks W-CM-64[5,7]: the peer's host has no port 4791: at the first copy. */
Test(cm_undelivered, W_CM_64_a_refusal_ends_it_at_once)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	const struct cm_mad req = quoted_req(&b);
	struct roce_cm_tx tx;
	struct cm_mad rej;

	undelivered(&b, &req, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_SERVICE);
	cr_assert(has_ended(&b, ROCE_CM_NO_SERVICE));
	cr_assert(roce_cm_tx(b.cm, &tx));
	cr_assert_eq(cm_mad_decode(&rej, tx.mad), CM_DECODE_OK);
	cr_expect_eq(rej.attr, CM_ATTR_REJ);
	cr_expect_eq(rej.reason, ROCE_CM_REASON_TIMEOUT);
	cr_expect_eq(b.cm->counters.undelivered, 1);
	undelivered(&b, &req, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_SERVICE);
	cr_expect_not(has_ended(&b, ROCE_CM_NO_SERVICE), "once");
	cm_net_free(b.net);
}

/* Copies of the REQ that have followed it when this says that there is no way. */
static unsigned
copies_until_no_way_ends_it(uint8_t max_retries)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	const struct cm_mad req = quoted_req(&b);
	unsigned copies = 0;

	b.conn->max_retries = max_retries;
	for (undelivered(&b, &req, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_WAY);
		!has_ended(&b, ROCE_CM_NO_WAY); copies++) {
		b.net->now_ns = b.conn->deadline_ns;
		roce_cm_tick(b.cm, b.net->now_ns);
		undelivered(&b, &req, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_WAY);
	}
	cm_net_free(b.net);
	return copies;
}

/* checks W-CM-64[6] */
Test(cm_undelivered, W_CM_64_a_way_may_be_back_in_a_moment)
{
	cr_expect_eq(copies_until_no_way_ends_it(15), 3);
	cr_expect_eq(copies_until_no_way_ends_it(4), 3);
	cr_expect_eq(copies_until_no_way_ends_it(2), 2);
	cr_expect_eq(copies_until_no_way_ends_it(0), 0);
}

/* checks W-CM-64[3,4]: one number is wrong. */
Test(cm_undelivered, W_CM_64_of_those_who_have_not_seen_the_REQ_nothing_is_believed)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	const struct roce_gid *to = &b.net->host[CM_NET_P].gid;
	struct roce_gid other = *to;
	struct cm_mad m = quoted_req(&b);

	other.raw[15] ^= 1;
	undelivered(&b, &m, &other, ROCE_CM_NO_SERVICE);
	m.tid ^= 1;
	undelivered(&b, &m, to, ROCE_CM_NO_SERVICE);
	m.tid ^= 1;
	m.local_id ^= 1;
	undelivered(&b, &m, to, ROCE_CM_NO_SERVICE);
	cr_expect_not(has_ended(&b, ROCE_CM_NO_SERVICE));
	m.local_id ^= 1;
	undelivered(&b, &m, to, ROCE_CM_NO_SERVICE);
	cr_expect(has_ended(&b, ROCE_CM_NO_SERVICE), "it was these numbers that were wrong");
	cm_net_free(b.net);
}

/* checks W-CM-64[1]: of other messages with the same ids nothing is concluded. */
Test(cm_undelivered, W_CM_64_of_what_asks_alone)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	const struct cm_mad m = {.attr = CM_ATTR_REJ,
		.tid = b.conn->tid,
		.local_id = b.conn->local_id,
		.which = CM_WHICH_OTHER,
		.reason = ROCE_CM_REASON_TIMEOUT};

	struct cm_mad other_kind = quoted_req(&b);

	other_kind.attr = CM_ATTR_SIDR_REQ;
	undelivered(&b, &m, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_SERVICE);
	undelivered(&b, &other_kind, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_SERVICE);
	cr_expect_not(has_ended(&b, ROCE_CM_NO_SERVICE));
	cm_net_free(b.net);
}

/* checks W-CM-64[2]: an attempt whose peer has been heard of, or that is over, is not
 * touched. */
Test(cm_undelivered, W_CM_64_no_connection_is_ended)
{
	for (enum cm_at at = A_MRA_REQ_RCVD; at < AT_COUNT; at++) {
		struct cm_at_bench b = cm_at_bring(at);
		struct cm_mad m;

		if (b.conn != NULL) {
			m = quoted_req(&b);
			undelivered(&b, &m, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_SERVICE);
			cr_expect_not(has_ended(&b, ROCE_CM_NO_SERVICE), "%s", cm_at_names[at]);
			cr_expect_eq(b.conn->state, cm_at_states[at], "%s", cm_at_names[at]);
			cr_expect_not(roce_cm_has_work(b.cm), "%s", cm_at_names[at]);
		}
		cm_net_free(b.net);
	}
}

/* ---- lookups ---- */

#define SIDR_REQ ATTR(CM_ATTR_SIDR_REQ)

/* A asks P, and the network loses it. */
static struct cm_net *
lookup_begin(uint8_t max_retries)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *c;

	a->drop[SIDR_REQ] = UINT32_MAX;
	c = roce_cm_sidr_query(a->cm, net->now_ns,
		&(struct roce_cm_sidr_query){.local = {a->gid, 40000},
			.remote = {net->host[CM_NET_P].gid, CM_NET_SERVICE},
			.owner = net});
	cr_assert_not_null(c);
	c->max_retries = max_retries;
	cm_net_run(net, 0);
	cr_assert_eq(a->sent[SIDR_REQ], 1);
	return net;
}

static void
lookup_undelivered(struct cm_net *net, const struct cm_mad *m, const struct roce_gid *to,
	enum roce_cm_undelivered why)
{
	uint8_t mad[ROCE_MAD_BYTES];

	cm_mad_encode(mad, m);
	roce_cm_undelivered(net->host[CM_NET_A].cm, net->now_ns, to, mad, why);
	cm_net_run(net, 0);
}

static bool
lookup_has_ended(struct cm_net *net, enum roce_cm_undelivered why)
{
	const struct cm_net_host *a = &net->host[CM_NET_A];

	if (cm_net_events(a, ROCE_CM_EV_SIDR_REPLY) == 0)
		return false;
	cr_assert(cm_net_only_event(a, ROCE_CM_EV_SIDR_REPLY)->timed_out);
	cr_assert_eq(cm_net_only_event(a, ROCE_CM_EV_SIDR_REPLY)->undelivered, why);
	return true;
}

/* checks W-CM-64[1,5,7]: a SIDR_REQ has nothing that a REJ could take back. */
Test(cm_undelivered, W_CM_64_a_refusal_ends_a_lookup_at_once)
{
	struct cm_net *net = lookup_begin(15);
	const struct cm_net_host *a = &net->host[CM_NET_A];
	const struct cm_mad req = a->last[SIDR_REQ];

	for (unsigned i = 0; i < 2; i++) {
		lookup_undelivered(net, &req, &net->host[CM_NET_P].gid, ROCE_CM_NO_SERVICE);
		cr_assert(lookup_has_ended(net, ROCE_CM_NO_SERVICE));
		cr_expect_eq(a->cm->counters.undelivered, 1);
	}
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REJ)], 0);
	cr_expect_eq(a->sent[SIDR_REQ], 1);
	cm_net_free(net);
}

static unsigned
copies_until_no_way_ends_a_lookup(uint8_t max_retries)
{
	struct cm_net *net = lookup_begin(max_retries);
	const struct cm_net_host *a = &net->host[CM_NET_A];
	const struct cm_mad req = a->last[SIDR_REQ];
	unsigned copies;

	lookup_undelivered(net, &req, &net->host[CM_NET_P].gid, ROCE_CM_NO_WAY);
	while (!lookup_has_ended(net, ROCE_CM_NO_WAY)) {
		cm_net_run(net, MS(100));
		lookup_undelivered(net, &req, &net->host[CM_NET_P].gid, ROCE_CM_NO_WAY);
	}
	copies = a->sent[SIDR_REQ] - 1;
	cm_net_free(net);
	return copies;
}

/* checks W-CM-64[6] */
Test(cm_undelivered, W_CM_64_a_lookup_waits_for_a_way_too)
{
	cr_expect_eq(copies_until_no_way_ends_a_lookup(15), 3);
	cr_expect_eq(copies_until_no_way_ends_a_lookup(2), 2);
	cr_expect_eq(copies_until_no_way_ends_a_lookup(0), 0);
}

/* checks W-CM-64[1,3,4]: one number is wrong, or the kind of message. */
Test(cm_undelivered, W_CM_64_of_a_lookup_that_was_not_seen_nothing_is_believed)
{
	struct cm_net *net = lookup_begin(15);
	const struct roce_gid *to = &net->host[CM_NET_P].gid;
	const struct cm_mad req = net->host[CM_NET_A].last[SIDR_REQ];
	struct roce_gid other = *to;
	struct cm_mad wrong[5] = {req, req, req, req, req};

	other.raw[15] ^= 1;
	wrong[0].tid ^= 1;
	wrong[1].local_id ^= 1;
	wrong[2].attr = CM_ATTR_REQ;
	wrong[3].attr = CM_ATTR_REJ;
	wrong[4].attr = CM_ATTR_SIDR_REP;
	lookup_undelivered(net, &req, &other, ROCE_CM_NO_SERVICE);
	for (unsigned i = 0; i < 5; i++)
		lookup_undelivered(net, &wrong[i], to, ROCE_CM_NO_SERVICE);
	cr_expect_not(lookup_has_ended(net, ROCE_CM_NO_SERVICE));
	lookup_undelivered(net, &req, to, ROCE_CM_NO_SERVICE);
	cr_expect(lookup_has_ended(net, ROCE_CM_NO_SERVICE), "it was these that were wrong");
	cm_net_free(net);
}
