/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the network says of datagrams that did not arrive (ICMP), which the kernel keeps for the
 * socket that sent them. Of MADs alone: see doc/design-notes/udp.md. By the control thread, beside
 * an lcore that sends by the same sockets.
 */
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <string.h>
#include <time.h> /* before the next */

#include <linux/errqueue.h>

#include "udp/udp_own.h"
#include "wire/protocol.h"

#define ERRORS_MAX   64u /* of one socket and call */
#define QUOTED_BYTES (ROCE_BTH_BYTES + ROCE_DETH_BYTES + ROCE_MAD_BYTES)

struct error {
	struct msghdr h;
	struct iovec iov;
	struct sockaddr_in6 to;
	uint8_t payload[QUOTED_BYTES];
	_Alignas(8) uint8_t control[256];
};

/* False: there is none. */
static bool
error_read(int fd, struct error *e)
{
	ssize_t bytes;

	e->iov = (struct iovec){e->payload, sizeof(e->payload)};
	e->h = (struct msghdr){.msg_name = &e->to,
		.msg_namelen = sizeof(e->to),
		.msg_iov = &e->iov,
		.msg_iovlen = 1,
		.msg_control = e->control,
		.msg_controllen = sizeof(e->control)};
	bytes = recvmsg(fd, &e->h, MSG_ERRQUEUE | MSG_DONTWAIT);
	e->iov.iov_len = bytes > 0 ? (size_t)bytes : 0;
	return bytes >= 0;
}

/* NULL: it is none. The kernel aligns what is in control. */
static const struct sock_extended_err *
error_kind(struct error *e, bool v6)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&e->h); c != NULL; c = CMSG_NXTHDR(&e->h, c))
		if (v6 ? c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR
		       : c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR)
			return (const struct sock_extended_err *)CMSG_DATA(c);
	return NULL;
}

/* Too large a packet is none of these: the kernel keeps its path's MTU, and says so to senders. */
static bool
is_unreachable(const struct sock_extended_err *k)
{
	if (k->ee_origin == SO_EE_ORIGIN_ICMP)
		return k->ee_type == ICMP_DEST_UNREACH && k->ee_code != ICMP_FRAG_NEEDED;
	return k->ee_origin == SO_EE_ORIGIN_ICMP6 && k->ee_type == ICMP6_DST_UNREACH;
}

static bool
is_no_port(const struct sock_extended_err *k)
{
	return k->ee_origin == SO_EE_ORIGIN_ICMP ? k->ee_code == ICMP_PORT_UNREACH
						 : k->ee_code == ICMP6_DST_UNREACH_NOPORT;
}

static void
error_tell(struct udp_port *u, struct error *e, bool v6, udp_undelivered_fn *tell, void *arg)
{
	const struct sock_extended_err *k = error_kind(e, v6);
	struct udp_undelivered news = {.payload = e->payload, .bytes = (uint32_t)e->iov.iov_len};

	if (k == NULL || !is_unreachable(k)) {
		u->count.rx_icmp_other++;
		return;
	}
	u->count.rx_icmp_unreachable++;
	news.no_port = is_no_port(k);
	if (v6)
		memcpy(news.to.raw, &e->to.sin6_addr, 16);
	else
		roce_gid_from_v4(
			&news.to, (const uint8_t *)&((const struct sockaddr_in *)&e->to)->sin_addr);
	tell(arg, &news);
}

void
udp_errors(struct port *p, udp_undelivered_fn *tell, void *arg)
{
	struct udp_port *u = udp_of(p);
	struct error e;

	for (uint32_t v6 = 0; v6 < 2; v6++)
		for (uint32_t n = 0; n < ERRORS_MAX && u->sender[v6][UDP_MAD_SENDER] >= 0 &&
				     error_read(u->sender[v6][UDP_MAD_SENDER], &e);
			n++)
			error_tell(u, &e, v6, tell, arg);
}
