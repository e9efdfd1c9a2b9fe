/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets: some receive, by an address each or by all, others send, by a source port each. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "udp/udp_own.h"
#include "wire/protocol.h"

#define BUFFER_BYTES (4 << 20)
#define ERRORS_BYTES (64 << 10) /* of some 80 messages of the network's, which quote a MAD each */

static const struct sock_filter take_nothing[] = {{.code = BPF_RET | BPF_K, .k = 0}};
/* Of the UDP header, which the kernel has verified if it says that there is a checksum. What it has
 * merged has one if each part had one. */
static const struct sock_filter take_checked[] = {
	{.code = BPF_LD | BPF_H | BPF_ABS, .k = offsetof(struct udphdr, check)},
	{.code = BPF_JMP | BPF_JEQ | BPF_K, .k = 0, .jt = 1},
	{.code = BPF_RET | BPF_K, .k = UINT32_MAX},
	{.code = BPF_RET | BPF_K, .k = 0},
};

static bool
option_set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

static bool
filter_set(int fd, const struct sock_filter *filter, uint16_t instructions)
{
	const struct sock_fprog f = {instructions, (struct sock_filter *)(uintptr_t)filter};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &f, sizeof(f)) == 0;
}

/* What the daemon can do without. */
static void
option_wish(int fd, int level, int option, int value)
{
	(void)option_set(fd, level, option, value);
}

/* ip NULL: any. Returns the length. */
static socklen_t
address_fill(struct sockaddr_storage *a, bool v6, const uint8_t *ip, uint16_t port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)a;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;

	memset(a, 0, sizeof(*a));
	if (v6) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		if (ip != NULL)
			memcpy(&six->sin6_addr, ip, 16);
		return sizeof(*six);
	}
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	if (ip != NULL)
		memcpy(&v4->sin_addr, ip + 12, 4);
	return sizeof(*v4);
}

static const char *
bind_failed(bool v6, const uint8_t *ip, char *why, size_t bytes)
{
	char text[INET6_ADDRSTRLEN] = "any address";
	int err = errno;

	if (ip != NULL)
		(void)inet_ntop(v6 ? AF_INET6 : AF_INET, v6 ? ip : ip + 12, text, sizeof(text));
	if (err == EADDRNOTAVAIL)
		(void)snprintf(why, bytes, "%s is no address of this machine", text);
	else if (err == EADDRINUSE)
		(void)snprintf(why, bytes, "UDP port %u of %s is taken: by %s", ROCE_UDP_PORT, text,
			access("/sys/module/rdma_rxe", F_OK) == 0
				? "the kernel's rdma_rxe, or another daemon"
				: "another daemon (ss -ulpn shows which)");
	else
		(void)snprintf(
			why, bytes, "UDP port %u of %s: %s", ROCE_UDP_PORT, text, strerror(err));
	return why;
}

static int
socket_open(bool v6)
{
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (v6)
		option_wish(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	option_wish(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
	option_wish(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
	return fd;
}

/* Without the destination no frame can be made; the rest may be missing in old kernels. */
static bool
receiver_prepare(int fd, bool v6, bool require_checksum)
{
	if (require_checksum && !filter_set(fd, take_checked, RTE_DIM(take_checked)))
		return false;
	option_wish(fd, SOL_UDP, UDP_GRO, 1);
	option_wish(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	if (v6) {
		option_wish(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1);
		option_wish(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		option_wish(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		return option_set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	}
	option_wish(fd, IPPROTO_IP, IP_RECVTOS, 1);
	option_wish(fd, IPPROTO_IP, IP_RECVTTL, 1);
	return option_set(fd, IPPROTO_IP, IP_PKTINFO, 1);
}

/* ip NULL: of all addresses of the family. */
static const char *
receiver_open(struct udp_port *u, const struct udp_cfg *cfg, bool v6, const uint8_t *ip, char *why,
	size_t bytes)
{
	struct udp_socket *s = &u->socket[u->sockets];
	struct sockaddr_storage a;
	socklen_t length = address_fill(&a, v6, ip, ROCE_UDP_PORT);

	s->v6 = v6;
	s->fd = socket_open(v6);
	if (s->fd < 0 && v6 && ip == NULL && errno == EAFNOSUPPORT)
		return NULL; /* a machine without IPv6 */
	if (s->fd < 0 || !receiver_prepare(s->fd, v6, cfg->require_checksum)) {
		(void)snprintf(why, bytes, "socket: %s", strerror(errno));
		return why;
	}
	u->sockets++;
	if (bind(s->fd, (struct sockaddr *)&a, length) != 0)
		return bind_failed(v6, ip, why, bytes);
	return NULL;
}

/*
 * Not connected, and DF set by the socket: then the kernel numbers what is sent with 0, and the
 * segments of a run from 0 on. A sender has a port of the kernel's choice, and takes no datagram.
 */
static int
sender_open(bool v6)
{
	struct sockaddr_storage a;
	socklen_t length = address_fill(&a, v6, NULL, 0);
	int fd = socket_open(v6);

	if (fd < 0)
		return -1;
	/* What is sent to a group has reached its members here already. */
	if (v6)
		option_wish(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
	else
		option_wish(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0);
	if ((v6 ? option_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO)
		: option_set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)) &&
		filter_set(fd, take_nothing, RTE_DIM(take_nothing)) &&
		bind(fd, (struct sockaddr *)&a, length) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The kernel keeps ICMP errors for it, but not so many that new ones wait behind old ones. */
static bool
sender_hears(int fd, bool v6)
{
	option_wish(fd, SOL_SOCKET, SO_RCVBUF, ERRORS_BYTES);
	return v6 ? option_set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1)
		  : option_set(fd, IPPROTO_IP, IP_RECVERR, 1);
}

static bool
port_read(int fd, bool v6, uint16_t *port)
{
	struct sockaddr_storage a;
	socklen_t length = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &length) != 0)
		return false;
	*port = ntohs(
		v6 ? ((struct sockaddr_in6 *)&a)->sin6_port : ((struct sockaddr_in *)&a)->sin_port);
	return true;
}

static bool
senders_open(struct udp_port *u, bool v6)
{
	for (uint32_t i = 0; i <= UDP_MAD_SENDER; i++) {
		u->sender[v6][i] = sender_open(v6);
		if (u->sender[v6][i] < 0 ||
			!port_read(u->sender[v6][i], v6, &u->sender_port[v6][i]))
			return false;
	}
	return true;
}

void
udp_senders_none(struct udp_port *u)
{
	for (uint32_t i = 0; i <= UDP_MAD_SENDER; i++)
		u->sender[0][i] = u->sender[1][i] = -1;
}

static bool
has_family(const struct udp_port *u, bool v6)
{
	for (uint32_t i = 0; i < u->sockets; i++)
		if (u->socket[i].v6 == v6)
			return true;
	return false;
}

/* Of each family that is received. */
static bool
senders_open_all(struct udp_port *u)
{
	for (uint32_t v6 = 0; v6 < 2; v6++)
		if (has_family(u, v6) && !senders_open(u, v6))
			return false;
	return true;
}

/* MADs leave by the first queue. */
static bool
mad_senders_hear(const struct udp_port *u)
{
	for (uint32_t v6 = 0; v6 < 2; v6++)
		if (u->sender[v6][UDP_MAD_SENDER] >= 0 &&
			!sender_hears(u->sender[v6][UDP_MAD_SENDER], v6))
			return false;
	return true;
}

/* Does the kernel know of runs (Linux 4.18)? */
static bool
takes_runs(int fd)
{
	return option_set(fd, SOL_UDP, UDP_SEGMENT, 0);
}

const char *
udp_sockets_open(struct udp_port *u, const struct udp_cfg *cfg, char *why, size_t bytes)
{
	const char *err = NULL;

	udp_senders_none(u);
	for (uint32_t i = 0; i < cfg->addresses && err == NULL; i++)
		err = receiver_open(
			u, cfg, !roce_gid_is_v4(&cfg->address[i]), cfg->address[i].raw, why, bytes);
	for (uint32_t v6 = 0; cfg->addresses == 0 && v6 < 2 && err == NULL; v6++)
		err = receiver_open(u, cfg, v6, NULL, why, bytes);
	if (err == NULL && !(senders_open_all(u) && mad_senders_hear(u))) {
		(void)snprintf(why, bytes, "a socket to send by: %s", strerror(errno));
		err = why;
	}
	u->segments = err == NULL && takes_runs(u->sender[!has_family(u, false)][0]);
	return err;
}

/* ---- queues ---- */

bool
udp_sockets_share(const struct udp_port *u, bool others)
{
	for (uint32_t i = 0; i < u->sockets; i++)
		if (!option_set(u->socket[i].fd, SOL_SOCKET, SO_REUSEPORT, others))
			return false;
	return true;
}

/* What is sent to a group of stations goes to each socket of its address, whatever a program says:
 * of these the first queue's alone is to have it. */
static bool
socket_without_groups(int fd, bool v6)
{
	return v6 ? option_set(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0)
		  : option_set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
}

static bool
receiver_join(struct udp_socket *s, const struct udp_socket *first, const struct udp_cfg *cfg)
{
	struct sockaddr_storage a;
	socklen_t length = sizeof(a);

	return receiver_prepare(s->fd, s->v6, cfg->require_checksum) &&
	       socket_without_groups(s->fd, s->v6) &&
	       option_set(s->fd, SOL_SOCKET, SO_REUSEPORT, 1) &&
	       getsockname(first->fd, (struct sockaddr *)&a, &length) == 0 &&
	       bind(s->fd, (struct sockaddr *)&a, length) == 0;
}

bool
udp_sockets_join(struct udp_port *u, const struct udp_port *first, const struct udp_cfg *cfg)
{
	for (uint32_t i = 0; i < first->sockets; i++) {
		struct udp_socket *s = &u->socket[i];

		s->v6 = first->socket[i].v6;
		s->fd = socket_open(s->v6);
		if (s->fd < 0)
			return false;
		u->sockets++;
		if (!receiver_join(s, &first->socket[i], cfg))
			return false;
	}
	return senders_open_all(u);
}

bool
udp_sockets_steer(const struct udp_port *first, const struct udp_cfg *cfg)
{
	const struct sock_fprog f = {
		cfg->steer_length, (struct sock_filter *)(uintptr_t)cfg->steer};

	for (uint32_t i = 0; i < first->sockets; i++)
		if (setsockopt(first->socket[i].fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &f,
			    sizeof(f)) != 0)
			return false;
	return true;
}

void
udp_sockets_close(struct udp_port *u)
{
	for (uint32_t i = 0; i < u->sockets; i++)
		close(u->socket[i].fd);
	for (uint32_t v6 = 0; v6 < 2; v6++)
		for (uint32_t i = 0; i <= UDP_MAD_SENDER; i++)
			if (u->sender[v6][i] >= 0)
				close(u->sender[v6][i]);
	u->sockets = 0;
}
