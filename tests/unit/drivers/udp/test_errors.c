/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the network says of MADs, and that it costs the others nothing. Loopback says of an address
 * without RoCEv2 that it has no port 4791 before the system call returns that sent to it.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "rigs/eal_rig.h"
#include "udp/udp_own.h"
#include "wire/gsi.h"

#define HERE  1
#define THERE 2 /* somebody listens */
#define DEAD  3 /* nobody does */
#define BURST 64u

static struct rte_mempool *pool;
static struct port port;
static int peer;

/* Of this process's own net: tests run side by side. */
static struct roce_gid
address(uint8_t host)
{
	struct roce_gid gid;
	const uint8_t v4[4] = {127, (uint8_t)(getpid() >> 8), (uint8_t)getpid(), host};

	roce_gid_from_v4(&gid, v4);
	return gid;
}

static void
start(void)
{
	struct udp_cfg cfg = {.address = {address(HERE)}, .addresses = 1, .mtu = 1500};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)};
	const struct roce_gid there = address(THERE);
	char why[160];
	const char *err;

	eal_rig_start(NULL);
	cfg.pool = pool = eal_rig_pool(1023);
	err = udp_open(&port, &cfg, why, sizeof(why));
	cr_assert_null(err, "%s", err);
	peer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	memcpy(&at.sin_addr, there.raw + 12, 4);
	cr_assert_eq(bind(peer, (struct sockaddr *)&at, sizeof(at)), 0);
}

TestSuite(udp_errors, .init = start);

/* Its first byte is the number. */
static struct rte_mbuf *
mad_to(uint8_t host, uint8_t number)
{
	const struct roce_path path = {.sgid = address(HERE), .dgid = address(host), .ttl = 64};
	const uint8_t mad[ROCE_MAD_BYTES] = {number};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	cr_assert_not_null(m);
	m->data_len = (uint16_t)roce_gsi_build(rte_pktmbuf_mtod(m, uint8_t *), &path, number, mad);
	m->pkt_len = m->data_len;
	return m;
}

/* What arrived, and in its order. */
static void
expect_arrived(uint32_t n)
{
	uint8_t datagram[512];

	for (uint32_t i = 0; i < n; i++) {
		ssize_t bytes = recv(peer, datagram, sizeof(datagram), 0);
		const uint8_t *mad;

		cr_assert_gt(bytes, 0, "number %u did not arrive: %s", i, strerror(errno));
		mad = roce_gsi_mad_of(datagram, (uint32_t)bytes);
		cr_assert_not_null(mad);
		cr_assert_eq(mad[0], i);
	}
	cr_assert_lt(recv(peer, datagram, sizeof(datagram), 0), 0);
}

struct told {
	uint32_t n, no_port, quoted;
};

static void
tell(void *arg, const struct udp_undelivered *u)
{
	const struct roce_gid dead = address(DEAD);
	struct told *t = arg;

	cr_assert(roce_gid_equal(&u->to, &dead));
	t->n++;
	t->no_port += u->no_port;
	t->quoted += roce_gsi_mad_of(u->payload, u->bytes) != NULL;
}

/* Each error is told of, with the MAD; and none fails the send of another's, in one call or in the
 * next. */
Test(udp_errors, those_of_one_peer_cost_the_others_nothing)
{
	struct rte_mbuf *m[BURST];
	struct told told = {0};

	for (uint32_t round = 0; round < 2; round++) {
		for (uint8_t i = 0; i < BURST / 2; i++) {
			m[2 * i] = mad_to(DEAD, i);
			m[2 * i + 1] = mad_to(THERE, i);
		}
		cr_assert_eq(port_tx_burst(&port, m, BURST), BURST);
		expect_arrived(BURST / 2);
	}
	for (uint8_t i = 0; i < BURST / 2; i++) {
		m[0] = mad_to(i % 2 == 0 ? DEAD : THERE, i / 2);
		cr_assert_eq(port_tx_burst(&port, m, 1), 1);
	}
	expect_arrived(BURST / 4);
	cr_expect_eq(udp_of(&port)->count.tx_refused, 0);
	udp_errors(&port, tell, &told);
	cr_expect_gt(told.n, 0);
	cr_expect_eq(told.no_port, told.n);
	cr_expect_eq(told.quoted, told.n);
	cr_expect_eq(udp_of(&port)->count.rx_icmp_unreachable, told.n);
	cr_expect_eq(udp_of(&port)->count.rx_icmp_other, 0);
}

/* A flood of errors is read in parts, and what is kept of it has an end. */
Test(udp_errors, floods_are_bounded)
{
	struct told told[3] = {{0}};
	struct rte_mbuf *m[BURST];

	for (uint32_t round = 0; round < 16; round++) {
		for (uint8_t i = 0; i < BURST; i++)
			m[i] = mad_to(DEAD, i);
		cr_assert_eq(port_tx_burst(&port, m, BURST), BURST);
	}
	for (uint32_t i = 0; i < 3; i++)
		udp_errors(&port, tell, &told[i]);
	cr_expect_eq(told[0].n, 64, "%u %u %u", told[0].n, told[1].n, told[2].n);
	cr_expect_lt(told[1].n, 64);
	cr_expect_eq(told[2].n, 0);
	m[0] = mad_to(THERE, 0);
	cr_assert_eq(port_tx_burst(&port, m, 1), 1);
	expect_arrived(1);
}

/* What is wrong with the send itself is not tried for ever: no packet of the network leaves a
 * source that is not this host's. */
Test(udp_errors, a_send_with_an_error_of_its_own_is_refused)
{
	struct rte_mbuf *m = mad_to(THERE, 0);

	memset(rte_pktmbuf_mtod_offset(m, uint8_t *, ROCE_ETH_BYTES + 12), 9, 4);
	cr_assert_eq(port_tx_burst(&port, &m, 1), 1);
	cr_expect_eq(udp_of(&port)->count.tx_refused, 1);
	cr_expect_eq(rte_mempool_avail_count(pool), 1023);
}
