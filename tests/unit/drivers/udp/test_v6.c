/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes with datagrams of IPv6, by the kernel's loopback. */
#include <criterion/criterion.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "rigs/eal_rig.h"
#include "udp/udp_own.h"

#define FRAMES 1023u
#define LOOKS  1000

/* ::1 is one address for all tests that run side by side: it is bound with another port each. */
int
bind(int fd, const struct sockaddr *a, socklen_t length)
{
	struct sockaddr_in6 six;

	if (a->sa_family != AF_INET6 || length != sizeof(six))
		return (int)syscall(SYS_bind, fd, a, length);
	memcpy(&six, a, sizeof(six));
	six.sin6_port = 0;
	return (int)syscall(SYS_bind, fd, &six, length);
}

#define CLASS_CE 0x2bu /* marked by a router */

/* False: this machine has no such address. */
static bool
open_v6(struct port *p, struct sockaddr_in6 *at)
{
	struct udp_cfg cfg = {.addresses = 1, .mtu = 1500, .pool = eal_rig_pool(FRAMES)};
	socklen_t length = sizeof(*at);
	char why[160];

	cfg.address[0].raw[15] = 1;
	if (udp_open(p, &cfg, why, sizeof(why)) != NULL)
		return false;
	cr_assert_eq(getsockname(udp_of(p)->socket[0].fd, (struct sockaddr *)at, &length), 0);
	return true;
}

static uint32_t
frames_take(struct port *p, uint32_t with_class)
{
	struct rte_mbuf *m[32];
	uint32_t found = 0;

	for (int look = 0; look < LOOKS; look++) {
		uint16_t n = port_rx_burst(p, m, 32);

		for (uint16_t i = 0; i < n; i++) {
			const uint8_t *ip = rte_pktmbuf_mtod_offset(m[i], uint8_t *, 14);

			found += (roce_get_be16(ip) >> 4 & 0xff) == with_class;
			rte_pktmbuf_free(m[i]);
		}
	}
	return found;
}

/* Behind a drop, which the kernel tells with each datagram from then on, a run has the most to be
 * told of it: its class comes last. */
Test(udp_v6, the_class_of_a_run_is_known_behind_drops)
{
	static const uint8_t payload[30000];
	const int small = 2048, class = CLASS_CE, segment = 300;
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 at;
	struct port p;

	eal_rig_start(NULL);
	if (!open_v6(&p, &at))
		cr_skip_test("no ::1");
	cr_assert_eq(
		setsockopt(udp_of(&p)->socket[0].fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)),
		0);
	cr_assert_eq(setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof(class)), 0);
	for (unsigned i = 0; i < 100; i++)
		(void)sendto(fd, payload, 1000, 0, (struct sockaddr *)&at, sizeof(at));
	cr_assert_gt(frames_take(&p, CLASS_CE), 0);
	cr_assert_eq(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(sendto(fd, payload, 900, 0, (struct sockaddr *)&at, sizeof(at)), 900);
		cr_expect_eq(frames_take(&p, CLASS_CE), 3);
	}
	cr_expect_gt(udp_of(&p)->count.rx_kernel_drops, 0);
	cr_expect_eq(udp_of(&p)->count.rx_runs, 3);
	port_close(&p);
	close(fd);
}
