/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

#include "nddping/ping_proto.h"

/* The first message of a capture of two rdma-core rpings (-S 300). */
Test(nddping_ping_proto, info_as_rping_sends_it)
{
	static const uint8_t wire[PING_INFO_BYTES] = {0x00, 0x00, 0x56, 0x19, 0x92, 0x22, 0x39,
		0x80, 0x00, 0x00, 0x05, 0xc9, 0x00, 0x00, 0x01, 0x2c};
	struct ping_info info;
	uint8_t back[PING_INFO_BYTES];

	ping_info_decode(wire, &info);
	cr_assert_eq(info.address, 0x561992223980);
	cr_assert_eq(ntohl(info.token), 0x5c9);
	cr_assert_eq(info.bytes, 300);
	ping_info_encode(&info, back);
	cr_assert_arr_eq(back, wire, sizeof(wire));
}

Test(nddping_ping_proto, contents_as_rping_makes_them)
{
	char buf[64];

	ping_fill(buf, sizeof(buf), 0);
	cr_assert_str_eq(buf, "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
	ping_fill(buf, sizeof(buf), 1);
	cr_assert_str_eq(buf, "rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs");
}

/* The first character goes from 'A' to 'z' and begins again; so does each next one. */
Test(nddping_ping_proto, contents_wrap_after_z)
{
	char buf[128];

	ping_fill(buf, sizeof(buf), 57);
	cr_assert_eq(strncmp(buf, "rdma-ping-57: zABC", 18), 0);
	ping_fill(buf, sizeof(buf), 58);
	cr_assert_eq(strncmp(buf, "rdma-ping-58: ABCD", 18), 0);
	cr_assert_eq(buf[127], 0);
	cr_assert_eq(strlen(buf), 127);
}

Test(nddping_ping_proto, the_smallest_ping_holds_the_longest_number)
{
	char buf[PING_BYTES_MIN + 1];

	buf[PING_BYTES_MIN] = 0x55;
	ping_fill(buf, PING_BYTES_MIN, INT32_MAX);
	cr_assert_eq(strncmp(buf, "rdma-ping-2147483647: ", 22), 0);
	cr_assert_eq(buf[PING_BYTES_MIN - 1], 0);
	cr_assert_eq(buf[PING_BYTES_MIN], 0x55);
}

Test(nddping_ping_proto, the_first_difference)
{
	cr_assert_eq(ping_differ("abcd", "abxx", 4), 2);
	cr_assert_eq(ping_differ("abcd", "abcd", 4), 4);
	cr_assert_eq(ping_differ("x", "y", 0), 0);
}
