/* SPDX-License-Identifier: BSD-3-Clause */
/* How sessions begin and end. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rigs/ndd_rig.h"
#include "session/end.h"

static unsigned
open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

Test(session, one_too_many_is_told_so)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s, *last;
	struct ndsh_hello hello;
	struct {
		struct ndsh_hello_reply hello;
		uint8_t rest[NDSH_MSG_BYTES];
	} reply;
	int client;

	for (unsigned i = 0; i < NDD_RIG_SESSIONS; i++) {
		(void)ndd_rig_open(r, &s);
		cr_assert_not(s->refused);
	}
	client = ndd_rig_connect(r, &last);
	ndsh_hello_fill(&hello);
	cr_expect(eq(i32, ndd_rig_ask(r, client, &hello, &reply), NDSH_ERR_NO_RESOURCES));
	cr_expect(eq(str, reply.hello.reason,
		"all 5 sessions of the daemon are in use (control.max_sessions)"));
	cr_expect(eq(u32, r->d.session_count, NDD_RIG_SESSIONS + 1));
	close(client);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, NDD_RIG_SESSIONS));
}

Test(session, a_daemon_that_stops_takes_no_more)
{
	struct ndd_rig *r = ndd_rig_new();
	uint8_t msg[NDSH_MSG_BYTES];
	struct ndd_session *s;
	int client;

	r->d.stopping = true;
	client = ndd_rig_connect(r, &s);
	cr_expect(eq(ptr, s, NULL));
	cr_expect(eq(i64, ndd_rig_take(client, msg, NULL), -1));
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
