/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast-register regions in the engine: their pages, their tokens, their ends. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/fast.h"

#define BYTES_ALL (FAST_PAGES * FAST_PAGE)

/* ---- what the peer does through them ---- */

static void
fill(uint8_t *p, uint32_t bytes, uint32_t seed)
{
	for (uint32_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(seed = seed * 1103515245 + 12345, seed >> 16);
}

static void
expect_bytes(struct pair *p, const struct fast *f, uint32_t at, const uint8_t *want, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		cr_assert_eq(*fast_byte(p, f, 0, at + i), want[i], "byte %u", at + i);
}

/* Ranges that begin and end around the edges of pages and packets. */
static const struct {
	uint32_t at, bytes;
} ranges[] = {{0, 1}, {0, FAST_PAGE}, {FAST_PAGE - 1, 2}, {FAST_PAGE, FAST_PAGE},
	{1, 3 * FAST_PAGE}, {100, BYTES_ALL - 200}, {0, BYTES_ALL - 100}, {BYTES_ALL - 101, 1},
	{5 * FAST_PAGE - 1000, 3000}, {2 * FAST_PAGE - 100, 1}};

/* Each byte goes to and comes from the page that the list names for it; the base is a number only.
 * checks R-FR-01, R-RW-03 */
Test(fast_register, every_byte_in_its_page)
{
	static const uint32_t mtus[] = {256, 1024, 4096};

	for (size_t m = 0; m < 3; m++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = mtus[m]});
		struct fast *f = fast_new(p, true);

		f->offset = 100;
		fast_register(p, 0, 1, f, 0, FAST_PAGES, BYTES_ALL - 100, FAST_LOCAL | WINDOW_RW);
		pair_run(p, PAIR_LONG);
		cr_assert_eq(pair_expect(p, 1, 1, NDSH_WC_SUCCESS).op, NDSH_OP_FAST_REGISTER);
		for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
			uint32_t at = ranges[i].at, from = WINDOW_AT + f->offset + at;
			uint8_t *there = p->side[0].arena + from;

			fill(there, ranges[i].bytes, (uint32_t)(i + 3 * m));
			window_use(p, 0, 2, NDSH_OP_WRITE, f->token, from, ranges[i].bytes);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
			expect_bytes(p, f, at, there, ranges[i].bytes);
			memset(there, 0, ranges[i].bytes);
			window_use(p, 0, 3, NDSH_OP_READ, f->token, from, ranges[i].bytes);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
			expect_bytes(p, f, at, there, ranges[i].bytes);
		}
		fast_free(p, f);
	}
}

/* checks R-FR-03[4]: not a byte beside what was registered, though the page has more. */
Test(fast_register, R_FR_03_nothing_outside)
{
	const uint32_t bytes = 3 * FAST_PAGE + 50;
	const struct {
		uint32_t at, bytes;
	} outside[] = {{WINDOW_AT + 99, 1}, {WINDOW_AT + 99, bytes}, {WINDOW_AT + 100 + bytes, 1},
		{WINDOW_AT + 101 + bytes, 1}, {WINDOW_AT + 101, bytes},
		{WINDOW_AT + 100 + bytes - 1, 2}, {0, 8}};

	for (size_t i = 0; i < 2 * sizeof(outside) / sizeof(outside[0]); i++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = WINDOW_MTU});
		struct fast *f = fast_new(p, true);

		f->offset = 100;
		fast_register(p, 0, 1, f, 0, 4, bytes, FAST_LOCAL | WINDOW_RW);
		window_use(p, 0, 2, NDSH_OP_WRITE, f->token, WINDOW_AT + 100 + bytes - 1, 1);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		window_expect_closed(p, 0, i & 1 ? NDSH_OP_READ : NDSH_OP_WRITE, f->token,
			outside[i / 2].at, outside[i / 2].bytes);
		fast_free(p, f);
	}
}

Test(fast_register, only_the_rights_that_were_given)
{
	static const struct {
		uint32_t access;
		uint8_t op;
	} refused[] = {{0, NDSH_OP_READ}, {FAST_LOCAL, NDSH_OP_WRITE},
		{FAST_LOCAL | WINDOW_READ, NDSH_OP_WRITE},
		{FAST_LOCAL | WINDOW_WRITE, NDSH_OP_READ}};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_ready(p, refused[i].access);

		window_expect_closed(p, 0, refused[i].op, f->token, WINDOW_AT, 8);
		fast_free(p, f);
	}
}

/* ---- tokens ---- */

/*
 * The peer acts on what a SEND right behind the registration tells it; checks R-FR-07[2],
 * R-ORD-08[3].
 */
Test(fast_register, a_send_behind_it_finds_it_done)
{
	struct pair *p = window_pair();
	struct fast *f = fast_new(p, true);

	pair_recv(p, 0, 0, 9, 0, 64);
	fast_register(p, 0, 2, f, 0, 1, FAST_PAGE, FAST_LOCAL | WINDOW_WRITE);
	pair_send(p, 1, 0, 3, 0, 8, 0);
	while (!p->side[0].reader.page->produced)
		p->now_ns += 100, pair_turn(p, 0), pair_turn(p, 1);
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	window_use(p, 0, 4, NDSH_OP_WRITE, f->token, WINDOW_AT, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	fast_free(p, f);
}

/*
 * Registered, invalidated, registered anew with other pages; the token of before is dead and
 * stays so. checks R-FR-05[3], R-FR-10[1], R-INV-01[2], W-INV-03[2,3]
 */
Test(fast_register, R_FR_01_again_and_again)
{
	for (uint32_t rounds = 1; rounds < 8; rounds++) {
		struct pair *p = window_pair();
		struct fast *f = fast_new(p, true);
		uint32_t before = 0;

		for (uint32_t r = 0; r < rounds; r++) {
			before = f->token;
			fast_register(
				p, 0, 1, f, r % 2, FAST_PAGES, BYTES_ALL, FAST_LOCAL | WINDOW_RW);
			window_use(p, 0, 2, NDSH_OP_WRITE, f->token, WINDOW_AT + FAST_PAGE, 8);
			p->side[0].arena[WINDOW_AT + FAST_PAGE] = (uint8_t)(r + 1);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
			pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
			cr_assert_eq(*fast_byte(p, f, r % 2, FAST_PAGE), r + 1);
			cr_assert_neq(f->token, before);
			if (r + 1 < rounds)
				window_invalidate(p, 0, 3, f->token, 0);
			pair_run(p, PAIR_LONG);
			if (r + 1 < rounds)
				pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
		}
		window_expect_closed(
			p, 0, NDSH_OP_WRITE, before != 0 ? before : f->token ^ 1, WINDOW_AT, 8);
		fast_free(p, f);
	}
}

/*
 * checks R-FR-05[2]: the owner's token is not the peer's, nor the other way round: by kind, not
 * by value.
 */
Test(fast_register, R_FR_05_each_side_has_its_own_token)
{
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
	struct ndsh_sge sge = {.addr = FAST_BASE, .len = 8, .key = f->local};

	pair_recv(p, 0, 0, 9, 0, 64);
	pair_post(p, 1, 0,
		&(struct ndsh_swr){.context = 2, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)}, &sge,
		NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	window_expect_closed(p, 0, NDSH_OP_WRITE, f->local, WINDOW_AT, 8);
	pair_expect_alive(p, 1, 1);
	sge.key = f->token;
	pair_post(p, 1, 1,
		&(struct ndsh_swr){.context = 3, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)}, &sge,
		NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_LOC_PROT_ERR);
	fast_free(p, f);
}

/* ---- registrations that fail ---- */

static void
register_fails(struct pair *p, struct fast *f, uint8_t status)
{
	pair_send(p, 1, 0, 8, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 7, status);
	pair_expect(p, 1, 8, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_FRMR);
	fast_free(p, f);
}

/* checks W-MEM-05[5] */
Test(fast_register, R_FR_06_what_is_registered)
{
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL);

	fast_register(p, 0, 7, f, 1, 1, 8, FAST_LOCAL);
	register_fails(p, f, NDSH_WC_LOC_QP_OP_ERR);
}

/* Another queue pair was faster with a later one, or with this very one: the token is not given any
 * more. */
Test(fast_register, overtaken_by_another)
{
	for (uint32_t before = 0; before < 2; before++) {
		struct pair *p = window_pair();
		struct fast *f = fast_new(p, true);

		f->generation = 5;
		fast_register(p, 1, 1, f, 0, 1, 8, FAST_LOCAL);
		window_invalidate(p, 1, 2, f->token, 0);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		f->generation = 5 - before;
		fast_register(p, 0, 7, f, 0, 1, 8, FAST_LOCAL);
		register_fails(p, f, NDSH_WC_LOC_QP_OP_ERR);
	}
}

/* A page that is not shared memory of this client, in any place of the list. */
Test(fast_register, pages_that_are_not_shared)
{
	const uint64_t bad[] = {0, FAST_VA - FAST_PAGE, FAST_VA + FAST_EXTENT,
		FAST_VA + 3 * FAST_EXTENT - FAST_PAGE, FAST_VA + 4 * FAST_EXTENT, FAST_VA + 1,
		FAST_VA + FAST_PAGE / 2, UINT64_MAX - FAST_PAGE + 1,
		FAST_VA + FAST_EXTENT - FAST_PAGE / 2};

	for (uint32_t i = 0; i < 2 * sizeof(bad) / sizeof(bad[0]); i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_new(p, true);

		f->lists[2][i & 1 ? FAST_PAGES - 1 : 0] = bad[i / 2];
		fast_register(p, 0, 7, f, 2, FAST_PAGES, 8, FAST_LOCAL);
		register_fails(p, f, NDSH_WC_LOC_PROT_ERR);
	}
}

/* What the library would have refused ends the session: limits, rights, tokens. */
Test(fast_register, lies_are_breaches)
{
	for (unsigned i = 0; i < 4; i++) {
		struct pair *p = pair_new(&(struct pair_opts){.ignore_events = true});
		struct fast *f = fast_new(p, false);

		if (i == 0)
			fast_register(p, 0, 7, f, 0, FAST_PAGES + 1, 8, FAST_LOCAL);
		else if (i == 1)
			fast_register(p, 0, 7, f, 0, 1, 8, FAST_LOCAL | WINDOW_READ);
		else if (i == 2)
			f->generation = UINT32_MAX, fast_register(p, 0, 7, f, 0, 1, 8, FAST_LOCAL);
		else
			f->secret++, fast_register(p, 0, 7, f, 0, 1, 8, FAST_LOCAL);
		pair_run(p, PAIR_LONG);
		pair_expect_dead(p, 1, 0, ROCE_REASON_CLIENT_BREACH);
		cr_assert(p->side[1].events & 1u << ROCE_EV_CLIENT_BREACH);
		fast_free(p, f);
	}
}

/* The list is the client's again with the result: what it writes there changes nothing. */
Test(fast_register, the_list_was_copied)
{
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
	uint8_t *byte = fast_byte(p, f, 0, FAST_PAGE);

	memset(f->lists, 0xff, sizeof(f->lists));
	p->side[0].arena[WINDOW_AT + FAST_PAGE] = 0x77;
	window_use(p, 0, 2, NDSH_OP_WRITE, f->token, WINDOW_AT + FAST_PAGE, 1);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(*byte, 0x77);
	fast_free(p, f);
}

/* Memory that the client gave back is out of reach, registered or not. */
Test(fast_register, memory_that_is_gone)
{
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);

	f->arena.count = 1;
	window_use(p, 0, 2, NDSH_OP_WRITE, f->token, WINDOW_AT, 8); /* in the first extent */
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	window_expect_closed(p, 0, NDSH_OP_READ, f->token, WINDOW_AT + FAST_PAGE, 8);
	window_expect_closed(p, 1, NDSH_OP_WRITE, f->token, WINDOW_AT + FAST_PAGE - 1, 2);
	fast_free(p, f);
}

/* checks W-RESP-13: a message whose last byte is outside is refused with its first packet. */
Test(fast_register, W_RESP_13_the_whole_length)
{
	for (uint32_t i = 0; i < 4; i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
		const uint32_t mtu = p->opts.mtu, over = i & 1,
			       at = i & 2 ? 0 : BYTES_ALL - 2 * mtu;
		const uint8_t payload[ROCE_MTU_MAX] = {0x77};

		*fast_byte(p, f, 0, at) = 0;
		pair_inject(p, 1, 0,
			&(struct roce_pkt){.opcode = ROCE_WRITE_FIRST,
				.pkey = ROCE_PKEY_DEFAULT,
				.qpn = roce_qp_num(p->side[1].q[0].qp),
				.psn = p->opts.sq_psn[0],
				.va = FAST_BASE + at,
				.rkey = f->token,
				.dma_bytes = BYTES_ALL - at + over,
				.payload_bytes = mtu},
			payload);
		pair_turn(p, 1);
		cr_assert_eq(*fast_byte(p, f, 0, at), over == 0 ? 0x77 : 0);
		cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp),
			over == 0 ? ROCE_QPS_RTS : ROCE_QPS_ERR);
		fast_free(p, f);
	}
}
