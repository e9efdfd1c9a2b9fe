/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams to groups, between real daemons: which queue pairs get them, and which no more. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "scenarios.h"

#define Q_KEY	ND_UD_Q_KEY
#define HEADER	ND_UD_HEADER_BYTES
#define DEPTH	16u
#define IN	32768u /* offset of receives */
#define MEMBERS 4u
#define QUIET	100u /* ms */

struct world {
	struct side *s[MEMBERS]; /* the first is a, the second b; the others are a's daemon's */
	struct side beside[MEMBERS - 2];
	struct nd_ah *to_group[MEMBERS];
	unsigned int from; /* the one that sends */
	struct sockaddr_storage group;
	socklen_t bytes;
};

static void
group_address(struct world *w, const struct pair *p, const char *v4, const char *v6)
{
	memset(&w->group, 0, sizeof(w->group));
	w->group.ss_family = p->a.addr.ss_family;
	w->bytes = p->a.addr_bytes;
	if (w->group.ss_family == AF_INET)
		CHECK(inet_pton(AF_INET, v4, &((struct sockaddr_in *)&w->group)->sin_addr) == 1);
	else
		CHECK(inet_pton(AF_INET6, v6, &((struct sockaddr_in6 *)&w->group)->sin6_addr) == 1);
}

static void
member_open(struct side *s)
{
	struct nd_qp_options options = {
		.context = s,
		.receive_depth = DEPTH,
		.initiator_depth = DEPTH,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};

	side_open(s, 64);
	options.receive_cq = options.initiator_cq = s->cq;
	WANT(ND_SUCCESS, nd_ud_qp_create(s->pd, &options, Q_KEY, &s->qp));
}

static nd_status
attach(const struct world *w, const struct side *s, uint32_t flags)
{
	return nd_ud_qp_attach(s->qp, (const struct sockaddr *)&w->group, w->bytes, flags);
}

static nd_status
detach(const struct world *w, const struct side *s)
{
	return nd_ud_qp_detach(s->qp, (const struct sockaddr *)&w->group, w->bytes);
}

static void
receive(struct side *s)
{
	struct nd_sge sge = {s->buf + IN, HEADER + 4096, nd_mr_local_token(s->mr)};

	WANT(ND_SUCCESS, nd_qp_receive(s->qp, NULL, &sge, 1));
}

/* One of them sends to the group. */
static void
send_all(struct world *w, uint32_t bytes, uint32_t q_key)
{
	struct side *s = w->s[w->from];
	struct nd_sge sge = {s->buf, bytes, nd_mr_local_token(s->mr)};

	for (uint32_t i = 0; i < bytes; i++)
		s->buf[i] = (char)(i * 7 + bytes + w->from);
	WANT(ND_SUCCESS, nd_ud_send(s->qp, NULL, &sge, 1, w->to_group[w->from], ND_UD_GROUP_QP,
				 q_key, ND_OP_FLAG_SILENT_SUCCESS));
}

static void
same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b, socklen_t bytes)
{
	CHECK(memcmp(a, b, bytes) == 0);
}

/* What was sent has come to s, and says to which group, and from where. */
static void
arrived(struct world *w, struct side *s, uint32_t bytes)
{
	struct sockaddr_storage addr = {0};
	socklen_t addr_bytes = sizeof(addr);
	struct nd_ud_result r;

	WANT(ND_SUCCESS, side_ud_result(s, &r));
	CHECK(r.result.request_type == ND_REQUEST_RECEIVE);
	CHECK(r.result.bytes_transferred == HEADER + bytes);
	CHECK(r.source_qp == nd_qp_number(w->s[w->from]->qp));
	CHECK(memcmp(s->buf + IN + HEADER, w->s[w->from]->buf, bytes) == 0);
	WANT(ND_SUCCESS, nd_ud_source(s->buf + IN, (struct sockaddr *)&addr, &addr_bytes));
	same_address(&addr, &w->s[w->from]->addr, addr_bytes);
	addr_bytes = sizeof(addr);
	WANT(ND_SUCCESS, nd_ud_destination(s->buf + IN, (struct sockaddr *)&addr, &addr_bytes));
	CHECK(addr_bytes == w->bytes);
	same_address(&addr, &w->group, addr_bytes);
}

/*
 * checks W-MC-07[1,3], W-MC-09[1]: each attached queue pair gets each datagram once, on both
 * hosts and by whatever session and lcore, the sender's own included.
 */
static void
all_get_it(struct world *w)
{
	const uint32_t sizes[] = {0, 1, 3, 1000, 1024};

	for (unsigned int k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		for (unsigned int i = 0; i < MEMBERS; i++) {
			receive(w->s[i]);
			receive(w->s[i]);
		}
		send_all(w, sizes[k], Q_KEY);
		for (unsigned int i = 0; i < MEMBERS; i++)
			arrived(w, w->s[i], sizes[k]);
		CHECK(side_quiet(w->s[0], k == 0 ? QUIET : 1));
		CHECK(side_quiet(w->s[1], 1));
		send_all(w, sizes[k], Q_KEY); /* the second receive */
		for (unsigned int i = 0; i < MEMBERS; i++)
			arrived(w, w->s[i], sizes[k]);
	}
}

/*
 * checks W-MC-07[2,4], W-MC-09[2,3]: a queue pair that has detached, has another key, or refuses
 * its own datagrams gets nothing, and the others do.
 */
static void
some_get_it(struct world *w)
{
	for (unsigned int i = 0; i < MEMBERS; i++)
		receive(w->s[i]);
	WANT(ND_SUCCESS, detach(w, w->s[0]));
	WANT(ND_SUCCESS, attach(w, w->s[0], ND_UD_NOT_OWN));
	WANT(ND_SUCCESS, detach(w, w->s[2]));
	WANT(ND_SUCCESS, nd_ud_qp_modify(w->s[3]->qp, Q_KEY + 1));
	send_all(w, 100, Q_KEY);
	arrived(w, w->s[1], 100);
	CHECK(side_quiet(w->s[0], QUIET));
	CHECK(side_quiet(w->s[2], 1) && side_quiet(w->s[3], 1));
	send_all(w, 200, Q_KEY + 1);
	arrived(w, w->s[3], 200);
	receive(w->s[1]);
	WANT(ND_SUCCESS, detach(w, w->s[1]));
	send_all(w, 100, Q_KEY);
	CHECK(side_quiet(w->s[1], QUIET));
	WANT(ND_SUCCESS, attach(w, w->s[1], 0));
	send_all(w, 100, Q_KEY);
	arrived(w, w->s[1], 100);
}

/* What can't be, says so, and changes nothing. */
static void
refused(struct world *w, struct pair *p)
{
	struct nd_sge sge = {p->a.buf, 8, nd_mr_local_token(p->a.mr)};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef010203)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr.s6_addr = {0xff, 0x15}};
	const struct sockaddr *other =
		p->a.addr.ss_family == AF_INET ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
	struct nd_overlapped ov = {0};
	struct nd_ah *ah;

	WANT(ND_ADDRESS_ALREADY_EXISTS, attach(w, &p->b, 0));
	WANT(ND_INVALID_PARAMETER_4, attach(w, &p->b, 2));
	WANT(ND_INVALID_DEVICE_STATE, detach(w, w->s[2]));
	WANT(ND_INVALID_ADDRESS,
		nd_ud_qp_attach(p->b.qp, (struct sockaddr *)&p->a.addr, p->a.addr_bytes, 0));
	WANT(ND_INVALID_ADDRESS, nd_ud_qp_attach(p->b.qp, other,
					 other->sa_family == AF_INET ? sizeof(v4) : sizeof(v6), 0));
	v6.sin6_addr.s6_addr[1] = 1; /* it does not leave the host */
	WANT(ND_INVALID_ADDRESS, nd_ud_qp_attach(p->b.qp, (struct sockaddr *)&v6, sizeof(v6), 0));
	WANT(ND_INVALID_PARAMETER_5, nd_ud_send(p->a.qp, NULL, &sge, 1, w->to_group[0],
					     nd_qp_number(p->b.qp), Q_KEY, 0));
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_BAD_NETWORK_NAME,
		nd_ah_look_up(ah, (struct sockaddr *)&w->group, w->bytes, NULL, 0, &ov));
	WANT(ND_PENDING, nd_ah_resolve(ah, (struct sockaddr *)&p->b.addr, p->b.addr_bytes, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	WANT(ND_INVALID_PARAMETER_5,
		nd_ud_send(p->a.qp, NULL, &sge, 1, ah, ND_UD_GROUP_QP, Q_KEY, 0));
	WANT(ND_SUCCESS, nd_ah_close(ah));
}

#define GROUPS_DEFAULT 64u /* limits.groups */

/* A client's groups are bounded, and those of others are not touched by it. */
static void
bounded(struct world *w, struct pair *p)
{
	const struct world before = *w;
	unsigned int n = 0;
	nd_status st;

	do {
		char v4[32], v6[32];

		snprintf(v4, sizeof(v4), "239.9.0.%u", n);
		snprintf(v6, sizeof(v6), "ff15::9:%x", n);
		group_address(w, p, v4, v6);
		st = attach(w, w->s[2], 0);
		n += st == ND_SUCCESS;
	} while (st == ND_SUCCESS);
	WANT(ND_INSUFFICIENT_RESOURCES, st);
	CHECK(n == GROUPS_DEFAULT);
	WANT(ND_SUCCESS, attach(w, w->s[3], 0));
	WANT(ND_SUCCESS, detach(w, w->s[3]));
	w->group = before.group;
	receive(&p->b);
	send_all(w, 64, Q_KEY);
	arrived(w, &p->b, 64);
}

static struct nd_ah *
handle_to_group(const struct world *w, const struct side *s)
{
	struct nd_overlapped ov = {0};
	struct nd_ah *ah;

	WANT(ND_SUCCESS, nd_ah_create(s->adapter, &ah));
	WANT(ND_PENDING, nd_ah_resolve(ah, (const struct sockaddr *)&w->group, w->bytes, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	return ah;
}

/* checks W-MC-06[1,3,6], W-MC-07[9-12] */
void
scenario_multicast(struct pair *p)
{
	struct world w = {.s = {&p->a, &p->b}};

	member_open(&p->a);
	member_open(&p->b);
	for (unsigned int i = 2; i < MEMBERS; i++) {
		w.s[i] = &w.beside[i - 2];
		*w.s[i] = (struct side){.name = "beside",
			.socket_path = p->a.socket_path,
			.profile = p->a.profile,
			.addr = p->a.addr,
			.addr_bytes = p->a.addr_bytes};
		member_open(w.s[i]);
	}
	group_address(&w, p, "239.1.2.3", "ff15::1:203");
	for (unsigned int i = 0; i < MEMBERS; i++) {
		w.to_group[i] = handle_to_group(&w, w.s[i]);
		WANT(ND_SUCCESS, attach(&w, w.s[i], 0));
	}
	for (w.from = 0; w.from < MEMBERS; w.from++)
		all_get_it(&w);
	w.from = 0;
	some_get_it(&w);
	refused(&w, p);
	bounded(&w, p);
	for (unsigned int i = 0; i < MEMBERS; i++)
		WANT(ND_SUCCESS, nd_ah_close(w.to_group[i]));
	for (unsigned int i = 2; i < MEMBERS; i++) /* still attached */
		side_close(w.s[i]);
	pair_close(p);
}
