/* SPDX-License-Identifier: BSD-3-Clause */
/* How sessions begin and end. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rigs/ndd_rig.h"
#include "session/end.h"
#include "session/send.h"

static unsigned
open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The daemon keeps nothing of a refused client, however many try. */
Test(session, one_too_many_is_told_so)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union {
		struct ndsh_ev_session_end end;
		uint8_t room[NDSH_MSG_BYTES];
	} m;
	unsigned files;
	char want[160];
	int client;

	for (unsigned i = 0; i < NDD_RIG_SESSIONS; i++)
		(void)ndd_rig_open(r, &s);
	files = open_files();
	for (int i = 0; i < 3; i++) {
		client = ndd_rig_connect(r, &s);
		cr_expect(eq(u32, r->d.session_count, NDD_RIG_SESSIONS));
		cr_assert(eq(i64, ndd_rig_take(client, &m, NULL), sizeof(m.end)));
		cr_expect(eq(i32, m.end.h.type, NDSH_EV_SESSION_END));
		cr_expect(eq(i32, m.end.h.status, NDSH_ERR_NO_RESOURCES));
		(void)snprintf(want, sizeof(want),
			"no sessions are left for uid %u: all 5 are in use or reserved", getuid());
		cr_expect(eq(str, m.end.reason, want));
		cr_expect(eq(i64, ndd_rig_take(client, &m, NULL), -1), "and the socket is closed");
		close(client);
		cr_expect(eq(u32, open_files(), files));
	}
}

Test(session, a_daemon_that_stops_takes_no_more)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;

	r->d.stopping = true;
	(void)ndd_rig_connect(r, &s);
	cr_expect(eq(ptr, s, NULL));
	cr_expect(ndd_rig_is_quiet(r));
	ndd_listening_again(&r->d, UINT64_MAX);
	cr_expect(ndd_rig_is_quiet(r), "nor later");
}

/* One more file may be opened; *was: how many there were to be. */
static void
allow_one_more(struct rlimit *was)
{
	int free_fd = dup(0);
	struct rlimit few;

	close(free_fd);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, was), 0);
	few = *was;
	few.rlim_cur = (rlim_t)free_fd + 1;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
}

/* The listening socket is ready all the time, and no use. */
Test(session, without_descriptors_they_wait)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct rlimit was;

	allow_one_more(&was); /* the client's own */
	(void)ndd_rig_connect(r, &s);
	cr_expect(eq(u32, r->d.session_count, 0));
	cr_expect(ndd_rig_is_quiet(r));
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
	ndd_listening_again(&r->d, r->d.listening[0].deaf_since_ns + 249999999);
	cr_expect(ndd_rig_is_quiet(r), "not at once");
	ndd_listening_again(&r->d, r->d.listening[0].deaf_since_ns + 250000000);
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 1));
}

/* Those that were accepted before that are served. */
Test(session, without_descriptors_others_wait)
{
	struct ndd_rig *r = ndd_rig_new();
	struct rlimit was;

	(void)ndd_rig_dial(r);
	(void)ndd_rig_dial(r);
	allow_one_more(&was);
	ndd_rig_turn(r);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
	cr_expect(eq(u32, r->d.listening[0].n, 1));
	cr_expect(r->d.listening[0].deaf);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 1));
	ndd_listening_again(&r->d, r->d.listening[0].deaf_since_ns + 250000000);
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 2));
}

Test(session, nothing_is_left_of_one_whose_client_is_gone)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct roce_usage usage;
	unsigned before = open_files();
	uint32_t id;
	int client = ndd_rig_open(r, &s);

	(void)ndd_rig_segment(r, client, 65536, &id);
	cr_expect(eq(u32, r->shard.sessions, 1));
	close(client);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 0));
	cr_expect_not(!TAILQ_EMPTY(&r->d.sessions) || !TAILQ_EMPTY(&r->d.ended));
	cr_expect(eq(u32, r->shard.sessions, 0), "its lcore polls it no more");
	cr_expect(ndd_accounts_end_couriers(&r->d.accounts));
	cr_expect(eq(u32, open_files(), before));
	roce_shard_usage(r->shard.engine, &usage);
	cr_expect(eq(u32, usage.pds, 0));
}

/* Callers up the stack may still hold it. */
Test(session, one_that_has_ended_stays_until_it_is_reaped)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	uint64_t serial;

	(void)ndd_rig_open(r, &s);
	serial = s->serial;
	cr_expect(eq(ptr, ndd_session_find(&r->d, serial), s));
	ndd_session_end(s, "the test wants it");
	cr_expect(s->ended);
	cr_expect(eq(ptr, ndd_session_find(&r->d, serial), NULL), "no event reaches it");
	cr_expect(eq(ptr, TAILQ_FIRST(&r->d.ended), s));
	ndd_session_end(s, "again");
	cr_expect(eq(u32, r->d.session_count, 1));
	ndd_session_reap(&r->d);
	cr_expect(eq(u32, r->d.session_count, 0));
}

Test(session, serials_are_never_used_again)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	uint64_t last = 0;

	for (int i = 0; i < 5; i++) {
		int client = ndd_rig_connect(r, &s);

		cr_expect(lt(u64, last, s->serial));
		last = s->serial;
		close(client);
		ndd_rig_turn(r);
		cr_expect(eq(u32, r->d.session_count, 0));
	}
}

/* Else a silent client would keep its seat. */
Test(session, one_that_never_says_hello_ends)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *silent, *open;

	(void)ndd_rig_open(r, &open);
	(void)ndd_rig_connect(r, &silent);
	ndd_session_check_stalled(&r->d, silent->since_ns + 10000000000);
	cr_expect_not(silent->ended);
	ndd_session_check_stalled(&r->d, silent->since_ns + 10000000001);
	cr_expect(silent->ended);
	cr_expect_not(open->ended);
}
