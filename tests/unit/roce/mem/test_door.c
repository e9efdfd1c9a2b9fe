/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that guess keys: each wrong one costs a queue pair, and too many close a door. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "rigs/scripted_peer.h"
#include "roce/mem/door.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

static struct roce_gid
address(uint32_t host)
{
	struct roce_gid gid;

	roce_gid_from_v4(&gid,
		(const uint8_t[4]){10, (uint8_t)(host >> 16), (uint8_t)(host >> 8), (uint8_t)host});
	return gid;
}

/* An address behind that door, or behind any other one. */
static struct roce_gid
address_at(const struct roce_shard *s, uint8_t door, bool behind)
{
	for (uint32_t host = 1;; host++) {
		struct roce_gid gid = address(host);

		if ((roce_door_of(s, &gid) == door) == behind)
			return gid;
	}
}

/* Queue pair i of side 1 anew, towards that peer; NULL: the other side. */
static enum roce_modify
connect_to(struct pair *p, unsigned i, const struct roce_gid *peer)
{
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *qp = p->side[1].q[i].qp;
	struct roce_qp_attr a;

	pair_attr(p, 1, i, &a);
	if (peer != NULL)
		a.path.dgid = *peer;
	roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RESET, 0, NULL);
	roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a);
	return roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTR, PAIR_QPA_RTR, &a);
}

static const uint8_t payload[PEER_MTU];

static void
say_wrong_key(struct pair *p, unsigned i, struct roce_pkt pkt)
{
	pkt.qpn = roce_qp_num(p->side[1].q[i].qp);
	pkt.rkey ^= 1;
	pkt.ieth = pkt.rkey;
	pair_inject(p, 1, i, &pkt, payload);
	pair_turn(p, 1);
	cr_assert(eq(int, roce_qp_state_get(p->side[1].q[i].qp), ROCE_QPS_ERR));
}

static void
guess(struct pair *p, unsigned i)
{
	say_wrong_key(p, i, peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8));
}

static enum roce_reason
reason(const struct pair *p, unsigned i)
{
	return roce_qp_reason(p->side[1].q[i].qp);
}

static struct pair *
guessed(struct peer_tape *t, unsigned times)
{
	struct pair *p =
		peer_with(t, (struct pair_opts){.qps = 3,
				     .ignore_events = true,
				     .access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
					       NDSH_ACCESS_REMOTE_ATOMIC});

	for (unsigned n = 0; n < times; n++) {
		cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_OK), "guess %u", n);
		guess(p, 0);
	}
	return p;
}

/* checks W-MEM-07[1,2,3,4] */
Test(door, closes_behind_too_many_wrong_keys_and_says_so)
{
	struct peer_tape t;
	struct pair *p = guessed(&t, ROCE_GUESSES);
	struct roce_shard *s = p->side[1].shard;
	const uint8_t door = p->side[1].q[0].qp->door;
	struct roce_gid same = address_at(s, door, true), other = address_at(s, door, false);

	cr_assert(eq(int, reason(p, 0), ROCE_REASON_SENT_REM_ACCESS), "that is all it may");
	cr_assert(eq(u64, pair_count(p, 1)->doors_closed, 0));
	cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_OK));
	guess(p, 0);
	cr_assert(eq(int, reason(p, 0), ROCE_REASON_GUESSES));
	cr_assert(eq(u64, pair_count(p, 1)->doors_closed, 1));
	cr_assert(eq(u64, pair_count(p, 1)->key_violations, ROCE_GUESSES + 1));

	cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_DOOR_CLOSED));
	cr_assert(eq(int, roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_INIT));
	cr_assert(eq(int, connect_to(p, 0, &same), ROCE_MODIFY_DOOR_CLOSED));
	cr_assert(eq(u64, pair_count(p, 1)->door_refusals, 2));
	cr_assert(eq(int, connect_to(p, 0, &other), ROCE_MODIFY_OK), "others are not concerned");

	p->now_ns += ROCE_GUESS_NS - 1;
	cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_DOOR_CLOSED));
	p->now_ns += 1;
	cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_OK), "it opens for the next");
	guess(p, 0);
	cr_assert(eq(int, reason(p, 0), ROCE_REASON_GUESSES));
	cr_assert(eq(u64, pair_count(p, 1)->doors_closed, 2));
	pair_free(p);
}

/* Each queue pair that is connected may still guess once, and each guess keeps the door closed for
 * longer. checks W-MEM-07[5] */
Test(door, leaves_connections_alone_and_counts_what_they_guess)
{
	struct peer_tape t;
	struct pair *p = guessed(&t, ROCE_GUESSES);

	cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_OK));
	for (unsigned i = 0; i < 3; i++)
		guess(p, i);
	cr_assert(eq(u64, pair_count(p, 1)->doors_closed, 1));
	p->now_ns += 3 * ROCE_GUESS_NS - 1;
	cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_DOOR_CLOSED));
	p->now_ns += 1;
	cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_OK));
	pair_free(p);
}

Test(door, knows_every_kind_of_guess)
{
	static const struct {
		uint8_t opcode;
		uint32_t bytes, dma_bytes;
	} kinds[] = {{ROCE_WRITE_ONLY, 8, 8}, {ROCE_WRITE_FIRST, PEER_MTU, 2 * PEER_MTU},
		{ROCE_READ_REQUEST, 0, 8}, {ROCE_CMP_SWAP, 0, 8}, {ROCE_FETCH_ADD, 0, 8},
		{ROCE_SEND_ONLY_INV, 8, 0}};

	for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct peer_tape t;
		struct pair *p = guessed(&t, ROCE_GUESSES);
		struct roce_pkt pkt = peer_packet(p, kinds[k].opcode, PEER_PSN, kinds[k].bytes);

		cr_assert(eq(int, connect_to(p, 0, NULL), ROCE_MODIFY_OK));
		pair_recv(p, 1, 0, 1, 0, 64);
		pkt.dma_bytes = kinds[k].dma_bytes;
		say_wrong_key(p, 0, pkt);
		cr_assert(eq(int, reason(p, 0), ROCE_REASON_GUESSES), "kind %u", k);
		pair_free(p);
	}
}

/* A peer connects so many queue pairs whenever it may, and then guesses with all of them. */
static uint32_t
guesses_in_a_day(struct roce_shard *s, const struct roce_qp *qp, uint32_t connected)
{
	const uint64_t second_ns = 1000000000, day_ns = 86400 * second_ns;
	uint32_t n = 0;

	for (s->now_ns = second_ns; s->now_ns < day_ns; s->now_ns += second_ns) {
		if (!roce_door_open(s, qp->pd, qp->door))
			continue;
		for (uint32_t i = 0; i < connected; i++, n++)
			(void)roce_door_guess(s, qp);
	}
	return n;
}

/* As many as doc/design-notes/isolation.md says. */
Test(door, lets_few_guesses_pass_in_a_day)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_qp *qp = p->side[1].q[0].qp;
	const uint32_t paid = ROCE_GUESSES + (uint32_t)(UINT64_C(86400000000000) / ROCE_GUESS_NS);

	for (uint32_t connected = 1; connected <= 16384; connected *= 4) {
		uint32_t n = guesses_in_a_day(p->side[1].shard, qp, connected);

		cr_assert(n <= paid + connected, "%u guesses with %u queue pairs", n, connected);
		cr_assert(n > paid - 2, "%u guesses with %u queue pairs", n, connected);
		p->side[1].shard->doors[qp->pd - 1] = (struct roce_doors){0};
	}
	pair_free(p);
}

/* What a door has not used while nobody guessed is not saved up, be it for a moment. */
Test(door, takes_as_long_after_a_pause)
{
	for (uint64_t pause_ns = 1; pause_ns <= 1000000; pause_ns *= 1000) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_shard *s = p->side[1].shard;
		struct roce_qp *qp = p->side[1].q[0].qp;

		cr_assert(roce_door_guess(s, qp));
		s->now_ns += ROCE_GUESS_NS + pause_ns;
		for (unsigned n = 0; n < ROCE_GUESSES; n++)
			cr_assert(roce_door_guess(s, qp));
		cr_assert_not(roce_door_guess(s, qp));
		s->now_ns += ROCE_GUESS_NS - 1;
		cr_assert_not(roce_door_open(s, qp->pd, qp->door));
		s->now_ns += 1;
		cr_assert(roce_door_open(s, qp->pd, qp->door));
		pair_free(p);
	}
}

Test(door, is_one_of_its_domain)
{
	struct peer_tape t;
	struct pair *p = guessed(&t, 0);
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *qp = p->side[1].q[0].qp;
	uint32_t mine = qp->pd, other = roce_pd_create(s);

	for (unsigned n = 0; n <= ROCE_GUESSES; n++)
		(void)roce_door_guess(s, qp);
	cr_assert(not(roce_door_open(s, mine, qp->door)));
	cr_assert(roce_door_open(s, other, qp->door));
	qp->pd = other;
	for (unsigned n = 0; n <= ROCE_GUESSES; n++)
		(void)roce_door_guess(s, qp);
	qp->pd = mine;
	cr_assert(not(roce_door_open(s, other, qp->door)));
	cr_assert(roce_pd_destroy(s, other));
	cr_assert(eq(u32, roce_pd_create(s), other));
	cr_assert(roce_door_open(s, other, qp->door), "a new domain, with new keys");
	cr_assert(roce_pd_destroy(s, other));
	pair_free(p);
}

/* The door of an address depends on the secret: by another one, an eighth of them keep theirs. */
Test(door, depends_on_address_and_secret)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	unsigned at[ROCE_DOORS] = {0}, same = 0;

	for (uint32_t host = 0; host < 8192; host++) {
		struct roce_gid gid = address(host);
		uint8_t door = roce_door_of(p->side[1].shard, &gid);

		cr_assert(lt(u8, door, ROCE_DOORS));
		at[door]++;
		same += door == roce_door_of(p->side[0].shard, &gid);
	}
	for (unsigned i = 0; i < ROCE_DOORS; i++)
		cr_assert(at[i] > 1024 - 150 && at[i] < 1024 + 150, "%u at door %u", at[i], i);
	cr_assert(same > 1024 - 150 && same < 1024 + 150, "%u of 8192 at the same", same);
	pair_free(p);
}
