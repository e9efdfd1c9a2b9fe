/* SPDX-License-Identifier: BSD-3-Clause */
/* How sessions begin and end. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
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

/* Would the control thread wake up? */
static bool
is_quiet(const struct ndd_rig *r)
{
	struct epoll_event ev;

	return epoll_wait(r->d.epoll_fd, &ev, 1, 0) == 0;
}

Test(session, a_daemon_that_stops_takes_no_more)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;

	r->d.stopping = true;
	(void)ndd_rig_connect(r, &s);
	cr_expect(eq(ptr, s, NULL));
	cr_expect(is_quiet(r));
	ndd_session_listen_again(&r->d, UINT64_MAX);
	cr_expect(is_quiet(r), "nor later");
}

/* Clients beyond those that are told that they are too many wait to be accepted, without keeping
 * the control thread busy, until there is room again. */
Test(session, without_room_they_wait)
{
	struct ndd_rig *r = ndd_rig_new();
	unsigned room = ndd_session_room(&r->cfg);
	struct ndd_session *s;
	int first = ndd_rig_connect(r, &s);

	for (unsigned i = 1; i < room; i++)
		(void)ndd_rig_connect(r, &s);
	cr_assert(eq(u32, r->d.session_count, room));
	(void)ndd_rig_connect(r, &s);
	cr_expect(eq(u32, r->d.session_count, room));
	cr_expect(is_quiet(r));
	close(first);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, room - 1));
	ndd_session_listen_again(&r->d, r->d.deaf_since_ns + 249999999);
	cr_expect(is_quiet(r), "not at once");
	ndd_session_listen_again(&r->d, r->d.deaf_since_ns + 250000000);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, room));
}

/* The listening socket is ready all the time, and no use. */
Test(session, without_descriptors_they_wait)
{
	struct ndd_rig *r = ndd_rig_new();
	struct rlimit was, few;
	struct ndd_session *s;
	int free_fd = dup(0);

	close(free_fd);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	few.rlim_cur = (rlim_t)free_fd + 1; /* the client's own */
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	(void)ndd_rig_connect(r, &s);
	cr_expect(eq(u32, r->d.session_count, 0));
	cr_expect(is_quiet(r));
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
	ndd_session_listen_again(&r->d, UINT64_MAX);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 1));
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
