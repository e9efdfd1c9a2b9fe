/* SPDX-License-Identifier: BSD-3-Clause */
/* The message table: sizes, states, and what is refused. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "shm/ndsh_msg.h"

Test(shm_msg, every_request_is_accepted_in_its_states_and_size_only)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES + 1] = {0};
	struct ndsh_msg_hdr *h = (void *)buf;

	for (uint16_t type = 1; type < NDSH_MSG_TYPE_COUNT; type++) {
		const struct ndsh_msg_desc *d = &ndsh_msg_table[type];

		cr_assert(
			d->name != NULL && d->bytes >= sizeof(*h) && d->reply_bytes >= sizeof(*h));
		cr_assert(le(u16, d->bytes, NDSH_MSG_BYTES));
		cr_assert(le(u16, d->reply_bytes, NDSH_MSG_BYTES));
		h->type = type;
		for (uint32_t state = 0; state < NDSH_ST_COUNT; state++) {
			bool legal = d->states >> state & 1;

			cr_expect(eq(int, ndsh_msg_check(buf, d->bytes, state) == NULL, legal),
				"%s in %u", d->name, state);
			cr_expect(ndsh_msg_check(buf, d->bytes - 1u, state) != NULL, "%s", d->name);
			cr_expect(ndsh_msg_check(buf, d->bytes + 1u, state) != NULL, "%s", d->name);
		}
		h->type = type | NDSH_REPLY;
		cr_expect(ndsh_msg_check(buf, d->bytes, NDSH_ST_OPEN) != NULL,
			"a reply is no request");
		cr_expect(ndsh_msg_check_reply(buf, d->reply_bytes) == NULL, "%s", d->name);
		cr_expect(ndsh_msg_check_reply(buf, d->reply_bytes - 1u) != NULL, "%s", d->name);
	}
}

Test(shm_msg, garbage_is_named)
{
	_Alignas(8) uint8_t buf[64] = {0};
	struct ndsh_msg_hdr *h = (void *)buf;

	for (size_t n = 0; n < sizeof(*h); n++) {
		cr_expect(ndsh_msg_check(buf, n, NDSH_ST_OPEN) != NULL);
		cr_expect(ndsh_msg_check_reply(buf, n) != NULL);
	}
	for (uint32_t type = 0; type < 65536; type += type == 1 ? NDSH_MSG_TYPE_COUNT - 1 : 1) {
		h->type = (uint16_t)type;
		if (type != 1)
			cr_expect(ndsh_msg_check(buf, sizeof(struct ndsh_id_msg), NDSH_ST_OPEN) !=
					  NULL,
				"type %u", type);
	}
	h->type = NDSH_MSG_PD_CREATE;
	h->reserved = 1;
	cr_expect(ndsh_msg_check(buf, sizeof(struct ndsh_id_msg), NDSH_ST_OPEN) != NULL);
	h->reserved = 0;
	h->status = -1;
	cr_expect(ndsh_msg_check(buf, sizeof(struct ndsh_id_msg), NDSH_ST_OPEN) != NULL);
}

static const struct {
	uint16_t type;
	size_t bytes;
} events[] = {
	{NDSH_EV_CONN_REQUEST, sizeof(struct ndsh_ev_conn)},
	{NDSH_EV_CONN_REPLY, sizeof(struct ndsh_ev_conn)},
	{NDSH_EV_CONN_ESTABLISHED, sizeof(struct ndsh_ev_conn)},
	{NDSH_EV_CONN_DISCONNECTED, sizeof(struct ndsh_ev_conn)},
	{NDSH_EV_SESSION_END, sizeof(struct ndsh_ev_session_end)},
	{NDSH_EV_REFUSAL, sizeof(struct ndsh_ev_refusal)},
	{NDSH_EV_SRQ_LIMIT, sizeof(struct ndsh_ev_srq)},
	{NDSH_EV_QP_MODIFIED, sizeof(struct ndsh_ev_qp)},
	{NDSH_EV_ASYNC, sizeof(struct ndsh_ev_async)},
	{NDSH_EV_AH, sizeof(struct ndsh_ev_ah)},
	{NDSH_EV_UD_QUESTION, sizeof(struct ndsh_ev_ud_question)},
	{NDSH_EV_CM, sizeof(struct ndsh_ev_cm)},
};

Test(shm_msg, events_have_their_size)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES] = {0};
	struct ndsh_msg_hdr *h = (void *)buf;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		h->type = events[i].type;
		cr_expect(ndsh_msg_check_reply(buf, events[i].bytes) == NULL, "row %zu", i);
		cr_expect(ndsh_msg_check_reply(buf, events[i].bytes - 1) != NULL, "row %zu", i);
		cr_expect(ndsh_msg_check_reply(buf, events[i].bytes + 1) != NULL, "row %zu", i);
	}
}

/* What is wrong is said in words: they stand in the log of the daemon, or in that of the client. */
Test(shm_msg, each_fault_has_its_words)
{
	static const char *const shorter = "shorter than a message header",
				 *const unknown = "unknown message type",
				 *const size = "message has not the size of its type",
				 *const state = "message not legal in this state of the session",
				 *const reserved = "reserved header fields are not zero";
	const struct {
		uint16_t type, header_reserved;
		size_t bytes;
		const char *request, *reply;
	} rows[] = {
		{NDSH_MSG_PD_CREATE, 0, 0, shorter, shorter},
		{NDSH_MSG_PD_CREATE, 0, sizeof(struct ndsh_msg_hdr) - 1, shorter, shorter},
		{NDSH_MSG_PD_CREATE | NDSH_REPLY, 0, 0, shorter, shorter},
		{NDSH_MSG_PD_CREATE, 0, sizeof(struct ndsh_msg_hdr), size, unknown},
		{NDSH_MSG_PD_CREATE | NDSH_REPLY, 0, sizeof(struct ndsh_msg_hdr), unknown, size},
		{0, 0, 16, unknown, unknown},
		{0, 0, 17, unknown, unknown},
		{NDSH_REPLY, 0, 16, unknown, unknown},
		{NDSH_MSG_TYPE_COUNT, 0, 24, unknown, unknown},
		{NDSH_MSG_TYPE_COUNT | NDSH_REPLY, 0, 24, unknown, unknown},
		{NDSH_REPLY - 1, 0, 24, unknown, unknown},
		{UINT16_MAX, 0, 24, unknown, unknown},
		{NDSH_MSG_HELLO, 0, sizeof(struct ndsh_hello), state, unknown},
		{NDSH_MSG_PD_CREATE, 1, sizeof(struct ndsh_id_msg), reserved, unknown},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_Alignas(8) uint8_t buf[NDSH_MSG_BYTES] = {0};
		struct ndsh_msg_hdr *h = (void *)buf;

		h->type = rows[i].type;
		h->reserved = rows[i].header_reserved;
		cr_expect_str_eq((char *)ndsh_msg_check(buf, rows[i].bytes, NDSH_ST_OPEN),
			(char *)rows[i].request, "row %zu", i);
		cr_expect_str_eq((char *)ndsh_msg_check_reply(buf, rows[i].bytes),
			(char *)rows[i].reply, "row %zu", i);
	}
}

/* What a library says of itself; the daemon that reads it may be of another version. */
Test(shm_msg, a_hello_tells_versions_and_sizes)
{
	struct ndsh_hello m;

	ndsh_hello_fill(&m);
	cr_expect(eq(u32, m.h.type, NDSH_MSG_HELLO));
	cr_expect(zero(int, memcmp(&m.magic, "NDD1", 4)));
	cr_expect(eq(u32, m.abi_major, NDSH_ABI_MAJOR));
	cr_expect(eq(u32, m.abi_minor, NDSH_ABI_MINOR));
	cr_expect(eq(u32, m.swr_bytes, 64));
	cr_expect(eq(u32, m.rwr_bytes, 32));
	cr_expect(eq(u32, m.cqe_bytes, 32));
	cr_expect(eq(u32, m.sge_bytes, 16));
	cr_expect(eq(u32, m.qp_page_bytes, 128));
	cr_expect(eq(u32, m.cq_page_bytes, 192));
	cr_expect(eq(u32, m.session_page_bytes, 640));
}

Test(shm_msg, hello_of_another_abi_is_told_why)
{
	struct ndsh_hello m;

	ndsh_hello_fill(&m);
	cr_expect(ndsh_hello_check(&m) == NULL);
	cr_expect(ndsh_msg_check(&m, sizeof(m), NDSH_ST_NEW) == NULL);
	m.abi_minor++;
	cr_expect(ndsh_hello_check(&m) == NULL, "a newer minor version is served");
	m.abi_major++;
	cr_expect(ndsh_hello_check(&m) != NULL);
	for (size_t i = offsetof(struct ndsh_hello, swr_bytes);
		i < offsetof(struct ndsh_hello, reserved); i += 2) {
		ndsh_hello_fill(&m);
		((uint8_t *)&m)[i] ^= 1;
		cr_expect(ndsh_hello_check(&m) != NULL, "byte %zu", i);
	}
	ndsh_hello_fill(&m);
	m.magic ^= 1;
	cr_expect(ndsh_hello_check(&m) != NULL);
}

/* Old libraries and new daemons compare these numbers: a status may come, none may change. */
Test(shm_msg, statuses_keep_their_numbers_and_have_names)
{
	static const struct {
		uint32_t number;
		const char *name;
	} some[] = {
		{0, "OK"},
		{0x102, "UNANSWERED"},
		{0x103, "PENDING"},
		{0x80000005, "ERR_OVERFLOW"},
		{0xC000000D, "ERR_INVALID_PARAMETER"},
		{0xC00002B6, "ERR_SESSION_ENDED"},
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		const char *name = ndsh_status_name((int32_t)some[i].number);

		cr_assert_not_null(name, "%x", some[i].number);
		cr_expect(eq(str, (char *)name, (char *)some[i].name));
	}
	cr_expect_null(ndsh_status_name(1));
}
