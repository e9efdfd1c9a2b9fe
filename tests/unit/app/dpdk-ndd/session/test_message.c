/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of clients: each type is served, and a broken one ends the session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/socket.h>

#include "rigs/ndd_rig.h"

union reply {
	struct ndsh_msg_hdr h;
	struct ndsh_hello_reply hello;
	struct ndsh_id_msg id;
	struct ndsh_segment_create_reply segment;
	struct ndsh_ev_session_end end;
	uint8_t bytes[NDSH_MSG_BYTES];
};

/* The reason that a session has ended for, as its client gets it. */
static void
expect_end(struct ndd_rig *r, int client, const char *why)
{
	union reply reply;

	ndd_rig_turn(r);
	cr_assert_gt(ndd_rig_take(client, &reply, NULL), 0);
	cr_assert(eq(u16, reply.h.type, NDSH_EV_SESSION_END));
	cr_expect(eq(i32, reply.h.status, NDSH_ERR_SESSION_ENDED));
	cr_expect(ne(ptr, strstr(reply.end.reason, why), NULL), "%s", reply.end.reason);
	cr_expect(eq(i64, ndd_rig_take(client, &reply, NULL), -1));
}

/* A request of zeros: its handler finds nothing that it could act on, but it must be there. */
Test(message, every_type_has_a_handler)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);
	unsigned types = 0;

	for (uint16_t type = 1; type < NDSH_MSG_TYPE_COUNT; type++) {
		union reply request = {.h.type = type};

		cr_assert(ne(u16, ndsh_msg_table[type].bytes, 0), "type %u", type);
		if ((ndsh_msg_table[type].states >> NDSH_ST_OPEN & 1) == 0)
			continue;
		(void)ndd_rig_ask(r, client, &request, &reply);
		types++;
	}
	cr_expect(eq(u32, types, NDSH_MSG_TYPE_COUNT - 1 - 2), "all but HELLO and OPEN");
}

/* None of these objects is there, and every one of the requests says so. */
Test(message, what_names_an_object_judges_the_name)
{
	static const uint16_t types[] = {NDSH_MSG_SEGMENT_DESTROY, NDSH_MSG_PD_DESTROY,
		NDSH_MSG_CQ_DESTROY, NDSH_MSG_QP_DESTROY, NDSH_MSG_QP_FLUSH, NDSH_MSG_MW_DESTROY,
		NDSH_MSG_SRQ_DESTROY, NDSH_MSG_FRMR_DESTROY, NDSH_MSG_AH_DESTROY,
		NDSH_MSG_LISTENER_DESTROY, NDSH_MSG_ENDPOINT_DESTROY, NDSH_MSG_CONN_DESTROY,
		NDSH_MSG_PD_TOKEN, NDSH_MSG_QP_QUERY, NDSH_MSG_COMPLETE_CONNECT,
		NDSH_MSG_DISCONNECT};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		union reply request = {.id = {.h.type = types[i], .id = 3}};

		cr_expect(eq(i32, ndd_rig_ask(r, client, &request, &reply), NDSH_ERR_INVALID_ID),
			"%s", ndsh_msg_table[types[i]].name);
	}
}

/* Replies without a body of their own name the request's object. */
Test(message, a_reply_names_the_object)
{
	const struct ndsh_id_msg create = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndsh_id_msg destroy = {.h.type = NDSH_MSG_PD_DESTROY};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	for (int i = 0; i < 3; i++) {
		cr_assert(eq(i32, ndd_rig_ask(r, client, &create, &reply), NDSH_OK));
		cr_expect(ne(ptr, ndd_slots_get(&s->pds, reply.id.id), NULL));
		destroy.id = reply.id.id;
	}
	cr_assert(eq(i32, ndd_rig_ask(r, client, &destroy, &reply), NDSH_OK));
	cr_expect(eq(u32, reply.id.id, destroy.id));
	cr_expect(eq(ptr, ndd_slots_get(&s->pds, destroy.id), NULL));
	cr_expect(eq(u32, s->pds.used, 2));
}

Test(message, hello_tells_who_answers)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct ndsh_hello hello;
	union reply reply;
	int client = ndd_rig_connect(r, &s);

	ndsh_hello_fill(&hello);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &hello, &reply), NDSH_OK));
	cr_expect(eq(u16, reply.hello.abi_major, NDSH_ABI_MAJOR));
	cr_expect(eq(u16, reply.hello.abi_minor, NDSH_ABI_MINOR));
	cr_expect(eq(u32, reply.hello.daemon_pid, (uint32_t)getpid()));
	cr_expect(ne(u64, strlen(reply.hello.version), 0));
	cr_expect(eq(u64, strlen(reply.hello.reason), 0));
	cr_expect(eq(i32, s->state, NDSH_ST_HELLO));
}

Test(message, hello_of_another_abi_is_refused_with_a_reason)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct ndsh_hello hello;
	union reply reply;
	int client = ndd_rig_connect(r, &s);

	ndsh_hello_fill(&hello);
	hello.abi_major++;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &hello, &reply), NDSH_ERR_NOT_SUPPORTED));
	cr_expect(ne(u64, strlen(reply.hello.reason), 0));
	cr_expect(eq(i32, s->state, NDSH_ST_NEW), "it may not open an adapter");
}

Test(message, a_request_that_is_not_legal_yet_ends_the_session)
{
	const struct ndsh_id_msg early = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_connect(r, &s);

	cr_assert_gt(send(client, &early, sizeof(early), 0), 0);
	expect_end(r, client, "not legal");
	cr_expect(eq(u32, r->d.session_count, 0));
}

Test(message, a_request_of_another_size_ends_the_session)
{
	const struct ndsh_id_msg create = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);

	cr_assert_gt(send(client, &create, sizeof(create) - 1, 0), 0);
	expect_end(r, client, "size");
}

Test(message, a_datagram_longer_than_any_message_ends_the_session)
{
	static const uint8_t much[NDSH_MSG_BYTES + 1] = {NDSH_MSG_PD_CREATE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);

	cr_assert_gt(send(client, much, sizeof(much), 0), 0);
	expect_end(r, client, "longer than 1024 bytes");
}
