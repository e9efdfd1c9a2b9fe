/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which identification does an IPv4 packet have, if its receiver is not told (ipid.h)? The next one
 * is guessed for each source; a right guess makes the ICRC as good as ever. A packet with another
 * one is taken if its number is near the last one's, 4,096 before it or 128 behind: then a damaged
 * packet passes in one of 1,000,000 cases. Behind a pause Linux goes on at a random number, up to
 * one further for each tick of its clock (at most 1,000 a second), so the pause is added to the
 * 4,096. Sources that number at random, as some do, can't be held to that, and it is one of 32,768
 * of these; the UDP checksum, if there is one, comes on top.
 *
 * Whoever can send from a source's address, as each user of its machine can, has a share in what is
 * known of its numbers, and must not thereby keep the packets of others from being taken. So a
 * packet that is refused leaves that as it is, two places are known if two streams use the address,
 * and behind a few refusals nothing of that address is refused any more.
 */
#ifndef ROCE_IPID_PEER_H
#define ROCE_IPID_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/ipid.h"

#define ROCE_IPID_PEERS 256u
#define ROCE_IPID_AHEAD 4096u
#define ROCE_IPID_BACK	128u
/* So many packets from far away, less one for each minute without: the source numbers at random. */
#define ROCE_IPID_STRAYS  8u
#define ROCE_IPID_REST_MS 60000u
/* The second place is known for so long. */
#define ROCE_IPID_OTHER_MS 1000u
/* So many packets of a source, none of which was right before: something between here and there
 * changes packets, as address translation does. */
#define ROCE_IPID_BROKEN 8u

/* One that is found by its address and by that which it sends to, as Linux counts for each of
 * these; another that falls on its place takes it. Zeroed: nobody. */
struct roce_ipid_peer {
	uint8_t ip[4], to[4];
	uint32_t last;	   /* ROCE_IPID() of its last packet that was taken */
	uint32_t seen_ms;  /* ... and when that came */
	uint32_t other;	   /* of one that was refused, or what last was before */
	uint32_t other_ms; /* since when */
	uint32_t stray_ms; /* when the last was refused */
	uint8_t known;	   /* there was a right one */
	uint8_t has_other;
	uint8_t strays; /* packets that were refused */
	uint8_t broken; /* wrong packets, if none was right */
};
struct roce_ipid_peers {
	struct roce_ipid_peer peer[ROCE_IPID_PEERS];
};

enum roce_ipid_verdict {
	ROCE_IPID_GUESSED, /* the ICRC is right as it stands */
	ROCE_IPID_SOLVED,  /* ... with another identification, which the source may have sent */
	ROCE_IPID_FAR,	   /* ... which it would not have sent: the packet is refused */
	ROCE_IPID_WRONG,   /* the ICRC is wrong with each */
};

struct roce_ipid_peer *roce_ipid_peer(
	struct roce_ipid_peers *t, const uint8_t ip[4], const uint8_t to[4]);

/* For the next packet; DF and a zero for a source that is not known. */
static inline uint32_t
roce_ipid_next(const struct roce_ipid_peer *p)
{
	return p->known ? (p->last + 2) & (ROCE_IPID(0xffff, 1)) : ROCE_IPID(0, 1);
}

/*
 * Judge a packet whose ICRC differs by difference from the one that it would have with the value
 * guess; *value is the one that it has, if it is taken. now_ms is of any clock, and may wrap.
 */
enum roce_ipid_verdict roce_ipid_judge(const struct roce_ipid *t, struct roce_ipid_peer *p,
	uint32_t now_ms, uint32_t ip_bytes, uint32_t guess, uint32_t difference, uint32_t *value);

#endif
