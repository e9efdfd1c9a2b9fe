/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames leave in one send: packets of one length that go the same way, of which the last may
 * be shorter (UDP_SEGMENT). A send costs several times what its bytes do, so few and long ones are
 * what counts.
 */
#ifndef NDD_UDP_RUN_H
#define NDD_UDP_RUN_H

#include "base/bytes.h"
#include "udp/udp_own.h"
#include "wire/gsi.h"
#include "wire/protocol.h"

static inline const uint8_t *
udp_frame_ip(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, const uint8_t *, ROCE_ETH_BYTES);
}

static inline bool
udp_frame_is_v6(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, const uint8_t *)[12] == 0x86;
}

static inline uint32_t
udp_frame_headers(bool v6)
{
	return ROCE_ETH_BYTES + (v6 ? ROCE_IPV6_BYTES : ROCE_IPV4_BYTES) + ROCE_UDP_BYTES;
}

/* Of what the daemon may send, RoCEv2 alone: the kernel speaks the rest itself. */
static inline bool
udp_frame_is_ours(const struct rte_mbuf *m)
{
	const uint8_t *f = rte_pktmbuf_mtod(m, const uint8_t *);
	const bool v4 = f[12] == 0x08 && f[13] == 0x00, v6 = f[12] == 0x86 && f[13] == 0xdd;

	return (v4 || v6) &&
	       m->data_len >= udp_frame_headers(v6) + ROCE_BTH_BYTES + ROCE_ICRC_BYTES &&
	       f[ROCE_ETH_BYTES + (v4 ? 9 : 6)] == ROCE_PROTO_UDP;
}

/* Which of the sockets of its family it leaves by. */
static inline uint32_t
udp_frame_sender(const struct rte_mbuf *m)
{
	const uint32_t ip_bytes = udp_frame_is_v6(m) ? ROCE_IPV6_BYTES : ROCE_IPV4_BYTES;
	const uint16_t port = roce_get_be16(udp_frame_ip(m) + ip_bytes);

	/* All MADs have that port, and few queue pairs do. */
	return port == ROCE_GSI_SPORT ? UDP_MAD_SENDER : port % UDP_SENDERS;
}

/* Members of a group on this host get the frame that goes to the others. */
static inline bool
udp_frame_is_shared(const struct rte_mbuf *m)
{
	return rte_mbuf_refcnt_read(m) > 1;
}

/* How many of the n frames, which are all ours, the first send has. */
uint32_t udp_run_length(const struct udp_port *u, struct rte_mbuf *const *m, uint32_t n);
/* As port_ops.whole. */
uint16_t udp_runs_whole(const struct port *p, struct rte_mbuf *const *m, uint16_t n);

#endif
