/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ICRC covers the identification and the DF bit of an IPv4 header (W-ICRC-03). Over a socket it
 * is the kernel that writes them, and it tells neither the sender nor the receiver.
 *
 * The ICRC is linear: the ICRCs of two packets that differ in these 17 bits alone differ by a value
 * that depends on the changed bits and on the packet's length, and on nothing else. So an ICRC is
 * mended without another pass over the packet; and as the 2^17 values of a length are all
 * different, a packet's bits are found from its ICRC and the one that it would have with others.
 *
 * What that costs: a damaged packet is taken for one with other bits in 2^17 of 2^32 cases, one of
 * 32,768, where the ICRC by itself lets pass one of 4.3 billion (ipid_peer.h makes it less).
 */
#ifndef ROCE_IPID_H
#define ROCE_IPID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_IPID_BITS 17u

/* Both in one value; the change between two of these is their exclusive or. */
#define ROCE_IPID(id, df) ((uint32_t)(id) << 1 | (uint32_t)(df))

struct roce_ipid; /* what is known for each length: constant once it is made */

/* 64-byte aligned memory, which roce_ipid_init() fills. */
size_t roce_ipid_bytes(void);
void roce_ipid_init(struct roce_ipid *t);

/* Is this a length of IPv4 packets that the table has, from a bare BTH to the largest payload? The
 * functions below want one. */
bool roce_ipid_has(uint32_t ip_bytes);

/* What to change (by exclusive or) in the ICRC of a packet of so many bytes, IP header and ICRC
 * included, if its bits change by that much. The ICRC as a little-endian number. */
uint32_t roce_ipid_mend(const struct roce_ipid *t, uint32_t ip_bytes, uint32_t change);

/* The same if the UDP source port changes, a number of 16 bits as well, which so many bytes follow
 * up to the ICRC: those of a UDP header and a BTH at least. */
uint32_t roce_ipid_mend_port(const struct roce_ipid *t, uint32_t behind, uint16_t change);

/* The reverse: by what the bits differ if the ICRCs do by that much. False: no bits explain it. */
bool roce_ipid_solve(
	const struct roce_ipid *t, uint32_t ip_bytes, uint32_t difference, uint32_t *change);

#endif
