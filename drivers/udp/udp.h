/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port over the kernel's UDP sockets. RoCEv2 is UDP to port 4791, which anybody may bind: nothing
 * of this needs a privilege, an interface of its own, or a driver. Addresses, routes, neighbours
 * and MTU are the kernel's.
 *
 * Frames go in and out as those of other ports do, with an Ethernet header that exists between
 * lcore and port alone. Runs of packets of one length leave in one system call (UDP_SEGMENT) and
 * come in by one (UDP_GRO). The identification of IPv4, which the kernel writes and the ICRC
 * covers, is foreseen by the sender and found by the receiver (wire/ipid.h).
 */
#ifndef NDD_UDP_H
#define NDD_UDP_H

#include <stddef.h>

#include "port/port.h"
#include "wire/gid.h"

#define UDP_ADDRESSES_MAX 8u
#define UDP_LOCALS_MAX	  648u

struct rte_mempool;
struct sock_filter;

struct udp_cfg {
	/* Receive for these alone, of which each can be bound; none: for all of this machine. */
	struct roce_gid address[UDP_ADDRESSES_MAX];
	uint32_t addresses;
	uint32_t mtu;	       /* of IP packets, as paths are to have it */
	bool require_checksum; /* a datagram without one is dropped by the kernel, and counted */
	struct rte_mempool *pool;
	/* So many lcores have a queue each; 0 and 1: one has the port. More need a program of
	 * classic BPF, which returns the number of the queue that a datagram is for, by its
	 * UDP payload; 0, too, if it is too short. */
	uint32_t queues;
	const struct sock_filter *steer;
	uint16_t steer_length;
};

/* An address of this machine, and the kernel's number of the interface that has it. */
struct udp_local {
	uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint32_t interface;
};

/* NULL, or what failed, in words (static or in why). It receives from now on. */
const char *udp_open(struct port *p, const struct udp_cfg *cfg, char *why, size_t why_bytes);

/* Queue i, from 1 on, as a port by itself, for another lcore: its bursts, its files, and its local
 * addresses (udp_locals_set()) are its own, and all else is p's. NULL: there is none, as the kernel
 * can't steer, of which the port's tend() tells, or as there are fewer. */
struct port *udp_queue(const struct port *p, uint32_t i);

/* How many packets with so many bytes of payload the kernel keeps for this port until they are
 * received, by its own accounting: those beyond are lost. */
uint32_t udp_room(const struct port *p, uint32_t payload_bytes);

/* These are the addresses from now on, UDP_LOCALS_MAX at most. Link-local addresses and groups are
 * of an interface: packets to them leave by that of their source. Between two bursts alone. */
void udp_locals_set(struct port *p, const struct udp_local *local, uint32_t n);
/* Those that are set, and how many; the interface that has this one of them, 0: none. By the thread
 * that sets them, or in a burst. */
const struct udp_local *udp_locals(const struct port *p, uint32_t *n);
uint32_t udp_interface(const struct port *p, const uint8_t ip[16]);

/* A datagram that did not arrive, as a message of the network's says (ICMP). Anyone can send such
 * messages: they are a hint. */
struct udp_undelivered {
	struct roce_gid to;
	bool no_port; /* its host is there, and nothing there has the port; else: there is no way */
	const uint8_t *payload; /* of the datagram, as much as is quoted */
	uint32_t bytes;
};
typedef void udp_undelivered_fn(void *arg, const struct udp_undelivered *u);
/* Tell those that have been heard of, of MADs alone; some are left for the next time if there are
 * many. */
void udp_errors(struct port *p, udp_undelivered_fn *tell, void *arg);

/* The MAC address that frames to and from all peers have: what is behind the sockets has none. */
void udp_gateway(const struct port *p, uint8_t mac[6]);

#endif
