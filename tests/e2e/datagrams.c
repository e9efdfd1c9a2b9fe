/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams between real daemons, and the services by which their queue pairs are found. */
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

#define Q_KEY  ND_UD_Q_KEY
#define HEADER ND_UD_HEADER_BYTES
#define DEPTH  8u
#define IN     32768u /* offset of receives */

static void
create_qp(struct side *s, uint32_t q_key)
{
	struct nd_qp_options options = {
		.receive_cq = s->cq,
		.initiator_cq = s->cq,
		.context = s,
		.receive_depth = DEPTH,
		.initiator_depth = DEPTH,
		.max_receive_sge = 2,
		.max_initiator_sge = 2,
		.inline_bytes = 64,
	};

	WANT(ND_SUCCESS, nd_ud_qp_create(s->pd, &options, q_key, &s->qp));
}

static void
open_both(struct pair *p)
{
	side_open(&p->a, 64);
	side_open(&p->b, 64);
	create_qp(&p->a, Q_KEY);
	create_qp(&p->b, Q_KEY + 1);
}

static struct nd_ah *
handle_to(struct side *s, const struct sockaddr *addr, socklen_t bytes)
{
	struct nd_overlapped ov = {0};
	struct nd_ah *ah;

	WANT(ND_SUCCESS, nd_ah_create(s->adapter, &ah));
	WANT(ND_PENDING, nd_ah_resolve(ah, addr, bytes, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	return ah;
}

static struct nd_sge
sge_at(const struct side *s, uint32_t at, uint32_t bytes)
{
	return (struct nd_sge){s->buf + at, bytes, nd_mr_local_token(s->mr)};
}

static nd_status
receive(struct side *s, uint32_t bytes)
{
	struct nd_sge sge = sge_at(s, IN, bytes);

	return nd_qp_receive(s->qp, s->buf, &sge, 1);
}

static nd_status
send_to(struct side *s, uint32_t bytes, struct nd_ah *ah, const struct side *to, uint32_t q_key,
	uint32_t flags)
{
	struct nd_sge sge = sge_at(s, 0, bytes);

	return nd_ud_send(s->qp, s->buf, &sge, 1, ah, nd_qp_number(to->qp), q_key, flags);
}

static void
fill(struct side *s, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		s->buf[i] = (char)(i * 13 + bytes);
}

/* What from sent has arrived at to. */
static void
arrived(struct side *to, const struct side *from, uint32_t bytes, struct nd_ud_result *r)
{
	struct sockaddr_storage addr;
	socklen_t addr_bytes = sizeof(addr);

	WANT(ND_SUCCESS, side_ud_result(to, r));
	CHECK(r->result.bytes_transferred == HEADER + bytes);
	CHECK(r->result.qp_context == to && r->result.request_context == to->buf);
	CHECK(r->source_qp == nd_qp_number(from->qp));
	CHECK(memcmp(to->buf + IN + HEADER, from->buf, bytes) == 0);
	WANT(ND_SUCCESS, nd_ud_source(to->buf + IN, (struct sockaddr *)&addr, &addr_bytes));
	CHECK(addr_bytes == from->addr_bytes && memcmp(&addr, &from->addr, addr_bytes) == 0);
}

/* Every size there and back: the answer goes where the datagram came from, by what it tells. */
static void
ping_pong(struct pair *p, struct nd_ah *to_b, uint32_t mtu)
{
	const uint32_t sizes[] = {0, 1, 2, 3, 4, 63, 64, 1000, mtu - 1, mtu};
	struct nd_ud_result r;
	struct nd_ah *back;

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct sockaddr_storage addr;
		socklen_t bytes = sizeof(addr);

		WANT(ND_SUCCESS, receive(&p->b, HEADER + sizes[i]));
		WANT(ND_SUCCESS, receive(&p->a, HEADER + sizes[i]));
		fill(&p->a, sizes[i]);
		WANT(ND_SUCCESS, send_to(&p->a, sizes[i], to_b, &p->b, Q_KEY + 1,
					 sizes[i] <= 64 ? ND_OP_FLAG_INLINE : 0));
		WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
		CHECK(r.result.request_type == ND_REQUEST_SEND && r.source_qp == 0);
		arrived(&p->b, &p->a, sizes[i], &r);
		CHECK(r.result.request_type == ND_REQUEST_RECEIVE);

		WANT(ND_SUCCESS, nd_ud_source(p->b.buf + IN, (struct sockaddr *)&addr, &bytes));
		back = handle_to(&p->b, (struct sockaddr *)&addr, bytes);
		memcpy(p->b.buf, p->b.buf + IN + HEADER, sizes[i]);
		WANT(ND_SUCCESS, send_to(&p->b, sizes[i], back, &p->a, Q_KEY, 0));
		WANT(ND_SUCCESS, side_ud_result(&p->b, &r));
		arrived(&p->a, &p->b, sizes[i], &r);
		WANT(ND_SUCCESS, nd_ah_close(back));
	}
}

/* From and to memory that is not the arena's, in two pieces, with an immediate. */
static void
heap_to_heap(struct pair *p, struct nd_ah *to_b)
{
	static char from[2][500], to[HEADER + 1000];
	struct nd_mr *from_mr, *to_mr;
	struct nd_sge list[2], sge;
	struct nd_ud_result r;

	memset(from, 0x5a, sizeof(from));
	memset(from[1], 0xa5, sizeof(from[1]));
	WANT(ND_SUCCESS,
		region_new(p->a.pd, from, sizeof(from), ND_MR_FLAG_ALLOW_LOCAL_WRITE, &from_mr));
	WANT(ND_SUCCESS, region_new(p->b.pd, to, sizeof(to), ND_MR_FLAG_ALLOW_LOCAL_WRITE, &to_mr));
	sge = (struct nd_sge){to, sizeof(to), nd_mr_local_token(to_mr)};
	WANT(ND_SUCCESS, nd_qp_receive(p->b.qp, NULL, &sge, 1));
	for (int i = 0; i < 2; i++)
		list[i] = (struct nd_sge){from[i], sizeof(from[i]), nd_mr_local_token(from_mr)};
	WANT(ND_SUCCESS, nd_ud_send_with_immediate(p->a.qp, NULL, list, 2, to_b,
				 nd_qp_number(p->b.qp), Q_KEY + 1, 0x11223344, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	WANT(ND_SUCCESS, side_ud_result(&p->b, &r));
	CHECK(r.result.request_type == ND_REQUEST_RECEIVE_WITH_IMMEDIATE);
	CHECK(r.result.immediate == 0x11223344);
	CHECK(memcmp(to + HEADER, from, sizeof(from)) == 0);
	WANT(ND_SUCCESS, nd_mr_close(from_mr));
	WANT(ND_SUCCESS, nd_mr_close(to_mr));
}

/* Without a word: a wrong key, no receive, and too small a one, which stays for the next. */
static void
dropped(struct pair *p, struct nd_ah *to_b)
{
	struct nd_ud_result r;

	fill(&p->a, 100);
	WANT(ND_SUCCESS, send_to(&p->a, 100, to_b, &p->b, Q_KEY + 1, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	CHECK(side_quiet(&p->b, 50));
	WANT(ND_SUCCESS, receive(&p->b, HEADER + 99));
	WANT(ND_SUCCESS, send_to(&p->a, 100, to_b, &p->b, Q_KEY + 1, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	WANT(ND_SUCCESS, send_to(&p->a, 50, to_b, &p->b, Q_KEY, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	CHECK(side_quiet(&p->b, 50));
	WANT(ND_SUCCESS, send_to(&p->a, 99, to_b, &p->b, Q_KEY + 1, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	arrived(&p->b, &p->a, 99, &r);
	/* A key may change, and then the old one is the wrong one. */
	WANT(ND_SUCCESS, nd_ud_qp_modify(p->b.qp, Q_KEY));
	WANT(ND_SUCCESS, receive(&p->b, 4096));
	WANT(ND_SUCCESS, send_to(&p->a, 1, to_b, &p->b, Q_KEY + 1, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	CHECK(side_quiet(&p->b, 50));
	WANT(ND_SUCCESS, send_to(&p->a, 99, to_b, &p->b, 0x80000001, 0)); /* stands for a's own */
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	arrived(&p->b, &p->a, 99, &r);
	WANT(ND_SUCCESS, nd_ud_qp_modify(p->b.qp, Q_KEY + 1));
}

/* At the post, and then nothing was queued; of other kinds of queue pairs, too. */
static void
refused(struct pair *p, struct nd_ah *to_b, uint32_t mtu)
{
	struct nd_qp_options options = {.receive_cq = p->a.cq,
		.initiator_cq = p->a.cq,
		.receive_depth = 1,
		.initiator_depth = 1};
	const struct nd_qp_attributes access = {.mask = ND_QP_ATTRIBUTE_ACCESS};
	struct nd_sge sge = sge_at(&p->a, 0, 8);
	struct nd_overlapped ov = {0};
	struct nd_connector *c;
	struct nd_qp_info info;
	struct nd_ah *nowhere;
	struct nd_qp *qp;

	WANT(ND_BUFFER_OVERFLOW, send_to(&p->a, mtu + 1, to_b, &p->b, Q_KEY, 0));
	WANT(ND_BUFFER_OVERFLOW, send_to(&p->a, 65, to_b, &p->b, Q_KEY, ND_OP_FLAG_INLINE));
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &nowhere));
	WANT(ND_ADDRESS_NOT_ASSOCIATED, send_to(&p->a, 8, nowhere, &p->b, Q_KEY, 0));
	WANT(ND_INVALID_PARAMETER_4, send_to(&p->b, 8, to_b, &p->b, Q_KEY, 0));
	WANT(ND_INVALID_PARAMETER_5, nd_ud_send(p->a.qp, NULL, &sge, 1, to_b, 1, Q_KEY, 0));
	WANT(ND_INVALID_PARAMETER_5, nd_ud_send(p->a.qp, NULL, &sge, 1, to_b, 0xffffff, Q_KEY, 0));
	WANT(ND_INVALID_PARAMETER_7, send_to(&p->a, 8, to_b, &p->b, Q_KEY, ND_OP_FLAG_READ_FENCE));
	WANT(ND_CONNECTION_INVALID, side_send(&p->a, 8));
	WANT(ND_CONNECTION_INVALID, side_write(&p->a, &p->b, 8, nd_mr_remote_token(p->b.mr)));
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &c));
	WANT(ND_INVALID_DEVICE_REQUEST,
		nd_connector_connect(c, p->a.qp, (struct sockaddr *)&p->b.addr, p->b.addr_bytes, 0,
			0, NULL, 0, &ov));
	WANT(ND_INVALID_DEVICE_REQUEST,
		finish(nd_qp_modify(p->a.qp, ND_QP_STATE_INIT, NULL, &ov), &ov));
	WANT(ND_INVALID_DEVICE_REQUEST,
		finish(nd_qp_modify(p->a.qp, ND_QP_STATE_RESET, &access, &ov), &ov));
	WANT(ND_SUCCESS, finish(nd_qp_modify(p->a.qp, ND_QP_STATE_RESET, NULL, &ov), &ov));
	WANT(ND_INVALID_DEVICE_REQUEST, nd_qp_query(p->a.qp, &info));
	WANT(ND_ACCESS_VIOLATION, nd_ud_qp_create(p->a.pd, &options, 0x80010000, &qp));
	WANT(ND_ACCESS_VIOLATION, nd_ud_qp_modify(p->a.qp, 0x80010000));
	WANT(ND_SUCCESS, nd_qp_create(p->a.pd, &options, &qp));
	WANT(ND_INVALID_DEVICE_REQUEST,
		nd_ud_send(qp, NULL, &sge, 1, to_b, nd_qp_number(p->b.qp), Q_KEY, 0));
	WANT(ND_INVALID_DEVICE_REQUEST, nd_ud_qp_modify(qp, Q_KEY));
	WANT(ND_ADDRESS_ALREADY_ASSOCIATED,
		nd_ah_resolve(to_b, (struct sockaddr *)&p->b.addr, p->b.addr_bytes, &ov));
	WANT(ND_ADDRESS_NOT_ASSOCIATED, nd_ah_service(to_b, &(struct nd_ud_service){.status = 0}));
	CHECK(side_quiet(&p->a, 5));
	nd_qp_close(qp);
	nd_connector_close(c);
	nd_ah_close(nowhere);
}

/* checks W-ERR-02[1,2,3]: a datagram that can't be sent stops the sending, in order, until it is
 * started again; receiving goes on. */
static void
stopped(struct pair *p, struct nd_ah *to_b)
{
	struct nd_ah *to_a = handle_to(&p->b, (struct sockaddr *)&p->a.addr, p->a.addr_bytes);
	struct nd_sge wrong = {p->a.buf, 8, nd_mr_local_token(p->a.mr) ^ 1};
	struct nd_ud_result r;

	WANT(ND_SUCCESS, nd_ud_send(p->a.qp, NULL, &wrong, 1, to_b, nd_qp_number(p->b.qp),
				 Q_KEY + 1, ND_OP_FLAG_SILENT_SUCCESS));
	WANT(ND_SUCCESS, send_to(&p->a, 8, to_b, &p->b, Q_KEY + 1, ND_OP_FLAG_SILENT_SUCCESS));
	WANT(ND_ACCESS_VIOLATION, side_ud_result(&p->a, &r));
	WANT(ND_CANCELED, side_ud_result(&p->a, &r));
	WANT(ND_SUCCESS, receive(&p->a, 4096));
	fill(&p->b, 20);
	WANT(ND_SUCCESS, send_to(&p->b, 20, to_a, &p->a, Q_KEY, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->b, &r));
	arrived(&p->a, &p->b, 20, &r);
	WANT(ND_SUCCESS, nd_ud_qp_modify(p->a.qp, Q_KEY));
	WANT(ND_SUCCESS, receive(&p->b, 4096));
	fill(&p->a, 30);
	WANT(ND_SUCCESS, send_to(&p->a, 30, to_b, &p->b, Q_KEY + 1, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	arrived(&p->b, &p->a, 30, &r);
	WANT(ND_SUCCESS, nd_ah_close(to_a));
}

/* checks W-PKT-07, W-PKT-13, W-UD-01: bytes, headers, and what is refused, dropped or stopped. */
void
scenario_datagrams(struct pair *p)
{
	struct nd_adapter_info info;
	struct nd_ud_result r;
	struct nd_ah *to_b;

	open_both(p);
	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	to_b = handle_to(&p->a, (struct sockaddr *)&p->b.addr, p->b.addr_bytes);
	ping_pong(p, to_b, info.path_mtu);
	heap_to_heap(p, to_b);
	dropped(p, to_b);
	refused(p, to_b, info.path_mtu);
	stopped(p, to_b);
	/* Flushed as any other. */
	WANT(ND_SUCCESS, receive(&p->a, 4096));
	WANT(ND_SUCCESS, nd_qp_flush(p->a.qp));
	WANT(ND_CANCELED, side_ud_result(&p->a, &r));
	WANT(ND_SUCCESS, send_to(&p->a, 8, to_b, &p->b, Q_KEY, 0));
	WANT(ND_CANCELED, side_ud_result(&p->a, &r));
	WANT(ND_INVALID_DEVICE_STATE, nd_ud_qp_modify(p->a.qp, Q_KEY));
	pair_close(p);
}

/* ---- services ------------------------------------------------------------------------ */

static struct nd_ud_listener *
listen_at(struct side *s, uint32_t backlog, struct sockaddr_storage *where, socklen_t *bytes)
{
	struct nd_ud_listener *l;

	*bytes = sizeof(*where);
	WANT(ND_SUCCESS, nd_ud_listener_create(s->adapter, &l));
	WANT(ND_INVALID_DEVICE_STATE,
		nd_ud_listener_local_address(l, (struct sockaddr *)where, bytes));
	WANT(ND_SUCCESS,
		nd_ud_listener_listen(l, (struct sockaddr *)&s->addr, s->addr_bytes, backlog));
	WANT(ND_SUCCESS, nd_ud_listener_local_address(l, (struct sockaddr *)where, bytes));
	return l;
}

/* a finds b's queue pair, with private data both ways, and a datagram arrives there. */
static void
find_and_send(struct pair *p, unsigned int i)
{
	struct nd_overlapped get = {0}, ask = {0};
	uint8_t asks[ND_UD_LOOKUP_DATA], says[ND_UD_ANSWER_DATA];
	struct nd_ud_question question;
	struct nd_ud_service service;
	struct sockaddr_storage where;
	struct nd_ud_listener *l;
	struct nd_ud_result r;
	struct nd_ah *ah;
	socklen_t bytes;

	memset(asks, 0x11 + (int)i, sizeof(asks));
	memset(says, 0x77 + (int)i, sizeof(says));
	l = listen_at(&p->b, 4, &where, &bytes);
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	if (i % 2) /* either may be first */
		WANT(ND_PENDING, nd_ud_listener_get_question(l, &question, &get));
	WANT(ND_PENDING,
		nd_ah_look_up(ah, (struct sockaddr *)&where, bytes, asks, sizeof(asks), &ask));
	if (i % 2 == 0)
		WANT(ND_PENDING, nd_ud_listener_get_question(l, &question, &get));
	WANT(ND_SUCCESS, nd_overlapped_wait(&get, PATIENCE_MS));
	CHECK(question.private_bytes == sizeof(asks) && question.peer_bytes == p->a.addr_bytes);
	CHECK(memcmp(question.private_data, asks, sizeof(asks)) == 0);
	WANT(ND_INVALID_BUFFER_SIZE, nd_ud_accept(p->b.qp, &question, says, sizeof(says) + 1));
	WANT(ND_SUCCESS, nd_ud_accept(p->b.qp, &question, says, sizeof(says)));
	WANT(ND_CONNECTION_ABORTED, nd_ud_accept(p->b.qp, &question, NULL, 0));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ask, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_ah_service(ah, &service));
	CHECK(service.status == 0 && service.qp == nd_qp_number(p->b.qp));
	CHECK(service.q_key == Q_KEY + 1 && service.private_bytes == sizeof(says));
	CHECK(memcmp(service.private_data, says, sizeof(says)) == 0);

	WANT(ND_SUCCESS, receive(&p->b, 4096));
	fill(&p->a, 100 + i);
	WANT(ND_SUCCESS, send_to(&p->a, 100 + i, ah, &p->b, service.q_key, 0));
	WANT(ND_SUCCESS, side_ud_result(&p->a, &r));
	arrived(&p->b, &p->a, 100 + i, &r);
	WANT(ND_SUCCESS, nd_ah_close(ah));
	WANT(ND_SUCCESS, nd_ud_listener_close(l));
}

/* The status that a lookup fails with, and what the peer said. */
static uint32_t
refusal(struct nd_ah *ah, struct nd_overlapped *ask, char *first)
{
	struct nd_ud_service service;

	WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(ask, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_ah_service(ah, &service));
	CHECK(service.qp == 0 && service.q_key == 0);
	*first = (char)service.private_data[0];
	return service.status;
}

/* By the application, by the backlog, by closing, by the daemon without a listener; each time the
 * handle may try again. */
static void
refusals(struct pair *p)
{
	struct nd_overlapped get = {0}, ask = {0}, other = {0};
	struct nd_ah *ah, *second;
	struct nd_ud_question question;
	struct sockaddr_storage where;
	struct nd_ud_listener *l;
	socklen_t bytes;
	char first;

	l = listen_at(&p->b, 1, &where, &bytes);
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &second));
	WANT(ND_INVALID_BUFFER_SIZE, nd_ah_look_up(ah, (struct sockaddr *)&where, bytes, &where,
					     ND_UD_LOOKUP_DATA + 1, &ask));
	WANT(ND_PENDING, nd_ud_listener_get_question(l, &question, &get));
	WANT(ND_PENDING, nd_ah_look_up(ah, (struct sockaddr *)&where, bytes, NULL, 0, &ask));
	WANT(ND_SUCCESS, nd_overlapped_wait(&get, PATIENCE_MS));
	WANT(ND_PENDING, nd_ah_look_up(second, (struct sockaddr *)&where, bytes, NULL, 0, &other));
	CHECK(refusal(second, &other, &first) == 2); /* the backlog is full */
	WANT(ND_SUCCESS, nd_ud_reject(p->b.adapter, &question, "no", 2));
	CHECK(refusal(ah, &ask, &first) == 2 && first == 'n');

	WANT(ND_PENDING, nd_ah_look_up(ah, (struct sockaddr *)&where, bytes, NULL, 0, &ask));
	(void)nd_overlapped_wait(&ask, 20);
	WANT(ND_SUCCESS, nd_ud_listener_close(l)); /* it was not taken: refused, whenever it came */
	CHECK(refusal(ah, &ask, &first) != 0 && first == 0);
	WANT(ND_PENDING, nd_ah_look_up(ah, (struct sockaddr *)&where, bytes, NULL, 0, &ask));
	CHECK(refusal(ah, &ask, &first) == 1); /* no listener is there */
	WANT(ND_SUCCESS, nd_ah_close(ah));
	WANT(ND_SUCCESS, nd_ah_close(second));
}

/* What pends ends with a cancel or a close; what was canceled may be tried again. */
static void
cancels(struct pair *p)
{
	struct nd_overlapped get[2] = {{0}, {0}}, ask = {0};
	struct nd_ud_question question[2];
	struct sockaddr_storage where;
	struct nd_ud_listener *l;
	struct nd_ah *ah;
	socklen_t bytes;

	l = listen_at(&p->b, 0, &where, &bytes);
	for (int i = 0; i < 2; i++)
		WANT(ND_PENDING, nd_ud_listener_get_question(l, &question[i], &get[i]));
	WANT(ND_SUCCESS, nd_ud_listener_cancel(l));
	for (int i = 0; i < 2; i++)
		WANT(ND_CANCELED, nd_overlapped_status(&get[i]));
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_PENDING, nd_ah_look_up(ah, (struct sockaddr *)&where, bytes, NULL, 0, &ask));
	WANT(ND_SUCCESS, nd_ah_cancel(ah));
	WANT(ND_CANCELED, nd_overlapped_status(&ask));
	WANT(ND_PENDING, nd_ah_resolve(ah, (struct sockaddr *)&p->b.addr, p->b.addr_bytes, &ask));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ask, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_ah_cancel(ah)); /* nothing pends: nothing happens */
	WANT(ND_SUCCESS, nd_ah_close(ah));
	WANT(ND_PENDING, nd_ud_listener_get_question(l, &question[0], &get[0]));
	while (nd_overlapped_status(&get[0]) == ND_SUCCESS) /* that of the canceled lookup */
		WANT(ND_PENDING, nd_ud_listener_get_question(l, &question[0], &get[0]));
	WANT(ND_SUCCESS, nd_ud_listener_close(l));
	CHECK(nd_overlapped_status(&get[0]) == ND_CANCELED ||
		nd_overlapped_status(&get[0]) == ND_SUCCESS);
}

/* Handles to addresses without a host. */
static void
nowhere(struct pair *p)
{
	struct sockaddr_storage unused = p->b.addr;
	struct nd_overlapped ov = {0};
	struct nd_ah *ah;

	((uint8_t *)&unused)[p->b.addr_bytes == 16 ? 7 : 23] = 77;
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_PENDING, nd_ah_resolve(ah, (struct sockaddr *)&unused, p->b.addr_bytes, &ov));
	WANT(ND_HOST_UNREACHABLE, nd_overlapped_wait(&ov, PATIENCE_MS));
	memset(&unused, 0, sizeof(unused));
	unused.ss_family = p->b.addr.ss_family;
	WANT(ND_BAD_NETWORK_NAME,
		nd_ah_resolve(ah, (struct sockaddr *)&unused, p->b.addr_bytes, &ov));
	WANT(ND_SUCCESS, nd_ah_close(ah));
}

void
scenario_services(struct pair *p)
{
	open_both(p);
	for (unsigned int i = 0; i < 4; i++)
		find_and_send(p, i);
	refusals(p);
	cancels(p);
	nowhere(p);
	pair_close(p);
}

/* Lookups alone, for a cable that loses their messages. */
void
scenario_lookups(struct pair *p)
{
	open_both(p);
	for (unsigned int i = 0; i < 3; i++)
		find_and_send(p, i);
	pair_close(p);
}
