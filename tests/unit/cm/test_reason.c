/* SPDX-License-Identifier: BSD-3-Clause */
/* Reject reasons: the numbers of IBTA volume 1, and words for all of them. */
#include <criterion/criterion.h>
#include <string.h>

#include "cm/reason.h"

Test(cm_reason, numbers_of_the_ibta)
{
	cr_expect_eq(ROCE_CM_REASON_NO_RESOURCES, 3);
	cr_expect_eq(ROCE_CM_REASON_TIMEOUT, 4);
	cr_expect_eq(ROCE_CM_REASON_INVALID_SERVICE_ID, 8);
	cr_expect_eq(ROCE_CM_REASON_INVALID_TRANSPORT_TYPE, 9);
	cr_expect_eq(ROCE_CM_REASON_STALE_CONN, 10);
	cr_expect_eq(ROCE_CM_REASON_INVALID_GID, 12);
	cr_expect_eq(ROCE_CM_REASON_INVALID_MTU, 26);
	cr_expect_eq(ROCE_CM_REASON_CONSUMER, 28);
}

Test(cm_reason, words_for_each_and_for_others)
{
	for (unsigned reason = 0; reason < 100; reason++) {
		const bool known = (reason >= 1 && reason <= 33) || reason == 35;

		cr_expect_eq(strcmp(roce_cm_reason_name((uint16_t)reason), "unknown reason") != 0,
			known, "reason %u", reason);
	}
	cr_expect_str_eq(roce_cm_reason_name(28), "rejected by the consumer");
	cr_expect_str_eq(roce_cm_reason_name(UINT16_MAX), "unknown reason");
}

Test(cm_reason, reasons_have_names)
{
	cr_expect_str_eq(roce_cm_reason_name(8), "invalid service ID (nobody listens)");
	cr_expect_str_eq(roce_cm_reason_name(28), "rejected by the consumer");
	cr_expect_str_eq(roce_cm_reason_name(0), "unknown reason");
	cr_expect_str_eq(roce_cm_reason_name(34), "unknown reason");
	cr_expect_str_eq(roce_cm_reason_name(0xffff), "unknown reason");
}
