/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linux's Soft-RoCE released the sockets of a network namespace twice when the namespace ended.
 * Here the kernel's sockets are those of rtnetlink: a start that fails closes them, and the end of
 * the daemon does, whatever the start came to. The second time must not close what has their
 * numbers by then.
 */
#include "hostnet/rtnl.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* All numbers up to that of a new descriptor are in use. */
static int
highest(void)
{
	return dup(0);
}

Test(rxe_bugs, sockets_of_a_namespace_released_twice)
{
	struct ndd_rtnl r = {0};
	int before = highest(), other[2];

	close(before);
	cr_assert(ndd_rtnl_open(&r, true));
	cr_assert(eq(int, ndd_rtnl_fd(&r), before));
	ndd_rtnl_close(&r);
	for (unsigned i = 0; i < 2; i++)
		other[i] = highest();
	cr_assert(eq(int, other[0], before), "it has the number of the one that is closed");
	ndd_rtnl_close(&r);
	for (unsigned i = 0; i < 2; i++)
		cr_assert(ne(int, fcntl(other[i], F_GETFD), -1));
}

/* The second of the two sockets can't be had: nothing is left of the first, once. */
Test(rxe_bugs, sockets_of_a_start_that_failed)
{
	struct ndd_rtnl r = {0};
	struct rlimit most;
	int before = highest(), other;

	cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &most), 0));
	most.rlim_cur = (rlim_t)before + 1;
	close(before);
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &most), 0));
	cr_assert(not(ndd_rtnl_open(&r, true)));
	other = highest();
	cr_assert(eq(int, other, before));
	ndd_rtnl_close(&r);
	cr_assert(ne(int, fcntl(other, F_GETFD), -1));
}
