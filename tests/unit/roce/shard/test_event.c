/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host learns of a queue pair: events, reasons, records. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"

Test(event, records_tell_what_happened)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_record rec[8];
	unsigned n;

	pair_write_by_key(p, 1, PAIR_VA, p->side[1].key ^ 1, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	n = roce_qp_records(p->side[0].q[0].qp, rec);
	cr_assert_eq(n, 2);
	cr_assert_eq(rec[0].kind_psn >> 24, ROCE_REC_NAK_RECEIVED);
	cr_assert_eq(rec[0].detail, ROCE_SYN_NAK_REM_ACCESS);
	cr_assert_eq(rec[1].kind_psn >> 24, ROCE_REC_ERROR);
	cr_assert_eq(rec[1].detail, ROCE_REASON_NAK_REM_ACCESS);
	pair_free(p);
}

Test(event, every_reason_has_words)
{
	for (int r = 0; r < ROCE_REASON_COUNT; r++)
		cr_assert_not_null(roce_reason_name((enum roce_reason)r));
}
