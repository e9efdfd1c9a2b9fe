/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program by which the kernel finds the lcore of a datagram to a UDP port. It computes what
 * roce_qpn_place() does, in the 32 bits of classic BPF, as that alone needs no privilege.
 */
#ifndef NDD_UDP_STEER_H
#define NDD_UDP_STEER_H

#include <stdint.h>

#include "roce/roce.h"

#define NDD_UDP_STEER_MAX 320u /* instructions */

struct sock_filter;

/* Its result is the shard of the queue pair that a UDP payload is for, as long as that is one of so
 * many. All else is the I/O owner's: MADs, groups, what is too short to have a QPN, numbers that
 * lead to no shard. Returns the program's length. f has NDD_UDP_STEER_MAX places. */
uint16_t ndd_udp_steer(struct sock_filter *f, const struct roce_qpn_key *key, uint32_t shards);

#endif
