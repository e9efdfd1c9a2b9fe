/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in shared memory: descriptors, indices, doorbells, arm words. */
#include <string.h>
#include <sys/eventfd.h>

#include "attack.h"

#define DEPTH	     256u
#define SESSIONS_MAX 48u

enum garbage {
	GARBAGE_SQ,
	GARBAGE_RQ,
	GARBAGE_SGE,
	GARBAGE_OPCODE,
	GARBAGE_FLAGS,
	GARBAGE_INLINE,
	GARBAGE_SHORT,
	GARBAGE_LENGTH,
	GARBAGE_CHANGING,
};

/* A descriptor that is right but for one thing. */
static struct ndsh_swr
spoilt(const struct duo *g, enum garbage what)
{
	struct ndsh_swr w = duo_request(g, NDSH_OP_WRITE, 64);

	switch (what) {
	case GARBAGE_SGE:
		raw_fill(&w.sge0, sizeof(w.sge0));
		break;
	case GARBAGE_OPCODE:
		w.ctrl = NDSH_CTRL(raw_random(256), 1, 0, 0);
		break;
	case GARBAGE_FLAGS:
		w.ctrl = NDSH_CTRL(1 + raw_random(11), raw_random(256), raw_random(0x8000), 0);
		break;
	case GARBAGE_INLINE:
		w.inline_bytes = raw_random(1u << raw_random(32));
		w.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, NDSH_WRF_INLINE, 0);
		break;
	case GARBAGE_SHORT:
		w.inline_bytes = raw_random(1u << raw_random(16));
		w.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE | NDSH_WRF_SHORT, 0);
		break;
	case GARBAGE_LENGTH:
		w.sge0.len = UINT32_MAX - raw_random(4096);
		break;
	default:
		break;
	}
	return w;
}

/* Write it into the ring as it is: ndsh_sq_push() would put it right. */
static void
write_raw(struct raw_qp *qp, const struct ndsh_swr *w)
{
	struct ndsh_swr *slot = &qp->sq.ring[qp->sq.next & (qp->sq.depth - 1)];
	uint32_t phase = ndsh_phase(qp->sq.next++, qp->sq.depth) << 31;

	memcpy(slot, w, offsetof(struct ndsh_swr, ctrl));
	ndsh_store32_release(&slot->ctrl, (w->ctrl & ~NDSH_CTRL_PHASE) | phase);
}

static void
garbage_rings(struct duo *g, enum garbage what)
{
	if (what == GARBAGE_RQ)
		raw_fill(g->qp.rq.ring, DEPTH * sizeof(struct ndsh_rwr));
	else
		raw_fill(g->qp.sq.ring, DEPTH * sizeof(struct ndsh_swr));
	raw_ring(&g->r, &g->qp);
}

static void
garbage(struct target *t, uint32_t what)
{
	while (attacking(t)) {
		struct duo g;

		if (!duo_begin(&g, t, DEPTH))
			return;
		for (int i = 0; i < 200 && attacking(t) && !duo_over(&g); i++) {
			struct ndsh_swr w = spoilt(&g, (enum garbage)what);

			if (what == GARBAGE_SQ || what == GARBAGE_RQ || what == GARBAGE_CHANGING)
				garbage_rings(&g, (enum garbage)what);
			else
				write_raw(&g.qp, &w);
			raw_ring(&g.r, &g.qp);
			/* The daemon reads a changing ring while it changes. */
			attack_pause_us(what == GARBAGE_CHANGING ? 1 : 200);
		}
		duo_end(&g);
	}
}

/* More in flight than the ring has slots: a slot is filled again as soon as it was read. */
static void
beyond_depth(struct target *t, uint32_t silent)
{
	struct duo g;
	struct ndsh_swr w;

	if (!duo_begin(&g, t, DEPTH))
		return;
	w = duo_request(&g, NDSH_OP_WRITE, 64);
	w.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, silent ? NDSH_WRF_SILENT : 0, 0);
	while (attacking(t) && !duo_over(&g)) {
		for (uint32_t i = 0; i < DEPTH; i++)
			write_raw(&g.qp, &w);
		raw_ring(&g.r, &g.qp);
		attack_pause_us(1);
	}
	attack_hold(t);
	duo_end(&g);
}

/* ---- words of pages ---- */

enum word {
	WORD_DOORBELLS,
	WORD_SUMMARY,
	WORD_ASLEEP,
	WORD_QP_PAGE,
	WORD_CONSUMER,
	WORD_AHEAD,
	WORD_ARM,
	WORD_ARM_RANDOM,
	WORD_CQ_PAGE
};

static void
ring_all(struct ndsh_session_page *page)
{
	memset(page->bitmap, 0xff, sizeof(page->bitmap));
	__atomic_store_n(&page->summary, UINT64_MAX, __ATOMIC_SEQ_CST);
}

static void
scribble(struct duo *g, enum word what)
{
	struct ndsh_session_page *page = (void *)g->r.base;

	switch (what) {
	case WORD_DOORBELLS:
		ring_all(page);
		break;
	case WORD_SUMMARY:
		__atomic_store_n(&page->summary, UINT64_MAX, __ATOMIC_SEQ_CST);
		break;
	case WORD_ASLEEP:
		ndsh_store32(&page->asleep, raw_random(3));
		break;
	case WORD_QP_PAGE:
		raw_fill(g->qp.page, sizeof(*g->qp.page));
		break;
	case WORD_CONSUMER:
		break; /* stays 0: the queue overruns */
	case WORD_AHEAD:
		ndsh_store64(
			&g->cq.page->consumer, (uint64_t)raw_random(UINT32_MAX) << raw_random(32));
		break;
	case WORD_ARM:
		ndsh_store64(&g->cq.page->arm, NDSH_ARM_WORD(NDSH_ARM_ANY, 0));
		break;
	case WORD_ARM_RANDOM:
		raw_fill(&g->cq.page->arm, sizeof(g->cq.page->arm));
		break;
	case WORD_CQ_PAGE:
		raw_fill(g->cq.page, sizeof(*g->cq.page));
		break;
	}
}

/* Words change while requests of the right form go on. */
static void
words(struct target *t, uint32_t what)
{
	while (attacking(t)) {
		struct duo g;
		struct ndsh_swr w;

		if (!duo_begin(&g, t, DEPTH))
			return;
		w = duo_request(&g, NDSH_OP_WRITE, 64);
		for (uint32_t i = 0; attacking(t) && !duo_over(&g); i++) {
			struct ndsh_cqe done[16];

			if (i % 64 == 0 || ndsh_cq_poll(&g.cq.reader, done, 16) > 0)
				raw_post(&g.r, &g.qp, &w);
			scribble(&g, (enum word)what);
			attack_pause_us(1);
		}
		duo_end(&g);
	}
}

/* As many sessions as there may be, and each rings for all the queue pairs that it could have. */
static void
sessions_that_ring(struct target *t, uint32_t most)
{
	struct raw r[SESSIONS_MAX];
	uint32_t n = 0;

	while (n < most && raw_open(&r[n], t->socket) == NDSH_OK &&
		raw_segment(&r[n], RAW_SEGMENT_BYTES, &r[n].base, &r[n].segment) == NDSH_OK)
		n++;
	attack_starts(t);
	while (attacking(t)) {
		for (uint32_t i = 0; i < n; i++) {
			ring_all((void *)r[i].base);
			(void)eventfd_write(r[i].wake, 1);
		}
		attack_pause_us(10);
	}
	for (uint32_t i = 0; i < n; i++)
		raw_end(&r[i]);
}

/* ---- the admin ring ---- */

enum admin { ADMIN_RANDOM, ADMIN_LOOP, ADMIN_UNREAD, ADMIN_ALL, ADMIN_CHANGING, ADMIN_OTHERS };

static struct ndsh_admin_request
admin_request(const struct raw *r, enum admin what)
{
	struct ndsh_admin_request q = {.va = (uintptr_t)r->base,
		.bytes = r->bytes,
		.pd = r->pd,
		.access = NDSH_ACCESS_MASK,
		.ctrl = NDSH_ADMIN_REGISTER};

	if (what == ADMIN_RANDOM || what == ADMIN_CHANGING)
		raw_fill(&q, sizeof(q));
	if (what == ADMIN_OTHERS) {
		q.ctrl = NDSH_ADMIN_DEREGISTER;
		q.token = raw_random(1u << 20) << NDSH_TOKEN_KEY_BITS |
			  raw_random(1u << NDSH_TOKEN_KEY_BITS);
	}
	return q;
}

static void
admin(struct target *t, uint32_t what)
{
	struct ndsh_admin_request q;
	struct ndsh_cqe answer;
	struct raw r;

	raw_begin(&r, t->socket);
	while (attacking(t)) {
		q = admin_request(&r, (enum admin)what);
		raw_admin(&r, &q);
		if (what == ADMIN_CHANGING)
			raw_fill(r.admin.ring, r.admin.depth * sizeof(q));
		if (what == ADMIN_UNREAD || what == ADMIN_CHANGING) {
			attack_pause_us(1);
			continue;
		}
		if (!raw_admin_answer(&r, &answer, 100))
			break;
		if (what == ADMIN_LOOP && answer.status == NDSH_ADMIN_OK) {
			q.ctrl = NDSH_ADMIN_DEREGISTER;
			q.token = answer.data;
			raw_admin(&r, &q);
			(void)raw_admin_answer(&r, &answer, 100);
		}
	}
	attack_hold(t);
	raw_end(&r);
}

/* Any at all, or one by which the region ends, or wraps, at 2^64, or begins at 0. */
static uint64_t
hostile_iova(const struct raw *r)
{
	uint64_t iova = 0;

	if (raw_random(2) == 0)
		raw_fill(&iova, sizeof(iova));
	else
		iova -= raw_random(2) * r->bytes + raw_random(3) - 1;
	return iova;
}

/* Registered, used from in front of its beginning or behind its end on, or from anywhere. */
static void
iova_once(struct duo *g)
{
	struct ndsh_admin_request q = admin_request(&g->r, ADMIN_ALL);
	struct ndsh_swr w = duo_request(g, NDSH_OP_WRITE, 64);
	uint64_t iova = hostile_iova(&g->r);
	struct ndsh_cqe answer;

	q.iova_offset = iova - q.va;
	raw_admin(&g->r, &q);
	if (!raw_admin_answer(&g->r, &answer, 100) || answer.status != NDSH_ADMIN_OK)
		return;
	w.sge0.key = answer.data;
	w.sge0.addr = iova + raw_random(2) * g->r.bytes - raw_random(64);
	if (raw_random(4) == 0)
		raw_fill(&w.sge0.addr, sizeof(w.sge0.addr));
	raw_post(&g->r, &g->qp, &w);
	attack_pause_us(100);
	q.ctrl = NDSH_ADMIN_DEREGISTER;
	q.token = answer.data;
	raw_admin(&g->r, &q);
	(void)raw_admin_answer(&g->r, &answer, 100);
}

static void
iovas(struct target *t, uint32_t unused)
{
	(void)unused;
	while (attacking(t)) {
		struct duo g;

		if (!duo_begin(&g, t, DEPTH))
			return;
		for (int i = 0; i < 50 && attacking(t) && !duo_over(&g); i++)
			iova_once(&g);
		duo_end(&g);
	}
}

const struct attack ring_attacks[] = {
	{"ring-garbage", garbage, GARBAGE_SQ},
	{"ring-garbage-receives", garbage, GARBAGE_RQ},
	{"ring-garbage-sge", garbage, GARBAGE_SGE},
	{"ring-garbage-opcodes", garbage, GARBAGE_OPCODE},
	{"ring-garbage-flags", garbage, GARBAGE_FLAGS},
	{"ring-garbage-inline", garbage, GARBAGE_INLINE},
	{"ring-garbage-short", garbage, GARBAGE_SHORT},
	{"ring-garbage-lengths", garbage, GARBAGE_LENGTH},
	{"ring-changing", garbage, GARBAGE_CHANGING},
	{"beyond-depth", beyond_depth, 0},
	{"beyond-depth-silent", beyond_depth, 1},
	{"doorbell-storm", words, WORD_DOORBELLS},
	{"doorbell-summary-storm", words, WORD_SUMMARY},
	{"doorbell-sessions", sessions_that_ring, SESSIONS_MAX, true},
	{"asleep-lies", words, WORD_ASLEEP},
	{"queue-pair-page-garbage", words, WORD_QP_PAGE},
	{"cq-overrun", words, WORD_CONSUMER},
	{"cq-consumer-lies", words, WORD_AHEAD},
	{"arm-storm", words, WORD_ARM},
	{"arm-garbage", words, WORD_ARM_RANDOM},
	{"cq-page-garbage", words, WORD_CQ_PAGE},
	{"admin-garbage", admin, ADMIN_RANDOM},
	{"admin-loop", admin, ADMIN_LOOP},
	{"admin-unread", admin, ADMIN_UNREAD},
	{"admin-all-regions", admin, ADMIN_ALL},
	{"admin-changing", admin, ADMIN_CHANGING},
	{"admin-tokens-of-others", admin, ADMIN_OTHERS},
	{"admin-iovas", iovas, 0},
	{0},
};
