/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every class of error, seen from both sides at once: what the request and the receive complete
 * with, what else completes and in which order, the one NAK on the wire, the states of both queue
 * pairs, what the hosts are told, and what a peer that was not told finds out by itself.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define LONG	UINT64_C(100000000000)
#define ALL	(NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)
#define ROOM	64u /* of a receive */
#define NONE	255u
#define LIVES	ROCE_REASON_NONE
#define BAD_KEY 0x10u

struct row {
	const char *name;
	/* The request of side 0. */
	uint8_t op, bytes;
	uint32_t local_xor, remote_xor, off; /* into its keys; offset of its target */
	/* Side 1. */
	uint32_t access, mr_access, receive_xor; /* 0: all of them */
	bool no_receives, deaf;			 /* deaf: nothing arrives there any more */
	uint8_t max_rd;				 /* 255: none; 0: some */
	/* What becomes of it. */
	uint8_t status, reason;	 /* of the request and its queue pair */
	uint8_t nak;		 /* syndrome of the only one on the wire, or NONE */
	uint8_t receive, theirs; /* status of the receive, or NONE; reason of side 1 */
};

/* What side 0 hears, and side 1 says, when side 1 refuses: for its keys, or as no request. */
#define ACCESS_REFUSED                                                                             \
	.status = NDSH_WC_REM_ACCESS_ERR, .reason = ROCE_REASON_NAK_REM_ACCESS,                    \
	.nak = ROCE_SYN_NAK_REM_ACCESS, .theirs = ROCE_REASON_SENT_REM_ACCESS
#define REQUEST_INVALID                                                                            \
	.status = NDSH_WC_REM_INV_REQ_ERR, .reason = ROCE_REASON_NAK_INV_REQ,                      \
	.nak = ROCE_SYN_NAK_INV_REQ, .theirs = ROCE_REASON_SENT_INV_REQ

static const struct row rows[] = {
	/* The peer refuses. */
	{"write: key", NDSH_OP_WRITE, 8, 0, BAD_KEY, 0, ACCESS_REFUSED,
		.receive = NDSH_WC_FLUSH_ERR},
	{"write: range", NDSH_OP_WRITE, 8, 0, 0, PAIR_ARENA - 7, ACCESS_REFUSED,
		.receive = NDSH_WC_FLUSH_ERR},
	{"write with immediate: key", NDSH_OP_WRITE_IMM, 8, 0, BAD_KEY, 0, ACCESS_REFUSED,
		.receive = NDSH_WC_REM_ACCESS_ERR},
	{"read: key", NDSH_OP_READ, 8, 0, BAD_KEY, 0, ACCESS_REFUSED, .receive = NDSH_WC_FLUSH_ERR},
	{"atomic: key", NDSH_OP_FETCH_ADD, 8, 0, BAD_KEY, 0, ACCESS_REFUSED,
		.receive = NDSH_WC_FLUSH_ERR},
	{"atomic: region without the right", NDSH_OP_CMP_SWAP, 8, 0, 0, 0,
		.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ |
			     NDSH_ACCESS_REMOTE_WRITE,
		ACCESS_REFUSED, .receive = NDSH_WC_FLUSH_ERR},
	{"atomic: not aligned", NDSH_OP_FETCH_ADD, 8, 0, 0, 4, REQUEST_INVALID,
		.receive = NDSH_WC_FLUSH_ERR},
	{"read: queue pair without the right", NDSH_OP_READ, 8, 0, 0, 0,
		.access = NDSH_ACCESS_REMOTE_WRITE, REQUEST_INVALID, .receive = NDSH_WC_FLUSH_ERR},
	{"atomic: queue pair without the right", NDSH_OP_CMP_SWAP, 8, 0, 0, 0,
		.access = NDSH_ACCESS_REMOTE_WRITE, REQUEST_INVALID, .receive = NDSH_WC_FLUSH_ERR},
	{"send: longer than the receive", NDSH_OP_SEND, ROOM + 1, 0, 0, 0,
		.status = NDSH_WC_REM_INV_REQ_ERR, .reason = ROCE_REASON_NAK_INV_REQ,
		.nak = ROCE_SYN_NAK_INV_REQ, .receive = NDSH_WC_LOC_LEN_ERR,
		.theirs = ROCE_REASON_RECV_TOO_SMALL},
	{"send: receive with a bad key", NDSH_OP_SEND, 8, 0, 0, 0, .receive_xor = BAD_KEY,
		.status = NDSH_WC_REM_OP_ERR, .reason = ROCE_REASON_NAK_REM_OP,
		.nak = ROCE_SYN_NAK_REM_OP, .receive = NDSH_WC_LOC_PROT_ERR,
		.theirs = ROCE_REASON_RECV_PROT},
	{"send and invalidate: no such token", NDSH_OP_SEND_INV, 8, 0, BAD_KEY, 0,
		.status = NDSH_WC_REM_ACCESS_ERR, .reason = ROCE_REASON_NAK_REM_ACCESS,
		.nak = ROCE_SYN_NAK_REM_ACCESS, .receive = NDSH_WC_REM_INV_REQ_ERR,
		.theirs = ROCE_REASON_RECV_INV},
	/* The peer is not ready, or not there: it stays as it is. */
	{"send: no receive", NDSH_OP_SEND, 8, 0, 0, 0, .no_receives = true,
		.status = NDSH_WC_RNR_RETRY_EXC_ERR, .reason = ROCE_REASON_RNR_RETRY_EXC,
		.nak = NONE, .receive = NONE, .theirs = LIVES},
	{"write: no answer", NDSH_OP_WRITE, 8, 0, 0, 0, .deaf = true,
		.status = NDSH_WC_RETRY_EXC_ERR, .reason = ROCE_REASON_RETRY_EXC, .nak = NONE,
		.receive = NONE, .theirs = LIVES},
	/* Our own client's mistakes: nothing of them is on the wire. */
	{"send: local key", NDSH_OP_SEND, 8, BAD_KEY, 0, 0, .status = NDSH_WC_LOC_PROT_ERR,
		.reason = ROCE_REASON_LOCAL_PROT, .nak = NONE, .receive = NONE, .theirs = LIVES},
	{"write: local key", NDSH_OP_WRITE, 8, BAD_KEY, 0, 0, .status = NDSH_WC_LOC_PROT_ERR,
		.reason = ROCE_REASON_LOCAL_PROT, .nak = NONE, .receive = NONE, .theirs = LIVES},
	{"read: local key", NDSH_OP_READ, 8, BAD_KEY, 0, 0, .status = NDSH_WC_LOC_PROT_ERR,
		.reason = ROCE_REASON_LOCAL_PROT, .nak = NONE, .receive = NONE, .theirs = LIVES},
	{"atomic: local key", NDSH_OP_FETCH_ADD, 8, BAD_KEY, 0, 0, .status = NDSH_WC_LOC_PROT_ERR,
		.reason = ROCE_REASON_LOCAL_PROT, .nak = NONE, .receive = NONE, .theirs = LIVES},
	{"read: none agreed", NDSH_OP_READ, 8, 0, 0, 0, .max_rd = 255,
		.status = NDSH_WC_LOC_QP_OP_ERR, .reason = ROCE_REASON_LOCAL_OP, .nak = NONE,
		.receive = NONE, .theirs = LIVES},
	{"atomic: none agreed", NDSH_OP_FETCH_ADD, 8, 0, 0, 0, .max_rd = 255,
		.status = NDSH_WC_LOC_QP_OP_ERR, .reason = ROCE_REASON_LOCAL_OP, .nak = NONE,
		.receive = NONE, .theirs = LIVES},
	{"invalidate: an ordinary region", NDSH_OP_INVALIDATE, 0, 0, 0, 0,
		.status = NDSH_WC_LOC_QP_OP_ERR, .reason = ROCE_REASON_LOCAL_INV, .nak = NONE,
		.receive = NONE, .theirs = LIVES},
	{"bind: no window", NDSH_OP_BIND, 0, 0, 0, 0, .status = NDSH_WC_BIND_ERR,
		.reason = ROCE_REASON_LOCAL_BIND, .nak = NONE, .receive = NONE, .theirs = LIVES},
};

struct wire {
	unsigned naks;
	uint8_t syndrome;
	bool deaf; /* side 1 */
};

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct wire *w = ctx;

	(void)p;
	(void)late_ns;
	if (pkt->opcode == ROCE_ACK && pkt->syndrome >> 5 == 3) {
		w->naks++;
		w->syndrome = pkt->syndrome;
	}
	return !(w->deaf && from == 0);
}

static struct pair *
pair_of(const struct row *r, struct wire *w)
{
	struct pair *p = pair_new(&(struct pair_opts){.access = r->access != 0 ? r->access : ALL,
		.mr_access = r->mr_access != 0 ? r->mr_access : NDSH_ACCESS_LOCAL_WRITE | ALL,
		.max_rd = r->max_rd,
		.rnr_retry = 1,
		.retry = 2,
		.timeout_code = 8});
	struct ndsh_sge sge = pair_sge(p, 1, 2048, ROOM);

	p->tap = tap;
	p->tap_ctx = w;
	sge.key ^= r->receive_xor;
	pair_recv(p, 0, 0, 10, 0, ROOM);
	for (unsigned i = 0; i < 2 && !r->no_receives; i++)
		ndsh_rq_push(&p->side[1].q[0].rq, 20 + i, &sge, 1);
	return p;
}

static void
post(struct pair *p, const struct row *r, uint64_t context)
{
	bool local = r->op == NDSH_OP_INVALIDATE || r->op == NDSH_OP_BIND;
	uint32_t key = p->side[local ? 0 : 1].key ^ r->remote_xor;
	struct ndsh_sge sge = pair_sge(p, 0, 4096, r->bytes);

	sge.key ^= r->local_xor;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA + r->off,
			.rkey = key,
			.arg = {8, NDSH_ACCESS_REMOTE_READ | (uint64_t)key << 32},
			.ctrl = NDSH_CTRL(r->op, !local, 0, 0)},
		&sge, NULL);
}

/* Side 1 was told nothing: its next request finds out. */
static void
finds_out(struct pair *p)
{
	pair_expect_alive(p, 1, 0);
	pair_write(p, 1, 0, 30, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 1, 30, NDSH_WC_RETRY_EXC_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_RETRY_EXC);
}

/* What both shards counted, beside the WRITE in front that succeeded. */
static void
judge_counters(const struct pair *p, const struct row *r)
{
	const struct roce_counters *ours = roce_shard_counters(p->side[0].shard),
				   *theirs = roce_shard_counters(p->side[1].shard);
	const bool told = r->theirs != LIVES, first_flushed = r->receive == NDSH_WC_FLUSH_ERR;
	const struct {
		const char *name;
		uint64_t is, ought;
	} all[] = {
		{"requests_failed", ours->requests_failed, 1},
		{"requests_flushed", ours->requests_flushed, 1},
		{"receives_flushed", ours->receives_flushed, 1},
		{"receives_failed", ours->receives_failed, 0},
		{"rx_nak_access", ours->rx_nak_access, r->nak == ROCE_SYN_NAK_REM_ACCESS},
		{"rx_nak_invalid", ours->rx_nak_invalid, r->nak == ROCE_SYN_NAK_INV_REQ},
		{"rnr_retry_exceeded", ours->rnr_retry_exceeded,
			r->status == NDSH_WC_RNR_RETRY_EXC_ERR},
		{"their receives_failed", theirs->receives_failed, told && !first_flushed},
		{"their receives_flushed", theirs->receives_flushed,
			told + (told && first_flushed)},
		{"their rx_message_too_long", theirs->rx_message_too_long,
			r->receive == NDSH_WC_LOC_LEN_ERR},
		{"their rx_write_requests", theirs->rx_write_requests, 1},
		{"their rx_read_requests", theirs->rx_read_requests, 0},
		{"their rx_atomic_requests", theirs->rx_atomic_requests, 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		cr_expect_eq(all[i].is, all[i].ought, "%s: %s %lu, not %lu", r->name, all[i].name,
			all[i].is, all[i].ought);
}

static void
judge(const struct row *r)
{
	const uint8_t answer = r->status == NDSH_WC_RNR_RETRY_EXC_ERR ? ROCE_SYN_RNR | 1
			       : r->nak != NONE			      ? r->nak
								      : 0;
	struct wire w = {.deaf = false};
	struct pair *p = pair_of(r, &w);
	struct ndsh_cqe failed;
	uint8_t *target = p->side[1].arena;

	memset(p->side[0].arena, 0x11, 8192);
	memset(target, 0x22, 8192);
	pair_write(p, 0, 0, 1, 0, 512, 8, 0);
	cr_assert(pair_run(p, LONG), "%s", r->name);
	w.deaf = r->deaf;
	post(p, r, 2);
	pair_write(p, 0, 0, 3, 0, 1024, 8, 0);
	cr_assert(pair_run(p, LONG), "%s", r->name);
	w.deaf = false;

	judge_counters(p, r);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	failed = pair_expect(p, 0, 2, r->status);
	cr_expect_eq(failed.syndrome, answer != 0 ? answer : r->reason, "%s: syndrome %x", r->name,
		failed.syndrome);
	cr_expect_eq(p->side[0].last_event.syndrome, answer, "%s", r->name);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 0, 10, NDSH_WC_FLUSH_ERR);
	pair_expect_none(p, 0);
	pair_expect_dead(p, 0, 0, (enum roce_reason)r->reason);
	cr_expect(target[512] == 0x11 && target[0] == 0x22 && target[1024] == 0x22, "%s", r->name);
	cr_expect_eq(w.naks, r->nak != NONE, "%s: %u NAKs", r->name, w.naks);
	if (r->nak != NONE)
		cr_expect_eq(w.syndrome, r->nak, "%s: syndrome %x", r->name, w.syndrome);
	if (r->theirs == LIVES) {
		pair_expect_none(p, 1);
		finds_out(p);
	} else {
		pair_expect(p, 1, 20, r->receive);
		pair_expect(p, 1, 21, NDSH_WC_FLUSH_ERR);
		pair_expect_none(p, 1);
		pair_expect_dead(p, 1, 0, (enum roce_reason)r->theirs);
	}
	pair_free(p);
}

/* checks R-CR-08, W-COMP-04[1], W-ERR-01[1,2,3], W-QP-02[3], W-RESP-18 */
Test(error_classes, both_sides, .timeout = 120)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge(&rows[i]);
}
