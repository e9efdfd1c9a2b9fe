/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams in. The kernel puts them straight into frame buffers, behind the room for their
 * headers. A run of segments comes as one piece of memory, which is spread over as many buffers as
 * if each held one segment of the length that the last run had; if it has another, it is moved.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "udp/udp_own.h"

#define EMPTY_MANY 64u /* calls that found nothing: from then on one of EMPTY_SKIP is made */
#define EMPTY_SKIP 16u
#define LONE_MANY  64u /* datagrams without a run among them: the next is not expected to be one */

/* ---- buffers ---- */

static uint8_t *
payload_of(const struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + UDP_PAYLOAD_AT;
}

/* Buffers in place of those that were given away. False: there are none. */
static bool
slot_fill(struct udp_port *u, struct udp_slot *s)
{
	for (uint32_t i = 0; i < s->buffers; i++) {
		if (s->m[i] != NULL)
			continue;
		s->m[i] = rte_pktmbuf_alloc(u->pool);
		if (s->m[i] == NULL) {
			u->count.rx_no_mbufs++;
			return false;
		}
	}
	return true;
}

static uint32_t
room_of(const struct udp_slot *s)
{
	return s->m[0]->buf_len - UDP_PAYLOAD_AT;
}

/* A piece of a few bytes costs the kernel several times what its copy costs here: segments of no
 * more come together. A stranger's may be longer than any frame: no buffer takes more than it has
 * room for. */
static void
slot_point(const struct udp_port *u, struct udp_slot *s, struct msghdr *h)
{
	const uint32_t each = s->buffers == 1 ? room_of(s) : RTE_MIN(u->run_bytes, room_of(s));
	uint32_t pieces = 0;

	s->together = s->buffers != 1 && each <= UDP_COPY_BYTES;
	for (; pieces < s->buffers && !s->together; pieces++)
		s->iov[pieces] = (struct iovec){payload_of(s->m[pieces]), each};
	s->iov[pieces++] = (struct iovec){s->scratch, UDP_SCRATCH};
	*h = (struct msghdr){.msg_name = &s->from,
		.msg_namelen = sizeof(s->from),
		.msg_iov = s->iov,
		.msg_iovlen = pieces,
		.msg_control = s->control,
		.msg_controllen = sizeof(s->control)};
}

/* ---- one datagram, or one run ---- */

struct heard {
	struct udp_origin origin;
	uint32_t segment; /* bytes of each but the last; 0: it is no run */
	uint32_t drops;
	bool has_drops;
};

static int
control_int(const struct cmsghdr *c)
{
	int value = 0;

	if (c->cmsg_len <= CMSG_LEN(0))
		return 0;
	memcpy(&value, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0) < sizeof(value) ? 1 : sizeof(value));
	return value;
}

static void
control_read(struct heard *h, const struct cmsghdr *c)
{
	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO)
		memcpy(h->origin.to, &((const struct in_pktinfo *)CMSG_DATA(c))->ipi_addr, 4);
	else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO)
		memcpy(h->origin.to, &((const struct in6_pktinfo *)CMSG_DATA(c))->ipi6_addr, 16);
	else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
		 (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS))
		h->origin.tclass = (uint8_t)control_int(c);
	else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL) ||
		 (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_HOPLIMIT))
		h->origin.hops = (uint8_t)control_int(c);
	else if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
		h->segment = (uint32_t)control_int(c);
	else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
		h->drops = (uint32_t)control_int(c);
		h->has_drops = true;
	}
}

static void
heard_read(
	struct heard *h, const struct udp_socket *s, const struct udp_slot *slot, struct msghdr *m)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&slot->from;

	*h = (struct heard){.origin.v6 = s->v6};
	if (s->v6)
		memcpy(h->origin.from, &slot->from.sin6_addr, 16);
	else
		memcpy(h->origin.from, &v4->sin_addr, 4);
	h->origin.port = ntohs(s->v6 ? slot->from.sin6_port : v4->sin_port);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c))
		control_read(h, c);
}

/* m is the lcore's from now on, or gone. */
static void
frame_put(struct udp_port *u, const struct port *p, struct rte_mbuf *m, const struct udp_origin *o,
	uint32_t bytes)
{
	if (u->waiting_end == UDP_WAITING_MAX || !udp_frame_make(u, p, m, o, bytes)) {
		rte_pktmbuf_free(m);
		return;
	}
	u->count.rx_packets++;
	u->count.rx_bytes += m->data_len;
	u->waiting[u->waiting_end++] = m;
}

static void
pieces_join(uint8_t *to, const struct iovec *iov, uint32_t bytes)
{
	for (; bytes != 0; iov++) {
		uint32_t n = (uint32_t)iov->iov_len < bytes ? (uint32_t)iov->iov_len : bytes;

		memcpy(to, iov->iov_base, n);
		to += n;
		bytes -= n;
	}
}

/* It does not lie in the buffers as its segments want it. */
static void
slot_move(struct udp_port *u, const struct port *p, const struct udp_slot *slot,
	const struct udp_origin *o, uint32_t bytes, uint32_t segment)
{
	u->count.rx_realigned++;
	pieces_join(u->flat, slot->iov, bytes);
	for (uint32_t at = 0; at < bytes && u->waiting_end < UDP_WAITING_MAX; at += segment) {
		uint32_t n = bytes - at < segment ? bytes - at : segment;
		struct rte_mbuf *m = rte_pktmbuf_alloc(u->pool);

		if (m == NULL || UDP_PAYLOAD_AT + n > m->buf_len) {
			u->count.rx_no_mbufs += m == NULL;
			u->count.rx_not_roce += m != NULL;
			rte_pktmbuf_free(m);
			return;
		}
		memcpy(payload_of(m), u->flat + at, n);
		frame_put(u, p, m, o, n);
	}
}

/* What came together, a segment into each buffer. False: there are too many, or too long ones. */
static bool
slot_spread(const struct udp_slot *slot, uint32_t bytes, uint32_t segment)
{
	const uint8_t *from = slot->scratch;

	if (segment > room_of(slot) || bytes > segment * slot->buffers)
		return false;
	for (uint32_t i = 0; bytes != 0; i++) {
		uint32_t n = RTE_MIN(bytes, segment);

		memcpy(payload_of(slot->m[i]), from, n);
		from += n;
		bytes -= n;
	}
	return true;
}

/* Does each buffer but the last of them hold one segment, and is full? The end of a lone datagram
 * that is longer than segments were, as a request's first packet is, is put where it belongs. */
static bool
slot_lies_right(const struct udp_slot *slot, uint32_t bytes, uint32_t segment)
{
	const uint32_t each = (uint32_t)slot->iov[0].iov_len;

	if (slot->together)
		return slot_spread(slot, bytes, segment);
	if (segment < bytes)
		return segment == each && bytes <= segment * slot->buffers;
	if (bytes > room_of(slot))
		return false;
	if (bytes > each)
		pieces_join(payload_of(slot->m[0]) + each, slot->iov + 1, bytes - each);
	return true;
}

static void
slot_take(struct udp_port *u, const struct port *p, struct udp_slot *slot,
	const struct udp_origin *o, uint32_t bytes, uint32_t segment)
{
	if (!slot_lies_right(slot, bytes, segment)) {
		slot_move(u, p, slot, o, bytes, segment);
		return;
	}
	for (uint32_t i = 0; bytes != 0; i++) {
		uint32_t n = bytes < segment ? bytes : segment;

		frame_put(u, p, slot->m[i], o, n);
		slot->m[i] = NULL;
		bytes -= n;
	}
}

/* What came last is expected to come again, but for a run of two that stands alone: a request's
 * first packet took one of the others along. */
static void
expect_next(struct udp_port *u, uint32_t bytes, uint32_t segment)
{
	const bool is_pair = bytes <= 2 * segment;

	if (segment == bytes) { /* it came alone */
		if (u->run_bytes != 0 && ++u->lone == LONE_MANY)
			u->run_bytes = 0;
		return;
	}
	u->count.rx_runs++;
	u->lone = 0;
	if (!is_pair || u->pairs || u->run_bytes == 0)
		u->run_bytes = segment;
	u->pairs = is_pair;
}

static void
slot_heard(struct udp_port *u, const struct port *p, struct udp_socket *s, struct udp_slot *slot,
	struct mmsghdr *m)
{
	uint32_t bytes = m->msg_len, segment;
	struct heard h;

	heard_read(&h, s, slot, &m->msg_hdr);
	if (h.has_drops) {
		u->count.rx_kernel_drops += h.drops - s->drops;
		s->drops = h.drops;
	}
	if ((m->msg_hdr.msg_flags & MSG_TRUNC) != 0) {
		u->count.rx_not_roce++;
		return;
	}
	segment = h.segment == 0 || h.segment > bytes ? bytes : h.segment;
	if (bytes != 0)
		slot_take(u, p, slot, &h.origin, bytes, segment);
	expect_next(u, bytes, segment);
}

/* ---- sockets ---- */

static int
socket_receive(struct udp_port *u, const struct port *p, struct udp_socket *s)
{
	struct udp_slot *slot = u->run_bytes != 0 ? u->run : u->single;
	const uint32_t most = u->run_bytes != 0 ? UDP_RUNS : UDP_SINGLES;
	struct mmsghdr m[UDP_SINGLES];
	uint32_t n = 0;
	int got;

	for (; n < most && slot_fill(u, &slot[n]); n++)
		slot_point(u, &slot[n], &m[n].msg_hdr);
	got = n == 0 ? 0 : recvmmsg(s->fd, m, n, MSG_DONTWAIT, NULL);
	if (got > 0)
		u->now_ms = udp_coarse_ms();
	for (int i = 0; i < got; i++)
		slot_heard(u, p, s, &slot[i], &m[i]);
	return got;
}

/* One that had nothing for long is looked at less often: each look is a system call. */
static bool
is_skipped(struct udp_socket *s)
{
	return s->empty > EMPTY_MANY && s->empty++ % EMPTY_SKIP != 0;
}

/* By turns each socket is the first. */
static void
sockets_receive(struct udp_port *u, const struct port *p)
{
	for (uint32_t i = 0; i < u->sockets && u->waiting_end == 0; i++) {
		struct udp_socket *s = &u->socket[(u->first + i) % u->sockets];

		if (is_skipped(s))
			continue;
		if (socket_receive(u, p, s) > 0)
			s->empty = 0;
		else
			s->empty++;
	}
	u->first = u->first + 1 == u->sockets ? 0 : u->first + 1;
}

uint16_t
udp_rx(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	struct udp_port *u = udp_of(p);
	uint32_t there;

	if (u->waiting_first == u->waiting_end) {
		u->waiting_first = u->waiting_end = 0;
		sockets_receive(u, p);
	}
	there = u->waiting_end - u->waiting_first;
	if (there < n)
		n = (uint16_t)there;
	memcpy(m, u->waiting + u->waiting_first, n * sizeof(*m));
	u->waiting_first += n;
	return n;
}

/* ---- life ---- */

static bool
slots_init(struct udp_slot *slot, uint32_t n, uint32_t buffers)
{
	for (uint32_t i = 0; i < n; i++) {
		slot[i].buffers = buffers;
		slot[i].scratch = malloc(UDP_SCRATCH);
		if (slot[i].scratch == NULL)
			return false;
	}
	return true;
}

static void
slots_fini(struct udp_slot *slot, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		rte_pktmbuf_free_bulk(slot[i].m, slot[i].buffers);
		free(slot[i].scratch);
	}
}

bool
udp_rx_init(struct udp_port *u)
{
	u->flat = malloc(UDP_SCRATCH);
	return slots_init(u->single, UDP_SINGLES, 1) &&
	       slots_init(u->run, UDP_RUNS, UDP_SEGMENTS) && u->flat != NULL;
}

void
udp_rx_fini(struct udp_port *u)
{
	rte_pktmbuf_free_bulk(u->waiting + u->waiting_first, u->waiting_end - u->waiting_first);
	slots_fini(u->single, UDP_SINGLES);
	slots_fini(u->run, UDP_RUNS);
	free(u->flat);
}
