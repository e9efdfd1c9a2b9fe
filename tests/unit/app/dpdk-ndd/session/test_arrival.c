/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients between their connect() and their session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "session/arrival.h"

static struct ndd_rig *
red_and_blue(void)
{
	static const struct config_principal any;

	return ndd_rig_red_and_blue(&any, &any, true);
}

static struct ndd_principal *
principal(struct ndd_rig *r, const char *name)
{
	struct ndd_principal *p;

	TAILQ_FOREACH (p, &r->d.accounts.principals, next)
		if (strcmp(p->name, name) == 0)
			return p;
	cr_fatal("no principal %s", name);
}

static int
dial_by(struct ndd_rig *r, const char *label)
{
	ndd_rig_connect_by(r, label);
	return ndd_rig_dial(r);
}

static void
say_hello(int client)
{
	struct ndsh_hello hello;

	ndsh_hello_fill(&hello);
	cr_assert_eq(send(client, &hello, sizeof(hello), 0), (ssize_t)sizeof(hello));
}

static uint64_t
seats_taken(const struct ndd_rig *r)
{
	return r->d.accounts.pool[0][CONFIG_SHARE_sessions].promised;
}

Test(arrival, has_a_seat_and_then_a_session)
{
	struct ndd_rig *r = ndd_rig_new();

	(void)ndd_rig_dial(r);
	cr_expect(eq(u64, seats_taken(r), 0));
	ndd_rig_turn(r);
	cr_expect_not(ndd_listening_is_quiet(&r->d), "accepted: the next turn is due");
	cr_expect(eq(u32, r->d.session_count, 0));
	ndd_rig_turn(r);
	cr_expect(ndd_listening_is_quiet(&r->d));
	cr_expect_not(!STAILQ_EMPTY(&r->d.arrivals));
	cr_expect(eq(u64, seats_taken(r), 1));
	cr_expect(eq(u32, r->d.session_count, 1));
}

/* However many have connected, a turn accepts a few of them. */
Test(arrival, few_come_in_a_turn)
{
	struct ndd_rig *r = ndd_rig_new();

	for (unsigned i = 0; i < NDD_ACCEPTED_MAX + 2; i++)
		(void)ndd_rig_dial(r);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.listening[0].n, NDD_ACCEPTED_MAX));
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.listening[0].n, 2));
}

/* What it said before does not matter: nobody would read an answer. */
Test(arrival, that_has_left_gets_no_session)
{
	struct ndd_rig *r = ndd_rig_new();
	const uint64_t serial = r->d.serial;

	for (int says = 0; says < 2; says++) {
		int client = ndd_rig_dial(r);

		if (says)
			say_hello(client);
		close(client);
		ndd_rig_turn(r);
		ndd_rig_turn(r);
		cr_expect_not(!STAILQ_EMPTY(&r->d.arrivals));
		cr_expect(eq(u64, r->d.serial, serial));
		cr_expect(eq(u64, seats_taken(r), 0));
	}
}

/* It may still read what it is told. */
Test(arrival, that_says_nothing_more_gets_one)
{
	struct ndd_rig *r = ndd_rig_new();
	uint8_t room[NDSH_MSG_BYTES];
	int client = ndd_rig_dial(r);

	say_hello(client);
	shutdown(client, SHUT_WR);
	for (int i = 0; i < 3; i++)
		ndd_rig_turn(r);
	cr_expect(lt(i64, 0, ndd_rig_take(client, room, NULL)));
}

Test(arrival, waits_for_the_time_of_its_principal)
{
	struct ndd_rig *r = red_and_blue();
	struct ndd_principal *red = principal(r, "red");

	(void)dial_by(r, "red");
	(void)dial_by(r, "blue");
	ndd_rig_turn(r);
	red->credit_ns = -2 * NDD_TURN_NS; /* a turn brings it to -1, another one to 0 */
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 1), "blue's, and not red's before it");
	cr_expect(eq(u64, seats_taken(r), 2), "both have a seat");
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 1));
	cr_expect_not(STAILQ_EMPTY(&r->d.arrivals));
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 2));
}

/* Sessions of its principal that ask for things have the other half. */
Test(arrival, needs_more_than_half_of_a_turn)
{
	struct ndd_rig *r = red_and_blue();
	struct ndd_principal *red = principal(r, "red");

	(void)dial_by(r, "red");
	ndd_rig_turn(r);
	ndd_listening_admit(&r->d);
	red->credit_ns = NDD_TURN_NS / 2;
	ndd_arrivals_begin(&r->d);
	cr_expect(eq(u32, r->d.session_count, 0));
	cr_expect(eq(i64, red->credit_ns, NDD_TURN_NS / 2));
	red->credit_ns++;
	ndd_clock_mult = 1ull << 32; /* time passes */
	ndd_arrivals_begin(&r->d);
	cr_expect(eq(u32, r->d.session_count, 1));
	cr_expect(lt(i64, red->credit_ns, NDD_TURN_NS / 2), "and it is charged for it");
}

/* All seats are taken, and one of them is a session's that is gone, while a file of its is not. */
static struct ndd_seat *
all_but_one_that_leaves(struct ndd_rig *r)
{
	struct ndd_session *s;
	struct ndd_seat *seat;
	int client;

	for (unsigned i = 0; i < NDD_RIG_SESSIONS; i++)
		client = ndd_rig_open(r, &s);
	seat = ndd_seat_hold(s->seat);
	close(client);
	ndd_rig_turn(r);
	cr_assert(eq(u32, r->d.session_count, NDD_RIG_SESSIONS - 1));
	cr_assert(eq(u64, seats_taken(r), NDD_RIG_SESSIONS));
	return seat;
}

/* Before, a client that closed its session and opened one at once was refused. */
Test(arrival, gets_the_seat_of_a_session_that_is_gone_when_its_files_are)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_seat *seat = all_but_one_that_leaves(r);
	uint8_t room[NDSH_MSG_BYTES];
	int client = ndd_rig_dial(r), other;

	for (unsigned i = 0; i < 3; i++)
		ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, NDD_RIG_SESSIONS - 1));
	cr_expect(eq(i64, ndd_rig_take(client, room, NULL), 0), "it is not told anything");
	cr_expect(ndd_arrivals_are_quiet(&r->d), "and nobody is busy with it");
	cr_expect(eq(u32, seat->account.principal->hopeful, 1));
	other = ndd_rig_dial(r);
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_expect(lt(i64, 0, ndd_rig_take(other, room, NULL)), "one seat is no hope for two");
	ndd_seat_drop(seat);
	cr_expect_not(ndd_arrivals_are_quiet(&r->d));
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, NDD_RIG_SESSIONS));
	say_hello(client);
	ndd_rig_turn(r);
	cr_expect(lt(i64, 0, ndd_rig_take(client, room, NULL)));
}

Test(arrival, is_refused_when_that_takes_more_than_a_second)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_seat *seat = all_but_one_that_leaves(r);
	int client = ndd_rig_dial(r);
	union {
		struct ndsh_ev_session_end end;
		uint8_t room[NDSH_MSG_BYTES];
	} m;

	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_assert(eq(i64, ndd_rig_take(client, &m, NULL), 0));
	ndd_clock_mult = 1ull << 32; /* more time passes */
	ndd_rig_turn(r);
	cr_assert(eq(i64, ndd_rig_take(client, &m, NULL), sizeof(m.end)));
	cr_expect(eq(i32, m.end.h.status, NDSH_ERR_NO_RESOURCES));
	cr_expect(eq(int, strncmp(m.end.reason, "no sessions are left", 20), 0));
	cr_expect(eq(i64, ndd_rig_take(client, &m, NULL), -1));
	ndd_seat_drop(seat);
	cr_expect(eq(u64, seats_taken(r), NDD_RIG_SESSIONS - 1));
}

Test(arrival, is_told_that_the_daemon_ends)
{
	struct ndd_rig *r = red_and_blue();
	int client = dial_by(r, "red");
	union {
		struct ndsh_ev_session_end end;
		uint8_t room[NDSH_MSG_BYTES];
	} m;

	ndd_rig_turn(r);
	ndd_listening_admit(&r->d);
	ndd_arrivals_end(&r->d);
	ndd_rig_turn(r);
	cr_assert(eq(i64, ndd_rig_take(client, &m, NULL), sizeof(m.end)));
	cr_expect(eq(i32, m.end.h.type, NDSH_EV_SESSION_END));
	cr_expect(eq(i32, m.end.h.status, NDSH_ERR_SESSION_ENDED));
	cr_expect(eq(str, m.end.reason, "the daemon is shutting down"));
	cr_expect(eq(i64, ndd_rig_take(client, &m, NULL), -1), "and the socket is closed");
	cr_expect(eq(u64, seats_taken(r), 0));
}
