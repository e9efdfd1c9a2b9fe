/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics and immediates, in both directions. */
#include <arpa/inet.h>

#include "verbspeer.h"

static void
post_atomic(struct peer *p, struct ibv_send_wr *wr, uint64_t address)
{
	wr->wr.atomic.remote_addr = address;
	wr->wr.atomic.rkey = ntohl(p->area.in.token);
	peer_post(p, wr, &p->area.was, sizeof(p->area.was));
}

static void
swap(struct peer *p, uint64_t compare, uint64_t value, uint64_t was)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = {.compare_add = compare, .swap = value}};

	post_atomic(p, &wr, p->area.in.address);
	peer_expect(p, IBV_WC_SUCCESS, "compare-and-swap");
	peer_check(p->area.was == was, "compare-and-swap found another value");
}

void
peer_uses_word(struct peer *p)
{
	struct ibv_send_wr add = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .wr.atomic.compare_add = ADDEND};

	for (uint64_t i = 0; i < ADDS; i++) {
		post_atomic(p, &add, p->area.in.address);
		peer_expect(p, IBV_WC_SUCCESS, "fetch-and-add");
		peer_check(p->area.was == i * ADDEND, "fetch-and-add found another value");
	}
	swap(p, ADDS * ADDEND, SWAPPED, ADDS * ADDEND);
	swap(p, ADDS * ADDEND, 1, SWAPPED);
	peer_tell(p, &(struct message){.what = "F"});
	post_atomic(p, &add, p->area.in.address + p->area.in.bytes);
	peer_expect(p, IBV_WC_REM_ACCESS_ERR, "fetch-and-add behind the region");
}

void
peer_offers_word(struct peer *p)
{
	peer_receive(p);
	peer_tell(p, &(struct message){"W", htonl(p->mr->rkey), 8, 0, (uintptr_t)&p->area.word});
	peer_expect(p, IBV_WC_SUCCESS, "receive of the end");
	peer_check(p->area.word == SWAPPED, "the word is another one");
}

/* The completion of a receive that something with this immediate took. */
static void
expect_immediate(struct peer *p, enum ibv_wc_opcode opcode, uint32_t imm, uint32_t bytes)
{
	struct ibv_wc wc = peer_expect(p, IBV_WC_SUCCESS, "receive with immediate");

	peer_check(wc.opcode == opcode, "another operation took the receive");
	peer_check(wc.wc_flags & IBV_WC_WITH_IMM, "the completion says nothing of an immediate");
	peer_check(ntohl(wc.imm_data) == imm, "another immediate came");
	peer_check(wc.byte_len == bytes, "another length came");
}

void
peer_immediates(struct peer *p)
{
	const struct message asked = p->area.in;
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(SEND_IMM)};
	struct ibv_send_wr write = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(WRITE_IMM),
		.wr.rdma = {asked.address, ntohl(asked.token)}};

	peer_receive(p);
	peer_receive(p);
	peer_tell(
		p, &(struct message){"I", htonl(p->mr->rkey), BYTES, 0, (uintptr_t)p->area.target});
	expect_immediate(p, IBV_WC_RECV, SEND_IMM, sizeof(struct message));
	expect_immediate(p, IBV_WC_RECV_RDMA_WITH_IMM, WRITE_IMM, BYTES);
	for (uint32_t i = 0; i < BYTES; i++)
		peer_check(p->area.target[i] == 0x5a, "the write has not arrived");
	memset(p->area.source, 0xa5, BYTES);
	peer_post(p, &send, &p->area.out, sizeof(p->area.out));
	peer_expect(p, IBV_WC_SUCCESS, "send with immediate");
	peer_post(p, &write, p->area.source, BYTES);
	peer_expect(p, IBV_WC_SUCCESS, "write with immediate");
}
