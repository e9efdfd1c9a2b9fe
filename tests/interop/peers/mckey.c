/* SPDX-License-Identifier: BSD-3-Clause */
/* The other end of mckey, which sends to a multicast group of rdma_cm's, or receives from one. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define HEADER	     ND_UD_HEADER_BYTES
#define IN	     32768u /* offset of receives */
#define BYTES_MAX    4096u
#define MESSAGES_MAX 100u
#define PAUSE_MS     3000u /* as mckey's, for switches to learn of members */

struct mckey {
	struct side s;
	const char *own, *group;
	int sends;
	uint32_t messages, bytes;
	struct sockaddr_storage to;
	socklen_t to_bytes;
};

static int
options(struct mckey *m, int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "b:m:sC:S:")) != -1) {
		if (o == 'b')
			m->own = optarg;
		else if (o == 'm')
			m->group = optarg;
		else if (o == 's')
			m->sends = 1;
		else if (o == 'C')
			m->messages = peer_number("messages", optarg, 1, MESSAGES_MAX);
		else if (o == 'S')
			m->bytes = peer_number("bytes", optarg, 1, BYTES_MAX);
		else
			return 0;
	}
	return m->group != NULL;
}

static void
open_side(struct mckey *m)
{
	struct nd_qp_options o = {
		.context = m,
		.receive_depth = m->messages,
		.initiator_depth = m->messages,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};

	peer_open(&m->s, m->own, 2 * MESSAGES_MAX);
	o.receive_cq = o.initiator_cq = m->s.cq;
	WANT(ND_SUCCESS, nd_ud_qp_create(m->s.pd, &o, ND_UD_Q_KEY, &m->s.qp));
	peer_address(m->group, 0, &m->to, &m->to_bytes);
}

static struct nd_ud_result
next_result(struct mckey *m)
{
	struct nd_ud_result r = {.source_qp = 0};

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		int32_t n = nd_ud_get_results(m->s.cq, &r, 1);

		if (n != 0) {
			WANT(ND_SUCCESS, n < 0 ? n : r.result.status);
			return r;
		}
		sleep_ms(1);
	}
	WANT(ND_SUCCESS, ND_TIMEOUT);
	return r;
}

/* The sender's number stands in the immediate. */
static void
send_all(struct mckey *m)
{
	struct nd_sge sge = {m->s.buf, m->bytes, nd_mr_local_token(m->s.mr)};
	struct nd_overlapped ov = {0};
	struct nd_ah *ah;

	WANT(ND_SUCCESS, nd_ah_create(m->s.adapter, &ah));
	WANT(ND_PENDING, nd_ah_resolve(ah, (struct sockaddr *)&m->to, m->to_bytes, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	sleep_ms(PAUSE_MS);
	memset(m->s.buf, 0x5a, m->bytes);
	for (uint32_t i = 0; i < m->messages; i++)
		WANT(ND_SUCCESS,
			nd_ud_send_with_immediate(m->s.qp, NULL, &sge, 1, ah, ND_UD_GROUP_QP,
				ND_UD_Q_KEY, htonl(nd_qp_number(m->s.qp)), 0));
	for (uint32_t i = 0; i < m->messages; i++)
		CHECK(next_result(m).result.request_type == ND_REQUEST_SEND);
	sleep_ms(200); /* what has left is on its way */
	WANT(ND_SUCCESS, nd_ah_close(ah));
}

static void
receive_all(struct mckey *m)
{
	struct nd_sge sge = {m->s.buf + IN, HEADER + m->bytes, nd_mr_local_token(m->s.mr)};

	for (uint32_t i = 0; i < m->messages; i++)
		WANT(ND_SUCCESS, nd_qp_receive(m->s.qp, NULL, &sge, 1));
	WANT(ND_SUCCESS, nd_ud_qp_attach(m->s.qp, (struct sockaddr *)&m->to, m->to_bytes, 0));
	peer_tell("listening");
	for (uint32_t i = 0; i < m->messages; i++) {
		struct nd_ud_result r = next_result(m);
		struct sockaddr_storage addr = {0};
		socklen_t bytes = sizeof(addr);

		CHECK(r.result.request_type == ND_REQUEST_RECEIVE_WITH_IMMEDIATE);
		CHECK(r.result.bytes_transferred == HEADER + m->bytes);
		CHECK(ntohl(r.result.immediate) == r.source_qp);
		WANT(ND_SUCCESS,
			nd_ud_destination(m->s.buf + IN, (struct sockaddr *)&addr, &bytes));
		CHECK(bytes == m->to_bytes && memcmp(&addr, &m->to, bytes) == 0);
	}
	WANT(ND_SUCCESS, nd_ud_qp_detach(m->s.qp, (struct sockaddr *)&m->to, m->to_bytes));
}

int
peer_mckey(int argc, char **argv)
{
	struct mckey m = {.messages = 10, .bytes = 100};

	if (!options(&m, argc, argv))
		return 2;
	open_side(&m);
	if (m.sends)
		send_all(&m);
	else
		receive_all(&m);
	side_close(&m.s);
	return 0;
}
