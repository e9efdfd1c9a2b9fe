/* SPDX-License-Identifier: BSD-3-Clause */
/* A line with a client at its other end: by a courier, and by the control thread itself. */
#include "courier/line.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "courier/courier.h"
#include "rigs/send_file.h"
#include "shm/ndsh_msg.h"

#define LONG_NS UINT64_C(20000000000)

struct end {
	struct ndd_line *line;
	int client, left;
	uint32_t heard;
	bool closed;
};

static struct ndd_couriers all;
static struct ndd_courier *courier;

static void
on_news(void *owner)
{
	((struct end *)owner)->heard++;
}

static void
on_closed(void *owner)
{
	((struct end *)owner)->closed = true;
}

static void
start(void)
{
	all.local = ndd_courier_start_local(&all);
	courier = ndd_courier_start(&all, NULL);
	cr_assert_not_null(all.local);
	cr_assert_not_null(courier);
}

static struct end *
end_new(bool local, int pidfd)
{
	struct end *e = calloc(1, sizeof(*e));
	int sock[2];

	cr_assert_eq(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sock), 0);
	e->client = sock[1];
	e->left = -2;
	e->line = ndd_line_new(courier, local, sock[0]);
	cr_assert_not_null(e->line);
	ndd_line_open(e->line, pidfd, on_news, e);
	return e;
}

/* A turn of the control thread. */
static void
turn(void)
{
	ndd_courier_serve(all.local);
	ndd_couriers_collect(&all);
	usleep(10);
}

static void
end_free(struct end *e)
{
	ndd_line_close(e->line, &e->left, on_closed, e);
	while (!e->closed)
		turn();
}

static void
finish(void)
{
	ndd_courier_release(courier);
	cr_assert(ndd_couriers_wait(&all, LONG_NS));
	ndd_courier_free_local(all.local);
	cr_expect(eq(u32, all.ending, 0));
}

static void
say(const struct end *e, const char *what)
{
	cr_assert_eq(send(e->client, what, strlen(what), MSG_NOSIGNAL), (ssize_t)strlen(what));
}

static void
expect_request(struct end *e, const char *what)
{
	const char *got;
	size_t bytes;

	while ((got = ndd_line_request(e->line, &bytes)) == NULL)
		turn();
	cr_expect(eq(sz, bytes, strlen(what)));
	cr_expect(eq(int, memcmp(got, what, bytes), 0), "%s", what);
}

/* Returns the file that came along, or -1. */
static int
expect_message(const struct end *e, const char *what)
{
	char got[NDSH_MSG_BYTES];
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {got, sizeof(got)};
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	const struct cmsghdr *c;
	int fd = -1;
	ssize_t n;

	while ((n = recvmsg(e->client, &mh, 0)) < 0 && errno == EAGAIN)
		turn();
	cr_assert(eq(i64, n, (ssize_t)strlen(what)));
	cr_expect(eq(int, memcmp(got, what, (size_t)n), 0), "%s", what);
	c = CMSG_FIRSTHDR(&mh);
	if (c != NULL)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void
tell(struct end *e, const char *what, int fd)
{
	cr_assert(ndd_line_send(e->line, what, strlen(what), fd));
}

static void
expect_end(struct end *e, enum ndd_line_end end)
{
	while (ndd_line_end(e->line) == NDD_LINE_OPEN)
		turn();
	cr_expect(eq(int, ndd_line_end(e->line), end));
}

TestSuite(line, .init = start, .fini = finish, .timeout = 60);

#define BY_BOTH for (int local = 0; local < 2; local++)

Test(line, requests_come_one_at_a_time)
{
	BY_BOTH
	{
		struct end *e = end_new(local, -1);
		uint32_t heard;

		say(e, "one");
		say(e, "two");
		expect_request(e, "one");
		heard = e->heard;
		for (int i = 0; i < 100; i++)
			turn();
		expect_request(e, "one");
		cr_expect(eq(u32, e->heard, heard));
		ndd_line_next(e->line);
		expect_request(e, "two");
		ndd_line_next(e->line);
		say(e, "three");
		expect_request(e, "three");
		end_free(e);
	}
}

Test(line, messages_go_out_in_their_order)
{
	BY_BOTH
	{
		struct end *e = end_new(local, -1);
		int pipes[2];
		char byte = 0;

		cr_assert_eq(pipe(pipes), 0);
		tell(e, "first", -1);
		tell(e, "file", pipes[1]);
		tell(e, "last", -1);
		cr_expect(eq(int, expect_message(e, "first"), -1));
		pipes[1] = expect_message(e, "file");
		cr_expect(eq(int, expect_message(e, "last"), -1));
		cr_expect(eq(i64, write(pipes[1], "x", 1), 1));
		cr_expect(eq(i64, read(pipes[0], &byte, 1), 1), "it is that file");
		while (ndd_line_waiting(e->line) != 0)
			turn();
		cr_expect(eq(u32, ndd_line_sent(e->line), 3));
		end_free(e);
	}
}

/* The client has as many messages in its socket as go in, and more that wait for it. */
static uint32_t
fill(struct end *e)
{
	uint32_t n = 0;

	for (; !ndd_line_is_full(e->line); n++) {
		tell(e, "message", -1);
		turn();
	}
	return n;
}

Test(line, nothing_is_received_while_a_message_waits)
{
	BY_BOTH
	{
		struct end *e = end_new(local, -1);
		uint32_t n = fill(e);
		size_t bytes;

		say(e, "request");
		for (int i = 0; i < 100; i++)
			turn();
		cr_expect(eq(ptr, (void *)ndd_line_request(e->line, &bytes), NULL));
		cr_expect(ge(u32, ndd_line_waiting(e->line), 1));
		while (n-- > 0)
			(void)expect_message(e, "message");
		expect_request(e, "request");
		cr_expect(eq(u32, ndd_line_waiting(e->line), 0));
		cr_expect_not(ndd_line_is_full(e->line));
		end_free(e);
	}
}

Test(line, files_that_are_not_taken_are_few)
{
	BY_BOTH
	{
		struct end *e = end_new(local, -1);

		for (uint32_t i = 0; i < NDD_LINE_FILES_UNREAD + 1; i++)
			tell(e, "file", dup(STDERR_FILENO));
		while (!ndd_line_is_full(e->line))
			turn();
		cr_expect(eq(u32, ndd_line_sent(e->line), NDD_LINE_FILES_UNREAD));
		for (uint32_t i = 0; i < NDD_LINE_FILES_UNREAD + 1; i++)
			close(expect_message(e, "file"));
		end_free(e);
	}
}

Test(line, a_client_that_hangs_up)
{
	BY_BOTH
	{
		struct end *e = end_new(local, -1);

		say(e, "last");
		close(e->client);
		expect_request(e, "last");
		cr_expect(
			eq(int, ndd_line_end(e->line), NDD_LINE_OPEN), "what it said comes first");
		ndd_line_next(e->line);
		expect_end(e, NDD_LINE_GONE);
		tell(e, "in vain", dup(STDERR_FILENO));
		while (ndd_line_waiting(e->line) != 0)
			turn();
		end_free(e);
	}
}

/* The client is told why: what it sent is no reason to send it nothing. */
Test(line, a_client_that_sends_what_it_may_not)
{
	BY_BOTH
	{
		static char longer[NDSH_MSG_BYTES + 1];
		struct end *e = end_new(local, -1), *f = end_new(local, -1);

		cr_assert_eq(send(e->client, longer, sizeof(longer), 0), sizeof(longer));
		expect_end(e, NDD_LINE_LONG);
		tell(e, "why", -1);
		(void)expect_message(e, "why");
		cr_assert_eq(send_file(f->client, "file", 4, 0, STDERR_FILENO), 4);
		expect_end(f, NDD_LINE_FILES);
		tell(f, "why", -1);
		(void)expect_message(f, "why");
		end_free(e);
		cr_expect(eq(int, e->left, -1));
		end_free(f);
		cr_assert(ge(int, f->left, 0), "it is the closer's");
		close(f->left);
	}
}

/* A child of its process may have the socket, and goes on. */
Test(line, a_client_whose_process_ends)
{
	BY_BOTH
	{
		pid_t pid = fork();
		struct end *e;

		if (pid == 0) {
			pause();
			_exit(0);
		}
		e = end_new(local, (int)syscall(SYS_pidfd_open, pid, 0));
		for (int i = 0; i < 100; i++)
			turn();
		cr_expect(eq(int, ndd_line_end(e->line), NDD_LINE_OPEN));
		kill(pid, SIGKILL);
		expect_end(e, NDD_LINE_GONE);
		cr_assert_eq(waitpid(pid, NULL, 0), pid);
		end_free(e);
	}
}

Test(line, what_was_sent_comes_before_the_end)
{
	BY_BOTH
	{
		struct end *e = end_new(local, -1);
		char byte;

		tell(e, "farewell", -1);
		end_free(e);
		cr_expect(eq(int, e->left, -1));
		(void)expect_message(e, "farewell");
		cr_expect(eq(i64, recv(e->client, &byte, 1, 0), 0));
	}
}

/* One that waits for its session receives nothing, and its socket is closed all the same. */
Test(line, one_that_was_never_opened)
{
	BY_BOTH
	{
		struct end e = {.left = -2};
		int sock[2];
		char byte;

		cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
		e.client = sock[1];
		e.line = ndd_line_new(courier, local, sock[0]);
		say(&e, "request");
		tell(&e, "refused", -1);
		end_free(&e);
		(void)expect_message(&e, "refused");
		cr_expect(eq(i64, recv(e.client, &byte, 1, 0), 0));
	}
}

/* The control thread waits for no other thread, and need not be woken. */
Test(line, of_the_control_thread_itself)
{
	struct end *e = end_new(true, -1);
	char got[16];
	size_t bytes;

	say(e, "request");
	ndd_courier_serve(all.local);
	ndd_couriers_collect(&all);
	cr_assert_not_null(ndd_line_request(e->line, &bytes));
	tell(e, "reply", -1);
	cr_expect(eq(i64, recv(e->client, got, sizeof(got), 0), 5));
	end_free(e);
}
