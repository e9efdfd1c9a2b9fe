/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client attaches an open file to a message. The file is one whose last close() takes a minute:
 * whichever thread drops the last reference stands still for that long, and it must not be the
 * thread that serves all clients.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "rigs/ndd_rig.h"
#include "session/closer.h"

#define LINGER_S 60
#define AT_ONCE	 20 /* s: less than that, on the slowest of machines */

/* Two ends of a TCP connection, of which sink takes nothing and slow still has bytes to send. */
struct lingering {
	int slow, sink;
};

static struct lingering
lingering_new(void)
{
	const struct linger on = {.l_onoff = 1, .l_linger = LINGER_S};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t bytes = sizeof(at);
	static const uint8_t block[65536];
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct lingering l = {.slow = socket(AF_INET, SOCK_STREAM, 0)};

	cr_assert_eq(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
	cr_assert_eq(connect(l.slow, (struct sockaddr *)&at, sizeof(at)), 0);
	l.sink = accept(listener, NULL, NULL);
	cr_assert_geq(l.sink, 0);
	close(listener);
	while (send(l.slow, block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	cr_assert_eq(setsockopt(l.slow, SOL_SOCKET, SO_LINGER, &on, sizeof(on)), 0);
	return l;
}

static void
send_hello(int client, int file)
{
	struct ndsh_hello m = {0};
	struct iovec iov = {&m, sizeof(m)};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&mh);

	ndsh_hello_fill(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &file, sizeof(file));
	cr_assert_eq(sendmsg(client, &mh, 0), (ssize_t)sizeof(m));
}

/* The message alone has the file then. */
static struct lingering
attack(int client)
{
	struct lingering l = lingering_new();

	send_hello(client, l.slow);
	close(l.slow);
	return l;
}

static time_t
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* A client that does nothing of the kind is served, and its socket is closed at once. */
static void
expect_served(struct ndd_rig *r)
{
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s), ours = s->watch.fd;

	close(client);
	ndd_rig_turn(r);
	cr_expect(eq(int, fcntl(ours, F_GETFD), -1));
}

static void
expect_closed_elsewhere(struct ndd_rig *r, time_t began, struct lingering l)
{
	cr_expect(lt(i64, now_s() - began, AT_ONCE), "the control thread stood still");
	cr_expect(eq(u32, r->d.session_count, 0));
	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), 1));
	expect_served(r);
	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), 1), "it is still being closed");
	close(l.sink); /* ends it */
	while (ndd_closer_busy(r->d.closer) > 0)
		usleep(1000);
	ndd_closer_stop(r->d.closer);
}

Test(attached, to_a_message_that_is_read)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	uint8_t msg[NDSH_MSG_BYTES];
	int client = ndd_rig_connect(r, &s);
	struct lingering l = attack(client);
	time_t began = now_s();

	ndd_rig_turn(r);
	/* Behind a reset, if the socket is closed already: there are unread messages in it. */
	cr_expect(ndd_rig_take(client, msg, NULL) > 0 || ndd_rig_take(client, msg, NULL) > 0);
	cr_expect(eq(i32, ((struct ndsh_msg_hdr *)msg)->type, NDSH_EV_SESSION_END));
	while (ndd_rig_take(client, msg, NULL) == 0) /* the end, when the other thread gets there */
		usleep(1000);
	expect_closed_elsewhere(r, began, l);
}

/* It lies behind the message that ends the session, and another one. */
Test(attached, to_one_that_is_never_read)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_connect(r, &s);
	struct lingering l;
	time_t began;

	cr_assert_eq(send(client, "broken", 6, 0), 6);
	cr_assert_eq(send(client, "unread", 6, 0), 6);
	l = attack(client);
	began = now_s();
	ndd_rig_turn(r);
	expect_closed_elsewhere(r, began, l);
}

/* ... and the client is gone before the session was accepted. */
Test(attached, by_a_client_that_is_gone)
{
	struct ndd_rig *r = ndd_rig_new();
	struct sockaddr_un at;
	socklen_t bytes = sizeof(at);
	int client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct lingering l;
	time_t began;

	cr_assert_eq(getsockname(r->d.listen_watch.fd, (struct sockaddr *)&at, &bytes), 0);
	cr_assert_eq(connect(client, (struct sockaddr *)&at, bytes), 0);
	l = attack(client);
	close(client);
	began = now_s();
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	expect_closed_elsewhere(r, began, l);
}

/* A client can't have more of them than sessions. */
Test(attached, counts_as_a_session_until_it_is_closed)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;

	for (unsigned i = 0; i < NDD_RIG_SESSIONS; i++) {
		int client = ndd_rig_connect(r, &s);

		cr_assert_not(s->refused);
		(void)attack(client);
		ndd_rig_turn(r);
	}
	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), NDD_RIG_SESSIONS));
	(void)ndd_rig_connect(r, &s);
	cr_expect(s->refused);
	ndd_closer_stop(r->d.closer); /* does not wait for them */
}
