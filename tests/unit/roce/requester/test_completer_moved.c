/* SPDX-License-Identifier: BSD-3-Clause */
/* The completer: requests from and to memory that only their client can reach. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

#define FLOOR	UINT64_C(1000000) /* rto_floor_ns of engine_pair */
#define MTU	256u
#define PACKETS 16u /* of each message: as many are asked for ahead */
#define HOLDERS (NDSH_MOVER_SLOTS / PACKETS)

/* A WRITE from memory behind the mover. */
static void
moved_write(struct pair *p, unsigned i, uint32_t packets)
{
	struct ndsh_sge from = pair_moved_sge(p, 0, 0, packets * MTU);

	pair_post_sge(p, 0, i, i, NDSH_OP_WRITE, 0, &from);
}

static void
acknowledge(struct pair *p, unsigned i, uint32_t packets)
{
	struct roce_qp_attr a;

	pair_attr(p, 0, i, &a);
	pair_inject(p, 0, i,
		&(struct roce_pkt){.opcode = ROCE_ACK,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[i].qp),
			.psn = (a.sq_psn + packets - 1) & ROCE_PSN_MASK,
			.syndrome = ROCE_SYN_ACK},
		NULL);
}

/* Each of them asks its client for what the timer wants sent again, which takes all slots of the
 * mover. Then late acknowledgements say that it had arrived: others need those slots. */
Test(completer_moved, what_was_asked_for_in_vain_is_given_back)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.mtu = MTU, .qps = HOLDERS + 1, .moved = true}, true);

	for (unsigned i = 0; i < HOLDERS; i++)
		moved_write(p, i, PACKETS);
	pair_settle(p);
	cr_assert_eq(watched.n, HOLDERS * PACKETS);
	p->side[0].stalled = true;
	p->now_ns += FLOOR + FLOOR / 4;
	pair_settle(p);
	cr_assert_eq(pair_count(p, 0)->timeouts, HOLDERS);
	for (unsigned i = 0; i < HOLDERS; i++)
		acknowledge(p, i, PACKETS);
	pair_settle(p);
	for (unsigned i = 0; i < HOLDERS; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	p->side[0].stalled = false;
	pair_settle(p);
	cr_assert_eq(watched.n, HOLDERS * PACKETS);
	moved_write(p, HOLDERS, 1);
	pair_settle(p);
	cr_assert_eq(watched.n, HOLDERS * PACKETS + 1);
	pair_free(p);
}

/* The responses found no room, and no more come. The client's progress is what the READ waits for:
 * no timer is. */
Test(completer_moved, a_read_without_room_needs_no_timer)
{
	const uint32_t bytes = 3u << 20; /* more than the staging holds */
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = 4096, .window = 1024, .moved = true, .timeout_code = 255});
	struct ndsh_sge to = pair_moved_sge(p, 0, 0, bytes);

	p->side[0].stalled = true;
	p->side[1].arena[bytes - 1] = 0x5a;
	pair_post_sge(p, 0, 0, 1, NDSH_OP_READ, 0, &to);
	cr_assert(pair_run(p, PAIR_LONG), "nothing comes any more");
	pair_expect_none(p, 0);
	p->side[0].stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[0].moved[bytes - 1], 0x5a);
	pair_free(p);
}
