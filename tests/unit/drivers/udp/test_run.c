/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames leave in one send. A send has at most 64 segments and 65,000 bytes; all segments but
 * the last have one length, and the last no more.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "udp/udp_run.h"

#define FRAMES	200u
#define HEADERS 42u   /* Ethernet, IPv4, UDP */
#define MIDDLE	1040u /* UDP payload: BTH, a path MTU of 1024, ICRC */
#define FIRST	1056u /* of a WRITE: a RETH more */

static struct udp_port own = {.segments = true};
static const struct port port = {.kind = &own};
static struct rte_mbuf frame[FRAMES], *m[FRAMES];
static uint8_t bytes[FRAMES][HEADERS + 64];
static uint32_t frames;

static void
start(void)
{
	frames = 0;
}

TestSuite(udp_run, .init = start);

/* The buffer has the headers alone: nobody looks at payloads here. */
static void
add_frame(uint32_t payload)
{
	struct rte_mbuf *f = &frame[frames];
	uint8_t *b = bytes[frames];

	cr_assert_lt(frames, FRAMES);
	memset(b, 0, sizeof(bytes[0]));
	b[12] = 0x08;
	b[ROCE_ETH_BYTES] = 0x45;
	b[ROCE_ETH_BYTES + 8] = 64;
	b[ROCE_ETH_BYTES + 9] = ROCE_PROTO_UDP;
	b[ROCE_ETH_BYTES + ROCE_IPV4_BYTES] = 0xc1;
	*f = (struct rte_mbuf){.buf_addr = b, .data_len = (uint16_t)(HEADERS + payload)};
	rte_mbuf_refcnt_set(f, 1);
	m[frames++] = f;
}

static void
add_frames(uint32_t n, uint32_t payload)
{
	while (n-- != 0)
		add_frame(payload);
}

static void
expect_runs(const char *what, const uint32_t *length, uint32_t n, uint32_t whole)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; at += length[i++])
		cr_expect_eq(udp_run_length(&own, m + at, frames - at), length[i],
			"%s: run %u has %u frames", what, i,
			udp_run_length(&own, m + at, frames - at));
	cr_expect_eq(at, frames, "%s", what);
	cr_expect_eq(udp_runs_whole(&port, m, (uint16_t)frames), whole, "%s: %u of %u are whole",
		what, udp_runs_whole(&port, m, (uint16_t)frames), frames);
}

#define EXPECT_RUNS(what, whole, ...)                                                              \
	expect_runs(what, (const uint32_t[]){__VA_ARGS__},                                         \
		sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), whole)

Test(udp_run, a_send_has_65000_bytes_at_most)
{
	add_frames(130, MIDDLE);
	EXPECT_RUNS("path MTU 1024", 124, 62, 62, 6);
	start();
	add_frames(31, 4112);
	EXPECT_RUNS("path MTU 4096", 30, 15, 15, 1);
}

Test(udp_run, a_send_has_64_segments_at_most)
{
	add_frames(129, 20);
	EXPECT_RUNS("acknowledgements", 128, 64, 64, 1);
}

Test(udp_run, the_last_may_be_shorter)
{
	add_frames(5, MIDDLE);
	add_frames(1, 500);
	EXPECT_RUNS("a short one ends it", 6, 6);
	add_frames(1, 500);
	EXPECT_RUNS("the next begins another", 6, 6, 1);
	add_frames(1, MIDDLE);
	EXPECT_RUNS("a longer one does, too", 7, 6, 1, 1);
}

/* 64 KiB are 64 packets, of which 62 fit: two sends, not three. */
Test(udp_run, a_first_packet_takes_one_along_where_that_saves_a_send)
{
	add_frames(1, FIRST);
	add_frames(63, MIDDLE);
	EXPECT_RUNS("64 KiB", 64, 2, 62);
	add_frames(1, FIRST);
	EXPECT_RUNS("64 KiB, and another", 64, 2, 62, 1);
	start();
	add_frames(1, FIRST);
	add_frames(62, MIDDLE);
	EXPECT_RUNS("one less fits, if that is all", 0, 1, 62);
	start();
	add_frames(1, FIRST);
	add_frames(1, MIDDLE);
	add_frames(1, FIRST);
	EXPECT_RUNS("2 KiB", 2, 2, 1);
}

/* Whether it takes one along depends on how many follow. */
Test(udp_run, a_first_packet_waits_for_what_follows)
{
	add_frames(1, FIRST);
	EXPECT_RUNS("nothing yet", 0, 1);
	add_frames(1, MIDDLE);
	EXPECT_RUNS("one", 0, 2);
	add_frames(39, MIDDLE);
	EXPECT_RUNS("40", 0, 1, 40);
	add_frames(1, 500);
	EXPECT_RUNS("all", 42, 1, 41);
}

static void
set_byte(struct rte_mbuf *f, uint32_t at, uint8_t value)
{
	rte_pktmbuf_mtod_offset(f, uint8_t *, ROCE_ETH_BYTES)[at] ^= value;
}

/* What the kernel writes once for the whole send: class, hop limit, addresses, source port. It
 * counts identifications itself, and fills in lengths and checksums. */
Test(udp_run, all_frames_of_a_send_go_the_same_way)
{
	static const uint8_t other[] = {1, 8, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21},
			     alike[] = {2, 3, 4, 5, 6, 10, 11, 24, 25, 26, 27};

	for (uint32_t i = 0; i < sizeof(other); i++) {
		start();
		add_frames(2, MIDDLE);
		set_byte(m[1], other[i], 4);
		EXPECT_RUNS("another way", 1, 1, 1);
	}
	for (uint32_t i = 0; i < sizeof(alike); i++) {
		start();
		add_frames(2, MIDDLE);
		set_byte(m[1], alike[i], 1);
		EXPECT_RUNS("the same way", 0, 2);
	}
}

Test(udp_run, mads_and_frames_that_others_read_go_alone)
{
	add_frames(3, MIDDLE);
	rte_mbuf_refcnt_set(m[1], 2);
	EXPECT_RUNS("a group's", 2, 1, 1, 1);
	start();
	add_frames(2, 280);
	for (uint32_t i = 0; i < frames; i++)
		roce_put_be16(bytes[i] + ROCE_ETH_BYTES + ROCE_IPV4_BYTES, ROCE_GSI_SPORT);
	EXPECT_RUNS("MADs", 2, 1, 1);
}

Test(udp_run, frames_of_others_wait_for_nothing)
{
	add_frames(3, MIDDLE);
	bytes[1][13] = 6; /* ARP */
	bytes[2][13] = 6;
	cr_expect_eq(udp_run_length(&own, m, 1), 1);
	cr_expect_eq(udp_runs_whole(&port, m, 3), 3);
}

Test(udp_run, without_segmentation_each_goes_alone)
{
	own.segments = false;
	add_frames(3, MIDDLE);
	EXPECT_RUNS("single packets", 3, 1, 1, 1);
	own.segments = true;
}

/* Messages of all kinds behind one another: the fewest sends that there can be, by looking at all
 * ways to divide them. */
static uint32_t
fewest_sends(void)
{
	uint32_t least[FRAMES + 1] = {0};

	for (uint32_t i = frames; i-- != 0;) {
		const uint32_t each = m[i]->data_len - HEADERS;

		least[i] = UINT32_MAX;
		for (uint32_t n = 1; i + n <= frames && n <= 64 && n * each <= 65000; n++) {
			const uint32_t last = m[i + n - 1]->data_len - HEADERS;

			if (last > each)
				break;
			if (least[i + n] + 1 < least[i])
				least[i] = least[i + n] + 1;
			if (last < each)
				break;
		}
	}
	return least[0];
}

static uint32_t
sends_of_runs(void)
{
	uint32_t n = 0;

	for (uint32_t at = 0; at < frames; n++)
		at += udp_run_length(&own, m + at, frames - at);
	return n;
}

/* A WRITE of that many whole packets, and one of that many bytes if there are any. */
static void
add_write(uint32_t packets, uint32_t rest)
{
	add_frames(1, FIRST);
	add_frames(packets - 1, MIDDLE);
	if (rest != 0)
		add_frames(1, rest + 16);
}

Test(udp_run, no_way_to_divide_messages_takes_fewer_sends)
{
	for (uint32_t a = 1; a < 70; a++)
		for (uint32_t b = 1; b < 70; b += 4)
			for (uint32_t rest = 0; rest <= 8; rest += 8) {
				start();
				add_write(a, rest);
				add_write(b, rest / 2);
				add_frames(30, MIDDLE); /* of a SEND */
				cr_assert_eq(
					sends_of_runs(), fewest_sends(), "%u, %u, %u", a, b, rest);
			}
}

/* However frames come, what is whole so far is sent as it would be if all were there. */
Test(udp_run, what_is_whole_stays_so)
{
	add_write(64, 0);
	add_write(3, 100);
	add_write(64, 0);
	for (uint32_t n = 1; n < frames; n++) {
		const uint32_t whole = udp_runs_whole(&port, m, (uint16_t)n);
		uint32_t at = 0;

		while (at < whole)
			at += udp_run_length(&own, m + at, frames - at);
		cr_expect_eq(at, whole, "%u of %u", whole, n);
	}
}
