/* SPDX-License-Identifier: BSD-3-Clause */
/* What two engines say to each other and when: numbers, answers, timers, seen from the wire. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rigs/engine_pair.h"

#define MTU   1024u
#define PSN   100u /* first one of side 0's requests */
#define LONG  UINT64_C(100000000000)
#define FLOOR UINT64_C(1000000) /* rto_floor_ns of engine_pair */
#define HEARD 256u

/* What side 1 said; what of it arrives a test decides. */
struct ear {
	struct roce_pkt said[HEARD];
	unsigned n;
	bool deaf; /* nothing of it arrives */
	bool (*lost)(const struct roce_pkt *pkt);
};

static unsigned
listen(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct ear *e = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0)
		return 1;
	if (e->n < HEARD)
		e->said[e->n++] = *pkt;
	return !e->deaf && (e->lost == NULL || !e->lost(pkt));
}

static struct pair *
listened(struct ear *e, struct pair_opts o)
{
	struct pair *p;

	if (o.mtu == 0)
		o.mtu = MTU;
	o.set_psn = true;
	o.sq_psn[0] = PSN;
	o.sq_psn[1] = 5000;
	p = pair_new(&o);
	*e = (struct ear){.n = 0};
	p->tap = listen;
	p->tap_ctx = e;
	return p;
}

static struct roce_pkt
request(const struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	return (struct roce_pkt){.opcode = opcode,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.psn = psn & ROCE_PSN_MASK,
		.pkey = ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload_bytes = opcode == ROCE_READ_REQUEST ? 0 : bytes,
		.va = PAIR_VA,
		.rkey = p->side[1].key,
		.dma_bytes = bytes};
}

static void
answer(struct pair *p, uint32_t psn, uint8_t syndrome)
{
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = ROCE_ACK,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = syndrome},
		NULL);
	pair_turn(p, 0);
}

static const struct roce_counters *
counters(const struct pair *p, unsigned side)
{
	return roce_shard_counters(p->side[side].shard);
}

/* ---- numbers ---- */

/* Whatever port a packet comes from, also that of another queue pair's flow. */
Test(exchange, W_PKT_06_the_QPN_alone_finds_the_queue_pair)
{
	static const uint8_t payload[8] = "12345678";
	struct pair *p =
		pair_new(&(struct pair_opts){.qps = 2, .set_psn = true, .sq_psn = {PSN, 5000}});
	struct roce_qp_attr attr[2];

	for (unsigned i = 0; i < 2; i++)
		pair_attr(p, 0, i, &attr[i]);
	for (unsigned i = 0; i < 8; i++) {
		const uint16_t sport[] = {attr[1].path.udp_sport, attr[0].path.udp_sport, 0, 1,
			4791, 0xc000, 0xffff, 0x8000};
		struct roce_pkt out = request(p, ROCE_SEND_ONLY, PSN + i, sizeof(payload)), in;
		struct roce_path path = attr[0].path;
		uint8_t frame[ROCE_FRAME_MAX];
		struct roce_hdr_tmpl tmpl;
		uint32_t hdr;

		path.udp_sport = sport[i];
		roce_hdr_tmpl_init(&tmpl, &path);
		hdr = roce_wire_build(frame, &tmpl, &out, 0);
		memcpy(frame + hdr, payload, sizeof(payload));
		hdr = roce_wire_seal(frame, &tmpl, hdr, sizeof(payload));
		pair_recv(p, 1, 0, i, 0, 64);
		pair_recv(p, 1, 1, 100 + i, 0, 64);
		cr_assert_eq(roce_wire_parse(frame, hdr, &in), ROCE_WIRE_OK);
		pair_rx(p, 1, &in);
		pair_turn(p, 1);
		cr_assert_eq(pair_expect(p, 1, i, NDSH_WC_SUCCESS).qp, 0);
	}
	pair_expect_none(p, 1);
	pair_free(p);
}

/* A READ that would make it more waits for what is before it. */
static void
half_the_space(uint32_t bytes, unsigned at_once)
{
	struct ear e;
	struct pair *p = listened(&e, (struct pair_opts){.mtu = 256});
	struct pair_side *d = &p->side[0];
	/* No byte of it is touched: no response comes. */
	struct roce_mr *mr = roce_mr_register(
		d->shard, d->pd, PAIR_VA, ROCE_MSG_MAX, d->arena, NDSH_ACCESS_LOCAL_WRITE);

	cr_assert_not_null(mr);
	p->opts.delay_ns = LONG;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 2,
			.raddr = PAIR_VA,
			.rkey = p->side[1].key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&(struct ndsh_sge){PAIR_VA, bytes, roce_mr_key(mr)}, NULL);
	pair_turn(p, 0);
	cr_assert_eq(p->sent[0], at_once);
	p->opts.delay_ns = 0;
	answer(p, PSN, ROCE_SYN_ACK);
	cr_assert_eq(p->sent[0], 2);
	roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	cr_assert(roce_mr_deregister(d->shard, mr));
	pair_free(p);
}

/* With more than that in flight nobody could tell old from new. */
Test(exchange, W_PSN_02_half_the_space_is_the_most)
{
	half_the_space(ROCE_MSG_MAX - 256, 2); /* 2^23 numbers with the one before */
	half_the_space(ROCE_MSG_MAX, 1);
}

/* Exactly half of the numbers are behind the expected one, the other half before it. */
Test(exchange, W_PSN_06_duplicates_and_the_future)
{
	static const struct {
		uint32_t ahead;
		bool future;
	} of[] = {{1, true}, {2, true}, {0x7ffffe, true}, {0x7fffff, true}, {0x800000, false},
		{0x800001, false}, {0xfffffe, false}, {0xffffff, false}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct ear e;
		struct pair *p = listened(&e, (struct pair_opts){0});
		struct roce_pkt pkt = request(p, ROCE_WRITE_ONLY, PSN + of[i].ahead, 8);

		pair_inject(p, 1, 0, &pkt, "12345678");
		pair_turn(p, 1);
		cr_assert_eq(counters(p, 1)->rx_out_of_sequence, of[i].future, "%x", of[i].ahead);
		cr_assert_eq(counters(p, 1)->rx_duplicate, !of[i].future, "%x", of[i].ahead);
		cr_assert_neq(p->side[1].arena[0], '1');
		pair_expect_alive(p, 1, 0);
		pair_free(p);
	}
}

/* ---- credits ---- */

/* Whatever number of credits a peer tells, requests go on. */
Test(exchange, W_AETH_04_credits_of_the_peer_hold_nothing_back)
{
	for (uint8_t code = 0; code < 32; code++) {
		struct ear e;
		struct pair *p = listened(&e, (struct pair_opts){0});

		e.deaf = true;
		for (unsigned i = 0; i < 8; i++)
			pair_recv(p, 1, 0, i, 0, 64);
		for (unsigned i = 0; i < 8; i++) {
			pair_send(p, 0, 0, i, 0, 8, 0);
			pair_turn(p, 0);
			cr_assert_eq(p->sent[0], i + 1, "credit code %u", code);
			answer(p, PSN + i, code);
			pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		}
		pair_free(p);
	}
}

/* With receives or without, its own queue or a shared one: "no limit". */
Test(exchange, W_AETH_04_ours_are_without_limit)
{
	for (unsigned shared = 0; shared < 2; shared++) {
		struct ear e;
		struct pair *p = listened(&e, (struct pair_opts){.srq_depth = shared * 16});

		for (unsigned i = 0; i < 8; i++)
			pair_recv(p, 1, 0, i, 0, 64);
		for (unsigned i = 0; i < 8; i++) {
			pair_send(p, 0, 0, i, 0, 8, 0);
			pair_write(p, 0, 0, i, 0, 0, 8, 0);
			pair_read(p, 0, 0, i, 0, 0, i * MTU, 0);
			cr_assert(pair_run(p, LONG));
		}
		cr_assert_gt(e.n, 16);
		for (unsigned i = 0; i < e.n; i++)
			if (e.said[i].opcode != ROCE_READ_RESP_MIDDLE)
				cr_assert_eq(e.said[i].syndrome, 0x1f);
		pair_free(p);
	}
}

/* ---- answers ---- */

static uint8_t only;

static bool
all_but_one_opcode(const struct roce_pkt *pkt)
{
	return pkt->opcode != only;
}

/* No ACK arrives; a response, the first of its READ or a later one, says as much. */
Test(exchange, W_COMP_10_responses_acknowledge_what_is_before_them)
{
	static const uint8_t opcodes[] = {ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE,
		ROCE_READ_RESP_LAST, ROCE_READ_RESP_ONLY};

	for (unsigned i = 0; i < 4; i++) {
		struct ear e;
		struct pair *p = listened(&e, (struct pair_opts){0});

		only = opcodes[i];
		e.lost = all_but_one_opcode;
		pair_recv(p, 1, 0, 9, 0, 4 * MTU);
		pair_send(p, 0, 0, 1, 0, 3 * MTU, 0);
		pair_write(p, 0, 0, 2, 0, 0, 8, 0);
		pair_read(p, 0, 0, 3, 0, 0, only == ROCE_READ_RESP_ONLY ? 8 : 3 * MTU, 0);
		(void)pair_run(p, FLOOR / 2);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		cr_assert_eq(counters(p, 0)->timeouts, 0);
		pair_free(p);
	}
}

/* Loses about every eighth frame, and notes which READ responses were sent. */
struct order {
	struct {
		uint32_t first, n;
	} read[64];
	unsigned reads, frames, acks;
	bool sent[0x10000]; /* by PSN; the first one is 100 */
};

static unsigned
watch_order(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct order *o = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0 && pkt->opcode == ROCE_READ_REQUEST && o->reads < 64) {
		o->read[o->reads].first = pkt->psn;
		o->read[o->reads++].n = (pkt->dma_bytes + MTU - 1) / MTU;
	}
	if (from == 1 && pkt->opcode >= ROCE_READ_RESP_FIRST && pkt->opcode <= ROCE_READ_RESP_ONLY)
		o->sent[pkt->psn & 0xffff] = true;
	if (from == 1 && pkt->opcode == ROCE_ACK && pkt->syndrome == ROCE_SYN_ACK) {
		o->acks++;
		for (unsigned i = 0; i < o->reads; i++)
			for (uint32_t k = 0; k < o->read[i].n; k++)
				cr_assert(o->read[i].first + k > pkt->psn ||
						  o->sent[(o->read[i].first + k) & 0xffff],
					"ACK of %u before response %u was sent", pkt->psn,
					o->read[i].first + k);
	}
	return (++o->frames * 2654435761u) >> 29 != 3;
}

Test(exchange, W_ACK_05_no_ack_names_a_response_that_was_not_sent)
{
	static struct order o;
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU,
		.set_psn = true,
		.sq_psn = {PSN, 5000},
		.max_rd = 4,
		.max_dest_rd = 4,
		.retry = 7,
		.timeout_code = 18});

	p->tap = watch_order;
	p->tap_ctx = &o;
	for (unsigned i = 0; i < 12; i++) {
		pair_write(p, 0, 0, 4 * i, 0, 0, 8 + i * 400, 0);
		pair_read(p, 0, 0, 4 * i + 1, 0, 0, 8 + i * 500, 0);
		pair_read(p, 0, 0, 4 * i + 2, 0, 0, 6 * MTU, 0);
		pair_write(p, 0, 0, 4 * i + 3, 0, 0, 2 * MTU, 0);
	}
	(void)pair_run(p, LONG);
	for (unsigned i = 0; i < 48; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert_gt(o.acks, 12);
	pair_free(p);
}

/* No peer that keeps the rules asks so: half of it was never asked before. */
Test(exchange, W_DUP_08_a_duplicate_that_reaches_into_the_future)
{
	struct ear e;
	struct pair *p = listened(&e, (struct pair_opts){0});
	struct roce_pkt pkt = request(p, ROCE_WRITE_ONLY, PSN, 8);
	unsigned said;

	pair_inject(p, 1, 0, &pkt, "12345678");
	pkt = request(p, ROCE_READ_REQUEST, PSN + 1, 2 * MTU);
	pair_inject(p, 1, 0, &pkt, NULL);
	pair_turn(p, 1);
	said = e.n;
	pkt = request(p, ROCE_READ_REQUEST, PSN, 3 * MTU); /* begins where a WRITE was */
	pair_inject(p, 1, 0, &pkt, NULL);
	pkt = request(p, ROCE_READ_REQUEST, PSN + 1, 3 * MTU); /* ends behind what was asked */
	pair_inject(p, 1, 0, &pkt, NULL);
	pkt = request(p, ROCE_READ_REQUEST, PSN + 2, 2 * MTU); /* the same, from its second one */
	pkt.va += MTU;
	pair_inject(p, 1, 0, &pkt, NULL);
	pair_turn(p, 1);
	cr_assert_eq(counters(p, 1)->rx_duplicate, 3);
	cr_assert_eq(e.n, said);
	pair_expect_alive(p, 1, 0);
	pkt = request(p, ROCE_WRITE_ONLY, PSN + 3, 8); /* what was expected still is */
	pair_inject(p, 1, 0, &pkt, "abcdefgh");
	pair_turn(p, 1);
	cr_assert_eq(p->side[1].arena[0], 'a');
	pair_free(p);
}

/* ---- reads ---- */

/* The responder's own requests may stand between them, other answers may not. */
Test(exchange, W_READ_02_answers_of_two_requests_do_not_mix)
{
	struct ear e;
	struct pair *p = listened(&e, (struct pair_opts){.max_rd = 8, .max_dest_rd = 8});
	unsigned inside = 0;

	for (unsigned i = 0; i < 8; i++) {
		pair_read(p, 0, 0, i, 0, 0, 5 * MTU, 0);
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		pair_write(p, 1, 0, i, 0, 0, 3 * MTU, 0);
	}
	cr_assert(pair_run(p, LONG));
	for (unsigned i = 0; i < e.n; i++) {
		const struct roce_pkt *k = &e.said[i];

		if (!(k->opflags & ROCE_OPF_RESPONSE))
			continue;
		if (inside > 0)
			cr_assert(k->opcode == ROCE_READ_RESP_MIDDLE ||
					  k->opcode == ROCE_READ_RESP_LAST,
				"%s inside an answer", roce_opcode_info[k->opcode].name);
		inside = k->opcode == ROCE_READ_RESP_FIRST    ? 1
			 : k->opcode == ROCE_READ_RESP_MIDDLE ? inside + 1
							      : 0;
	}
	cr_assert_eq(inside, 0);
	pair_free(p);
}

/* Up to n frames of one side, and what the other makes of them: a wire without time. */
static unsigned
pump(struct pair *p, unsigned from, unsigned n)
{
	static uint8_t room[32][ROCE_FRAME_MAX];
	struct roce_tx_slot slot[32];
	struct roce_pkt pkt;

	for (unsigned i = 0; i < n; i++)
		slot[i].buf = room[i];
	roce_shard_poll_rings(p->side[from].shard, p->now_ns, 64);
	n = roce_shard_tx(p->side[from].shard, p->now_ns, slot, n);
	for (unsigned i = 0; i < n; i++) {
		cr_assert_eq(roce_wire_parse(slot[i].buf, slot[i].len, &pkt), ROCE_WIRE_OK);
		pair_rx(p, !from, &pkt);
		p->now_ns += 100;
	}
	return n;
}

/* One frame at a time, and often none: late, but in order, and nobody is asked to wait. */
Test(exchange, W_READ_03_out_of_frames_in_the_middle)
{
	struct ear e;
	struct pair *p = listened(&e, (struct pair_opts){0});
	for (uint32_t i = 0; i < 50 * MTU; i++)
		p->side[1].arena[i] = (uint8_t)(i * 31 >> 3);
	pair_read(p, 0, 0, 1, 0, 0, 50 * MTU, 0);
	cr_assert_eq(pump(p, 0, 1), 1);
	for (uint32_t i = 0; i < 50; i++) {
		for (unsigned dry = 0; dry < i % 4; dry++)
			cr_assert_eq(pump(p, 1, 0), 0);
		cr_assert_eq(pump(p, 1, 1), 1);
		cr_assert_eq(pump(p, 0, 1), 0, "it has nothing to object to");
	}
	cr_assert_eq(pump(p, 1, 1), 0);
	pair_turn(p, 0);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(memcmp(p->side[0].arena, p->side[1].arena, 50 * MTU), 0);
	cr_assert_eq(counters(p, 1)->tx_rnr + counters(p, 1)->tx_nak_fatal, 0);
	pair_free(p);
}

/* Other responders do ask: the requester waits and asks again. */
Test(exchange, W_READ_03_an_RNR_in_answer_to_a_read)
{
	struct ear e;
	struct pair *p = listened(&e, (struct pair_opts){.rnr_retry = 7});

	e.deaf = true;
	pair_read(p, 0, 0, 1, 0, 0, 3 * MTU, 0);
	pair_turn(p, 0);
	answer(p, PSN, ROCE_SYN_RNR | 1);
	cr_assert_eq(counters(p, 0)->rx_rnr, 1);
	e.deaf = false;
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(counters(p, 0)->timeouts, 0);
	pair_free(p);
}

/* 2 GiB of address space, of which each 2 MiB are the same memory. */
static uint8_t *
endless(size_t bytes)
{
	const size_t part = 2u << 20;
	uint8_t *at =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = memfd_create("endless", 0);

	cr_assert(at != MAP_FAILED && fd >= 0 && ftruncate(fd, (off_t)part) == 0);
	for (size_t i = 0; i < bytes; i += part)
		cr_assert_eq(
			mmap(at + i, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
			at + i);
	close(fd);
	return at;
}

/* The longest message is one of 2^31 bytes; its responses come as the port takes them. */
Test(exchange, W_READ_04_as_long_as_a_message_can_be, .timeout = 120)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 4096, .window = 4096});
	struct roce_mr *mr[2];
	struct ndsh_cqe c;

	for (unsigned i = 0; i < 2; i++) {
		struct pair_side *d = &p->side[i];

		mr[i] = roce_mr_register(d->shard, d->pd, PAIR_VA, ROCE_MSG_MAX,
			endless(ROCE_MSG_MAX), NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ);
		cr_assert_not_null(mr[i]);
	}
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 7,
			.raddr = PAIR_VA,
			.rkey = roce_mr_key(mr[1]),
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&(struct ndsh_sge){PAIR_VA, ROCE_MSG_MAX, roce_mr_key(mr[0])}, NULL);
	pump(p, 0, 1);
	while (pump(p, 1, 32) > 0)
		;
	pair_turn(p, 0);
	c = pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
	cr_assert_eq(c.bytes, ROCE_MSG_MAX);
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_mr_deregister(p->side[i].shard, mr[i]));
	pair_free(p);
}

/* ---- timers and budgets ---- */

/* Answers that trickle in, each in time: nothing is sent twice, as long as it takes. */
Test(exchange, W_COMP_13_W_TMR_02_progress_restarts_the_timer)
{
	struct ear e;
	struct pair *p = listened(&e, (struct pair_opts){.timeout_code = 12}); /* 16.8 ms */
	struct roce_usage u;

	e.deaf = true;
	for (unsigned i = 0; i < 20; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	roce_shard_usage(p->side[0].shard, &u);
	cr_assert_eq(u.timers, 1, "one for all");
	for (unsigned i = 0; i < 20; i++) {
		(void)pair_run(p, FLOOR * 8 / 10);
		answer(p, PSN + i, ROCE_SYN_ACK);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(counters(p, 0)->timeouts, 0);
	cr_assert_eq(counters(p, 0)->retransmitted_packets, 0);
	pair_free(p);
}

/* More requests are no progress: the oldest is not forgotten for them. */
Test(exchange, W_TMR_02_sending_does_not_restart_the_timer)
{
	struct ear e;
	struct pair *p = listened(&e, (struct pair_opts){.timeout_code = 12});

	e.deaf = true;
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(counters(p, 0)->timeouts, 0);
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		(void)pair_run(p, FLOOR * 3 / 10);
	}
	cr_assert_geq(counters(p, 0)->timeouts, 1);
	pair_free(p);
}

/* The peer is not ready for far longer than an acknowledgement may take. */
Test(exchange, W_TMR_02_an_RNR_stops_it)
{
	struct ear e;
	struct pair *p = listened(&e,
		(struct pair_opts){
			.timeout_code = 12, .rnr_retry = 7, .min_rnr_code = 31}); /* 491.52 ms */

	pair_send(p, 0, 0, 1, 0, 8, 0);
	(void)pair_run(p, 480 * UINT64_C(1000000));
	cr_assert_eq(counters(p, 0)->rx_rnr, 1);
	cr_assert_eq(p->sent[0], 1);
	pair_recv(p, 1, 0, 2, 0, 64);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(counters(p, 0)->timeouts, 0);
	pair_free(p);
}

static unsigned
lose_first_copies(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	static bool seen[256];

	(void)p;
	(void)late_ns;
	(void)ctx;
	if (from == 1 || seen[pkt->psn & 0xff])
		return 1;
	seen[pkt->psn & 0xff] = true;
	return 0;
}

/* A single retry, and each request needs it. */
Test(exchange, W_COMP_13_progress_renews_the_retries)
{
	struct pair *p = pair_new(&(struct pair_opts){.retry = 1, .timeout_code = 12});

	p->tap = lose_first_copies;
	for (unsigned i = 0; i < 20; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	}
	cr_assert_geq(counters(p, 0)->timeouts, 20);
	pair_free(p);
}

Test(exchange, W_COMP_13_progress_renews_the_patience_with_receivers)
{
	struct pair *p = pair_new(&(struct pair_opts){.rnr_retry = 1, .min_rnr_code = 10});

	for (unsigned i = 0; i < 20; i++) {
		pair_send(p, 0, 0, i, 0, 8, 0);
		(void)pair_run(p, 10000); /* refused by now */
		pair_recv(p, 1, 0, i, 0, 64);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(counters(p, 0)->rx_rnr, 20);
	pair_free(p);
}
