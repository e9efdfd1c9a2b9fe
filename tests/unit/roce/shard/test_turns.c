/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of sending: by principals and their weights, then by clients, then by queue pairs,
 * counted in bytes of frames with the price of each. Side 0 has all queue pairs. The frames are
 * counted for their clients, and never arrive.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/engine_pair.h"
#include "rigs/zeroed.h"
#include "roce/check.h"
#include "roce/qp/qp.h"
#include "roce/shard/turns.h"

#define CLIENTS 4u
#define ROOM	32u
#define QPS	1024u

struct crowd {
	struct pair *p;
	struct roce_principal principal[CLIENTS];
	struct roce_client client[CLIENTS];
	struct roce_cq *cq[CLIENTS];
	void *cq_mem[CLIENTS], *block[QPS];
	struct ndsh_sq sq[QPS];
	struct roce_qp *qp[QPS];
	unsigned client_of[QPS], qps, clients;
	uint64_t bytes[CLIENTS], frames[CLIENTS], of_qp[QPS];
};

/* A client of principal i, which is new if its weight is not 0. */
static unsigned
add_client(struct crowd *c, unsigned i, uint32_t weight)
{
	const struct roce_principal_cfg cfg = {
		.weight = weight, .pool = {{0, ROCE_CAP_NONE}, {0, ROCE_CAP_NONE}}};
	struct roce_shard *s = c->p->side[0].shard;
	unsigned n = c->clients++;

	if (weight != 0)
		cr_assert(roce_principal_init(s, &c->principal[i], &cfg));
	roce_client_init(&c->client[n], &c->principal[i]);
	c->cq_mem[n] = zeroed(ndsh_cq_bytes(4096));
	c->cq[n] = roce_cq_create(s, &c->client[n], c->cq_mem[n], 4096, NULL);
	cr_assert_not_null(c->cq[n]);
	return n;
}

static void
add_qps(struct crowd *c, unsigned client, unsigned n)
{
	const struct ndsh_qp_dims dims = {64, 1, 1, 1, 0};
	struct roce_shard *s = c->p->side[0].shard;
	struct roce_qp_attr a;
	struct ndsh_qp_layout l;

	pair_attr(c->p, 0, 0, &a);
	ndsh_qp_layout(&dims, &l);
	for (; n > 0; n--) {
		unsigned i = c->qps++;

		c->block[i] = zeroed(l.total_bytes);
		c->client_of[i] = client;
		c->qp[i] = roce_qp_create(s, &(struct roce_qp_cfg){.pd = c->p->side[0].pd,
						     .send_cq = c->cq[client],
						     .recv_cq = c->cq[client],
						     .shared = c->block[i],
						     .dims = dims});
		cr_assert_not_null(c->qp[i]);
		ndsh_sq_view(&c->sq[i], c->block[i], &dims);
		a.dest_qpn = 100 + i;
		pair_bring_up(c->p, 0, c->qp[i], &a);
	}
}

static struct crowd *
crowd_new(uint32_t mtu)
{
	struct crowd *c = calloc(1, sizeof(*c));

	c->p = pair_new(&(struct pair_opts){.max_qps = QPS + 1,
		.mtu = mtu,
		.window = 4096,
		.timeout_code = 255,
		.max_wqes = 65536});
	return c;
}

static void
crowd_free(struct crowd *c)
{
	struct roce_shard *s = c->p->side[0].shard;

	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	for (unsigned i = 0; i < c->qps; i++) {
		roce_qp_destroy(s, c->qp[i]);
		free(c->block[i]);
	}
	for (unsigned i = 0; i < c->clients; i++) {
		cr_assert(roce_cq_destroy(s, c->cq[i]));
		cr_assert(roce_client_fini(s, &c->client[i]));
		free(c->cq_mem[i]);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		if (c->principal[i].turn.quantum != 0)
			cr_assert(roce_principal_fini(s, &c->principal[i]));
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	pair_free(c->p);
	free(c);
}

/* Each queue pair of the client has n messages of so many bytes. */
static void
post(struct crowd *c, unsigned client, unsigned n, uint32_t bytes)
{
	const struct ndsh_swr wr = {
		.raddr = PAIR_VA, .rkey = 7, .ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)};
	const struct ndsh_sge sge = pair_sge(c->p, 0, 0, bytes);

	for (unsigned i = 0; i < c->qps; i++) {
		if (c->client_of[i] != client)
			continue;
		for (unsigned k = 0; k < n; k++)
			ndsh_sq_push(&c->sq[i], &wr, &sge, NULL);
		roce_qp_doorbell(c->p->side[0].shard, &c->client[client], c->qp[i]);
	}
}

/* That many frames leave. */
static void
send(struct crowd *c, unsigned frames)
{
	static uint8_t room[ROOM][ROCE_FRAME_MAX];
	struct roce_tx_slot slot[ROOM];
	struct roce_pkt pkt;

	for (unsigned n = 0, got; frames > 0; frames -= got) {
		unsigned ask = frames < ROOM ? frames : ROOM;

		for (unsigned i = 0; i < ask; i++)
			slot[i].buf = room[i];
		got = roce_shard_tx(c->p->side[0].shard, c->p->now_ns, slot, ask);
		cr_assert(got > 0 || n++ < 100, "%u frames are missing", frames);
		for (unsigned i = 0; i < got; i++) {
			cr_assert_eq(roce_wire_parse(room[i], slot[i].len, &pkt), ROCE_WIRE_OK);
			c->of_qp[pkt.qpn - 100]++;
			c->frames[c->client_of[pkt.qpn - 100]]++;
			c->bytes[c->client_of[pkt.qpn - 100]] += slot[i].len;
		}
	}
}

/* With a path MTU of 4096 a round's credit is for one frame, so that each costs a look, too. */
static uint64_t
paid(const struct crowd *c, unsigned client)
{
	uint64_t looks = c->p->opts.mtu == 4096 ? c->frames[client] : 0;

	return c->bytes[client] + c->frames[client] * ROCE_PRICE_OF_FRAME +
	       looks * ROCE_PRICE_OF_LOOK;
}

/* What they paid is as their weights say, but for the credit of a round and a frame. */
static void
expect_shares(const struct crowd *c, unsigned a, unsigned b, uint64_t weight_a, uint64_t weight_b)
{
	int64_t by_a = (int64_t)(paid(c, a) / weight_a), by_b = (int64_t)(paid(c, b) / weight_b);
	int64_t off = by_a > by_b ? by_a - by_b : by_b - by_a;

	cr_expect_lt(off, by_a / 12 + 2 * ROCE_TURN_BYTES + 4 * 4600, "%ld and %ld", (long)by_a,
		(long)by_b);
}

/* 1,000 queue pairs of one principal against one of another: half for each. */
Test(turns, a_thousand_queue_pairs_against_one)
{
	struct crowd *c = crowd_new(1024);

	add_qps(c, add_client(c, 0, 1), 1000);
	add_qps(c, add_client(c, 1, 1), 1);
	post(c, 0, 8, 1024);
	post(c, 1, 1, 1024 * 4000);
	send(c, 4000);
	expect_shares(c, 0, 1, 1, 1);
	cr_expect_geq(c->frames[1], 1900, "%lu", (unsigned long)c->frames[1]);
	cr_expect_leq(c->frames[1], 2100);
	crowd_free(c);
}

Test(turns, by_weight)
{
	static const uint32_t weights[][2] = {{1, 1}, {3, 1}, {1, 3}, {32, 1}};

	for (unsigned i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		struct crowd *c = crowd_new(1024);

		add_qps(c, add_client(c, 0, weights[i][0]), 3);
		add_qps(c, add_client(c, 1, weights[i][1]), 30);
		post(c, 0, 2, 4000 * 1024);
		post(c, 1, 2, 4000 * 1024);
		send(c, 3960);
		expect_shares(c, 0, 1, weights[i][0], weights[i][1]);
		crowd_free(c);
	}
}

/* Small frames cost more than their bytes: a client that sends them gets more frames, but not as
 * many as by bytes alone. */
Test(turns, by_bytes_and_by_frames)
{
	struct crowd *c = crowd_new(4096);

	add_qps(c, add_client(c, 0, 1), 64);
	add_qps(c, add_client(c, 1, 1), 1);
	post(c, 0, 60, 8);
	post(c, 1, 1, 4096 * 1000);
	send(c, 2000);
	expect_shares(c, 0, 1, 1, 1);
	cr_expect_gt(c->frames[0], 5 * c->frames[1]);
	cr_expect_lt(c->frames[0], 16 * c->frames[1], "it would be 54 by bytes");
	crowd_free(c);
}

/* Three clients of one principal have together what the one of another has; among them each has as
 * much as the others, however many queue pairs it has. */
Test(turns, clients_share_what_their_principal_has)
{
	struct crowd *c = crowd_new(1024);

	add_qps(c, add_client(c, 0, 1), 100);
	add_qps(c, add_client(c, 0, 0), 10);
	add_qps(c, add_client(c, 0, 0), 1);
	add_qps(c, add_client(c, 1, 1), 1);
	for (unsigned i = 0; i < 4; i++)
		post(c, i, 1, 4000 * 1024);
	send(c, 3600);
	expect_shares(c, 0, 1, 1, 1);
	expect_shares(c, 1, 2, 1, 1);
	expect_shares(c, 3, 0, 3, 1);
	crowd_free(c);
}

/* Within a client, each queue pair has its turn. */
Test(turns, queue_pairs_of_a_client)
{
	struct crowd *c = crowd_new(1024);

	add_qps(c, add_client(c, 0, 1), 10);
	add_qps(c, add_client(c, 1, 1), 1);
	post(c, 0, 1, 1000 * 1024);
	post(c, 1, 1, 4000 * 1024);
	send(c, 2000);
	for (unsigned i = 1; i < 10; i++)
		cr_expect(c->of_qp[i] + 16 > c->of_qp[0] && c->of_qp[i] < c->of_qp[0] + 16, "%lu",
			(unsigned long)c->of_qp[i]);
	crowd_free(c);
}

/* Doorbells of one client, as many as it likes, don't stand before another's; a look at a queue
 * pair that has nothing to send is charged, so that it does not delay others. */
Test(turns, doorbells_for_nothing)
{
	struct crowd *c = crowd_new(1024);

	add_qps(c, add_client(c, 0, 1), 1000);
	add_qps(c, add_client(c, 1, 1), 1);
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 1000; i++)
			roce_qp_doorbell(c->p->side[0].shard, &c->client[0], c->qp[i]);
		post(c, 1, 1, 8);
		send(c, 1);
		cr_expect_eq(c->frames[1], round + 1, "in the first call");
	}
	crowd_free(c);
}

/* A client that comes back after a pause has saved up nothing, and still owes what it owed. */
Test(turns, a_pause_changes_nothing)
{
	struct crowd *c = crowd_new(4096);

	add_qps(c, add_client(c, 0, 1), 1);
	add_qps(c, add_client(c, 1, 1), 1);
	post(c, 1, 60, 4096 * 100);
	for (unsigned i = 0; i < 400; i++) { /* one frame, and nothing until it has left */
		post(c, 0, i < 60, 4096);
		send(c, 4);
	}
	cr_expect_eq(c->frames[0], 60);
	for (unsigned i = 0; i < CLIENTS; i++) {
		cr_expect_leq(c->client[i].turn.credit, ROCE_TURN_BYTES);
		cr_expect_geq(c->client[i].turn.credit, -4600);
	}
	crowd_free(c);
}
