/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "common/addr.h"
#include "common/fail.h"
#include "common/number.h"

static void
parses(const char *text, const char *expected)
{
	struct app_addr a;
	char out[APP_ADDR_TEXT];
	const char *wrong = app_addr_parse(text, 7174, &a);

	cr_assert_null(wrong, "%s: %s", text, wrong);
	cr_assert_str_eq(app_addr_text(&a, true, out), expected);
}

Test(app_addr, forms)
{
	parses("192.0.2.1", "192.0.2.1:7174");
	parses("192.0.2.1:80", "192.0.2.1:80");
	parses("fd00::1", "[fd00::1]:7174");
	parses("[fd00::1]", "[fd00::1]:7174");
	parses("[fd00::1]:65535", "[fd00::1]:65535");
	parses("::", "[::]:7174");
}

Test(app_addr, what_is_wrong_is_said)
{
	static const char *const bad[] = {"", ":80", "[]", "[fd00::1", "[fd00::1]x",
		"192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:8x", "[fd00::1]:-1"};
	struct app_addr a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_not_null(app_addr_parse(bad[i], 1, &a), "'%s'", bad[i]);
}

Test(app_addr, wildcards)
{
	struct app_addr a;

	app_addr_any(AF_INET, 5, &a);
	cr_assert(app_addr_is_any(&a));
	cr_assert_eq(app_addr_port(&a), 5);
	app_addr_any(AF_INET6, 5, &a);
	cr_assert(app_addr_is_any(&a));
	cr_assert_null(app_addr_parse("192.0.2.1", 1, &a));
	cr_assert_not(app_addr_is_any(&a));
}

Test(app_number, sizes)
{
	uint64_t v;

	cr_assert(app_parse_size("64K", 1, UINT64_MAX, &v) && v == 65536);
	cr_assert(app_parse_size("8m", 1, UINT64_MAX, &v) && v == 8u << 20);
	cr_assert(app_parse_size("1G", 1, UINT64_MAX, &v) && v == 1u << 30);
	cr_assert(app_parse_size("0x10", 1, UINT64_MAX, &v) && v == 16);
	cr_assert(app_parse_size("2", 1, 2, &v) && v == 2);
	cr_assert_not(app_parse_size("2K", 1, 2047, &v));
	cr_assert_not(app_parse_size("64KB", 1, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("K", 1, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("-1", 0, UINT64_MAX, &v));
	cr_assert_not(app_parse_size(" 1", 0, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("", 0, UINT64_MAX, &v));
	/* 2^44 G wraps 64 bits. */
	cr_assert_not(app_parse_size("17592186044416G", 0, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("99999999999999999999", 0, UINT64_MAX, &v));
}

Test(app_number, numbers_and_seconds)
{
	uint64_t v;
	double s;

	cr_assert(app_parse_u64("0", 0, 5, &v) && v == 0);
	cr_assert_not(app_parse_u64("6", 0, 5, &v));
	cr_assert_not(app_parse_u64("5K", 0, UINT64_MAX, &v));
	cr_assert(app_parse_seconds("0.5", 0, 10, &s) && s == 0.5);
	cr_assert_not(app_parse_seconds("nan", 0, 10, &s));
	cr_assert_not(app_parse_seconds("11", 0, 10, &s));
	cr_assert_not(app_parse_seconds("1s", 0, 10, &s));
}

Test(app_fail, every_way_a_connect_fails_has_a_hint)
{
	static const nd_status ways[] = {ND_HOST_UNREACHABLE, ND_NETWORK_UNREACHABLE, ND_IO_TIMEOUT,
		ND_DEVICE_NOT_READY, ND_DEVICE_REMOVED, ND_INVALID_ADDRESS,
		ND_INSUFFICIENT_RESOURCES};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		cr_assert_not_null(app_status_hint(ways[i]));
	cr_assert_null(app_status_hint(ND_SUCCESS));
	cr_assert_str_eq(app_reject_text(8), "nobody listens at that port of the peer");
	cr_assert_not_null(app_reject_text(12345));
}
