/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "common/addr.h"

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
