/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: what they change outside of results (test_result.c). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/face/profile.h"
#include "shm/ndsh_msg.h"

Test(ndclient_profile, the_tests_profile_is_the_default)
{
	const struct nd_open_options doc = {.profile = ND_PROFILE_DOC}, none = {.profile = 0};

	cr_expect(eq(u32, nd_profile_of(NULL), ND_PROFILE_TEST));
	cr_expect(eq(u32, nd_profile_of(&none), ND_PROFILE_TEST));
	cr_expect(eq(u32, nd_profile_of(&doc), ND_PROFILE_DOC));
	cr_expect(nd_profile_is_known(ND_PROFILE_TEST) && nd_profile_is_known(ND_PROFILE_DOC));
	cr_expect(not(nd_profile_is_known(ND_PROFILE_DOC + 1)));
}

Test(ndclient_profile, what_differs)
{
	cr_expect(eq(u32, nd_profile_open_flags(ND_PROFILE_TEST), 0));
	cr_expect(eq(u32, nd_profile_open_flags(ND_PROFILE_DOC), NDSH_OPEN_NO_FLUSH));
	cr_expect(eq(i32, nd_profile_accept_status(ND_PROFILE_TEST, ND_CONNECTION_REFUSED),
		ND_CONNECTION_REFUSED));
	cr_expect(eq(i32, nd_profile_accept_status(ND_PROFILE_DOC, ND_CONNECTION_REFUSED),
		ND_CONNECTION_ABORTED));
	cr_expect(eq(i32, nd_profile_accept_status(ND_PROFILE_DOC, ND_IO_TIMEOUT), ND_IO_TIMEOUT));
}
