/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of queue pairs, into the message and back. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <string.h>

#include "ndclient/face/attributes.h"

static struct nd_qp_attributes
all_different(void)
{
	struct nd_qp_attributes a = {
		.mask = ND_QP_ATTRIBUTE_PATH | ND_QP_ATTRIBUTE_ACCESS,
		.access = ND_QP_ALLOW_REMOTE_READ | ND_QP_ALLOW_REMOTE_ATOMIC,
		.flow_label = 1,
		.traffic_class = 2,
		.hop_limit = 3,
		.inbound_reads = 4,
		.outbound_reads = 5,
		.path_mtu = 1024,
		.peer_number = 6,
		.rq_psn = 7,
		.sq_psn = 8,
		.timeout = 9,
		.retries = 1,
		.rnr_retries = 2,
		.min_rnr_timer = 10,
		.keepalive_ms = 11,
	};
	struct sockaddr_in *in = (void *)&a.peer;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(0x0a000001);
	return a;
}

Test(ndclient_attributes, there_and_back)
{
	struct nd_qp_attributes in = all_different(), out;
	struct ndsh_qp_attr m;

	cr_assert(eq(i32, nd_attributes_out(&m, &in), ND_SUCCESS));
	cr_expect(eq(u32, m.mask, in.mask), "one mask");
	cr_expect(eq(u32, m.access, NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_ATOMIC));
	nd_attributes_in(&out, &m);
	in.mask = 0; /* an answer has none */
	cr_expect(zero(int, memcmp(&in, &out, sizeof(in))));
}

Test(ndclient_attributes, what_does_not_fit_is_refused)
{
	struct nd_qp_attributes a = all_different();
	struct ndsh_qp_attr m;

	a.access |= 1u << 31;
	cr_expect(eq(i32, nd_attributes_out(&m, &a), ND_INVALID_PARAMETER));
	a = all_different();
	a.peer.ss_family = AF_UNIX;
	cr_expect(eq(i32, nd_attributes_out(&m, &a), ND_INVALID_ADDRESS));
	a.mask &= ~ND_QP_ATTRIBUTE_PATH; /* then the peer is not looked at */
	cr_expect(eq(i32, nd_attributes_out(&m, &a), ND_SUCCESS));
}

Test(ndclient_attributes, no_peer_as_long_as_none_was_given)
{
	const struct ndsh_qp_attr m = {.mask = 0};
	struct nd_qp_attributes a;

	nd_attributes_in(&a, &m);
	cr_expect(eq(u16, a.peer.ss_family, 0));
}
