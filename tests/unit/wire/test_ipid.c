/* SPDX-License-Identifier: BSD-3-Clause */
/* The identification that a packet's ICRC tells: at every length, and of every source. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "rigs/wire_rig.h"
#include "wire/icrc.h"
#include "wire/ipid.h"
#include "wire/ipid_peer.h"

#define IP_MIN 44u
#define IP_MAX 4172u
#define IP_ID  (WIRE_RIG_L3 + 4)

static struct roce_ipid *
new_table(void)
{
	struct roce_ipid *t = aligned_alloc(64, (roce_ipid_bytes() + 63) / 64 * 64);

	cr_assert_not_null(t);
	roce_ipid_init(t);
	return t;
}

static void
set_value(uint8_t *frame, uint32_t value)
{
	roce_put_be16(frame + IP_ID, (uint16_t)(value >> 1));
	roce_put_be16(frame + IP_ID + 2, (uint16_t)((value & 1) << 14));
	wire_rig_fix_checksum(frame + WIRE_RIG_L3);
}

static uint32_t
value_of(const uint8_t *frame)
{
	return ROCE_IPID(
		wire_rig_be16(frame + IP_ID), (uint32_t)wire_rig_be16(frame + IP_ID + 2) >> 14 & 1);
}

static bool
is_right(const uint8_t *frame, uint32_t bytes)
{
	bool ok = false;

	return wire_rig_parse(frame, bytes, &ok) == ROCE_WIRE_OK && ok;
}

/* What the checker of the ICRC says of a packet that is mended. checks W-ICRC-03[1] */
Test(ipid, mended_packets_are_right)
{
	static const uint32_t values[] = {ROCE_IPID(0, 1), ROCE_IPID(1, 1), ROCE_IPID(0, 0),
		ROCE_IPID(0xffff, 1), ROCE_IPID(0x8000, 0), ROCE_IPID(0x0180, 1)};
	struct roce_ipid *t = new_table();

	for (uint32_t n = 0; n <= 4096; n += n < 300 ? 1 : 61) {
		uint8_t frame[ROCE_FRAME_MAX];
		uint32_t bytes = wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, n);
		uint32_t ip_bytes = bytes - WIRE_RIG_L3, was = value_of(frame);

		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			uint8_t *icrc = frame + bytes - 4;

			set_value(frame, values[i]);
			cr_assert(was == values[i] || !is_right(frame, bytes));
			roce_put_le32(icrc,
				roce_get_le32(icrc) ^ roce_ipid_mend(t, ip_bytes, was ^ values[i]));
			was = values[i];
			cr_assert(is_right(frame, bytes), "%u bytes, value %x", n, was);
		}
	}
	free(t);
}

/* checks W-ICRC-03[1]: the source port is covered, too, in both families. */
Test(ipid, mended_source_ports_are_right)
{
	struct roce_ipid *t = new_table();

	for (uint32_t n = 0; n <= 4096; n += n < 300 ? 1 : 61)
		for (unsigned v6 = 0; v6 < 2; v6++) {
			uint8_t frame[ROCE_FRAME_MAX], *icrc;
			uint32_t bytes = wire_rig_make(
				frame, v6 ? &wire_rig_v6 : &wire_rig_v4, ROCE_SEND_ONLY, n);
			uint8_t *port = frame + WIRE_RIG_L3 + (v6 ? 40 : 20);
			uint16_t change = (uint16_t)(0x8001 + 77 * n);

			icrc = frame + bytes - 4;
			roce_put_be16(port, (uint16_t)(roce_get_be16(port) ^ change));
			cr_assert(!is_right(frame, bytes));
			roce_put_le32(icrc,
				roce_get_le32(icrc) ^ roce_ipid_mend_port(t,
							      (uint32_t)(icrc - port) - 2, change));
			cr_assert(is_right(frame, bytes), "%u bytes, v6 %u", n, v6);
		}
	free(t);
}

/* No two changes have one image, at any length: then the one that is found is the one that was. */
Test(ipid, each_length_tells_all_changes_apart)
{
	struct roce_ipid *t = new_table();
	uint32_t change;

	for (uint32_t bytes = IP_MIN; bytes <= IP_MAX; bytes++) {
		cr_assert(roce_ipid_has(bytes));
		for (uint32_t k = 0; k < ROCE_IPID_BITS; k++) {
			/* By linearity, that each bit alone is found means that all changes are. */
			cr_assert(roce_ipid_solve(
					  t, bytes, roce_ipid_mend(t, bytes, 1u << k), &change),
				"%u bytes, bit %u", bytes, k);
			cr_assert_eq(change, 1u << k, "%u bytes, bit %u", bytes, k);
		}
	}
	cr_assert(!roce_ipid_has(IP_MIN - 1));
	cr_assert(!roce_ipid_has(IP_MAX + 1));
	for (uint32_t wanted = 0; wanted < 1u << ROCE_IPID_BITS; wanted++) {
		cr_assert(roce_ipid_solve(t, 60, roce_ipid_mend(t, 60, wanted), &change));
		cr_assert_eq(change, wanted);
	}
	free(t);
}

/* Of all differences one of 2^15 is explained: no damage is more likely to pass than by chance. */
Test(ipid, few_differences_are_explained)
{
	struct roce_ipid *t = new_table();
	uint32_t explained = 0, x = 1, change;

	for (uint32_t i = 0; i < 1u << 22; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		explained += roce_ipid_solve(t, IP_MIN + 4 * (x % 1000), x, &change);
	}
	cr_assert(
		explained > 64 && explained < 256, "%u of 2^22, where 128 are expected", explained);
	free(t);
}

/* Without its identification, as a socket would give it. */
static bool
found_again(const struct roce_ipid *t, uint8_t *frame, uint32_t bytes)
{
	uint32_t value = value_of(frame), change;
	struct roce_pkt pkt;

	if (roce_wire_parse(frame, bytes, &pkt) != ROCE_WIRE_OK || pkt.v6 || pkt.tagged ||
		!roce_icrc_ok(&pkt))
		return false;
	set_value(frame, ROCE_IPID(0, 0));
	cr_assert_eq(roce_wire_parse(frame, bytes, &pkt), ROCE_WIRE_OK);
	cr_assert(roce_ipid_solve(t,
		(uint32_t)(pkt.payload + pkt.payload_bytes + pkt.pad + 4 - pkt.l3),
		roce_icrc_difference(&pkt), &change));
	cr_assert_eq(change, value);
	return true;
}

Test(ipid, of_recorded_packets)
{
	static const char *const kinds[] = {"captured", "rc", "cm"};
	struct roce_ipid *t = new_table();
	json_t *all = wire_rig_vectors(), *v;
	size_t i, checked = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		json_array_foreach(json_object_get(all, kinds[k]), i, v)
		{
			uint8_t frame[ROCE_FRAME_MAX];
			uint32_t bytes =
				wire_rig_hex(json_string_value(json_object_get(v, "frame")), frame);

			checked += found_again(t, frame, bytes);
		}
	}
	cr_assert_gt(checked, 20);
	json_decref(all);
	free(t);
}

/* ---- sources ---- */

static struct roce_ipid_peers peers;
static const uint8_t here[4] = {10, 0, 0, 1};

static const uint8_t us[4] = {10, 0, 0, 9};
static uint32_t now_ms = UINT32_MAX - 5000; /* it wraps in the midst of a test */

/* A packet of 100 bytes with that value comes from a source. */
static enum roce_ipid_verdict
come(const struct roce_ipid *t, const uint8_t ip[4], uint32_t value)
{
	struct roce_ipid_peer *p = roce_ipid_peer(&peers, ip, us);
	uint32_t guess = roce_ipid_next(p), found = 0;
	enum roce_ipid_verdict v = roce_ipid_judge(
		t, p, now_ms, 100, guess, roce_ipid_mend(t, 100, guess ^ value), &found);

	if (v == ROCE_IPID_GUESSED || v == ROCE_IPID_SOLVED)
		cr_assert_eq(found, value);
	return v;
}

Test(ipid, a_source_that_counts_is_guessed)
{
	struct roce_ipid *t = new_table();

	cr_expect_eq(
		come(t, here, ROCE_IPID(65534, 1)), ROCE_IPID_SOLVED, "nothing is known of it");
	for (uint32_t i = 65535; i < 65545; i++)
		cr_expect_eq(come(t, here, ROCE_IPID(i & 0xffff, 1)), ROCE_IPID_GUESSED);
	cr_expect_eq(come(t, here, ROCE_IPID(9 + ROCE_IPID_AHEAD, 1)), ROCE_IPID_FAR);
	cr_expect_eq(come(t, here, ROCE_IPID(10 + ROCE_IPID_AHEAD, 1)), ROCE_IPID_SOLVED,
		"it has gone on from there");
	cr_expect_eq(come(t, here, ROCE_IPID(11 + ROCE_IPID_AHEAD, 1)), ROCE_IPID_GUESSED);
	cr_expect_eq(come(t, here, ROCE_IPID(10 + 2 * ROCE_IPID_AHEAD, 1)), ROCE_IPID_SOLVED);
	cr_expect_eq(come(t, here, ROCE_IPID(10 + 2 * ROCE_IPID_AHEAD - ROCE_IPID_BACK, 1)),
		ROCE_IPID_SOLVED);
	cr_expect_eq(come(t, here, ROCE_IPID(9 + 2 * ROCE_IPID_AHEAD - 2 * ROCE_IPID_BACK, 1)),
		ROCE_IPID_FAR);
	free(t);
}

/* Linux: behind a pause, at random up to a number for each tick further, and there are 1,000 in a
 * second at most. Each packet that is taken ends a pause. */
Test(ipid, a_source_that_was_silent_may_have_gone_on)
{
	struct roce_ipid *t = new_table();

	(void)come(t, here, ROCE_IPID(0, 1));
	now_ms += 20000;
	cr_expect_eq(come(t, here, ROCE_IPID(ROCE_IPID_AHEAD + 20000, 1)), ROCE_IPID_SOLVED);
	cr_expect_eq(come(t, here, ROCE_IPID(2 * ROCE_IPID_AHEAD + 20001, 1)), ROCE_IPID_FAR);
	now_ms += 20000;
	cr_expect_eq(come(t, here, ROCE_IPID(3 * ROCE_IPID_AHEAD + 40002, 1)), ROCE_IPID_FAR);
	cr_expect_eq(come(t, here, ROCE_IPID(3 * ROCE_IPID_AHEAD + 40003, 1)), ROCE_IPID_SOLVED);
	now_ms += 20000;
	cr_expect_eq(come(t, here, ROCE_IPID(3 * ROCE_IPID_AHEAD + 39000, 1)), ROCE_IPID_FAR,
		"backwards: as little as ever");
	now_ms += 65536;
	cr_expect_eq(come(t, here, ROCE_IPID(7, 1)), ROCE_IPID_SOLVED, "any");
	free(t);
}

/* Each of their sends begins with zero: all are taken, of how many segments the sends may be. */
Test(ipid, a_source_that_begins_again_is_taken)
{
	struct roce_ipid *t = new_table();

	for (uint32_t run = 1; run <= 128; run++)
		for (uint32_t i = 0; i < run; i++)
			cr_expect_leq(come(t, here, ROCE_IPID(i, 1)), ROCE_IPID_SOLVED, "%u of %u",
				i, run);
	free(t);
}

Test(ipid, a_source_that_numbers_at_random_is_taken_in_the_end)
{
	struct roce_ipid *t = new_table();
	uint32_t far = 0, x = 77;

	for (uint32_t i = 0; i < 1000; i++) {
		x = x * 1103515245 + 12345;
		far += come(t, here, ROCE_IPID(x >> 16 & 0xffff, 1)) == ROCE_IPID_FAR;
	}
	cr_expect_geq(far, ROCE_IPID_STRAYS);
	cr_expect_lt(far, 4 * ROCE_IPID_STRAYS);
	cr_expect_eq(come(t, here, ROCE_IPID(5, 0)), ROCE_IPID_SOLVED, "nor is it held to its DF");
	free(t);
}

/* ---- a stranger who sends from the same address: another user of that machine ---- */

/* One packet of the source, which counts; is it lost? */
static uint32_t
counted_is_lost(const struct roce_ipid *t, uint32_t *next)
{
	return come(t, here, ROCE_IPID((*next)++ & 0xffff, 1)) == ROCE_IPID_FAR;
}

/* Of the stranger's packets, of which kind soever, none is near another one. */
Test(ipid, a_stranger_s_packets_do_not_lose_those_of_others)
{
	struct roce_ipid *t = new_table();
	uint32_t next = 1000, lost = 0;

	(void)counted_is_lost(t, &next);
	for (uint32_t i = 0; i < 20 * ROCE_IPID_STRAYS; i++) {
		now_ms += ROCE_IPID_REST_MS;
		(void)come(t, here, ROCE_IPID(20000 * i & 0xffff, i & 1));
		lost += counted_is_lost(t, &next);
	}
	cr_expect_eq(lost, 0);
	free(t);
}

/* Two streams, as of two programs with sockets of their own, lose one packet each at the most. */
Test(ipid, two_streams_of_one_address_are_both_taken)
{
	struct roce_ipid *t = new_table();
	uint32_t next = 1000, theirs = 30000, lost = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		lost += counted_is_lost(t, &next);
		lost += come(t, here, ROCE_IPID(theirs++, 0)) == ROCE_IPID_FAR;
	}
	cr_expect_leq(lost, 2);
	free(t);
}

/* The stranger takes both places, each time before the source sends: that goes on for a few
 * packets, whether they are a millisecond apart or seconds. */
static void
stranger_takes_all_places(uint32_t pause_ms)
{
	struct roce_ipid *t = new_table();
	uint32_t next = 1000, at = 30000, lost = 0;

	(void)counted_is_lost(t, &next);
	for (uint32_t i = 0; i < 1000; i++) {
		now_ms += pause_ms;
		for (uint32_t k = 0; k < 4; k++) {
			at += k % 2 == 0 ? 9000 : 1;
			(void)come(t, here, ROCE_IPID(at & 0xffff, 0));
		}
		lost += counted_is_lost(t, &next);
	}
	cr_expect_leq(lost, ROCE_IPID_STRAYS, "%u of 1,000", lost);
	free(t);
}

Test(ipid, a_stranger_that_takes_all_places_loses_few_packets_of_a_busy_source)
{
	stranger_takes_all_places(1);
}

Test(ipid, a_stranger_that_takes_all_places_loses_few_packets_of_a_quiet_source)
{
	stranger_takes_all_places(3000);
}

/* What was refused long ago says nothing of now: damage, at times, is no reason to take more. */
Test(ipid, strays_are_forgotten)
{
	struct roce_ipid *t = new_table();
	uint32_t next = 1000;

	for (uint32_t i = 0; i < 3 * ROCE_IPID_STRAYS; i++) {
		(void)counted_is_lost(t, &next);
		cr_expect_eq(come(t, here, ROCE_IPID(30000, 1)), ROCE_IPID_FAR);
		now_ms += ROCE_IPID_REST_MS;
	}
	free(t);
}

Test(ipid, sources_do_not_disturb_each_other)
{
	struct roce_ipid *t = new_table();
	static const uint8_t there[4] = {10, 0, 0, 2};

	for (uint32_t i = 0; i < 100; i++) {
		cr_expect_leq(come(t, here, ROCE_IPID(1000 + i, 1)), ROCE_IPID_SOLVED);
		cr_expect_leq(come(t, there, ROCE_IPID(40000 + i, 0)), ROCE_IPID_SOLVED);
	}
	free(t);
}

/* Linux counts for each of them apart: what goes to a group has another number than what goes to
 * us, and its first packet may have any. */
Test(ipid, each_destination_of_a_source_has_its_own_count)
{
	static const uint8_t group[4] = {239, 1, 2, 3};
	struct roce_ipid_peer *p = roce_ipid_peer(&peers, here, us);

	p->known = 1;
	p->last = ROCE_IPID(1000, 1);
	cr_expect_eq(roce_ipid_peer(&peers, here, group)->known, 0);
	cr_expect_eq(roce_ipid_peer(&peers, here, us)->last, ROCE_IPID(1000, 1));
}

/* Addresses are a part of the ICRC: behind their translation no packet is right, whatever is
 * guessed. */
Test(ipid, a_source_whose_packets_are_changed_is_told)
{
	struct roce_ipid *t = new_table();
	struct roce_ipid_peer *p = roce_ipid_peer(&peers, here, us);
	uint32_t wrong = 0x12345678, value, change;

	while (roce_ipid_solve(t, 100, wrong, &change))
		wrong++;
	for (uint32_t i = 0; i < ROCE_IPID_BROKEN; i++) {
		cr_expect_lt(p->broken, ROCE_IPID_BROKEN);
		cr_expect_eq(roce_ipid_judge(t, p, now_ms, 100, 1, wrong, &value), ROCE_IPID_WRONG);
	}
	cr_expect_eq(p->broken, ROCE_IPID_BROKEN);
	cr_expect_eq(come(t, here, ROCE_IPID(3, 1)), ROCE_IPID_SOLVED);
	cr_expect_eq(p->broken, 0, "one right packet, and it was damage");
	cr_expect_eq(roce_ipid_judge(t, p, now_ms, 100, 1, wrong, &value), ROCE_IPID_WRONG);
	cr_expect_eq(p->broken, 0);
	free(t);
}
