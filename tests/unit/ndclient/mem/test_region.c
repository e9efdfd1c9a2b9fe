/* SPDX-License-Identifier: BSD-3-Clause */
/* What a registration is refused for before the daemon hears of it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/session/adapter.h"

#define LONGEST 65536u

/* checks R-MR-04[1-5] */
Test(ndclient_region, R_MR_04_each_wrong_argument_has_its_status)
{
	struct nd_adapter *a = nd_adapter_new();
	struct nd_pd pd = {.adapter = a};
	struct nd_mr mr = {.pd = &pd};
	char *hole = mmap(NULL, LONGEST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char mine[64];

	cr_assert(ne(ptr, hole, MAP_FAILED));
	munmap(hole, LONGEST);
	pthread_mutex_init(&a->arena.lock, NULL);
	a->info.max_registration_bytes = LONGEST;
	cr_expect(eq(i32, nd_mr_register(&mr, NULL, 0, 0, NULL), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_mr_register(&mr, NULL, 1, 0, NULL), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_mr_register(&mr, mine, 0, 0, NULL), ND_INVALID_BUFFER_SIZE));
	cr_expect(eq(i32, nd_mr_register(&mr, mine, LONGEST + 1, 0, NULL), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_mr_register(&mr, mine, 1, 0x8000, NULL), ND_INVALID_PARAMETER_3));
	cr_expect(eq(i32, nd_mr_register(&mr, hole, LONGEST, 0, NULL), ND_ACCESS_VIOLATION));
	cr_expect(eq(i32, nd_mr_register(&mr, hole + 9, 1, 0, NULL), ND_ACCESS_VIOLATION));
	cr_expect(eq(i32, nd_mr_register(&mr, mine, 64, 0, NULL), ND_NOT_SUPPORTED),
		"there, but not of nd_alloc()");
	nd_adapter_free(a);
}
