/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams in the library: what reaches the ring, what a header says, and daemons without them. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ndclient/mem/pd.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/ud/ah.h"
#include "ndclient/ud/listener.h"
#include "rigs/posting.h"

#define DEPTH 4u
#define MTU   100u

static struct nd_ah ah; /* ready */

static struct posting *
make(void)
{
	struct posting *b = posting_new(DEPTH);

	b->a->info.path_mtu = MTU;
	b->a->abi_minor = NDSH_ABI_MINOR;
	b->qp.state = ND_QP_DATAGRAM;
	ah = (struct nd_ah){.adapter = b->a, .token = 0x40003, .state = ND_AH_READY};
	return b;
}

Test(ndclient_ud, a_datagram_reaches_the_ring_as_posted)
{
	struct posting *b = make();
	struct nd_sge sge[2] = {{(void *)0x1000, 10, 5}, {(void *)0x2000, MTU - 10, 6}};
	struct ndsh_send s;

	cr_assert(eq(i32,
		nd_ud_send_with_immediate(&b->qp, (void *)42, sge, 2, &ah, 0x123456, 0x1234567,
			0x11223344, ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT),
		ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(u64, s.context, 42));
	cr_expect(eq(u64, s.raddr, UINT64_C(0x0123456700123456)));
	cr_expect(eq(u32, s.rkey, 0x40003));
	cr_expect(eq(u32, s.imm, 0x11223344));
	cr_expect(eq(int, s.op, NDSH_OP_SEND_IMM));
	cr_expect(eq(int, s.flags, NDSH_WRF_SILENT | NDSH_WRF_SOLICIT));
	cr_expect(eq(u32, s.bytes, MTU));
	cr_expect(eq(u64, b->page.summary, 1), "the bell was rung");
	cr_assert(eq(i32, nd_ud_send(&b->qp, NULL, NULL, 0, &ah, 2, 0, 0), ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(int, s.op, NDSH_OP_SEND));
	posting_free(b);
}

/* And then nothing was queued. */
Test(ndclient_ud, what_is_refused_at_the_post)
{
	struct posting *b = make();
	struct nd_sge sge[3] = {{(void *)0x1000, MTU, 5}, {(void *)0x2000, 1, 6}};
	struct nd_adapter other;
	struct ndsh_send s;

	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 2, &ah, 2, 0, 0), ND_BUFFER_OVERFLOW));
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, ND_OP_FLAG_INLINE),
		ND_BUFFER_OVERFLOW));
	sge[0].bytes = 1;
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 3, &ah, 2, 0, 0), ND_DATA_OVERRUN));
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, NULL, 2, 0, 0), ND_INVALID_PARAMETER_4));
	ah.adapter = &other;
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, 0), ND_INVALID_PARAMETER_4));
	ah.adapter = b->a;
	for (uint64_t n = 0; n < 4; n++) {
		static const uint32_t none[] = {0, 1, 0xffffff, 0x1000002};

		cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, none[n], 0, 0),
			ND_INVALID_PARAMETER_5));
	}
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, ND_OP_FLAG_READ_FENCE),
		ND_INVALID_PARAMETER_7));
	cr_expect(eq(i32, nd_ud_send_with_immediate(&b->qp, NULL, sge, 1, &ah, 2, 0, 0, 8),
		ND_INVALID_PARAMETER_8));
	for (uint32_t state = ND_AH_IDLE; state <= ND_AH_BUSY; state++) {
		ah.state = state;
		cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, 0),
			ND_ADDRESS_NOT_ASSOCIATED));
	}
	ah.state = ND_AH_READY;
	b->qp.state = ND_QP_CONNECTED;
	cr_expect(
		eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, 0), ND_INVALID_DEVICE_REQUEST));
	b->qp.state = ND_QP_DATAGRAM;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, sge, 1, 0), ND_CONNECTION_INVALID));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_EMPTY));
	for (uint32_t i = 0; i < DEPTH; i++)
		cr_assert(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, 0), ND_NO_MORE_ENTRIES));
	b->a->gone = 1;
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, sge, 1, &ah, 2, 0, 0), ND_DEVICE_REMOVED));
	posting_free(b);
}

/* checks W-PKT-07: both families, and what is neither. */
Test(ndclient_ud, W_PKT_07_who_sent_it)
{
	uint8_t v4[40] = {[20] = 0x45, [32] = 192, [33] = 0, [34] = 2, [35] = 7};
	uint8_t v6[40] = {[0] = 0x60, [8] = 0xfd, [23] = 9}, none[40] = {0};
	struct sockaddr_storage addr;
	socklen_t bytes = sizeof(addr);
	const struct sockaddr_in *in = (const void *)&addr;
	const struct sockaddr_in6 *in6 = (const void *)&addr;

	cr_assert(eq(i32, nd_ud_source(v4, (struct sockaddr *)&addr, &bytes), ND_SUCCESS));
	cr_expect(eq(u32, bytes, sizeof(*in)));
	cr_expect(eq(int, in->sin_family, AF_INET));
	cr_expect(eq(u32, ntohl(in->sin_addr.s_addr), 0xc0000207));
	cr_expect(eq(int, in->sin_port, 0));
	bytes = sizeof(addr);
	cr_assert(eq(i32, nd_ud_source(v6, (struct sockaddr *)&addr, &bytes), ND_SUCCESS));
	cr_expect(eq(u32, bytes, sizeof(*in6)));
	cr_expect(eq(int, in6->sin6_family, AF_INET6));
	cr_expect_arr_eq(&in6->sin6_addr, v6 + 8, 16);
	bytes = 4;
	cr_expect(eq(i32, nd_ud_source(v4, (struct sockaddr *)&addr, &bytes), ND_BUFFER_OVERFLOW));
	cr_expect(eq(u32, bytes, sizeof(*in)));
	cr_expect(eq(
		i32, nd_ud_source(none, (struct sockaddr *)&addr, &bytes), ND_INVALID_PARAMETER));
	cr_expect(eq(
		i32, nd_ud_source(NULL, (struct sockaddr *)&addr, &bytes), ND_INVALID_PARAMETER));
}

/* Nothing is sent to a daemon that would take it for a broken message. */
Test(ndclient_ud, an_older_daemon)
{
	struct posting *b = make();
	struct nd_pd pd = {.adapter = b->a};
	const struct nd_ud_question question = {.id = 1};
	struct nd_qp_options options = {0};
	struct nd_ud_listener *l;
	struct nd_ah *none;
	struct nd_qp *qp;

	b->a->abi_minor = NDSH_MINOR_UD - 1;
	cr_expect(eq(i32, nd_ud_qp_create(&pd, &options, 1, &qp), ND_NOT_SUPPORTED));
	cr_expect_not_null(strstr(nd_last_error(), "too old for nd_ud_qp_create()"));
	cr_expect(eq(i32, nd_ah_create(b->a, &none), ND_NOT_SUPPORTED));
	cr_expect(eq(i32, nd_ud_listener_create(b->a, &l), ND_NOT_SUPPORTED));
	cr_expect(eq(i32, nd_ud_reject(b->a, &question, NULL, 0), ND_NOT_SUPPORTED));
	cr_expect(qp == NULL && none == NULL && l == NULL);
	posting_free(b);
}

/* checks W-MC-06[3]: a group's handle takes the number of all queue pairs, no other handle does. */
Test(ndclient_ud, W_MC_06_the_number_of_a_group)
{
	struct posting *b = make();
	struct ndsh_send s;

	ah.group = true;
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, NULL, 0, &ah, 2, 0, 0), ND_INVALID_PARAMETER_5));
	cr_assert(
		eq(i32, nd_ud_send(&b->qp, NULL, NULL, 0, &ah, ND_UD_GROUP_QP, 5, 0), ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(u64, s.raddr, UINT64_C(0x0000000500ffffff)));
	ah.group = false;
	cr_expect(eq(i32, nd_ud_send(&b->qp, NULL, NULL, 0, &ah, ND_UD_GROUP_QP, 5, 0),
		ND_INVALID_PARAMETER_5));
	posting_free(b);
}

/* checks W-PKT-07: where it was sent to, for both families. */
Test(ndclient_ud, W_PKT_07_where_it_was_sent_to)
{
	uint8_t v4[40] = {[20] = 0x45, [36] = 239, [37] = 1, [38] = 2, [39] = 3}, none[40] = {0};
	uint8_t v6[40] = {[0] = 0x60, [24] = 0xff, [25] = 0x15, [39] = 9};
	struct sockaddr_storage addr;
	socklen_t bytes = sizeof(addr);
	const struct sockaddr_in *in = (const void *)&addr;
	const struct sockaddr_in6 *in6 = (const void *)&addr;

	cr_assert(eq(i32, nd_ud_destination(v4, (struct sockaddr *)&addr, &bytes), ND_SUCCESS));
	cr_expect(eq(u32, ntohl(in->sin_addr.s_addr), 0xef010203));
	bytes = sizeof(addr);
	cr_assert(eq(i32, nd_ud_destination(v6, (struct sockaddr *)&addr, &bytes), ND_SUCCESS));
	cr_expect(eq(int, memcmp(&in6->sin6_addr, v6 + 24, 16), 0));
	cr_expect(eq(i32, nd_ud_destination(none, (struct sockaddr *)&addr, &bytes),
		ND_INVALID_PARAMETER));
}

/* What is refused before the daemon is asked. */
Test(ndclient_ud, groups_that_are_none)
{
	static const char *const none[] = {"192.0.2.1", "223.255.255.255", "240.0.0.0",
		"255.255.255.255", "fd00::1", "ff00::1", "ff01::1", "::"};
	struct posting *b = make();
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef000001)};
	const struct sockaddr *good = (const struct sockaddr *)&in;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct sockaddr_in v4 = {.sin_family = AF_INET};
		struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
		const bool four = inet_pton(AF_INET, none[i], &v4.sin_addr) == 1;
		const struct sockaddr *a = four ? (void *)&v4 : (void *)&v6;

		if (!four)
			cr_assert(eq(int, inet_pton(AF_INET6, none[i], &v6.sin6_addr), 1));
		cr_expect(eq(i32, nd_ud_qp_attach(&b->qp, a, four ? sizeof(v4) : sizeof(v6), 0),
				  ND_INVALID_ADDRESS),
			"%s", none[i]);
		cr_expect(eq(i32, nd_ud_qp_detach(&b->qp, a, four ? sizeof(v4) : sizeof(v6)),
				  ND_INVALID_ADDRESS),
			"%s", none[i]);
	}
	cr_expect(eq(i32, nd_ud_qp_attach(&b->qp, good, sizeof(in), 2), ND_INVALID_PARAMETER_4));
	b->a->abi_minor = NDSH_MINOR_MULTICAST - 1;
	cr_expect(eq(i32, nd_ud_qp_attach(&b->qp, good, sizeof(in), 0), ND_NOT_SUPPORTED));
	b->qp.state = ND_QP_CONNECTED;
	cr_expect(eq(i32, nd_ud_qp_attach(&b->qp, good, sizeof(in), 0), ND_INVALID_DEVICE_REQUEST));
	posting_free(b);
}
