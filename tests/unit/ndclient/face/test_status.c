/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of ND: their names, and what the daemon's answers become. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/face/status.h"
#include "shm/ndsh_ring.h"
#include "shm/ndsh_status.h"

Test(ndclient_status, names)
{
	cr_expect(eq(str, (char *)nd_status_name(ND_SUCCESS), "ND_SUCCESS"));
	cr_expect(eq(str, (char *)nd_status_name(ND_DEVICE_REMOVED), "ND_DEVICE_REMOVED"));
	cr_expect(eq(str, (char *)nd_status_name(ND_CONNECTION_ABORTED), "ND_CONNECTION_ABORTED"));
	cr_expect(eq(str, (char *)nd_status_name(12345), "unknown ND status"));
	cr_expect(lt(i32, ND_BUFFER_OVERFLOW, 0));
	cr_expect(ge(i32, ND_TIMEOUT, 1), "success class");
}

/* checks R-CONN-15[2]: daemons of all versions send these numbers, and libraries before
 * ndsh_status.h read them as ND's: so each is translated into the status of the same number. */
Test(ndclient_status, the_daemons_statuses)
{
#define ROW(name, number) NDSH_##name,
	static const int32_t rows[] = {NDSH_STATUS_LIST(ROW)};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = nd_status_name(nd_status_of_daemon(rows[i]));

		cr_expect(eq(i32, nd_status_of_daemon(rows[i]), rows[i]), "%#x", (unsigned)rows[i]);
		cr_expect(ne(str, (char *)name, "unknown ND status"), "%#x", (unsigned)rows[i]);
	}
	cr_expect(eq(i32, nd_status_of_daemon(NDSH_ERR_REFUSED), ND_CONNECTION_REFUSED));
	cr_expect(eq(i32, nd_status_of_daemon(NDSH_UNANSWERED), ND_TIMEOUT));
	cr_expect(eq(i32, nd_status_of_daemon(NDSH_ERR_NO_FREE_PORT), ND_TOO_MANY_ADDRESSES));
	cr_expect(eq(i32, nd_status_of_daemon(12345), 12345), "of another version");
}

Test(ndclient_status, admin_answers_and_faults)
{
	cr_expect(eq(i32, nd_status_of_admin(NDSH_ADMIN_OK), ND_SUCCESS));
	cr_expect(eq(i32, nd_status_of_admin(NDSH_ADMIN_BUSY), ND_DEVICE_BUSY));
	cr_expect(eq(i32, nd_status_of_admin(NDSH_ADMIN_FULL), ND_INSUFFICIENT_RESOURCES));
	cr_expect(eq(i32, nd_status_of_admin(NDSH_ADMIN_RANGE), ND_ACCESS_VIOLATION));
	cr_expect(eq(i32, nd_status_of_admin(255), ND_INTERNAL_ERROR));
	cr_expect(eq(i32, nd_status_of_fault(NDSH_CQ_OK), ND_SUCCESS));
	cr_expect(eq(i32, nd_status_of_fault(NDSH_CQ_OVERRUN), ND_BUFFER_OVERFLOW));
	cr_expect(eq(i32, nd_status_of_fault(255), ND_INTERNAL_ERROR));
}
