/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that break memif's rules: in what they say, and in what they write into the memory that
 * both ends use. Their link ends, the reason is told, and the next peer is served.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memif_rig.h"

#define LIVES  60u
#define BURSTS 400u

TestSuite(memif_hostile, .init = rig_start, .fini = rig_end);

/* ---- what they say ---- */

enum file { NONE, MEMORY, INTERRUPT, PIPE, UNSEALED };

/* A client that keeps the rules up to the message that `spoil` is called for, and says no more. */
struct lie {
	const char *what;
	uint32_t step; /* 0 init, 1 region, 2 ring to the server, 3 the other, 4 connect */
	void (*spoil)(struct memif_message *m, enum file *file);
	const char *words; /* in the reason that is told */
};

#define LIE(name, ...)                                                                             \
	static void lie_##name(struct memif_message *m, enum file *file)                           \
	{                                                                                          \
		(void)m;                                                                           \
		(void)file;                                                                        \
		__VA_ARGS__;                                                                       \
	}
LIE(version, m->init.version = 0x0100)
LIE(id, m->init.id = 4)
LIE(mode, m->init.mode = 1)
LIE(secret, m->init.secret[3] = 'x')
LIE(no_secret, memset(m->init.secret, 0, sizeof(m->init.secret)))
LIE(turn, m->type = MEMIF_ADD_RING)
LIE(region_index, m->add_region.index = 1)
LIE(region_bytes, m->add_region.bytes = RAW_BYTES + 1)
LIE(region_none, m->add_region.bytes = 0)
LIE(region_huge, m->add_region.bytes = UINT64_MAX)
LIE(no_file, *file = NONE)
LIE(wrong_file, *file = PIPE)
LIE(unsealed, *file = UNSEALED)
LIE(ring_index, m->add_ring.index = 1)
LIE(ring_region, m->add_ring.region = 1)
LIE(ring_far, m->add_ring.offset = RAW_BYTES - 128)
LIE(ring_further, m->add_ring.offset = 0xfffffff0)
LIE(ring_crooked, m->add_ring.offset = 8)
LIE(ring_one, m->add_ring.log2_ring = 0)
LIE(ring_large, m->add_ring.log2_ring = 15)
LIE(ring_twice, m->add_ring.flags = 1)
LIE(no_cookie, m->add_ring.offset = RAW_BUFFERS)
LIE(unknown, m->type = 77)

static const struct lie lies[] = {
	{"version", 0, lie_version, "another version"},
	{"id", 0, lie_id, "another id"},
	{"mode", 0, lie_mode, "none of Ethernet"},
	{"secret", 0, lie_secret, "secret"},
	{"no secret", 0, lie_no_secret, "secret"},
	{"turn", 0, lie_turn, "another message than its turn"},
	{"region index", 1, lie_region_index, "in no order"},
	{"region bytes", 1, lie_region_bytes, "not as large"},
	{"region none", 1, lie_region_none, "not as large"},
	{"region huge", 1, lie_region_huge, "not as large"},
	{"no file", 1, lie_no_file, "file is missing"},
	{"wrong file", 1, lie_wrong_file, "F_SEAL_SHRINK"},
	{"unsealed", 1, lie_unsealed, "F_SEAL_SHRINK"},
	{"connect early", 1, lie_unknown, "another message than its turn"},
	{"ring index", 2, lie_ring_index, "more than one ring"},
	{"ring region", 2, lie_ring_region, "outside of its memory"},
	{"ring far", 2, lie_ring_far, "outside of its memory"},
	{"ring further", 2, lie_ring_further, "outside of its memory"},
	{"ring crooked", 2, lie_ring_crooked, "outside of its memory"},
	{"ring one", 2, lie_ring_one, "no size"},
	{"ring large", 2, lie_ring_large, "no size"},
	{"ring without file", 2, lie_no_file, "file is missing"},
	{"ring twice", 3, lie_ring_twice, "more than one ring"},
	{"no cookie", 3, lie_no_cookie, "do not begin"},
};

/* What the server says when it leaves. */
static void
hear_reason(struct raw *r, const struct lie *lie)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};
	struct memif_message m = {0};

	do {
		cr_assert_eq(poll(&p, 1, 30000), 1, "%s", lie->what);
		cr_assert_eq(recv(r->fd, &m, sizeof(m), 0), sizeof(m), "%s: no reason", lie->what);
	} while (m.type != MEMIF_DISCONNECT);
	cr_expect_not_null(
		strstr(m.disconnect.reason, lie->words), "%s: %s", lie->what, m.disconnect.reason);
}

static void
tell_lie(const struct lie *lie)
{
	struct memif_message said[] = {
		raw_init(), raw_region(), raw_ring(true), raw_ring(false), raw_connect()};
	enum file file[] = {NONE, MEMORY, INTERRUPT, INTERRUPT, NONE};
	int pipes[2], unsealed = memfd_create("unsealed", MFD_ALLOW_SEALING);
	struct raw r;

	raw_open(&r);
	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(ftruncate(unsealed, RAW_BYTES), 0);
	lie->spoil(&said[lie->step], &file[lie->step]);
	for (uint32_t i = 0; i < 5; i++) {
		const int fd[] = {-1, r.file, r.interrupt, pipes[0], unsealed};

		(void)memif_say(r.fd, &said[i], fd[file[i]]);
	}
	hear_reason(&r, lie);
	close(pipes[0]);
	close(pipes[1]);
	close(unsealed);
	raw_close(&r);
}

Test(memif_hostile, each_lie_has_its_reason_and_the_next_client_is_served)
{
	const uint64_t lying = sizeof(lies) / sizeof(lies[0]);
	struct raw r;

	rig_open(&server, true);
	for (uint32_t i = 0; i < lying; i++)
		tell_lie(&lies[i]);
	raw_open(&r);
	raw_link(&r);
	cr_expect_eq(rig_counter(&server, "refused"), lying);
	raw_close(&r);
}

Test(memif_hostile, a_message_of_another_length_ends_the_link)
{
	struct raw r;

	rig_open(&server, true);
	raw_open(&r);
	raw_link(&r);
	cr_assert_eq(send(r.fd, "x", 1, 0), 1);
	rig_wait(&server, false);
	raw_close(&r);
}

Test(memif_hostile, more_files_than_one_are_none)
{
	union {
		char room[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr head;
	} control = {0};
	struct memif_message said = raw_region();
	struct iovec iov = {&said, sizeof(said)};
	struct msghdr h = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room)};
	const struct lie lie = {"two files", 1, NULL, "file is missing"};
	struct raw r;

	rig_open(&server, true);
	raw_open(&r);
	cr_assert_eq(raw_say(&r, &(struct memif_message){0}, -1), MEMIF_HELLO);
	raw_close(&r);
	raw_open(&r);
	said = raw_init();
	(void)memif_say(r.fd, &said, -1);
	said = raw_region();
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(&control.head), (int[]){r.file, r.interrupt}, 2 * sizeof(int));
	cr_assert_eq(sendmsg(r.fd, &h, 0), sizeof(said));
	hear_reason(&r, &lie);
	raw_close(&r);
}

/* ---- what they write ---- */

static struct raw raw;

static void
link_raw(void)
{
	rig_open(&server, true);
	raw_open(&raw);
	raw_link(&raw);
}

static void
raw_frame(uint32_t slot, struct memif_desc d)
{
	raw_shared(&raw, true)->desc[slot] = d;
}

static void
raw_head(bool to_server, uint16_t head)
{
	__atomic_store_n(&raw_shared(&raw, to_server)->head, head, __ATOMIC_RELEASE);
}

/* The link ends by this burst, which gives nothing. */
static void
expect_breach(const char *what)
{
	struct rte_mbuf *m[RIG_RING];

	cr_expect_eq(port_rx_burst(&server, m, RIG_RING), 0, "%s", what);
	rig_wait(&server, false);
	cr_expect_eq(rig_counter(&server, "breaches"), 1, "%s", what);
	raw_close(&raw);
	rig_count_mbufs();
}

Test(memif_hostile, an_index_beyond_the_ring)
{
	link_raw();
	raw_head(true, RIG_RING + 1);
	expect_breach("head");
}

Test(memif_hostile, an_index_that_goes_back)
{
	link_raw();
	raw_head(true, UINT16_MAX);
	expect_breach("head");
}

Test(memif_hostile, a_region_that_is_not_there)
{
	link_raw();
	raw_frame(0, (struct memif_desc){.region = 1, .length = 64, .offset = RAW_BUFFERS});
	raw_head(true, 1);
	expect_breach("region");
}

/* The number of a region that there could be, taken in a circle. */
Test(memif_hostile, a_region_that_can_not_be)
{
	link_raw();
	raw_frame(0, (struct memif_desc){
			     .region = MEMIF_REGIONS_MAX, .length = 64, .offset = RAW_BUFFERS});
	raw_head(true, 1);
	expect_breach("region");
}

Test(memif_hostile, an_offset_behind_the_region)
{
	link_raw();
	raw_frame(0, (struct memif_desc){.length = 64, .offset = RAW_BYTES + 1});
	raw_head(true, 1);
	expect_breach("offset");
}

Test(memif_hostile, a_length_beyond_the_region)
{
	link_raw();
	raw_frame(0, (struct memif_desc){.length = 65, .offset = RAW_BYTES - 64});
	raw_head(true, 1);
	expect_breach("length");
}

Test(memif_hostile, a_length_that_wraps)
{
	link_raw();
	raw_frame(0, (struct memif_desc){.length = UINT32_MAX - 63, .offset = 64});
	raw_head(true, 1);
	expect_breach("length");
}

Test(memif_hostile, a_frame_without_an_end)
{
	link_raw();
	for (uint32_t i = 0; i < RIG_RING; i++)
		raw_frame(i, (struct memif_desc){
				     .flags = MEMIF_DESC_NEXT, .length = 1, .offset = RAW_BUFFERS});
	raw_head(true, RIG_RING);
	expect_breach("chain");
}

/* The last byte of a region is its peer's to use; a frame's end may come later. */
Test(memif_hostile, what_is_just_right_is_no_breach)
{
	struct rte_mbuf *m;

	link_raw();
	raw_frame(0, (struct memif_desc){
			     .flags = MEMIF_DESC_NEXT, .length = 64, .offset = RAW_BYTES - 64});
	raw_head(true, 1);
	cr_expect_eq(port_rx_burst(&server, &m, 1), 0, "its end is not there yet");
	raw_frame(1, (struct memif_desc){.length = 64, .offset = RAW_BYTES - 64});
	raw_head(true, 2);
	cr_assert_eq(port_rx_burst(&server, &m, 1), 1);
	cr_expect_eq(m->pkt_len, 128);
	rte_pktmbuf_free(m);
	cr_expect_eq(raw_shared(&raw, true)->tail, 2);
	cr_expect_eq(rig_counter(&server, "breaches"), 0);
	raw_close(&raw);
}

/* Longer than any frame, or without a byte: dropped, and the next one comes. */
Test(memif_hostile, frames_of_no_length_that_there_is)
{
	static const struct {
		uint16_t flags;
		uint32_t length;
	} slot[] = {{0, 100000}, {MEMIF_DESC_NEXT, RIG_FRAME}, {MEMIF_DESC_NEXT, 1}, {0, 64},
		{0, 0}, {0, 64}};
	struct rte_mbuf *m[8];

	link_raw();
	for (uint32_t i = 0; i < 6; i++)
		raw_frame(i, (struct memif_desc){.flags = slot[i].flags,
				     .length = slot[i].length,
				     .offset = RAW_BUFFERS});
	raw_head(true, 6);
	cr_assert_eq(port_rx_burst(&server, m, 8), 1);
	cr_expect_eq(m[0]->pkt_len, 64);
	rte_pktmbuf_free(m[0]);
	cr_expect_eq(rig_counter(&server, "rx_bad_length"), 3);
	cr_expect_eq(rig_counter(&server, "breaches"), 0);
	raw_close(&raw);
	rig_count_mbufs();
}

Test(memif_hostile, an_empty_buffer_outside_of_the_region)
{
	link_raw();
	raw_shared(&raw, false)->desc[0] =
		(struct memif_desc){.length = RIG_BUFFER, .offset = RAW_BYTES - RIG_BUFFER + 1};
	raw_head(false, 1);
	cr_expect(!rig_send(&server, rig_frame(0, 64, 0)));
	rig_wait(&server, false);
	cr_expect_eq(rig_counter(&server, "breaches"), 1);
	raw_close(&raw);
	rig_count_mbufs();
}

/* All of them together have no room for it, and never will: it does not hold up what follows. */
Test(memif_hostile, buffers_that_are_too_small_for_a_frame)
{
	link_raw();
	for (uint32_t i = 0; i < RIG_RING; i++)
		raw_shared(&raw, false)->desc[i] =
			(struct memif_desc){.length = i == 1 ? 64 : 0, .offset = RAW_BUFFERS};
	raw_head(false, RIG_RING);
	cr_expect(rig_send(&server, rig_frame(0, 65, 0)), "taken, and dropped");
	cr_expect_eq(rig_counter(&server, "tx_too_long"), 1);
	cr_expect(rig_send(&server, rig_frame(1, 64, 0)));
	cr_expect_eq(raw_shared(&raw, false)->tail, 2);
	cr_expect_eq(rig_counter(&server, "breaches"), 0);
	raw_close(&raw);
	rig_count_mbufs();
}

/* Where the client's buffers are is the client's to know, whatever is written into descriptors. */
Test(memif_hostile, a_server_that_writes_into_descriptors)
{
	struct memif_shared_ring *rx, *tx;

	rig_link();
	rx = memif_of(&client)->rx.shared;
	tx = memif_of(&client)->tx.shared;
	for (uint32_t i = 0; i < 2 * RIG_RING; i++) {
		tx->desc[i % RIG_RING] = (struct memif_desc){
			.flags = MEMIF_DESC_NEXT, .region = 9, .offset = 0xfffffff0};
		cr_assert(rig_send(&client, rig_frame(i, 300, 0)));
		rig_expect(&server, i, 300);
		cr_assert(rig_send(&server, rig_frame(i, 300, 0)));
		rx->desc[i % RIG_RING].offset = 0xfffffff0;
		rx->desc[i % RIG_RING].region = 9;
		rig_expect(&client, i, 300);
	}
}

Test(memif_hostile, a_length_that_the_clients_buffer_has_not)
{
	struct rte_mbuf *m;

	rig_link();
	cr_assert(rig_send(&server, rig_frame(0, 64, 0)));
	memif_of(&client)->rx.shared->desc[0].length = RIG_BUFFER + 1;
	cr_expect_eq(port_rx_burst(&client, &m, 1), 0);
	rig_wait(&client, false);
	cr_expect_eq(rig_counter(&client, "breaches"), 1);
	rig_wait(&client, true);
	rig_wait(&server, true);
}

Test(memif_hostile, memory_that_is_missing_ends_the_link)
{
	struct rte_mbuf *m;

	link_raw();
	cr_assert(memif_memory_restore(memif_of(&server)->region[0].base + 5000));
	cr_expect_eq(port_rx_burst(&server, &m, 1), 0);
	rig_wait(&server, false);
	cr_expect_eq(rig_counter(&server, "memory_lost"), 1);
	cr_expect(!memif_memory_restore((uintptr_t)raw.memory), "that is no link's");
	raw_close(&raw);
}

/* Who does not poll is told, once for each time that it went to sleep. */
Test(memif_hostile, a_peer_that_sleeps_is_told_of_frames)
{
	struct pollfd p;
	uint64_t count;

	link_raw();
	p = (struct pollfd){.fd = raw.interrupt, .events = POLLIN};
	for (uint32_t i = 0; i < RIG_RING; i++)
		raw_shared(&raw, false)->desc[i] =
			(struct memif_desc){.length = 64, .offset = RAW_BUFFERS};
	raw_shared(&raw, false)->flags = MEMIF_MASK_INT;
	raw_head(false, RIG_RING);
	cr_assert(rig_send(&server, rig_frame(0, 64, 0)));
	raw_shared(&raw, false)->flags = 0;
	cr_assert(rig_send(&server, rig_frame(1, 64, 0)));
	cr_assert_eq(poll(&p, 1, 30000), 1);
	cr_assert_eq(read(raw.interrupt, &count, sizeof(count)), sizeof(count));
	cr_expect_eq(count, 1);
	raw_close(&raw);
}

/* ---- anything ---- */

/* Into either ring: the second is `second` bytes behind the first. */
static void
scribble(uint8_t *rings, uint32_t second, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		rings[(uint32_t)rand() % 2 * second + (uint32_t)rand() % RIG_RING_BYTES] =
			(uint8_t)rand();
}

/* Bursts of one end beside a peer that writes anything anywhere: frames may be nonsense, but none
 * is longer than its buffer, and no access is out of bounds. */
static void
burst_beside(struct port *p, uint8_t *rings, uint32_t second)
{
	struct rte_mbuf *m[RIG_RING];
	uint16_t n;

	if (rand() % 16 == 0)
		scribble(rings, second, 1 + (uint32_t)rand() % 8);
	n = port_rx_burst(p, m, RIG_RING);
	for (uint16_t i = 0; i < n; i++) {
		cr_assert_leq(m[i]->data_len, m[i]->buf_len - m[i]->data_off);
		cr_assert_eq(m[i]->pkt_len, m[i]->data_len);
		rte_pktmbuf_free(m[i]);
	}
	(void)rig_send(p, rig_frame(0, 60 + (uint32_t)rand() % 4000, 0));
}

Test(memif_hostile, a_server_beside_a_client_that_scribbles)
{
	srand(1);
	rig_open(&server, true);
	for (uint32_t life = 0; life < LIVES; life++) {
		raw_open(&raw);
		raw_link(&raw);
		for (uint32_t i = 0; i < BURSTS; i++) {
			raw_frame(i % RIG_RING,
				(struct memif_desc){.length = 1500, .offset = RAW_BUFFERS});
			raw_head(true, (uint16_t)(i + 1));
			burst_beside(&server, raw.memory, RAW_TO_CLIENT);
		}
		raw_close(&raw);
		rig_wait(&server, false);
	}
	cr_expect_gt(rig_counter(&server, "breaches"), LIVES / 2);
	cr_expect_gt(rig_counter(&server, "rx_packets"), 0, "not all of it was nonsense");
	rig_count_mbufs();
}

/* The memory is the client's, which takes it away with the link: the test has its own view. */
static uint8_t *
view_of_rings(void)
{
	const struct memif_region *g = &memif_of(&client)->region[0];
	void *view = mremap((void *)g->base, 0, g->bytes, MREMAP_MAYMOVE);

	cr_assert_neq(view, MAP_FAILED);
	return view;
}

Test(memif_hostile, both_ends_beside_somebody_who_scribbles)
{
	uint64_t breaches;

	srand(2);
	rig_link();
	for (uint32_t life = 0; life < LIVES; life++) {
		uint8_t *view;

		rig_wait(&server, true);
		rig_wait(&client, true);
		view = view_of_rings();
		for (uint32_t i = 0; i < BURSTS && client.ops->is_up(&client); i++) {
			burst_beside(&server, view, RIG_RING_BYTES);
			burst_beside(&client, view, RIG_RING_BYTES);
		}
	}
	breaches = rig_counter(&client, "breaches") + rig_counter(&server, "breaches");
	cr_expect_gt(breaches, LIVES / 2);
	cr_expect_gt(rig_counter(&client, "rx_packets"), 0, "not all of it was nonsense");
	rig_count_mbufs();
}
