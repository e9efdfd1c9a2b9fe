/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in a client's memory are as long as the client wants them. What the daemon does when it
 * takes one must not be: it clears the words that it shares with the client, and no ring.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "rigs/ndd_rig.h"
#include "shm/ndsh_ring.h"

#define SEGMENT_BYTES (12u << 20)
#define BLOCK	      65536u /* behind the session page */
#define DIRT	      0xa5
#define DEPTH	      4096u
#define CQ_DEPTH      65536u

union reply {
	struct ndsh_id_msg id;
	struct ndsh_qp_create_reply qp;
	uint8_t bytes[NDSH_MSG_BYTES];
};

struct scene {
	struct ndd_rig *r;
	uint8_t *mem;
	uint32_t segment, pd, cq;
	int client;
};

static uint32_t
make(const struct scene *sc, const void *msg)
{
	union reply reply;

	cr_assert(eq(i32, ndd_rig_ask(sc->r, sc->client, msg, &reply), NDSH_OK), "%s",
		ndsh_msg_table[((const struct ndsh_msg_hdr *)msg)->type].name);
	return reply.id.id;
}

static uint32_t
make_cq(const struct scene *sc, uint32_t depth, uint64_t offset)
{
	return make(sc, &(struct ndsh_cq_create){.h.type = NDSH_MSG_CQ_CREATE,
				.segment = sc->segment,
				.depth = depth,
				.offset = offset});
}

/* A completion queue at the end, and dirt everywhere between. */
static struct scene
scene_new(void)
{
	struct scene sc = {.r = ndd_rig_new()};
	struct ndd_session *s;

	sc.client = ndd_rig_open(sc.r, &s);
	sc.mem = ndd_rig_segment(sc.r, sc.client, SEGMENT_BYTES, &sc.segment);
	sc.pd = make(&sc, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	sc.cq = make_cq(&sc, 16, SEGMENT_BYTES - BLOCK);
	memset(sc.mem + BLOCK, DIRT, SEGMENT_BYTES - 2 * BLOCK);
	return sc;
}

static void
expect_cleared(const struct scene *sc, size_t page_bytes)
{
	const uint8_t *block = sc->mem + BLOCK;

	for (size_t i = 0; i < page_bytes; i++)
		cr_assert(ne(u8, block[i], DIRT), "byte %zu of the words", i);
	for (size_t i = page_bytes; i < SEGMENT_BYTES - 3 * BLOCK; i++)
		cr_assert(eq(u8, block[i], DIRT), "byte %zu is the client's", i);
}

Test(blocks, a_completion_queue)
{
	struct scene sc = scene_new();

	(void)make_cq(&sc, CQ_DEPTH, BLOCK);
	expect_cleared(&sc, sizeof(struct ndsh_cq_page));
}

Test(blocks, the_ring_of_a_resized_one)
{
	struct scene sc = scene_new();

	(void)make(&sc, &(struct ndsh_cq_resize){.h.type = NDSH_MSG_CQ_RESIZE,
				.cq = sc.cq,
				.segment = sc.segment,
				.offset = BLOCK,
				.depth = CQ_DEPTH,
				.entries = CQ_DEPTH});
	expect_cleared(&sc, 0);
}

Test(blocks, a_shared_receive_queue)
{
	struct scene sc = scene_new();

	(void)make(&sc, &(struct ndsh_srq_create){.h.type = NDSH_MSG_SRQ_CREATE,
				.pd = sc.pd,
				.segment = sc.segment,
				.offset = BLOCK,
				.depth = DEPTH,
				.sge = NDSH_SGE_MAX});
	expect_cleared(&sc, sizeof(struct ndsh_srq_page));
}

Test(blocks, an_admin_ring)
{
	struct scene sc = scene_new();

	(void)make(&sc, &(struct ndsh_admin_create){.h.type = NDSH_MSG_ADMIN_CREATE,
				.segment = sc.segment,
				.depth = NDSH_ADMIN_DEPTH_MAX,
				.offset = BLOCK,
				.cq = sc.cq});
	expect_cleared(&sc, 0);
}

Test(blocks, a_queue_pair)
{
	struct scene sc = scene_new();

	(void)make(&sc, &(struct ndsh_qp_create){.h.type = NDSH_MSG_QP_CREATE,
				.pd = sc.pd,
				.recv_cq = sc.cq,
				.send_cq = sc.cq,
				.segment = sc.segment,
				.offset = BLOCK,
				.sq_depth = DEPTH,
				.rq_depth = DEPTH,
				.sq_sge = NDSH_SGE_MAX,
				.rq_sge = NDSH_SGE_MAX});
	expect_cleared(&sc, sizeof(struct ndsh_qp_page));
}
