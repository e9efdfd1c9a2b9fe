/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of a UDP port, over loopback and by the real kernel: whatever number a datagram is for,
 * the queue of its shard gets it. The addresses follow from the process's number, as tests run
 * side by side.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "hostnet/udp_steer.h"
#include "lcore/handover.h"
#include "rigs/eal_rig.h"
#include "udp/udp_own.h"
#include "wire/build.h"
#include "wire/icrc.h"
#include "wire/protocol.h"

#define NUMBERS	    3000u
#define BYTES	    64u
#define LOOKS	    10000000
#define PATIENCE_MS 20000

static struct rte_mempool *pool;
static struct roce_qpn_key key;
static uint32_t shards;
static struct port port;
static int sender;

static struct sockaddr_in
own_address(uint8_t host)
{
	const uint8_t v4[4] = {127, (uint8_t)(getpid() >> 8), (uint8_t)getpid(), host};
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)};

	memcpy(&a.sin_addr, v4, 4);
	return a;
}

/* program: else one that the kernel refuses. */
static const char *
open_port(struct port *p, uint8_t host, uint32_t queues, bool program)
{
	static char why[160];
	struct sock_filter steer[NDD_UDP_STEER_MAX];
	const struct sockaddr_in a = own_address(host);
	struct udp_cfg cfg = {
		.addresses = 1, .mtu = 1500, .pool = pool, .queues = queues, .steer = steer};

	roce_gid_from_v4(&cfg.address[0], (const uint8_t *)&a.sin_addr);
	cfg.steer_length = program ? ndd_udp_steer(steer, &key, queues) : 0;
	cr_assert_leq(cfg.steer_length, NDD_UDP_STEER_MAX);
	return udp_open(p, &cfg, why, sizeof(why));
}

static void
start(void)
{
	eal_rig_start(NULL);
	pool = eal_rig_pool(2047);
	sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static void
start_queues(uint32_t queues)
{
	const uint64_t secret[2] = {queues * 0x9e3779b97f4a7c15u, (uint64_t)getpid()};

	shards = queues;
	roce_qpn_key_init(&key, secret);
	cr_assert_null(open_port(&port, 1, queues, true));
	for (uint32_t i = 1; i < queues; i++)
		cr_assert_not_null(udp_queue(&port, i), "queue %u: %s", i, port.ops->tend(&port));
	cr_assert_null(udp_queue(&port, queues));
}

TestSuite(udp_steer, .init = start);

static int
socket_of(uint32_t queue)
{
	return udp_of(queue == 0 ? &port : udp_queue(&port, queue))->socket[0].fd;
}

static void
send_payload(const uint8_t *payload, size_t bytes)
{
	const struct sockaddr_in to = own_address(1);

	cr_assert_eq(sendto(sender, payload, bytes, 0, (const struct sockaddr *)&to, sizeof(to)),
		(ssize_t)bytes);
}

static void
send_to_number(uint32_t qpn)
{
	uint8_t payload[BYTES] = {ROCE_SEND_ONLY};

	roce_put_be32(payload + 4, 0xff000000u | qpn); /* the byte in front of it is anything */
	send_payload(payload, sizeof(payload));
}

/* A kernel that is busy delivers a moment after it has been sent. */
static void
wait_for_arrival(void)
{
	struct pollfd p[NDD_SHARDS_MAX];

	for (uint32_t i = 0; i < shards; i++)
		p[i] = (struct pollfd){.fd = socket_of(i), .events = POLLIN};
	cr_assert_gt(poll(p, shards, PATIENCE_MS), 0, "nothing comes");
}

/* One datagram comes, to that queue, and none to another. */
static void
judge_arrival(uint32_t queue, const char *what, uint32_t which)
{
	uint8_t payload[256];

	wait_for_arrival();
	for (uint32_t i = 0; i < shards; i++) {
		const ssize_t n = recv(socket_of(i), payload, sizeof(payload), MSG_DONTWAIT);

		cr_assert_eq(
			n >= 0, i == queue, "%s 0x%06x: queue %u, not %u", what, which, i, queue);
	}
}

static uint32_t
queue_of(uint32_t qpn)
{
	const uint32_t shard = roce_place_shard(roce_qpn_place(&key, qpn));

	return qpn != ROCE_QPN_GSI && qpn != ROCE_QPN_MULTICAST && shard < shards ? shard : 0;
}

/* Spread over all numbers, those at the ends among them. */
static void
judge_numbers(uint32_t numbers)
{
	for (uint32_t i = 0; i < numbers; i++) {
		const uint32_t qpn = (i < 4 ? i - 2 : i * 0x9e3779) & ROCE_QPN_MASK;

		send_to_number(qpn);
		judge_arrival(queue_of(qpn), "number", qpn);
	}
}

Test(udp_steer, numbers_of_two_shards)
{
	start_queues(2);
	judge_numbers(NUMBERS);
}

Test(udp_steer, numbers_of_three_shards)
{
	start_queues(3);
	judge_numbers(NUMBERS);
}

Test(udp_steer, numbers_of_as_many_shards_as_there_may_be)
{
	start_queues(8);
	judge_numbers(NUMBERS);
}

static uint32_t
number_of_queue(uint32_t queue)
{
	uint32_t qpn = 2;

	while (queue_of(qpn) != queue)
		qpn++;
	return qpn;
}

/* The first has what has no number. One that is there in part counts as none. */
Test(udp_steer, short_datagrams)
{
	uint8_t payload[BYTES] = {0};

	start_queues(2);
	roce_put_be32(payload + 4, number_of_queue(1));
	for (size_t bytes = 0; bytes < 12; bytes++) {
		send_payload(payload, bytes);
		judge_arrival(bytes < 8 ? 0 : 1, "length", (uint32_t)bytes);
	}
}

/* A run is one thing to the kernel: its first segment decides, and lcores hand the others over. */
Test(udp_steer, a_run_of_two_shards)
{
	uint8_t payload[2 * BYTES] = {0}, room[4 * BYTES];
	const int bytes = BYTES;

	start_queues(2);
	roce_put_be32(payload + 4, number_of_queue(1));
	roce_put_be32(payload + BYTES + 4, number_of_queue(0));
	cr_assert_eq(setsockopt(sender, SOL_UDP, UDP_SEGMENT, &bytes, sizeof(bytes)), 0);
	send_payload(payload, sizeof(payload));
	wait_for_arrival();
	cr_expect_lt(recv(socket_of(0), room, sizeof(room), MSG_DONTWAIT), 0);
	cr_expect_eq(recv(socket_of(1), room, sizeof(room), MSG_DONTWAIT), 2 * BYTES);
}

/* When all of them have gone, others have the address's queues in the same order. */
Test(udp_steer, closed_and_opened)
{
	start_queues(3);
	port_close(&port);
	start_queues(3);
	judge_numbers(NUMBERS / 10);
}

static int
stranger_binds(uint8_t host, bool group)
{
	const struct sockaddr_in a = own_address(host);
	const int on = group, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	cr_assert_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
	if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	cr_assert_eq(errno, EADDRINUSE);
	close(fd);
	return -1;
}

/* Who asks for the address alone finds that it is taken, as every daemon does. */
Test(udp_steer, an_address_is_served_once)
{
	struct port second;
	const char *err;

	start_queues(2);
	cr_expect_lt(stranger_binds(1, false), 0);
	for (uint32_t queues = 1; queues < 3; queues++) {
		err = open_port(&second, 1, queues, true);
		cr_assert_not_null(err);
		cr_expect(strstr(err, "is taken: by ") != NULL, "%s", err);
	}
	judge_numbers(NUMBERS / 10);
}

/* And where another has a group of its own there, the port does not become one of it. */
Test(udp_steer, a_group_of_others)
{
	const char *err;

	cr_assert_geq(stranger_binds(1, true), 0);
	err = open_port(&port, 1, 2, true);
	cr_assert_not_null(err);
	cr_expect(strstr(err, "is taken: by ") != NULL, "%s", err);
}

/* A process of the same user may be in the group, and gets nothing by it: no number is its own. */
Test(udp_steer, a_stranger_in_the_group)
{
	uint8_t room[BYTES];
	int fd;

	start_queues(2);
	fd = stranger_binds(1, true);
	cr_assert_geq(fd, 0);
	judge_numbers(NUMBERS);
	cr_expect_lt(recv(fd, room, sizeof(room), MSG_DONTWAIT), 0);
	close(fd);
	judge_numbers(NUMBERS / 10);
}

/* Then all is the first's, which has the address alone, and the port tells of it once. */
Test(udp_steer, a_kernel_that_can_not_steer)
{
	const char *news;

	shards = 1;
	cr_assert_null(open_port(&port, 1, 3, false));
	for (uint32_t i = 0; i < 3; i++)
		cr_expect_null(udp_queue(&port, i));
	news = port.ops->tend(&port);
	cr_assert_not_null(news);
	cr_expect(strstr(news, "the first lcore receives and sends for all") != NULL, "%s", news);
	cr_expect_null(port.ops->tend(&port));
	cr_expect_lt(stranger_binds(1, true), 0);
	judge_numbers(NUMBERS / 10);
}

/* ---- frames ---- */

static struct rte_mbuf *
new_frame(uint32_t qpn, uint32_t number)
{
	const struct roce_pkt pkt = {.opcode = ROCE_SEND_ONLY,
		.qpn = qpn,
		.psn = number,
		.pkey = ROCE_PKEY_DEFAULT,
		.payload_bytes = 512};
	const struct sockaddr_in from = own_address(2), to = own_address(1);
	struct roce_path path = {.ttl = 64, .udp_sport = 0xc123};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct roce_hdr_tmpl tmpl;
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t headers;

	roce_gid_from_v4(&path.sgid, (const uint8_t *)&from.sin_addr);
	roce_gid_from_v4(&path.dgid, (const uint8_t *)&to.sin_addr);
	roce_hdr_tmpl_init(&tmpl, &path);
	headers = roce_wire_build(f, &tmpl, &pkt, (uint16_t)number);
	memset(f + headers, (int)number, pkt.payload_bytes);
	m->data_len = (uint16_t)roce_wire_seal(f, &tmpl, headers, pkt.payload_bytes);
	m->pkt_len = m->data_len;
	return m;
}

static uint32_t
take_frames(struct port *queue, uint32_t want, uint32_t qpn)
{
	struct rte_mbuf *m[32];
	uint32_t taken = 0;

	for (int look = 0; look < LOOKS && taken < want; look++) {
		const uint16_t n = port_rx_burst(queue, m, 32);

		for (uint16_t i = 0; i < n; i++, taken++) {
			struct roce_pkt pkt;

			cr_assert_eq(roce_wire_parse(rte_pktmbuf_mtod(m[i], uint8_t *),
					     m[i]->data_len, &pkt),
				ROCE_WIRE_OK);
			cr_assert(roce_icrc_ok(&pkt));
			cr_assert_eq(pkt.qpn, qpn);
			rte_pktmbuf_free(m[i]);
		}
	}
	return taken;
}

static uint64_t packets_received;

static void
counter_seen(void *arg, const char *name, uint64_t value)
{
	(void)arg;
	if (strcmp(name, "rx_packets") == 0)
		packets_received = value;
}

/* From each queue of one port to each of another, and the port's counters are those of all. */
Test(udp_steer, frames_from_queue_to_queue)
{
	struct port far, *by;
	struct rte_mbuf *m[32];

	start_queues(2);
	cr_assert_null(open_port(&far, 2, 2, true));
	for (uint32_t from = 0; from < 2; from++)
		for (uint32_t to = 0; to < 2; to++) {
			uint16_t sent = 0;

			by = from == 0 ? &far : udp_queue(&far, from);
			for (uint32_t i = 0; i < 32; i++)
				m[i] = new_frame(number_of_queue(to), i);
			for (int look = 0; look < LOOKS && sent < 32; look++)
				sent += port_tx_burst(by, m + sent, (uint16_t)(32 - sent));
			cr_assert_eq(take_frames(to == 0 ? &port : udp_queue(&port, to), 32,
					     number_of_queue(to)),
				32);
		}
	cr_expect_eq(udp_of(&port)->count.rx_packets, 64);
	port.ops->counters(&port, counter_seen, NULL);
	cr_expect_eq(packets_received, 128);
	port_close(&far);
	port_close(&port);
	cr_expect_eq(rte_mempool_avail_count(pool), 2047, "a buffer is lost");
}
