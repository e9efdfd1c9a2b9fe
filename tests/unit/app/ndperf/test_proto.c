/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "ndperf/proto.h"

static const struct ndperf_params params = {.op = NDPERF_SEND,
	.mode = NDPERF_BW,
	.verify = true,
	.qps = 7,
	.depth = 128,
	.max_bytes = 8u << 20};

static void
hello_wire(uint8_t wire[NDPERF_HELLO_BYTES])
{
	const struct ndperf_hello h = {
		.role = NDPERF_DATA, .params = params, .index = 6, .session = 0x0123456789abcdef};

	ndperf_hello_encode(&h, wire);
}

Test(ndperf_proto, hello_survives_the_wire)
{
	uint8_t wire[NDPERF_HELLO_BYTES];
	struct ndperf_hello h;

	hello_wire(wire);
	cr_assert_eq(ndperf_hello_decode(wire, sizeof(wire), &h), NDPERF_WELCOME);
	cr_assert_eq(h.role, NDPERF_DATA);
	cr_assert_eq(h.index, 6);
	cr_assert_eq(h.session, 0x0123456789abcdef);
	cr_assert_eq(h.params.op, NDPERF_SEND);
	cr_assert_eq(h.params.mode, NDPERF_BW);
	cr_assert(h.params.verify);
	cr_assert_eq(h.params.qps, 7);
	cr_assert_eq(h.params.depth, 128);
	cr_assert_eq(h.params.max_bytes, 8u << 20);
}

Test(ndperf_proto, hello_is_little_endian_and_begins_with_the_magic)
{
	uint8_t wire[NDPERF_HELLO_BYTES];

	hello_wire(wire);
	cr_assert_eq(memcmp(wire, "NDPF\x01\x00", 6), 0);
	cr_assert_eq(wire[12], 7);
	cr_assert_eq(wire[32], 0xef);
}

/* Transports pad private data with zeros (R-CONN-08). */
Test(ndperf_proto, hello_may_be_padded_but_not_cut)
{
	uint8_t wire[56] = {0};
	struct ndperf_hello h;

	hello_wire(wire);
	cr_assert_eq(ndperf_hello_decode(wire, sizeof(wire), &h), NDPERF_WELCOME);
	for (size_t n = 0; n < NDPERF_HELLO_BYTES; n++)
		cr_assert_eq(ndperf_hello_decode(wire, n, &h), NDPERF_BAD_HELLO);
}

Test(ndperf_proto, hello_out_of_range_is_refused)
{
	static const struct {
		uint8_t at, value;
		enum ndperf_refusal refusal;
	} bad[] = {
		{0, 'X', NDPERF_BAD_HELLO},
		{4, 2, NDPERF_BAD_HELLO},
		{6, 0, NDPERF_BAD_HELLO},
		{6, 3, NDPERF_BAD_HELLO},
		{7, 0, NDPERF_BAD_PARAMS},
		{7, 4, NDPERF_BAD_PARAMS},
		{8, 3, NDPERF_BAD_PARAMS},
		{9, 2, NDPERF_BAD_PARAMS},
		{8, NDPERF_LAT, NDPERF_BAD_PARAMS}, /* latency has one queue pair */
		{12, 0, NDPERF_BAD_PARAMS},
		{12, 6, NDPERF_BAD_PARAMS}, /* index 6 of 6 */
		{13, 2, NDPERF_BAD_PARAMS},
		{18, 1, NDPERF_BAD_PARAMS},
		{31, 1, NDPERF_BAD_PARAMS},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t wire[NDPERF_HELLO_BYTES];
		struct ndperf_hello h;

		hello_wire(wire);
		wire[bad[i].at] = bad[i].value;
		cr_assert_eq(
			ndperf_hello_decode(wire, sizeof(wire), &h), bad[i].refusal, "case %zu", i);
	}
}

Test(ndperf_proto, welcome_and_message_survive_the_wire)
{
	const struct ndperf_welcome w = {.refusal = NDPERF_BUSY,
		.session = 1,
		.address = 1ull << 47,
		.token = 0x80000001,
		.receives = 256};
	const struct ndperf_msg m = {.type = NDPERF_RESULT,
		.bad = true,
		.step = 3,
		.token = 4,
		.address = 5,
		.size = 1ull << 30,
		.count = 7,
		.qp = 8,
		.message = 9,
		.offset = 10};
	uint8_t wire[NDPERF_MSG_BYTES];
	struct ndperf_welcome w2;
	struct ndperf_msg m2;

	ndperf_welcome_encode(&w, wire);
	cr_assert(ndperf_welcome_decode(wire, NDPERF_WELCOME_BYTES, &w2));
	cr_assert_eq(w2.refusal, w.refusal);
	cr_assert_eq(w2.address, w.address);
	cr_assert_eq(w2.token, w.token);
	cr_assert_eq(w2.receives, w.receives);
	cr_assert_not(ndperf_welcome_decode(wire, NDPERF_WELCOME_BYTES - 1, &w2));

	ndperf_msg_encode(&m, wire);
	cr_assert(ndperf_msg_decode(wire, sizeof(wire), &m2));
	cr_assert(m2.type == m.type && m2.bad && m2.step == 3 && m2.token == 4 && m2.address == 5);
	cr_assert(m2.size == 1ull << 30 && m2.count == 7 && m2.qp == 8 && m2.message == 9);
	cr_assert_eq(m2.offset, 10);
	cr_assert_not(ndperf_msg_decode(wire, sizeof(wire) - 1, &m2));
	wire[6] = NDPERF_MSG_LAST + 1;
	cr_assert_not(ndperf_msg_decode(wire, sizeof(wire), &m2));
}

/* Every message of every size has a place inside its region; regions and the rest don't overlap. */
Test(ndperf_layout, slots_stay_inside_their_region)
{
	struct ndperf_params p = params;
	struct ndperf_layout l;

	for (int verify = 0; verify < 2; verify++) {
		for (p.max_bytes = 1; p.max_bytes <= 64u << 20; p.max_bytes = p.max_bytes * 3 + 1) {
			p.verify = verify;
			ndperf_layout(&p, &l);
			cr_assert_geq(l.echo, p.qps * l.region);
			cr_assert_geq(l.credits, l.echo + p.max_bytes);
			cr_assert_eq(l.credits % 8, 0);
			cr_assert_geq(l.bytes, l.credits + 8 * p.qps);
			for (uint64_t size = 1; size <= p.max_bytes; size = size * 2 + 1) {
				uint32_t slots = ndperf_slots(&p, &l, size);

				cr_assert_geq(slots, 1);
				cr_assert_leq(slots, p.depth);
				cr_assert_leq(slots * ndperf_stride(size), l.region);
			}
			if (verify)
				cr_assert_geq(ndperf_slots(&p, &l, p.max_bytes), 4);
		}
	}
}
