/* SPDX-License-Identifier: BSD-3-Clause */
/* What the network says of a REQ: when it is believed, and what comes of it. */
#include <criterion/criterion.h>

#include "cm/manager.h"
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
Test(cm_undelivered, W_CM_64_of_REQs_alone)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	const struct cm_mad m = {.attr = CM_ATTR_REJ,
		.tid = b.conn->tid,
		.local_id = b.conn->local_id,
		.which = CM_WHICH_OTHER,
		.reason = ROCE_CM_REASON_TIMEOUT};

	undelivered(&b, &m, &b.net->host[CM_NET_P].gid, ROCE_CM_NO_SERVICE);
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
