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
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "rigs/send_file.h"
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

	ndsh_hello_fill(&m);
	cr_assert_eq(send_file(client, &m, sizeof(m), 0, file), (ssize_t)sizeof(m));
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
	int client = ndd_rig_open(r, &s), ours = s->seat->fd;

	close(client);
	ndd_rig_turn(r);
	cr_expect(eq(int, fcntl(ours, F_GETFD), -1));
}

static void
wait_until_closed(struct ndd_closer *c)
{
	while (ndd_closer_busy(c) > 0)
		usleep(1000);
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
	wait_until_closed(r->d.closer);
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
	int client = ndd_rig_dial(r);
	struct lingering l = attack(client);
	time_t began;

	close(client);
	began = now_s();
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	expect_closed_elsewhere(r, began, l);
}

/* A client can't have more of them than sessions: each keeps its seat until it is closed. */
Test(attached, counts_as_a_session_until_it_is_closed)
{
	struct ndd_rig *r = ndd_rig_new();
	struct lingering l[NDD_RIG_SESSIONS];
	uint8_t msg[NDSH_MSG_BYTES];
	struct ndd_session *s;
	int client;

	for (unsigned i = 0; i < NDD_RIG_SESSIONS; i++) {
		client = ndd_rig_connect(r, &s);
		l[i] = attack(client);
		ndd_rig_turn(r);
	}
	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), NDD_RIG_SESSIONS));
	client = ndd_rig_connect(r, &s);
	cr_expect(eq(u32, r->d.session_count, 0));
	ndd_clock_mult = 1ull << 32; /* it hopes for a second */
	ndd_rig_turn(r);
	ndd_clock_mult = 0;
	cr_assert(lt(i64, 0, ndd_rig_take(client, msg, NULL)));
	cr_expect(eq(i32, ((struct ndsh_msg_hdr *)msg)->type, NDSH_EV_SESSION_END));
	for (unsigned i = 0; i < NDD_RIG_SESSIONS; i++)
		close(l[i].sink);
	wait_until_closed(r->d.closer);
	ndd_rig_turn(r);
	(void)ndd_rig_connect(r, &s);
	cr_expect(eq(u32, r->d.session_count, 1));
	ndd_closer_stop(r->d.closer);
}

/* ---- clients that are refused ---------------------------------------------------------------- */

/* Of one principal alone: seven eighths of what its courier leaves of NDD_RIG_DESCRIPTORS, rounded
 * as that share does. */
#define STRANGERS_MAX 111

/* Clients by the sockets "red" and "blue" are refused; others are not. */
static struct ndd_rig *
rig_that_refuses(void)
{
	static const struct config_principal any;

	return ndd_rig_red_and_blue(&any, &any, false);
}

/* A client by that socket attaches a file to its first message, and goes. The file is the message's
 * alone then. */
static void
refused_client(struct ndd_rig *r, const char *label, int file)
{
	int client;

	ndd_rig_connect_by(r, label);
	client = ndd_rig_dial(r);
	send_hello(client, file);
	close(file);
	close(client);
	ndd_rig_turn(r);
	ndd_rig_turn(r);
}

/* As many of them as the daemon puts away, behind one that takes long to close. */
static struct lingering
refused_clients(struct ndd_rig *r, const char *label, unsigned n)
{
	struct lingering l = lingering_new();

	refused_client(r, label, l.slow);
	for (unsigned i = 1; i < n; i++)
		refused_client(r, label, dup(STDERR_FILENO));
	return l;
}

static void
expect_admitted(struct ndd_rig *r, const char *label)
{
	struct ndd_session *s;
	unsigned before = r->d.session_count;

	ndd_rig_connect_by(r, label);
	(void)ndd_rig_open(r, &s);
	cr_expect(eq(u32, r->d.session_count, before + 1));
}

static void
all_are_closed(struct ndd_rig *r, struct lingering l)
{
	close(l.sink);
	wait_until_closed(r->d.closer);
	ndd_rig_turn(r);
}

/* A user that is refused has its share of places, which is none of the others'. */
Test(attached, to_connections_that_are_refused)
{
	struct ndd_rig *r = rig_that_refuses();
	struct lingering l = refused_clients(r, "red", STRANGERS_MAX);

	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), STRANGERS_MAX));
	cr_expect(eq(u64, r->d.accounts.pool[0][CONFIG_SHARE_descriptors].promised,
		STRANGERS_MAX + NDD_COURIER_FILES));
	expect_admitted(r, "");
	refused_client(r, "blue", dup(STDERR_FILENO));
	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), STRANGERS_MAX + 1));
	all_are_closed(r, l);
	cr_expect(eq(u64, r->d.accounts.pool[0][CONFIG_SHARE_descriptors].promised, 6),
		"those of the session, and of its principal's courier");
	ndd_closer_stop(r->d.closer);
}

/* One more than that has no place, and holds up those behind it in its own socket's queue. */
Test(attached, to_more_of_them_than_have_a_place)
{
	struct ndd_rig *r = rig_that_refuses();
	struct lingering l = refused_clients(r, "red", STRANGERS_MAX + 2);
	const struct ndd_listening *red = &r->d.listening[r->by];

	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), STRANGERS_MAX));
	cr_expect(ndd_rig_is_quiet(r), "nobody is called in vain");
	expect_admitted(r, "");
	ndd_listening_again(&r->d, red->deaf_since_ns + 250000000);
	ndd_rig_turn(r);
	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), STRANGERS_MAX), "there is still no place");
	cr_expect(ge(u32, red->n, 1));
	all_are_closed(r, l);
	ndd_listening_again(&r->d, red->deaf_since_ns + 249999999);
	cr_expect(ndd_rig_is_quiet(r), "not at once");
	ndd_listening_again(&r->d, red->deaf_since_ns + 250000000);
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_expect(eq(u32, red->n, 0));
	wait_until_closed(r->d.closer);
	ndd_rig_turn(r);
	cr_expect(eq(u64, r->d.accounts.pool[0][CONFIG_SHARE_descriptors].promised, 6),
		"those of the session, and of its principal's courier");
	ndd_closer_stop(r->d.closer);
}

/* A principal that has its share of them keeps no others waiting behind a client without files. */
Test(attached, to_others_than_the_one_that_has_no_place)
{
	struct ndd_rig *r = rig_that_refuses();
	struct lingering l = refused_clients(r, "red", STRANGERS_MAX);
	uint8_t msg[NDSH_MSG_BYTES];
	int client = ndd_rig_dial(r);

	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_assert(lt(i64, 0, ndd_rig_take(client, msg, NULL)));
	cr_expect(eq(i32, ((struct ndsh_msg_hdr *)msg)->type, NDSH_EV_SESSION_END));
	cr_expect(eq(i32, ((struct ndsh_msg_hdr *)msg)->status, NDSH_ERR_ACCESS));
	cr_expect(eq(i64, ndd_rig_take(client, msg, NULL), -1));
	cr_expect_not(r->d.listening[r->by].stuck);
	all_are_closed(r, l);
	ndd_closer_stop(r->d.closer);
}

/* It has no waiters any more, so that no other thread has to close its socket. */
Test(attached, to_nothing_by_a_refused_client_that_has_left)
{
	struct ndd_rig *r = rig_that_refuses();

	ndd_rig_connect_by(r, "red");
	for (unsigned i = 0; i < 3; i++) {
		close(ndd_rig_dial(r));
		ndd_rig_receive(r);
		ndd_rig_receive(r);
		cr_expect(eq(u32, r->d.listening[r->by].n, 0));
		cr_expect_not(!TAILQ_EMPTY(&r->d.accounts.principals), "nor anything else");
	}
	ndd_closer_stop(r->d.closer);
}

/* Limits are not for these: a principal of few descriptors would make others wait. */
Test(attached, by_a_principal_of_few_descriptors)
{
	struct ndd_rig *r = rig_that_refuses();
	struct lingering l;

	r->cfg.principal[0].limit[CONFIG_SHARE_descriptors] = 1;
	r->cfg.principal[0].has_limit[CONFIG_SHARE_descriptors] = true;
	l = refused_clients(r, "red", 2);
	cr_expect(eq(u32, ndd_closer_busy(r->d.closer), 2));
	all_are_closed(r, l);
	ndd_closer_stop(r->d.closer);
}
