/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a memif: what one sends the other receives, whatever the frames' sizes, and the link
 * comes and goes with its ends. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>

#include "memif_rig.h"

TestSuite(memif, .init = rig_start, .fini = rig_end);

static void
one_way(struct port *from, struct port *to)
{
	/* One buffer, all of one, more than one, three, and the largest frame there is. */
	static const uint32_t sizes[] = {14, 60, 2047, 2048, 2049, 4096, 6000, 8192};
	uint32_t number = 0;

	for (uint32_t round = 0; round < 40; round++)
		for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			cr_assert(rig_send(from, rig_frame(number, sizes[i], round % 3 * 1000)));
			rig_expect(to, number++, sizes[i]);
		}
	cr_expect_eq(rig_counter(from, "tx_packets"), number);
	cr_expect_eq(rig_counter(to, "rx_packets"), number);
	cr_expect_eq(rig_counter(from, "tx_bytes"), rig_counter(to, "rx_bytes"));
}

Test(memif, frames_of_all_sizes_to_the_server)
{
	rig_link();
	one_way(&client, &server);
	rig_count_mbufs();
}

Test(memif, frames_of_all_sizes_to_the_client)
{
	rig_link();
	/* It has said that its buffers are empty as soon as the link is there. */
	one_way(&server, &client);
	rig_count_mbufs();
}

/* The indices of a ring have 16 bits. */
Test(memif, more_frames_than_an_index_counts)
{
	rig_link();
	for (uint32_t i = 0; i < 70000; i++) {
		struct port *from = i % 2 ? &server : &client, *to = i % 2 ? &client : &server;

		cr_assert(rig_send(from, rig_frame(i, 20, 0)), "%u", i);
		rig_expect(to, i, 20);
	}
	for (uint32_t i = 0; i < 70000; i++) {
		cr_assert(rig_send(&client, rig_frame(i, 20, 0)), "%u", i);
		rig_expect(&server, i, 20);
		cr_assert(rig_send(&server, rig_frame(i, 20, 0)), "%u", i);
		rig_expect(&client, i, 20);
	}
}

static void
fill_and_drain(struct port *from, struct port *to)
{
	uint32_t n = 0;

	while (rig_send(from, rig_frame(n, 100, 0)))
		cr_assert_leq(++n, RIG_RING);
	cr_assert_eq(n, RIG_RING, "as many as there are buffers");
	for (uint32_t i = 0; i < n; i++)
		rig_expect(to, i, 100);
	cr_assert(rig_send(from, rig_frame(n, 100, 0)), "there is room again");
	rig_expect(to, n, 100);
	/* Of a frame that has no room for its end nothing is sent. */
	for (uint32_t i = 0; i + 1 < RIG_RING; i++)
		cr_assert(rig_send(from, rig_frame(i, 100, 0)));
	cr_assert(!rig_send(from, rig_frame(99, RIG_BUFFER + 1, 0)));
	cr_assert(rig_send(from, rig_frame(RIG_RING - 1, 100, 0)));
	for (uint32_t i = 0; i < RIG_RING; i++)
		rig_expect(to, i, 100);
}

Test(memif, a_full_ring_takes_nothing_and_loses_nothing)
{
	rig_link();
	fill_and_drain(&client, &server);
	fill_and_drain(&server, &client);
	rig_count_mbufs();
}

Test(memif, a_burst_is_taken_as_far_as_there_is_room)
{
	struct rte_mbuf *m[RIG_RING + 4];

	rig_link();
	for (uint32_t i = 0; i < RIG_RING + 4; i++)
		m[i] = rig_frame(i, 64, 0);
	cr_assert_eq(port_tx_burst(&client, m, RIG_RING + 4), RIG_RING);
	rte_pktmbuf_free_bulk(m + RIG_RING, 4);
	cr_assert_eq(port_rx_burst(&server, m, 5), 5);
	rte_pktmbuf_free_bulk(m, 5);
	cr_assert_eq(port_rx_burst(&server, m, RIG_RING + 4), RIG_RING - 5);
	rte_pktmbuf_free_bulk(m, RIG_RING - 5);
	cr_assert_eq(port_rx_burst(&server, m, RIG_RING), 0);
	rig_count_mbufs();
}

Test(memif, a_link_ends_with_its_other_end_and_comes_again)
{
	rig_link();
	port_close(&client);
	rig_wait(&server, false);
	cr_expect(!rig_send(&server, rig_frame(0, 64, 0)), "no link, no frame");
	rig_open(&client, false);
	rig_wait(&server, true);
	rig_wait(&client, true);
	one_way(&client, &server);
	port_close(&server);
	rig_wait(&client, false);
	rig_open(&server, true);
	rig_wait(&client, true);
	one_way(&server, &client);
	rig_count_mbufs();
}

Test(memif, the_client_may_be_there_first)
{
	rig_open(&client, false);
	rig_open(&server, true);
	rig_wait(&client, true);
}

Test(memif, a_second_client_is_sent_away)
{
	struct raw r;

	rig_link();
	raw_open(&r);
	for (bool told = false; !told;) {
		struct memif_message message;

		cr_assert_eq(recv(r.fd, &message, sizeof(message), 0), sizeof(message));
		told = message.type == MEMIF_DISCONNECT;
		cr_expect(told && strstr(message.disconnect.reason, "connected") != NULL);
	}
	raw_close(&r);
	one_way(&client, &server);
}

Test(memif, a_socket_that_is_taken_is_an_error_with_its_path)
{
	struct memif_cfg cfg = {.server = true};
	struct port second;
	char why[160];
	const char *err;

	rig_open(&server, true);
	cfg = memif_of(&server)->cfg;
	err = memif_open(&second, "second", &cfg, why, sizeof(why));
	cr_assert_not_null(err);
	cr_expect_not_null(strstr(err, "memif.sock"), "%s", err);
	cr_expect_not_null(strstr(err, "in use"), "%s", err);
}
