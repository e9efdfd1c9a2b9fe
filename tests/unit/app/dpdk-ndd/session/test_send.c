/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to clients that do not read: queued up to a bound and for a time, then the end. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "courier/line.h"
#include "object/cq.h"
#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "rigs/send_file.h"
#include "session/incoming.h"
#include "session/send.h"

#define QUEUE_MAX  256u /* messages */
#define OBJECT_MAX 4u	/* and of each object */

/* The cookies count the messages. */
static void
send_one(struct ndd_session *s, uint64_t n, int fd)
{
	const struct ndsh_id_msg m = {.h = {.type = NDSH_EV_ASYNC, .cookie = n}};

	ndd_session_send(s, &m, sizeof(m), fd);
}

static uint32_t
waiting(const struct ndd_session *s)
{
	return ndd_line_waiting(s->line);
}

/* Send until the socket is full, and the next message is queued. Returns how many were sent. */
static uint64_t
fill_socket(struct ndd_session *s)
{
	uint64_t n = 0;

	while (waiting(s) == 0) {
		send_one(s, ++n, -1);
		cr_assert(lt(u64, n, 1000000));
	}
	return n;
}

static uint64_t
take_one(int client)
{
	union {
		struct ndsh_msg_hdr h;
		uint8_t bytes[NDSH_MSG_BYTES];
	} m;

	return ndd_rig_take(client, &m, NULL) > 0 ? m.h.cookie : 0;
}

Test(send, what_the_socket_does_not_take_comes_later_and_in_order)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	uint64_t sent = fill_socket(s), n;

	for (unsigned i = 0; i < 100; i++)
		send_one(s, ++sent, -1);
	cr_expect(eq(u32, waiting(s), 101));
	for (n = 1; n <= sent; n++) {
		uint64_t got = take_one(client);

		if (got == 0) { /* the daemon's turn: the socket takes more */
			ndd_rig_turn(r);
			got = take_one(client);
		}
		cr_assert(eq(u64, got, n));
	}
	ndd_rig_turn(r);
	cr_expect(eq(u64, take_one(client), 0));
	cr_expect(eq(u32, waiting(s), 0));
	cr_expect(not(s->ended));
}

/* A message that overtook one in the queue would be the reply to another request. */
Test(send, nothing_overtakes_the_queue)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	uint64_t sent = fill_socket(s);

	cr_assert(eq(u64, take_one(client), 1)); /* there is room in the socket now */
	send_one(s, ++sent, -1);
	cr_expect(ge(u32, waiting(s), 1));
	for (uint64_t n = 2; n < sent - 1; n++)
		cr_assert(eq(u64, take_one(client), n));
	ndd_rig_turn(r);
	cr_expect(eq(u64, take_one(client), sent - 1));
	cr_expect(eq(u64, take_one(client), sent));
}

Test(send, a_queued_descriptor_stays_open_until_it_is_sent)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	uint8_t m[NDSH_MSG_BYTES];
	int client = ndd_rig_open(r, &s), pipes[2], got = -1;
	uint64_t sent = fill_socket(s);
	char byte = 0;

	cr_assert(eq(int, pipe(pipes), 0));
	send_one(s, ++sent, pipes[0]);
	for (uint64_t n = 1; n < sent - 1; n++)
		cr_assert(eq(u64, take_one(client), n));
	cr_expect(ge(int, fcntl(pipes[0], F_GETFD), 0));
	ndd_rig_turn(r);
	cr_expect(eq(int, fcntl(pipes[0], F_GETFD), -1), "the client has it alone");
	cr_expect(eq(u64, take_one(client), sent - 1));
	cr_assert_gt(ndd_rig_take(client, m, &got), 0);
	cr_assert(ge(int, got, 0));
	cr_assert(eq(i64, write(pipes[1], "x", 1), 1));
	cr_expect(eq(i64, read(got, &byte, 1), 1));
	cr_expect(eq(chr, byte, 'x'));
}

Test(send, the_queue_is_bounded)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	uint64_t sent;

	(void)ndd_rig_open(r, &s);
	sent = fill_socket(s);
	while (waiting(s) < QUEUE_MAX && !s->ended)
		send_one(s, ++sent, -1);
	cr_assert(not(s->ended));
	send_one(s, ++sent, -1);
	cr_expect(s->ended);
	cr_expect(eq(u32, waiting(s), QUEUE_MAX + 1), "the reason of its end");
	send_one(s, ++sent, -1); /* is dropped */
	cr_expect(eq(u32, waiting(s), QUEUE_MAX + 1));
	ndd_session_reap(&r->d);
	cr_expect(eq(u32, r->d.session_count, 0));
}

/* Before, a thousand connections that ended while the client had no CPU ended its session. */
Test(send, each_object_may_say_what_happens_to_it)
{
	const struct ndsh_id_msg create = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	uint64_t sent;

	for (unsigned i = 0; i < 10; i++) {
		cr_assert_gt(send(client, &create, sizeof(create), 0), 0);
		ndd_rig_turn(r);
		(void)take_one(client);
	}
	cr_assert(eq(u32, s->pds.used, 10));
	sent = fill_socket(s);
	while (waiting(s) < QUEUE_MAX + 10 * OBJECT_MAX && !s->ended)
		send_one(s, ++sent, -1);
	cr_assert(not(s->ended));
	send_one(s, ++sent, -1);
	cr_expect(s->ended);
}

Test(send, a_client_that_does_not_read_for_five_seconds_loses_its_session)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *stalled, *idle;
	const uint64_t since = ndd_now_ns();

	(void)ndd_rig_open(r, &idle);
	(void)ndd_rig_open(r, &stalled);
	(void)fill_socket(stalled);
	ndd_session_check_stalled(&r->d, since);
	ndd_session_check_stalled(&r->d, since + 5 * NDD_S);
	cr_expect(not(stalled->ended));
	ndd_session_check_stalled(&r->d, since + 5 * NDD_S + 1);
	cr_expect(stalled->ended);
	cr_expect(not(idle->ended), "nothing waits for it");
}

/* It was idle before, for however long. */
Test(send, a_message_that_waits_since_this_turn_has_not_waited)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	const uint64_t since = ndd_now_ns();

	(void)ndd_rig_open(r, &s);
	ndd_session_check_stalled(&r->d, since);
	(void)fill_socket(s);
	ndd_session_check_stalled(&r->d, since + 20 * NDD_S);
	cr_expect(not(s->ended));
}

static void
take_until_more_is_sent(struct ndd_rig *r, struct ndd_session *s, int client)
{
	const uint32_t before = waiting(s);

	while (waiting(s) == before) {
		cr_assert(ne(u64, take_one(client), 0));
		ndd_rig_turn(r);
	}
}

/* Five seconds without any progress: what can be sent meanwhile begins them anew. */
Test(send, a_slow_client_keeps_its_session)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	uint64_t now = ndd_now_ns(), sent = fill_socket(s);

	while (waiting(s) < QUEUE_MAX) /* more than there is room for in the socket */
		send_one(s, ++sent, -1);
	ndd_session_check_stalled(&r->d, now);
	take_until_more_is_sent(r, s, client);
	cr_assert(ge(u32, waiting(s), 1));
	ndd_session_check_stalled(&r->d, now + 6 * NDD_S);
	cr_expect(not(s->ended));
	ndd_session_check_stalled(&r->d, now + 11 * NDD_S);
	cr_expect(not(s->ended));
	ndd_session_check_stalled(&r->d, now + 11 * NDD_S + 1);
	cr_expect(s->ended);
}

/* Its requests wait until it has read the replies to those before. */
Test(send, no_request_is_served_while_a_reply_waits)
{
	const struct ndsh_id_msg create = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);

	(void)fill_socket(s);
	cr_assert_gt(send(client, &create, sizeof(create), 0), 0);
	ndd_rig_turn(r);
	cr_expect(eq(u32, s->pds.used, 0));
	while (take_one(client) != 0)
		;
	ndd_rig_turn(r);
	cr_expect(eq(u32, waiting(s), 0));
	cr_expect(eq(u32, s->pds.used, 1));
}

/* ---- descriptors that are not taken ---- */

#define UNREAD_MAX 4u /* replies with a descriptor */
#define CQ_BYTES   8192u

struct maker {
	int fd;
	struct ndd_session *s;
	struct ndsh_cq_create m;
};

static struct maker
maker_new(struct ndd_rig *r)
{
	struct maker k = {.m = {.h.type = NDSH_MSG_CQ_CREATE, .depth = 16, .offset = 65536}};

	r->cfg.max_cqs = 48;
	k.fd = ndd_rig_open(r, &k.s);
	(void)ndd_rig_segment(r, k.fd, 4u << 20, &k.m.segment);
	return k;
}

static void
ask_for_cq(struct maker *k)
{
	cr_assert_gt(send(k->fd, &k->m, sizeof(k->m), 0), 0);
	k->m.offset += CQ_BYTES;
}

static unsigned
take_files(int client)
{
	uint8_t m[NDSH_MSG_BYTES];
	unsigned n = 0;
	int got;

	while (ndd_rig_take(client, m, &got) > 0) {
		cr_assert(ge(int, got, 0), "%s",
			ndsh_status_name(((struct ndsh_msg_hdr *)m)->status));
		close(got);
		n++;
	}
	return n;
}

/* Its requests wait, and the control thread sleeps meanwhile. */
Test(send, a_client_that_does_not_read_has_few_descriptors_under_way)
{
	struct ndd_rig *r = ndd_rig_new();
	struct maker lazy = maker_new(r);
	unsigned taken = 0;

	for (unsigned i = 0; i < 40; i++)
		ask_for_cq(&lazy);
	for (unsigned i = 0; i < 40; i++)
		ndd_rig_turn(r);
	cr_assert(eq(u32, lazy.s->cqs.used, UNREAD_MAX + 1));
	cr_assert(eq(u32, waiting(lazy.s), 1));
	cr_assert(ndd_rig_is_quiet(r));
	for (unsigned turns = 0; turns < 100; turns++) {
		taken += take_files(lazy.fd);
		ndd_rig_turn(r);
	}
	cr_assert(eq(u32, taken, 40));
	cr_assert(eq(u32, waiting(lazy.s), 0));
	cr_assert(not(lazy.s->ended));
}

/* The daemon goes on when all unread messages are taken, not when one of them is. */
Test(send, descriptors_go_on_when_all_are_taken)
{
	struct ndd_rig *r = ndd_rig_new();
	struct maker slow = maker_new(r);
	uint8_t m[NDSH_MSG_BYTES];

	for (unsigned i = 0; i < 40; i++)
		ask_for_cq(&slow);
	for (unsigned i = 0; i < 8; i++)
		ndd_rig_turn(r);
	for (unsigned i = 0; i + 1 < UNREAD_MAX; i++) {
		cr_assert_gt(ndd_rig_take(slow.fd, m, NULL), 0);
		ndd_rig_turn(r);
		ndd_rig_turn(r);
	}
	cr_assert(eq(u32, slow.s->cqs.used, UNREAD_MAX + 1));
	cr_assert_gt(ndd_rig_take(slow.fd, m, NULL), 0);
	for (unsigned i = 0; i < 8; i++)
		ndd_rig_turn(r);
	cr_assert(eq(u32, slow.s->cqs.used, 2 * UNREAD_MAX + 1));
}

/* As a daemon that is not root, with few descriptors: CAP_SYS_RESOURCE is above the limit. */
static void
be_limited(rlim_t files)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	const struct rlimit limit = {files, files};

	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
	cr_assert(eq(i64, syscall(SYS_capset, &h, none), 0));
}

/* It makes a completion queue and destroys it, so that only the unread replies are left. */
static void
make_and_destroy(struct ndd_rig *r, struct maker *k)
{
	struct ndsh_id_msg destroy = {.h.type = NDSH_MSG_CQ_DESTROY};
	const struct ndd_cq *cq;
	uint32_t pos = 0;

	ask_for_cq(k);
	ndd_rig_turn(r);
	cq = ndd_slots_next(&k->s->cqs, &pos);
	cr_assert(ne(ptr, (void *)(uintptr_t)cq, NULL));
	destroy.id = cq->owner.handle;
	cr_assert_gt(send(k->fd, &destroy, sizeof(destroy), 0), 0);
	ndd_rig_turn(r);
	k->m.offset = 65536;
}

Test(send, a_client_that_does_not_read_leaves_descriptors_to_others)
{
	struct ndd_rig *r = ndd_rig_new();
	struct maker lazy = maker_new(r), busy = maker_new(r);

	be_limited(96);
	for (unsigned i = 0; i < 120; i++)
		make_and_destroy(r, &lazy);
	for (unsigned i = 0; i < 20; i++) {
		ask_for_cq(&busy);
		ndd_rig_turn(r);
		cr_assert(eq(u32, take_files(busy.fd), 1), "completion queue %u", i);
	}
}

static void
leave_unread(int sock, int file, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		cr_assert(eq(i64, send_file(sock, "", 1, 0, file), 1));
}

/* Another process of the user has as many descriptors under way as the kernel permits: no socket
 * tells when that is over. */
Test(send, a_descriptor_that_the_kernel_refused_is_sent_later)
{
	struct ndd_rig *r = ndd_rig_new();
	struct maker busy = maker_new(r);
	int others[2];

	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, others), 0));
	be_limited(64);
	leave_unread(others[0], others[0], 65);
	ask_for_cq(&busy);
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_assert(eq(u32, waiting(busy.s), 1));
	cr_assert(ndd_rig_is_quiet(r));
	ndd_session_check_stalled(&r->d, ndd_now_ns());
	cr_assert(eq(u32, take_files(busy.fd), 0));
	close(others[1]);
	close(others[0]);
	ndd_session_check_stalled(&r->d, ndd_now_ns());
	cr_assert(eq(u32, take_files(busy.fd), 1));
	cr_assert(eq(u32, waiting(busy.s), 0));
}

Test(send, a_closed_socket_ends_the_session)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;

	close(ndd_rig_open(r, &s));
	send_one(s, 1, -1);
	cr_expect(eq(u32, waiting(s), 0));
	ndd_incoming_serve(&r->d);
	cr_expect(s->ended);
}
