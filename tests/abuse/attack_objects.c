/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects: as many as there can be, or made and ended without a pause. */
#include "attack.h"
#include "shm/ndsh_mover.h"

#define SESSIONS_MAX 64u
#define EACH_MAX     20000u
#define DOMAINS	     1024u

enum kind {
	KIND_PD,
	KIND_CQ,
	KIND_QP,
	KIND_UD_QP,
	KIND_SRQ,
	KIND_MW,
	KIND_FRMR,
	KIND_SEGMENT,
	KIND_LISTENER,
	KIND_BOUND,
	KIND_ENDPOINT,
	KIND_BIND,
	KIND_COUNT
};

/* The message that ends one. */
static const uint16_t ends[KIND_COUNT] = {
	[KIND_PD] = NDSH_MSG_PD_DESTROY,
	[KIND_CQ] = NDSH_MSG_CQ_DESTROY,
	[KIND_QP] = NDSH_MSG_QP_DESTROY,
	[KIND_UD_QP] = NDSH_MSG_QP_DESTROY,
	[KIND_SRQ] = NDSH_MSG_SRQ_DESTROY,
	[KIND_MW] = NDSH_MSG_MW_DESTROY,
	[KIND_FRMR] = NDSH_MSG_FRMR_DESTROY,
	[KIND_SEGMENT] = NDSH_MSG_SEGMENT_DESTROY,
	[KIND_LISTENER] = NDSH_MSG_LISTENER_DESTROY,
	[KIND_BOUND] = NDSH_MSG_LISTENER_DESTROY,
	[KIND_ENDPOINT] = NDSH_MSG_ENDPOINT_DESTROY,
	[KIND_BIND] = NDSH_MSG_CONN_DESTROY,
};

/* A session and the place in its memory where all its objects lie, one over the other. */
struct maker {
	struct raw r;
	struct raw_cq cq;
	uint32_t at;
};

static bool
maker_begin(struct maker *m, const char *socket)
{
	if (raw_open(&m->r, socket) != NDSH_OK ||
		raw_segment(&m->r, RAW_SEGMENT_BYTES, &m->r.base, &m->r.segment) != NDSH_OK)
		return false;
	m->r.bytes = RAW_SEGMENT_BYTES;
	(void)raw_carve(&m->r, sizeof(struct ndsh_session_page));
	if (raw_ask_id(&m->r, NDSH_MSG_PD_CREATE, 0, &m->r.pd) != NDSH_OK ||
		raw_cq(&m->r, 16, &m->cq) != NDSH_OK)
		return false;
	m->at = raw_carve(&m->r, 1u << 20);
	return true;
}

static int
make_in_memory(struct maker *m, enum kind kind, uint32_t *id)
{
	struct raw *r = &m->r;
	struct ndsh_cq_create cq = {{.type = NDSH_MSG_CQ_CREATE}, r->segment, 2, m->at};
	struct ndsh_srq_create srq = {
		{.type = NDSH_MSG_SRQ_CREATE}, r->pd, r->segment, m->at, 1, 1};
	struct ndsh_frmr_create fr = {
		{.type = NDSH_MSG_FRMR_CREATE}, r->pd, r->segment, m->at, 1, 0};
	struct ndsh_ud_qp_create qp = {
		.q = {.h.type = kind == KIND_QP ? NDSH_MSG_QP_CREATE : NDSH_MSG_UD_QP_CREATE,
			.pd = r->pd,
			.recv_cq = m->cq.id,
			.send_cq = m->cq.id,
			.segment = r->segment,
			.offset = m->at,
			.sq_depth = 1,
			.rq_depth = 1,
			.sq_sge = 1,
			.rq_sge = 1}};
	union {
		struct ndsh_id_msg id;
		uint8_t bytes[NDSH_MSG_BYTES];
	} reply = {.id.id = 0};
	void *request = kind == KIND_CQ	    ? (void *)&cq
			: kind == KIND_SRQ  ? (void *)&srq
			: kind == KIND_FRMR ? (void *)&fr
					    : (void *)&qp;
	int file = -1, status = raw_ask(r, request, &reply, &file);

	(void)file; /* for wake-ups: it stays open as long as the attacker lives */
	*id = reply.id.id;
	return status;
}

static int
make_address(struct maker *m, enum kind kind, uint32_t *id)
{
	struct ndsh_bind b = {{.type = kind == KIND_BIND    ? NDSH_MSG_BIND
				       : kind == KIND_BOUND ? NDSH_MSG_LISTENER_BIND
							    : NDSH_MSG_ENDPOINT_CREATE},
		m->r.addr};
	struct ndsh_bind_reply reply = {.id = 0};
	struct ndsh_addr where;
	int status;

	if (kind == KIND_LISTENER)
		return raw_listen(&m->r, id, &where);
	b.addr.port = 0;
	status = raw_ask(&m->r, &b, &reply, NULL);
	*id = reply.id;
	return status;
}

static int
make_window(struct maker *m, uint32_t *id)
{
	struct ndsh_mw_create w = {{.type = NDSH_MSG_MW_CREATE}, m->r.pd, 0};
	struct ndsh_mw_create_reply reply = {.mw = 0};
	int status = raw_ask(&m->r, &w, &reply, NULL);

	*id = reply.mw;
	return status;
}

static int
make_segment(struct maker *m, uint32_t *id)
{
	struct ndsh_segment_create s = {{.type = NDSH_MSG_SEGMENT_CREATE}, NDSH_PAGE_BYTES};
	struct ndsh_segment_create_reply reply = {.segment = 0};
	int file = -1, status = raw_ask(&m->r, &s, &reply, &file);

	(void)file;
	*id = reply.segment;
	return status;
}

static int
make(struct maker *m, enum kind kind, uint32_t *id)
{
	switch (kind) {
	case KIND_PD:
		return raw_ask_id(&m->r, NDSH_MSG_PD_CREATE, 0, id);
	case KIND_MW:
		return make_window(m, id);
	case KIND_SEGMENT:
		return make_segment(m, id);
	case KIND_LISTENER:
	case KIND_BOUND:
	case KIND_ENDPOINT:
	case KIND_BIND:
		return make_address(m, kind, id);
	default:
		return make_in_memory(m, kind, id);
	}
}

/* In as many sessions as it takes, then hold them. */
static void
take_all(struct target *t, uint32_t kind)
{
	for (uint32_t i = 0; i < SESSIONS_MAX && attacking(t); i++) {
		struct maker m;
		uint32_t id;

		if (!maker_begin(&m, t->socket))
			break;
		for (uint32_t n = 0; n < EACH_MAX && attacking(t); n++)
			if (make(&m, kind, &id) != NDSH_OK)
				break;
	}
	attack_hold(t);
}

static void
make_and_end(struct target *t, uint32_t kind)
{
	struct maker m;
	uint32_t id;

	if (!maker_begin(&m, t->socket))
		return;
	while (attacking(t) && make(&m, kind, &id) == NDSH_OK)
		(void)raw_ask_id(&m.r, ends[kind], id, NULL);
	raw_end(&m.r);
}

/* Sessions that are much work to end. */
static void
end_sessions(struct target *t, uint32_t kind)
{
	while (attacking(t)) {
		struct maker m;
		uint32_t id;

		if (!maker_begin(&m, t->socket))
			continue;
		for (uint32_t n = 0; n < DOMAINS; n++)
			if (make(&m, kind, &id) != NDSH_OK)
				break;
		raw_end(&m.r);
	}
}

static void
resize(struct target *t, uint32_t depth)
{
	struct raw r;
	struct raw_cq cq;

	raw_begin_with(&r, t->socket, RAW_LARGE_BYTES);
	if (raw_cq(&r, 16, &cq) != NDSH_OK)
		return;
	struct ndsh_cq_resize m = {.h.type = NDSH_MSG_CQ_RESIZE,
		.cq = cq.id,
		.segment = r.segment,
		.offset = raw_carve(&r, depth * (uint32_t)sizeof(struct ndsh_cqe)),
		.depth = depth,
		.entries = depth};
	while (attacking(t) && raw_ask(&r, &m, NULL, NULL) != RAW_GONE)
		;
	raw_end(&r);
}

static void
pause_listener(struct target *t, uint32_t arg)
{
	struct ndsh_listener_pause m = {.h.type = NDSH_MSG_LISTENER_PAUSE, .pause = arg};
	struct ndsh_addr where;
	struct raw r;

	raw_begin(&r, t->socket);
	if (raw_listen(&r, &m.listener, &where) != NDSH_OK)
		return;
	while (attacking(t) && raw_ask(&r, &m, NULL, NULL) != RAW_GONE)
		m.pause ^= 1;
	raw_end(&r);
}

/* A listener listens once: each further time is refused. */
static void
listen_again(struct target *t, uint32_t arg)
{
	struct ndsh_bind b = {.h.type = NDSH_MSG_LISTENER_BIND};
	struct ndsh_listener_listen m = {.h.type = NDSH_MSG_LISTENER_LISTEN, .backlog = arg};
	struct ndsh_bind_reply reply;
	struct raw r;

	raw_begin(&r, t->socket);
	b.addr = r.addr;
	b.addr.port = 0;
	if (raw_ask(&r, &b, &reply, NULL) != NDSH_OK)
		return;
	m.listener = reply.id;
	while (attacking(t) && raw_ask(&r, &m, NULL, NULL) != RAW_GONE)
		;
	raw_end(&r);
}

/* Adapters of any number, by any address. */
static void
find_adapters(struct target *t, uint32_t arg)
{
	struct ndsh_adapter m = {.h.type = NDSH_MSG_ADAPTER};
	struct raw r;

	(void)arg;
	raw_begin(&r, t->socket);
	do {
		raw_fill(&m.adapter_id, sizeof(m.adapter_id));
		m.adapter_id &= raw_random(4) ? 3 : UINT64_MAX;
		raw_fill(&m.addr, sizeof(m.addr));
	} while (attacking(t) && raw_ask(&r, &m, NULL, NULL) != RAW_GONE);
	raw_end(&r);
}

static void
arm_srq(struct target *t, uint32_t arg)
{
	struct ndsh_srq_arm m = {.h.type = NDSH_MSG_SRQ_ARM, .limit = arg};
	struct maker k;

	if (!maker_begin(&k, t->socket) || make(&k, KIND_SRQ, &m.srq) != NDSH_OK)
		return;
	while (attacking(t) && raw_ask(&k.r, &m, NULL, NULL) != RAW_GONE)
		;
	raw_end(&k.r);
}

/* There is one admin ring, and one mover, for a session. */
static void
second_admin(struct target *t, uint32_t arg)
{
	struct raw r;
	struct raw_cq cq;

	(void)arg;
	raw_begin_with(&r, t->socket, RAW_LARGE_BYTES);
	(void)raw_cq(&r, 16, &cq);
	struct ndsh_admin_create a = {.h.type = NDSH_MSG_ADMIN_CREATE,
		.segment = r.segment,
		.depth = 16,
		.cq = cq.id,
		.offset = raw_carve(&r, ndsh_admin_bytes(16))};
	struct ndsh_mover_create m = {{.type = NDSH_MSG_MOVER_CREATE}, r.segment, 1,
		raw_carve(&r, ndsh_mover_bytes(true))};
	while (attacking(t)) {
		int file = -1;

		if (raw_ask(&r, &a, NULL, NULL) == RAW_GONE ||
			raw_ask(&r, &m, NULL, &file) == RAW_GONE)
			break;
	}
	raw_end(&r);
}

/* X(name of one, kind) */
#define KINDS(X)                                                                                   \
	X("domain", KIND_PD)                                                                       \
	X("cq", KIND_CQ)                                                                           \
	X("qp", KIND_QP)                                                                           \
	X("ud-qp", KIND_UD_QP)                                                                     \
	X("srq", KIND_SRQ)                                                                         \
	X("window", KIND_MW)                                                                       \
	X("fast-region", KIND_FRMR)                                                                \
	X("segment", KIND_SEGMENT)                                                                 \
	X("listener", KIND_LISTENER)                                                               \
	X("bound-listener", KIND_BOUND)                                                            \
	X("endpoint", KIND_ENDPOINT)                                                               \
	X("port", KIND_BIND)

const struct attack object_attacks[] = {
#define ALL(name, kind) {"all-" name "s", take_all, kind},
	KINDS(ALL)
#undef ALL
#define LOOP(name, kind) {name "-loop", make_and_end, kind},
		KINDS(LOOP)
#undef LOOP
			{"domains-end", end_sessions, KIND_PD},
	{"queue-pairs-end", end_sessions, KIND_QP},
	{"fast-regions-end", end_sessions, KIND_FRMR},
	{"resize-loop", resize, 16},
	{"resize-long-loop", resize, 65536},
	{"pause-loop", pause_listener, 1},
	{"listen-again-loop", listen_again, UINT32_MAX},
	{"adapters-loop", find_adapters, 0},
	{"srq-arm-loop", arm_srq, 1},
	{"second-admin-ring", second_admin, 0},
	{0},
};
