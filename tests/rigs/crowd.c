/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/crowd.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/zeroed.h"
#include "roce/check.h"

#define CROWD_ROOM 32u /* frames of one call */

/* A client of principal i, which is new if its weight is not 0. */
unsigned
crowd_add_client(struct crowd *c, unsigned i, uint32_t weight)
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

void
crowd_add_qps(struct crowd *c, unsigned client, unsigned n)
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

struct crowd *
crowd_new_with(uint32_t mtu, uint32_t window, uint8_t timeout_code)
{
	struct crowd *c = calloc(1, sizeof(*c));

	c->p = pair_new(&(struct pair_opts){.max_qps = CROWD_QPS + 1,
		.mtu = mtu,
		.window = window,
		.timeout_code = timeout_code,
		.max_wqes = 65536});
	return c;
}

struct crowd *
crowd_new(uint32_t mtu)
{
	return crowd_new_with(mtu, 4096, 255);
}

void
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
	for (unsigned i = 0; i < CROWD_CLIENTS; i++)
		if (c->principal[i].turn.quantum != 0)
			cr_assert(roce_principal_fini(s, &c->principal[i]));
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	pair_free(c->p);
	free(c);
}

void
crowd_post_op(struct crowd *c, unsigned client, unsigned n, uint32_t op, uint32_t bytes)
{
	const struct ndsh_swr wr = {.raddr = PAIR_VA, .rkey = 7, .ctrl = NDSH_CTRL(op, 1, 0, 0)};
	const struct ndsh_sge sge = pair_sge(c->p, 0, 0, bytes);

	for (unsigned i = 0; i < c->qps; i++) {
		if (c->client_of[i] != client)
			continue;
		for (unsigned k = 0; k < n; k++)
			ndsh_sq_push(&c->sq[i], &wr, &sge, NULL);
		roce_qp_doorbell(c->p->side[0].shard, &c->client[client], c->qp[i]);
	}
}

void
crowd_post(struct crowd *c, unsigned client, unsigned n, uint32_t bytes)
{
	crowd_post_op(c, client, n, NDSH_OP_WRITE, bytes);
}

/* Up to n frames of one call. */
static unsigned
send_some(struct crowd *c, unsigned n)
{
	static uint8_t room[CROWD_ROOM][ROCE_FRAME_MAX];
	struct roce_tx_slot slot[CROWD_ROOM];
	struct roce_pkt pkt;

	for (unsigned i = 0; i < n; i++)
		slot[i].buf = room[i];
	n = roce_shard_tx(c->p->side[0].shard, c->p->now_ns, slot, n);
	for (unsigned i = 0; i < n; i++) {
		cr_assert_eq(roce_wire_parse(room[i], slot[i].len, &pkt), ROCE_WIRE_OK);
		c->of_qp[pkt.qpn - 100]++;
		c->asked[pkt.qpn - 100] = pkt.ackreq;
		c->frames[c->client_of[pkt.qpn - 100]]++;
		c->bytes[c->client_of[pkt.qpn - 100]] += slot[i].len;
	}
	return n;
}

void
crowd_send(struct crowd *c, unsigned frames)
{
	for (unsigned n = 0, got; frames > 0; frames -= got) {
		got = send_some(c, frames < CROWD_ROOM ? frames : CROWD_ROOM);
		cr_assert(got > 0 || n++ < 100, "%u frames are missing", frames);
	}
}

/* A call has a budget of queue pairs that it looks at. */
unsigned
crowd_send_all(struct crowd *c)
{
	unsigned sent = 0, idle = 0, got;

	while (idle < 2 * CROWD_QPS) {
		got = send_some(c, CROWD_ROOM);
		idle = got > 0 ? 0 : idle + 1;
		sent += got;
	}
	return sent;
}

void
crowd_hear(struct crowd *c, unsigned i, struct roce_pkt said)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_qp_attr a;
	struct roce_pkt pkt;
	uint32_t len;

	said.qpn = roce_qp_num(c->qp[i]);
	said.pkey = ROCE_PKEY_DEFAULT;
	said.mig = true;
	pair_attr(c->p, 1, 0, &a);
	len = pair_build(frame, &a.path, &said, NULL);
	cr_assert_eq(roce_wire_parse(frame, len, &pkt), ROCE_WIRE_OK);
	pair_rx(c->p, 0, &pkt);
}

void
crowd_answer(struct crowd *c, unsigned i, uint32_t psn, uint8_t syndrome)
{
	crowd_hear(c, i, (struct roce_pkt){.opcode = ROCE_ACK, .psn = psn, .syndrome = syndrome});
}
