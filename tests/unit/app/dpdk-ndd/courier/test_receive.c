/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes by a client's socket, one message at a time. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rigs/send_file.h"
#include "courier/receive.h"

#define ROOM 16u

struct ends {
	int ours, client;
	char buf[ROOM];
	size_t bytes;
};

static struct ends
ends_new(void)
{
	struct ends e = {0};
	int sock[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	e.ours = sock[0];
	e.client = sock[1];
	return e;
}

static enum ndd_received
receive(struct ends *e)
{
	return ndd_receive(e->ours, e->buf, ROOM, &e->bytes);
}

static void
say(const struct ends *e, const char *what, int file)
{
	cr_assert_eq(send_file(e->client, what, strlen(what), MSG_NOSIGNAL, file),
		(ssize_t)strlen(what));
}

static void
expect_message(struct ends *e, const char *what)
{
	cr_expect(eq(int, receive(e), NDD_RECEIVED));
	cr_expect(eq(sz, e->bytes, strlen(what)));
	cr_expect(eq(int, memcmp(e->buf, what, strlen(what)), 0));
}

Test(receive, messages_in_their_order)
{
	struct ends e = ends_new();

	cr_expect(eq(int, receive(&e), NDD_RECEIVED_NOTHING));
	say(&e, "one", -1);
	say(&e, "as long as it is", -1);
	expect_message(&e, "one");
	expect_message(&e, "as long as it is");
	cr_expect(eq(int, receive(&e), NDD_RECEIVED_NOTHING));
}

Test(receive, one_that_is_too_long_is_dropped)
{
	struct ends e = ends_new();

	say(&e, "longer than it is", -1);
	say(&e, "next", -1);
	cr_expect(eq(int, receive(&e), NDD_RECEIVED_LONG));
	expect_message(&e, "next");
}

Test(receive, what_the_client_said_before_it_went)
{
	struct ends e = ends_new();

	say(&e, "last", -1);
	close(e.client);
	expect_message(&e, "last");
	cr_expect(eq(int, receive(&e), NDD_RECEIVED_END));
	cr_expect(eq(int, receive(&e), NDD_RECEIVED_END));
}

/* An empty message looks like the end. */
Test(receive, an_empty_message_is_not_the_end)
{
	struct ends e = ends_new();
	int pipes[2];

	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(send(e.client, "", 0, 0), 0);
	say(&e, "file", pipes[1]);
	expect_message(&e, "");
	cr_expect(eq(int, receive(&e), NDD_RECEIVED_FILES));
	cr_expect_not(ndd_receive_close(e.ours), "it is the closer's");
}

/* Each that is taken costs as much as the client likes. */
Test(receive, a_socket_that_is_full_is_not_emptied)
{
	struct ends e = ends_new();

	for (int i = 0; i < 100; i++)
		say(&e, "unread", -1);
	cr_expect_not(ndd_receive_close(e.ours));
}

/* The file stays open in it, and whatever is behind it stays out of reach. */
Test(receive, one_that_brings_files_is_never_taken)
{
	struct ends e = ends_new();
	int pipes[2];
	char byte;

	cr_assert_eq(pipe(pipes), 0);
	say(&e, "first", -1);
	say(&e, "file", pipes[1]);
	say(&e, "behind it", -1);
	close(pipes[1]);
	expect_message(&e, "first");
	for (int i = 0; i < 3; i++)
		cr_expect(eq(int, receive(&e), NDD_RECEIVED_FILES));
	cr_assert_eq(fcntl(pipes[0], F_SETFL, O_NONBLOCK), 0);
	cr_expect(eq(i64, read(pipes[0], &byte, 1), -1), "the pipe has a writer");
	close(e.ours);
	cr_expect(eq(i64, read(pipes[0], &byte, 1), 0), "it was the only one");
}

/* Without a closer: it is not needed for a client that attaches nothing. */
Test(receive, a_socket_without_files_is_closed_at_once)
{
	struct ends e = ends_new();
	char byte;

	say(&e, "longer than it is", -1);
	say(&e, "unread", -1);
	cr_expect(ndd_receive_close(e.ours));
	cr_expect(eq(int, fcntl(e.ours, F_GETFD), -1));
	cr_expect(eq(i64, send(e.client, "late", 4, MSG_NOSIGNAL), -1));
	cr_expect(eq(i64, recv(e.client, &byte, 1, MSG_DONTWAIT), 0));
}
