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

Test(shm_msg, events_have_their_size)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES] = {0};
	struct ndsh_msg_hdr *h = (void *)buf;

	for (uint16_t type = NDSH_EV_CONN_REQUEST; type <= NDSH_EV_CONN_DISCONNECTED; type++) {
		h->type = type;
		cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_conn)) == NULL);
		cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_conn) - 1) != NULL);
	}
	h->type = NDSH_EV_SESSION_END;
	cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_session_end)) == NULL);
	h->type = NDSH_EV_SRQ_LIMIT;
	cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_srq)) == NULL);
	h->type = NDSH_EV_QP_MODIFIED;
	cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_qp)) == NULL);
	cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_qp) - 1) != NULL);
	h->type = NDSH_EV_ASYNC;
	cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_async)) == NULL);
	h->type = NDSH_EV_ASYNC + 1;
	cr_expect(ndsh_msg_check_reply(buf, sizeof(struct ndsh_ev_qp)) != NULL);
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
