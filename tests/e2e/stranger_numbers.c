/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair that a foreign peer brings up by the numbers that it was told, with verbs' own calls
 * (tests/interop/verbspeer_numbers.c).
 */
#include <string.h>

#include "scenarios.h"
#include "stranger.h"

/* As in verbspeer.h. */
#define BYTES 5000u

#define AT	     16384 /* of what both reach */
#define KEEPALIVE_MS 200
#define TIMEOUT_CODE 16

static nd_status
modify(struct nd_qp *qp, uint32_t state, const struct nd_qp_attributes *attr)
{
	struct nd_overlapped ov = {0};

	return finish(nd_qp_modify(qp, state, attr, &ov), &ov);
}

static void
bring_up(struct pair *p, struct nd_qp *qp, uint32_t psn, const struct stranger_message *theirs)
{
	const struct nd_qp_attributes attr = {
		.mask = ND_QP_TO_RTR | ND_QP_TO_RTS | ND_QP_ATTRIBUTE_ACCESS |
			ND_QP_ATTRIBUTE_KEEPALIVE,
		.access = ND_QP_ALLOW_REMOTE_READ | ND_QP_ALLOW_REMOTE_WRITE,
		.peer = p->b.addr,
		.path_mtu = 1024,
		.peer_number = theirs->bytes,
		.rq_psn = theirs->reserved,
		.sq_psn = psn,
		.inbound_reads = 1,
		.outbound_reads = 1,
		.timeout = TIMEOUT_CODE,
		.retries = 7,
		.rnr_retries = 7,
		.min_rnr_timer = 12,
		.keepalive_ms = KEEPALIVE_MS,
	};

	WANT(ND_SUCCESS, modify(qp, ND_QP_STATE_RTS, &attr));
}

static uint32_t
state_of(struct nd_qp *qp)
{
	struct nd_qp_info info;

	WANT(ND_SUCCESS, nd_qp_query(qp, &info));
	return info.state;
}

static void
write_there(struct side *s, struct nd_qp *qp, const struct stranger_message *to)
{
	struct nd_sge sge = {s->buf + AT, BYTES, nd_mr_local_token(s->mr)};
	struct nd_result result;

	memset(s->buf + AT, 0x5a, BYTES);
	WANT(ND_SUCCESS, nd_qp_write(qp, NULL, &sge, 1, to->address, to->token, 0));
	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_WRITE);
}

/* It stays up unused, by keepalives that its peer acknowledges, until that one has
 * gone without a word. */
void
scenario_stranger_by_numbers(struct pair *p)
{
	struct stranger_message theirs;
	struct nd_qp *connected, *by_hand;
	struct nd_qp_info info;

	stranger_connect(p);
	connected = p->a.qp;
	side_create_qp(&p->a, 16);
	by_hand = p->a.qp;
	p->a.qp = connected;
	WANT(ND_SUCCESS, nd_qp_query(by_hand, &info));
	stranger_tell(&p->a, &(struct stranger_message){.what = "N",
				     .token = nd_mr_remote_token(p->a.mr),
				     .bytes = info.number,
				     .reserved = info.first_psn,
				     .address = (uintptr_t)p->a.buf + AT});
	theirs = stranger_told(&p->a);
	bring_up(p, by_hand, info.first_psn, &theirs);
	write_there(&p->a, by_hand, &theirs);
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	stranger_tell(&p->a, &(struct stranger_message){.what = "N"});
	(void)stranger_told(&p->a); /* it has written, and read that back */
	for (uint32_t i = 0; i < BYTES; i++)
		CHECK((uint8_t)p->a.buf[AT + i] == 0xa5);
	CHECK(side_quiet(&p->a, 6 * KEEPALIVE_MS));
	CHECK(state_of(by_hand) == ND_QP_STATE_RTS);
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	stranger_tell(&p->a, &(struct stranger_message){.what = "N"});
	(void)stranger_told(&p->a); /* its end is gone */
	for (int ms = 0; ms < PATIENCE_MS && state_of(by_hand) == ND_QP_STATE_RTS; ms += 10)
		sleep_ms(10);
	CHECK(state_of(by_hand) == ND_QP_STATE_ERROR);
	stranger_tell(&p->a, &(struct stranger_message){.what = "N"});
	WANT(ND_SUCCESS, nd_qp_close(by_hand));
	side_close(&p->a);
}
