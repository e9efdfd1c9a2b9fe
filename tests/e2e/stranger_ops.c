/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics and immediates with a foreign peer, in both directions. */
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "scenarios.h"
#include "stranger.h"

/* As in verbspeer.h. */
#define ADDS	  200u
#define ADDEND	  3u
#define SWAPPED	  0x1122334455667788u
#define SEND_IMM  0x01020304u
#define WRITE_IMM 0x05060708u
#define BYTES	  5000u

#define WORD_AT	   8192
#define TARGET_AT  16384
#define ATOMIC_MEM (ND_MR_FLAG_ALLOW_REMOTE_ATOMIC | ND_MR_FLAG_ALLOW_REMOTE_WRITE)

static uint64_t *
word(const struct side *s)
{
	return (uint64_t *)(void *)(s->buf + WORD_AT);
}

/* The peer does them, and at last one behind the region, which ends the connection. (Its own
 * library refuses an atomic that is not aligned.) */
void
scenario_stranger_does_atomics(struct pair *p)
{
	struct nd_result result;
	struct nd_mr *mr;

	stranger_connect(p);
	WANT(ND_SUCCESS, region_new(p->a.pd, p->a.buf, BUFFER_BYTES, ATOMIC_MEM, &mr));
	*word(&p->a) = 0;
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	stranger_tell(&p->a, &(struct stranger_message){.what = "F",
				     .token = nd_mr_remote_token(mr),
				     .bytes = BUFFER_BYTES - WORD_AT,
				     .address = (uintptr_t)word(&p->a)});
	CHECK(strcmp(stranger_told(&p->a).what, "F") == 0);
	CHECK(*word(&p->a) == SWAPPED);
	WANT(ND_CANCELED, side_result(&p->a, &result)); /* by the one that was refused */
	CHECK(*word(&p->a) == SWAPPED && word(&p->a)[1] == 0);
	side_close(&p->a);
}

static uint64_t
atomic(struct side *s, const struct stranger_message *m, bool add, uint64_t operand, uint64_t swap)
{
	struct nd_sge sge = {s->buf, 8, nd_mr_local_token(s->mr)};
	struct nd_result result;
	uint64_t was;

	WANT(ND_SUCCESS, add ? nd_qp_fetch_add(s->qp, NULL, &sge, m->address, m->token, operand, 0)
			     : nd_qp_compare_swap(
				       s->qp, NULL, &sge, m->address, m->token, operand, swap, 0));
	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_ATOMIC && result.bytes_transferred == 8);
	memcpy(&was, s->buf, 8);
	return was;
}

void
scenario_stranger_has_atomics(struct pair *p)
{
	struct stranger_message m;

	stranger_connect(p);
	stranger_tell(&p->a, &(struct stranger_message){.what = "W"});
	m = stranger_told(&p->a);
	for (uint64_t i = 0; i < ADDS; i++)
		CHECK(atomic(&p->a, &m, true, ADDEND, 0) == i * ADDEND);
	CHECK(atomic(&p->a, &m, false, ADDS * ADDEND, SWAPPED) == ADDS * ADDEND);
	CHECK(atomic(&p->a, &m, false, ADDS * ADDEND, 1) == SWAPPED);
	stranger_tell(&p->a, &m);
	side_close(&p->a);
}

/* The result of a receive that something with this immediate took. */
static void
want_immediate(struct side *s, enum nd_request_type type, uint32_t immediate)
{
	struct nd_result_ex result;

	WANT(ND_SUCCESS, side_result_ex(s, &result));
	CHECK(result.request_type == type && ntohl(result.immediate) == immediate);
}

void
scenario_stranger_immediates(struct pair *p)
{
	struct side *a = &p->a;
	struct stranger_message m;
	struct nd_result result;
	struct nd_sge sge;

	stranger_connect(p);
	stranger_tell(a, &(struct stranger_message){.what = "I",
				 .token = nd_mr_remote_token(a->mr),
				 .address = (uintptr_t)a->buf + TARGET_AT});
	m = stranger_told(a);
	WANT(ND_SUCCESS, side_receive(a, 100));
	WANT(ND_SUCCESS, side_receive(a, 100));
	memset(a->buf + WORD_AT, 0x5a, BYTES);
	sge = (struct nd_sge){a->buf + WORD_AT, sizeof(m), nd_mr_local_token(a->mr)};
	WANT(ND_SUCCESS, nd_qp_send_with_immediate(a->qp, NULL, &sge, 1, htonl(SEND_IMM), 0));
	WANT(ND_SUCCESS, side_result(a, &result));
	sge.bytes = BYTES;
	WANT(ND_SUCCESS, nd_qp_write_with_immediate(
				 a->qp, NULL, &sge, 1, m.address, m.token, htonl(WRITE_IMM), 0));
	WANT(ND_SUCCESS, side_result(a, &result));
	want_immediate(a, ND_REQUEST_RECEIVE_WITH_IMMEDIATE, SEND_IMM);
	want_immediate(a, ND_REQUEST_WRITTEN_WITH_IMMEDIATE, WRITE_IMM);
	for (uint32_t i = 0; i < BYTES; i++)
		CHECK(a->buf[TARGET_AT + i] == (char)0xa5);
	side_close(a);
}
