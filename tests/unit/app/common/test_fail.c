/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "common/fail.h"

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
