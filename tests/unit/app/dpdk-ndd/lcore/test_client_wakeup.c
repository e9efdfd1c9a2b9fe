/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing that a client does with its end of a wake-up holds up the lcore that wakes it, or makes
 * the daemon close files of the client's. */
#include "lcore/client_wakeup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rigs/file_holder.h"

#define MANY 4096 /* more than the files of the system hold */

struct ends {
	int daemon, client;
};

static uint64_t woken;

static struct ends
ends_new(void)
{
	struct ends e;

	cr_assert(ndd_client_wakeup_open(&e.daemon, &e.client));
	return e;
}

static void
ends_free(struct ends *e)
{
	close(e->daemon);
	close(e->client);
}

static int
readiness(const struct ends *e)
{
	struct pollfd p = {.fd = e->client, .events = POLLIN};

	return poll(&p, 1, 0);
}

Test(client_wakeup, each_one_makes_the_client_readable)
{
	struct ends e = ends_new();
	char bytes[8];

	cr_expect(eq(int, readiness(&e), 0));
	for (int i = 0; i < 3; i++) {
		cr_expect(ndd_client_wakeup_send(e.daemon, &woken));
		cr_expect(eq(int, readiness(&e), 1));
		cr_expect(eq(i64, read(e.client, bytes, sizeof(bytes)), 1));
		cr_expect(eq(int, readiness(&e), 0));
	}
	ends_free(&e);
}

/* In a page that does not come, as the kernel copies the byte there. */
Test(client_wakeup, a_client_that_reads_as_long_as_it_likes_holds_up_nobody, .timeout = 10)
{
	struct ends e = ends_new();
	struct file_holder h;

	cr_expect(ndd_client_wakeup_send(e.daemon, &woken));
	if (!file_holder_new(&h))
		cr_skip_test("no userfaultfd for this user");
	file_holder_reads(&h, e.client);
	for (int i = 0; i < MANY; i++)
		cr_assert(ndd_client_wakeup_send(e.daemon, &woken));
	file_holder_end(&h);
	ends_free(&e);
}

/* Whatever flags the client sets at its own end. */
Test(client_wakeup, a_client_that_never_reads_is_readable, .timeout = 20)
{
	struct ends e = ends_new();
	int bytes = 0;
	char byte;

	cr_assert_eq(fcntl(e.client, F_SETFL, 0), 0);
	for (int i = 0; i < MANY; i++)
		cr_assert(ndd_client_wakeup_send(e.daemon, &woken));
	cr_expect(eq(int, readiness(&e), 1));
	for (; recv(e.client, &byte, 1, MSG_DONTWAIT) == 1; bytes++)
		;
	cr_expect(le(int, bytes, 32), "%d bytes are kept for it", bytes);
	cr_expect(eq(u64, woken, (uint64_t)bytes), "the others did not wake it");
	ends_free(&e);
}

Test(client_wakeup, a_client_that_is_gone_is_not_waited_for)
{
	struct ends e = ends_new();

	close(e.client);
	cr_expect(ndd_client_wakeup_send(e.daemon, &woken), "and SIGPIPE kills nobody");
	cr_expect(eq(u64, woken, 0));
	close(e.daemon);
}

Test(client_wakeup, the_end_of_the_daemon_is_the_end_of_the_file)
{
	struct ends e = ends_new();
	char byte;

	cr_expect(ndd_client_wakeup_send(e.daemon, &woken));
	close(e.daemon);
	cr_expect(eq(i64, read(e.client, &byte, 1), 1), "what was told before");
	cr_expect(eq(i64, read(e.client, &byte, 1), 0));
	close(e.client);
}

/* The daemon would have to close it, and some files take as long for that as their owner likes. */
Test(client_wakeup, a_client_can_send_no_file)
{
	struct ends e = ends_new();
	union {
		struct cmsghdr h;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.h = {.cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS,
			     .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec iov = {.iov_base = "x", .iov_len = 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.h), &e.client, sizeof(int));
	cr_expect(eq(i64, sendmsg(e.client, &m, MSG_NOSIGNAL), -1));
	cr_expect(eq(int, errno, EPIPE));
	ends_free(&e);
}
