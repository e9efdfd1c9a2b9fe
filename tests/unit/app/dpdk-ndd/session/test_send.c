/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to clients that do not read: queued up to a bound and for a time, then the end. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "session/send.h"

#define QUEUE_MAX 256u /* messages */

/* The cookies count the messages. */
static void
send_one(struct ndd_session *s, uint64_t n, int fd)
{
	const struct ndsh_id_msg m = {.h = {.type = NDSH_EV_ASYNC, .cookie = n}};

	ndd_session_send(s, &m, sizeof(m), fd);
}

/* Send until the socket is full, and the next message is queued. Returns how many were sent. */
static uint64_t
fill_socket(struct ndd_session *s)
{
	uint64_t n = 0;

	while (s->outgoing_count == 0) {
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
	cr_expect(eq(u32, s->outgoing_count, 101));
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
	cr_expect(eq(u32, s->outgoing_count, 0));
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
	cr_expect(eq(u32, s->outgoing_count, 2));
	for (uint64_t n = 2; n < sent - 1; n++)
		cr_assert(eq(u64, take_one(client), n));
	ndd_session_flush(s);
	cr_expect(eq(u64, take_one(client), sent - 1));
	cr_expect(eq(u64, take_one(client), sent));
}

Test(send, a_queued_descriptor_is_the_daemons_own_copy)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	uint8_t m[NDSH_MSG_BYTES];
	int client = ndd_rig_open(r, &s), pipes[2], got = -1;
	uint64_t sent = fill_socket(s);
	char byte = 0;

	cr_assert(eq(int, pipe(pipes), 0));
	send_one(s, ++sent, pipes[0]);
	close(pipes[0]);
	for (uint64_t n = 1; n < sent - 1; n++)
		cr_assert(eq(u64, take_one(client), n));
	ndd_session_flush(s);
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
	while (s->outgoing_count < QUEUE_MAX && !s->ended)
		send_one(s, ++sent, -1);
	cr_assert(not(s->ended));
	send_one(s, ++sent, -1);
	cr_expect(s->ended);
	cr_expect(eq(u32, s->outgoing_count, QUEUE_MAX));
	send_one(s, ++sent, -1); /* is dropped */
	cr_expect(eq(u32, s->outgoing_count, QUEUE_MAX));
	ndd_session_reap(&r->d);
	cr_expect(eq(u32, r->d.session_count, 0));
}

Test(send, a_client_that_does_not_read_for_five_seconds_loses_its_session)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *stalled, *idle;
	uint64_t since;

	ndd_clock_mult = 1ull << 31; /* any rate */
	(void)ndd_rig_open(r, &idle);
	(void)ndd_rig_open(r, &stalled);
	(void)fill_socket(stalled);
	since = stalled->outgoing_since_ns;
	cr_assert(ne(u64, since, 0));
	ndd_session_check_stalled(&r->d, since + 5 * NDD_S);
	cr_expect(not(stalled->ended));
	ndd_session_check_stalled(&r->d, since + 5 * NDD_S + 1);
	cr_expect(stalled->ended);
	cr_expect(not(idle->ended), "nothing waits for it");
}

/* Five seconds without any progress: each message that it takes begins them anew. */
Test(send, a_slow_client_keeps_its_session)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	uint64_t sent = fill_socket(s);

	ndd_clock_mult = 1ull << 31;
	send_one(s, ++sent, -1);
	send_one(s, ++sent, -1);
	s->outgoing_since_ns = 0; /* long ago */
	for (uint64_t n = 1; s->outgoing_count > 1; n++) {
		cr_assert(eq(u64, take_one(client), n));
		ndd_session_flush(s);
	}
	cr_expect(ne(u64, s->outgoing_since_ns, 0));
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
	cr_expect(eq(u32, s->outgoing_count, 0));
	cr_expect(eq(u32, s->pds.used, 1));
}

Test(send, a_closed_socket_ends_the_session)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;

	close(ndd_rig_open(r, &s));
	send_one(s, 1, -1);
	cr_expect(s->ended);
	cr_expect(eq(u32, s->outgoing_count, 0));
}
