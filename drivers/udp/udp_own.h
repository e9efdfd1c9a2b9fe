/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share. */
#ifndef NDD_UDP_OWN_H
#define NDD_UDP_OWN_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <rte_mbuf.h>

#include "udp/udp.h"
#include "wire/ipid_peer.h"

#define UDP_SOCKETS_MAX UDP_ADDRESSES_MAX
#define UDP_SENDERS	4u	    /* of each family: so many source ports */
#define UDP_MAD_SENDER	UDP_SENDERS /* one more, which hears what the network says of MADs */
#define UDP_SEGMENTS	64u	    /* of one send; younger kernels take 128 */
#define UDP_BYTES_MAX	65000u	    /* ... which have no more bytes than this */
#define UDP_FRAMES_MAX	128u	    /* that one call of udp_tx() looks at together */
#define UDP_COPY_BYTES	256u	    /* packets of no more are copied together for a send */
#define UDP_SINGLES	16u	    /* datagrams of one call, if they are not in runs */
#define UDP_RUNS	2u	    /* runs of one call */
#define UDP_WAITING_MAX 512u
#define UDP_SCRATCH	65536u
/* What comes with an IPv6 datagram, drops and the length of a run's segments included. */
#define UDP_CONTROL    (CMSG_SPACE(sizeof(struct in6_pktinfo)) + 4 * CMSG_SPACE(sizeof(int)))
#define UDP_PAYLOAD_AT (RTE_PKTMBUF_HEADROOM + 64u) /* of a received datagram, in its buffer */

/* A socket that receives. */
struct udp_socket {
	int fd;
	bool v6;
	uint32_t empty; /* calls in a row that found nothing */
	uint32_t drops; /* as the kernel counts them */
};

/* One datagram, or a run of them, as recvmmsg() puts it: into these buffers, and behind them what
 * they do not hold. */
struct udp_slot {
	struct rte_mbuf *m[UDP_SEGMENTS];
	struct iovec iov[UDP_SEGMENTS + 1];
	uint32_t buffers; /* of m that are used, 1 or UDP_SEGMENTS */
	bool together;	  /* all comes to scratch, as its segments are small */
	struct sockaddr_in6 from;
	uint8_t *scratch; /* UDP_SCRATCH bytes */
	_Alignas(8) uint8_t control[UDP_CONTROL];
};

/* clang-format off */
#define UDP_COUNTERS(X)                                                                            \
	X(rx_packets) X(rx_bytes) X(rx_runs) X(rx_kernel_drops) X(rx_not_roce) X(rx_no_mbufs)      \
	X(rx_icrc_guessed) X(rx_icrc_solved) X(rx_icrc_far) X(rx_icrc_wrong) X(rx_realigned)       \
	X(rx_icmp_unreachable) X(rx_icmp_other)                                                    \
	X(tx_packets) X(tx_bytes) X(tx_calls) X(tx_again) X(tx_too_large) X(tx_refused)            \
	X(tx_not_ours)
/* clang-format on */
struct udp_counters {
#define UDP_X(n) uint64_t n;
	UDP_COUNTERS(UDP_X)
#undef UDP_X
};

/* How long the port has waited for a socket that is full, less what that socket has sent since. */
struct udp_patience {
	uint32_t full_ms; /* since when it is full; 0: it is not */
	uint32_t waited_ms;
	uint32_t sent; /* bytes that are no millisecond yet */
};

struct udp_port {
	struct rte_mempool *pool;
	uint8_t gateway[6];
	bool segments; /* the kernel takes runs */
	struct udp_socket socket[UDP_SOCKETS_MAX];
	uint32_t sockets, first; /* that is looked at first */
	struct udp_local local[UDP_LOCALS_MAX];
	uint32_t locals;
	int sender[2][UDP_SENDERS + 1]; /* [v6] */
	uint16_t sender_port[2][UDP_SENDERS + 1];
	struct udp_patience patience[2][UDP_SENDERS + 1];
	struct roce_ipid *ipid;
	struct roce_ipid_peers peers;
	uint32_t now_ms; /* when what is being received came */
	/* received, and not given to the lcore yet */
	struct rte_mbuf *waiting[UDP_WAITING_MAX];
	uint32_t waiting_first, waiting_end;
	uint32_t run_bytes, /* length of the segments that come in runs */
		lone;	    /* datagrams since the last run */
	bool pairs;	    /* the last run had two segments */
	struct udp_slot single[UDP_SINGLES], run[UDP_RUNS];
	uint8_t *flat;					 /* UDP_SCRATCH bytes */
	uint8_t copies[UDP_FRAMES_MAX * UDP_COPY_BYTES]; /* of packets that are being sent */
	struct udp_counters count;
	/* of the first queue: the others */
	struct port *beside;
	uint32_t queues_beside;
	int not_steered; /* why there are none, and it has not been told: errno */
	/* the control thread's */
	uint8_t broken_told[4];
	uint64_t drops_told, large_told;
	/* by the lcore: a source of which nothing is right */
	uint8_t broken[4];
};

static inline struct udp_port *
udp_of(const struct port *p)
{
	return (struct udp_port *)p->kind;
}

/* As udp_interface(). */
uint32_t udp_local_interface(const struct udp_port *u, const uint8_t ip[16]);

/* ---- udp_socket.c ---- */

const char *udp_sockets_open(
	struct udp_port *u, const struct udp_cfg *cfg, char *why, size_t why_bytes);
void udp_sockets_close(struct udp_port *u);
/* It has no sender yet. */
void udp_senders_none(struct udp_port *u);

/* The following leave a reason in errno if they return false. */

/* May this user's processes bind the addresses of these sockets from now on, to be in a group with
 * them? They were bound without that, and so found out whether anybody had the addresses. */
bool udp_sockets_share(const struct udp_port *u, bool others);
/* A socket beside each that receives for first, and senders. */
bool udp_sockets_join(struct udp_port *u, const struct udp_port *first, const struct udp_cfg *cfg);
/* The groups have the program from now on. */
bool udp_sockets_steer(const struct udp_port *first, const struct udp_cfg *cfg);

/* ---- udp_queue.c ---- */

/* Open those that cfg asks for; without them the first receives all. */
void udp_queues_open(struct port *p, const struct udp_cfg *cfg);
void udp_queues_close(struct udp_port *u);

/* ---- udp_frame.c ---- */

/* Put an Ethernet, IP and UDP header in front of the datagram of that many bytes at UDP_PAYLOAD_AT
 * in m. False: it is none that could be RoCEv2, or one that is refused. */
struct udp_origin {
	uint8_t from[16], to[16]; /* IPv4 in the first four bytes */
	bool v6;
	uint16_t port;
	uint8_t tclass, hops;
};
bool udp_frame_make(struct udp_port *u, const struct port *p, struct rte_mbuf *m,
	const struct udp_origin *o, uint32_t bytes);

/* To some milliseconds, without a system call. */
static inline uint32_t
udp_coarse_ms(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint32_t)((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000);
}

/* ---- udp_rx.c ---- */

bool udp_rx_init(struct udp_port *u);
void udp_rx_fini(struct udp_port *u);
uint16_t udp_rx(struct port *p, struct rte_mbuf **m, uint16_t n);

/* ---- udp_tx.c ---- */

uint16_t udp_tx(struct port *p, struct rte_mbuf **m, uint16_t n);

#endif
