/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames out, a run of them in a send (udp_run.h). What the kernel will number them is known
 * (udp_socket.c), and their ICRCs are mended to that.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "udp/udp_run.h"

#define OTHERS_MAX 8u	 /* errors in a row that may be about what was sent before */
#define STUCK_MS   40u	 /* a socket that is full for longer, and takes nothing, is stuck */
#define SENT_BYTES 1250u /* ... of which it may have one again for so many that it sends: 10 Mb/s */

/* One send. */
struct run {
	struct rte_mbuf **m;
	uint32_t n;
	bool v6;
	int fd;
	uint16_t port;		       /* fd's */
	struct udp_patience *patience; /* fd's */
	bool hears;		       /* by fd the network's errors are heard, too */
	bool shared; /* it is one frame, which others read as it is; icrc is for the wire */
	uint8_t icrc[ROCE_ICRC_BYTES];
	uint8_t *copy; /* the payloads, one behind the other; NULL: each is sent from its frame */
	union {
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} to;
	_Alignas(8) uint8_t control[UDP_CONTROL];
};

/* ---- frames ---- */

static uint8_t *
icrc_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - ROCE_ICRC_BYTES);
}

/* By what the ICRC of a run's packet changes, from packet to packet. */
struct mend {
	uint32_t bytes;	     /* of the last packet; 0: there was none */
	uint32_t ipid;	     /* what the kernel writes in other ways there, by exclusive or */
	uint32_t difference; /* of the ICRC */
};

/* What the kernel will write in other ways than the frame has it, in number i of a send: the source
 * port, and IPv4's identification. Changed again, the ICRC is as it was. Numbers count up on both
 * sides, so from one packet to the next few bits change, or none. */
static void
icrc_mend(uint8_t *icrc, const struct udp_port *u, const struct run *r, uint32_t i, struct mend *d)
{
	const struct rte_mbuf *m = r->m[i];
	const uint8_t *ip = udp_frame_ip(m);
	const uint32_t bytes = m->data_len - ROCE_ETH_BYTES,
		       l3 = r->v6 ? ROCE_IPV6_BYTES : ROCE_IPV4_BYTES;

	if (d->bytes != bytes)
		*d = (struct mend){.bytes = bytes,
			.difference = roce_ipid_mend_port(u->ipid, bytes - l3 - 2 - ROCE_ICRC_BYTES,
				roce_get_be16(ip + l3) ^ r->port)};
	if (!r->v6) {
		const uint32_t ipid =
			ROCE_IPID(roce_get_be16(ip + 4), ip[6] >> 6 & 1) ^ ROCE_IPID(i, 1);

		d->difference ^= roce_ipid_mend(u->ipid, bytes, ipid ^ d->ipid);
		d->ipid = ipid;
	}
	roce_put_le32(icrc, roce_get_le32(icrc) ^ d->difference);
}

/* Of frame i. */
static uint32_t
payload_bytes(const struct run *r, uint32_t i)
{
	return r->m[i]->data_len - udp_frame_headers(r->v6);
}

static void
run_mend(const struct udp_port *u, const struct run *r)
{
	struct mend d = {0};
	uint32_t end = 0;

	for (uint32_t i = 0; i < r->n && !r->shared; i++) {
		end += payload_bytes(r, i);
		icrc_mend(r->copy != NULL ? r->copy + end - ROCE_ICRC_BYTES : icrc_of(r->m[i]), u,
			r, i, &d);
	}
}

/* ---- what goes with a send ---- */

static uint8_t *
control_put(struct msghdr *h, int level, int type, const void *value, size_t bytes)
{
	struct cmsghdr *c = (struct cmsghdr *)((uint8_t *)h->msg_control + h->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), value, bytes);
	h->msg_controllen += CMSG_SPACE(bytes);
	return CMSG_DATA(c);
}

/* To a group, the kernel has other defaults than for one station. */
static bool
hops_by_default(int hops, bool group)
{
	return hops == ROCE_HOP_LIMIT && !group;
}

/* A group's packets leave by the interface of their source, without more (IPv6: see below). */
static void
way_put_v4(struct run *r, struct msghdr *h, const uint8_t *ip)
{
	struct in_pktinfo source = {.ipi_ifindex = 0};
	int tclass = ip[1], hops = ip[8];
	const bool group = (ip[16] & 0xf0) == 0xe0;

	r->to.v4 = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = rte_cpu_to_be_16(ROCE_UDP_PORT)};
	memcpy(&r->to.v4.sin_addr, ip + 16, 4);
	memcpy(&source.ipi_spec_dst, ip + 12, 4);
	h->msg_namelen = sizeof(r->to.v4);
	(void)control_put(h, IPPROTO_IP, IP_PKTINFO, &source, sizeof(source));
	if (tclass != 0)
		(void)control_put(h, IPPROTO_IP, IP_TOS, &tclass, sizeof(tclass));
	if (!hops_by_default(hops, group))
		(void)control_put(h, IPPROTO_IP, IP_TTL, &hops, sizeof(hops));
}

static void
way_put_v6(const struct udp_port *u, struct run *r, struct msghdr *h, const uint8_t *ip)
{
	struct in6_pktinfo source = {.ipi6_ifindex = 0};
	int tclass = roce_get_be16(ip) >> 4 & 0xff, hops = ip[7];
	const bool group = ip[24] == 0xff, link_local = ip[24] == 0xfe && (ip[25] & 0xc0) == 0x80;

	r->to.v6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6, .sin6_port = rte_cpu_to_be_16(ROCE_UDP_PORT)};
	memcpy(&r->to.v6.sin6_addr, ip + 24, 16);
	memcpy(&source.ipi6_addr, ip + 8, 16);
	if (group || link_local)
		source.ipi6_ifindex = udp_local_interface(u, ip + 8);
	h->msg_namelen = sizeof(r->to.v6);
	(void)control_put(h, IPPROTO_IPV6, IPV6_PKTINFO, &source, sizeof(source));
	if (tclass != 0)
		(void)control_put(h, IPPROTO_IPV6, IPV6_TCLASS, &tclass, sizeof(tclass));
	if (!hops_by_default(hops, group))
		(void)control_put(h, IPPROTO_IPV6, IPV6_HOPLIMIT, &hops, sizeof(hops));
}

/* ---- runs ---- */

/* One piece. */
static void
run_copy(struct run *r, uint8_t *to, struct iovec *iov)
{
	uint8_t *end = to;

	for (uint32_t i = 0; i < r->n; end += payload_bytes(r, i), i++)
		memcpy(end, rte_pktmbuf_mtod_offset(r->m[i], void *, udp_frame_headers(r->v6)),
			payload_bytes(r, i));
	r->copy = to;
	*iov = (struct iovec){to, (size_t)(end - to)};
}

/* The payloads, ICRCs included; returns how many pieces they are. A piece of a few bytes costs the
 * kernel several times what its copy costs here. */
static uint32_t
run_point(const struct udp_port *u, struct run *r, uint8_t *copies, struct iovec *iov)
{
	r->shared = udp_frame_is_shared(r->m[0]);
	r->copy = NULL;
	if (r->n > 1 && payload_bytes(r, 0) <= UDP_COPY_BYTES) {
		run_copy(r, copies, iov);
		return 1;
	}
	for (uint32_t i = 0; i < r->n; i++)
		iov[i] = (struct iovec){
			rte_pktmbuf_mtod_offset(r->m[i], void *, udp_frame_headers(r->v6)),
			payload_bytes(r, i)};
	if (!r->shared)
		return r->n;
	memcpy(r->icrc, icrc_of(r->m[0]), ROCE_ICRC_BYTES);
	icrc_mend(r->icrc, u, r, 0, &(struct mend){0});
	iov[0].iov_len -= ROCE_ICRC_BYTES;
	iov[1] = (struct iovec){r->icrc, ROCE_ICRC_BYTES};
	return 2;
}

/* Returns how many of iov it takes. */
static uint32_t
run_make(struct udp_port *u, struct run *r, uint8_t *copies, struct iovec *iov, struct msghdr *h)
{
	const uint8_t *ip = udp_frame_ip(r->m[0]);
	const uint32_t sender = udp_frame_sender(r->m[0]);
	uint32_t pieces;

	r->fd = u->sender[r->v6][sender];
	r->port = u->sender_port[r->v6][sender];
	r->patience = &u->patience[r->v6][sender];
	r->hears = sender == UDP_MAD_SENDER;
	pieces = run_point(u, r, copies, iov);
	*h = (struct msghdr){.msg_name = &r->to,
		.msg_iov = iov,
		.msg_iovlen = pieces,
		.msg_control = r->control};
	if (r->v6)
		way_put_v6(u, r, h, ip);
	else
		way_put_v4(r, h, ip);
	if (r->n > 1) {
		uint16_t segment = (uint16_t)payload_bytes(r, 0);

		(void)control_put(h, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	}
	run_mend(u, r);
	return pieces;
}

static uint32_t
runs_make(struct udp_port *u, struct rte_mbuf **m, uint32_t n, struct run *r, struct iovec *iov,
	struct mmsghdr *h)
{
	uint32_t runs = 0;

	for (uint32_t i = 0; i < n; i += r[runs - 1].n) {
		r[runs].m = m + i;
		r[runs].v6 = udp_frame_is_v6(m[i]);
		r[runs].n = udp_run_length(u, m + i, n - i);
		iov += run_make(u, &r[runs], u->copies + i * UDP_COPY_BYTES, iov, &h[runs].msg_hdr);
		runs++;
	}
	return runs;
}

/* ---- the calls ---- */

static bool
is_full(int err)
{
	return err == EAGAIN || err == EWOULDBLOCK || err == ENOBUFS || err == EINTR;
}

/* How far a burst has come. */
struct progress {
	uint32_t runs, frames; /* that are done with, sent or not */
	bool full;	       /* the kernel takes no more for now */
};

/* It is lost. */
static void
run_refused(struct udp_port *u, const struct run *r, int err, struct progress *p)
{
	if (err == EMSGSIZE)
		u->count.tx_too_large += r->n;
	else
		u->count.tx_refused += r->n;
	p->frames += r->n;
	p->runs++;
}

/*
 * The socket is full, so all that the port has to send waits, whoever it is for. But not for long:
 * what stations that nobody has ever seen are sent is kept for them by the kernel for 3 s, and may
 * fill a socket. Then what is for that socket is lost, and nothing waits for it. When such stations
 * are given up one after the other, the socket takes a little each time: it is waited for again as
 * far as it has sent something.
 */
static void
run_waits(struct udp_port *u, const struct run *r, struct progress *p)
{
	const uint32_t now_ms = udp_coarse_ms() | 1; /* 0 would be no time */

	if (r->patience->full_ms == 0)
		r->patience->full_ms = now_ms;
	if (r->patience->waited_ms + (now_ms - r->patience->full_ms) < STUCK_MS)
		p->full = true;
	else
		run_refused(u, r, EAGAIN, p);
}

static void
patience_wait_ends(struct udp_patience *w)
{
	const uint32_t waited_ms = w->waited_ms + ((udp_coarse_ms() | 1) - w->full_ms);

	w->waited_ms = RTE_MIN(waited_ms, STUCK_MS);
	w->full_ms = 0;
}

/* The socket has sent so many bytes. */
static void
patience_grow(struct udp_patience *w, uint32_t bytes)
{
	uint32_t more_ms;

	if (w->full_ms != 0)
		patience_wait_ends(w);
	if (w->waited_ms == 0)
		return;
	w->sent += bytes;
	more_ms = RTE_MIN(w->sent / SENT_BYTES, w->waited_ms);
	w->waited_ms -= more_ms;
	w->sent -= more_ms * SENT_BYTES;
}

/* The first frame of a run, without the others. What makes it a run is told last (run_make()). */
static bool
first_send(struct udp_port *u, const struct run *r, const struct msghdr *run)
{
	struct iovec first = {run->msg_iov->iov_base, payload_bytes(r, 0)};
	struct msghdr h = *run;

	h.msg_iov = &first;
	h.msg_iovlen = 1;
	h.msg_controllen -= CMSG_SPACE(sizeof(uint16_t));
	u->count.tx_calls++;
	if (sendmsg(r->fd, &h, MSG_DONTWAIT) < 0)
		return false;
	patience_grow(r->patience, (uint32_t)first.iov_len);
	u->count.tx_packets++;
	u->count.tx_bytes += first.iov_len;
	return true;
}

/*
 * With these errors the kernel says that runs are not possible, though it knows them: checksums are
 * not left to the device, or something on the way has no place for them. But it has them for other
 * reasons, too, as for an address that is no longer there, and a client can see to some. So the
 * first frame is sent alone: if that is refused as well, nothing is known about runs.
 */
static void
run_fails(struct udp_port *u, const struct run *r, const struct msghdr *h, int err,
	struct progress *p)
{
	if (r->n > 1 && (err == EINVAL || err == EIO)) {
		if (first_send(u, r, h)) {
			u->segments = false;
			p->frames++;
			return;
		}
		if (is_full(errno)) {
			run_waits(u, r, p);
			return;
		}
	}
	run_refused(u, r, err, p);
}

/*
 * Where the network's errors are heard, the kernel gives each to the next send as well, whatever
 * that is. So a send that fails is tried again, and what fails each time has an error of its own.
 * Others may arrive meanwhile, so one more try is not always enough.
 */
static bool
may_be_of_others(const struct run *r, uint32_t *times)
{
	return r->hears && ++*times < OTHERS_MAX;
}

/* Of one call: so many were sent. */
static void
runs_sent(struct udp_port *u, const struct run *r, const struct mmsghdr *h, uint32_t n,
	struct progress *p)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		u->count.tx_packets += r[i].n;
		bytes += h[i].msg_len;
		p->frames += r[i].n;
	}
	u->count.tx_bytes += bytes;
	patience_grow(r->patience, bytes);
	p->runs += n;
}

/* Until the kernel is full, or knows of no runs any more: what is left are to be others then. */
static struct progress
runs_send(struct udp_port *u, const struct run *r, struct mmsghdr *h, uint32_t n)
{
	const bool segments = u->segments;
	struct progress p = {0};
	uint32_t others = 0;

	while (p.runs < n && !p.full && u->segments == segments) {
		const uint32_t at = p.runs;
		uint32_t same = 1;
		int sent;

		while (at + same < n && r[at + same].fd == r[at].fd)
			same++;
		u->count.tx_calls++;
		sent = sendmmsg(r[at].fd, h + at, same, MSG_DONTWAIT);
		if (sent > 0)
			runs_sent(u, r + at, h + at, (uint32_t)sent, &p);
		else if (is_full(errno))
			run_waits(u, &r[at], &p);
		else if (may_be_of_others(&r[at], &others))
			continue;
		else
			run_fails(u, &r[at], &h[at].msg_hdr, errno, &p);
		others = 0;
	}
	return p;
}

/* Of frames that are all RoCEv2. */
static uint32_t
frames_send(struct udp_port *u, struct rte_mbuf **m, uint32_t n, bool *full)
{
	struct mmsghdr h[UDP_FRAMES_MAX];
	struct iovec iov[2 * UDP_FRAMES_MAX];
	struct run r[UDP_FRAMES_MAX];
	const uint32_t runs = runs_make(u, m, n, r, iov, h);
	const struct progress p = runs_send(u, r, h, runs);

	for (uint32_t i = p.runs; i < runs; i++)
		run_mend(u, &r[i]); /* they are not gone: as they were */
	rte_pktmbuf_free_bulk(m, p.frames);
	*full = p.full;
	return p.frames;
}

uint16_t
udp_tx(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	struct udp_port *u = udp_of(p);
	uint32_t at = 0;
	bool full = false;

	while (at < n && !full) {
		uint32_t ours = 0;

		while (at + ours < n && ours < UDP_FRAMES_MAX && udp_frame_is_ours(m[at + ours]))
			ours++;
		if (ours != 0) {
			at += frames_send(u, m + at, ours, &full);
		} else {
			u->count.tx_not_ours++;
			rte_pktmbuf_free(m[at++]);
		}
	}
	u->count.tx_again += full;
	return (uint16_t)at;
}
