/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing that a client does with its end of a bell holds up the thread that writes to it, or makes
 * the daemon close files of the client's. */
#include "courier/bell.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "courier/courier.h"
#include "rigs/file_holder.h"

#define MANY 4096 /* more than the files of the system hold */

struct belfry {
	struct ndd_couriers all;
	struct ndd_courier *courier;
	struct ndd_bell *bell;
	uint64_t woken;
	int client;
};

static struct belfry *
belfry_new(bool direct)
{
	static struct belfry b;

	b.courier = ndd_courier_start(&b.all, NULL);
	cr_assert_not_null(b.courier);
	b.bell = ndd_bell_new(b.courier, direct, &b.woken, &b.client);
	cr_assert_not_null(b.bell);
	return &b;
}

/* All that was asked of the courier has been done then. */
static void
belfry_end(struct belfry *b)
{
	if (b->bell != NULL)
		ndd_bell_free(b->bell, NULL, NULL);
	ndd_courier_release(b->courier);
	cr_expect(ndd_couriers_wait(&b->all, UINT64_C(5000000000)));
	ndd_couriers_collect(&b->all);
	cr_expect(eq(u32, b->all.ending, 0));
	close(b->client);
}

static int
readiness(const struct belfry *b, int ms)
{
	struct pollfd p = {.fd = b->client, .events = POLLIN};

	return poll(&p, 1, ms);
}

static void
each_one_is_told(bool direct)
{
	struct belfry *b = belfry_new(direct);
	char bytes[8];

	cr_expect(eq(int, readiness(b, 0), 0));
	for (int i = 0; i < 3; i++) {
		ndd_bell_ring(b->bell);
		cr_expect(eq(int, readiness(b, direct ? 0 : 5000), 1));
		cr_expect(eq(i64, read(b->client, bytes, sizeof(bytes)), 1));
		cr_expect(eq(int, readiness(b, 0), 0));
	}
	belfry_end(b);
	cr_expect(eq(u64, b->woken, 3));
}

Test(bell, each_ring_makes_the_client_readable)
{
	each_one_is_told(false);
}

Test(bell, a_direct_one_does_so_at_once)
{
	each_one_is_told(true);
}

/* In a page that does not come, as the kernel copies the byte there. */
Test(bell, a_client_that_reads_as_long_as_it_likes_holds_up_nobody, .timeout = 10)
{
	struct belfry *b = belfry_new(true);
	struct file_holder h;

	ndd_bell_ring(b->bell);
	if (!file_holder_new(&h))
		cr_skip_test("no userfaultfd for this user");
	file_holder_reads(&h, b->client);
	for (int i = 0; i < MANY; i++)
		ndd_bell_ring(b->bell);
	file_holder_end(&h);
	belfry_end(b);
}

/* Whatever flags the client sets at its own end. */
Test(bell, a_client_that_never_reads_is_readable, .timeout = 20)
{
	struct belfry *b = belfry_new(true);
	int bytes = 0;
	char byte;

	cr_assert_eq(fcntl(b->client, F_SETFL, 0), 0);
	for (int i = 0; i < MANY; i++)
		ndd_bell_ring(b->bell);
	cr_expect(eq(int, readiness(b, 0), 1));
	for (; recv(b->client, &byte, 1, MSG_DONTWAIT) == 1; bytes++)
		;
	cr_expect(le(int, bytes, 32), "%d bytes are kept for it", bytes);
	cr_expect(eq(u64, b->woken, (uint64_t)bytes), "the others did not wake it");
	belfry_end(b);
}

Test(bell, a_client_that_is_gone_is_not_waited_for)
{
	struct belfry *b = belfry_new(false);

	close(b->client);
	b->client = -1;
	ndd_bell_ring(b->bell);
	belfry_end(b); /* and SIGPIPE kills nobody */
	cr_expect(eq(u64, b->woken, 0));
}

Test(bell, what_was_rung_comes_before_the_end_of_the_file)
{
	struct belfry *b = belfry_new(false);
	char byte;

	ndd_bell_ring(b->bell);
	ndd_bell_free(b->bell, NULL, NULL);
	b->bell = NULL;
	cr_expect(eq(int, readiness(b, 5000), 1));
	cr_expect(eq(i64, read(b->client, &byte, 1), 1));
	cr_expect(eq(int, readiness(b, 5000), 1));
	cr_expect(eq(i64, read(b->client, &byte, 1), 0));
	belfry_end(b);
}

static void
on_closed(void *owner)
{
	++*(int *)owner;
}

/* A file is paid for until it is closed, and that takes as long as its waiters like. */
Test(bell, its_owner_is_told_when_the_file_is_closed)
{
	struct belfry *b = belfry_new(false);
	int closed = 0;
	char byte;

	ndd_bell_free(b->bell, on_closed, &closed);
	b->bell = NULL;
	cr_expect(eq(u32, b->all.ending, 1));
	while (b->all.ending != 0) {
		cr_assert(eq(int, closed, 0));
		ndd_couriers_collect(&b->all);
	}
	cr_expect(eq(int, closed, 1));
	cr_expect(eq(i64, read(b->client, &byte, 1), 0), "it is");
	belfry_end(b);
}

/* The daemon would have to close it, and some files take as long for that as their owner likes. */
Test(bell, a_client_can_send_no_file)
{
	struct belfry *b = belfry_new(false);
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

	memcpy(CMSG_DATA(&control.h), &b->client, sizeof(int));
	cr_expect(eq(i64, sendmsg(b->client, &m, MSG_NOSIGNAL), -1));
	cr_expect(eq(int, errno, EPIPE));
	belfry_end(b);
}
