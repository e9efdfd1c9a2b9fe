/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of IGMP and MLD, written as hex. Checksums are by hand of the RFCs, not of the code. */
#ifndef GROUP_FRAMES_H
#define GROUP_FRAMES_H

#include "rigs/net_rig.h"

/* What the code makes of a frame whose checksums are to be put in place: IPv4's, and that of the
 * IGMP or ICMPv6 message. */
size_t group_frame(const char *hex, uint8_t *out, size_t room);
/* Such a frame comes in; goes out as the next. */
void group_rx(struct net_rig *r, const char *hex);
void group_expect(struct net_rig *r, const char *hex);
/* Run the timers until a frame comes out, and return when; it is in r->tx. */
uint64_t group_wait(struct net_rig *r);
/* Nothing comes out for ns. */
void group_quiet(struct net_rig *r, uint64_t ns);
/* In the group, and all of that reported. */
void group_member(struct net_rig *r, const struct net_ip *group);
bool group_tx_is(const struct net_rig *r, const char *hex);

/* Each test of the suite has a host of its own, r, and two groups, g4 and g6. */
#define GROUP_SUITE(suite)                                                                         \
	static const struct net_ip g4 = {{[10] = 0xff, 0xff, 239, 1, 2, 3}},                       \
				   g6 = {{0xff, 0x15, [13] = 1, 2, 3}};                            \
	NET_RIG_SUITE(suite, 4)

#define GROUP_MEMBER_TIME (30 * S) /* long after all reports of the beginning */

#define IP4(dmac, smac, total, src, dst, igmp)                                                     \
	dmac smac "0800 46c0" total "00004000 0102 0000" src dst "94040000" igmp
#define IP4_PLAIN(dmac, smac, total, src, dst, igmp)                                               \
	dmac smac "0800 45c0" total "00004000 0102 0000" src dst igmp
#define IP6(dmac, smac, len, src, dst, icmp)                                                       \
	dmac smac "86dd 60000000" len "0001" src dst "3a00 0502 0000 0100" icmp

#define G4	 "ef010203" /* 239.1.2.3 */
#define G4_MAC	 "01005e010203"
#define ALL4	 "e0000001"
#define ALL4_MAC "01005e000001"
#define ROUTERS4 "e0000002"
#define V3_4	 "e0000016"
#define V3_4_MAC "01005e000016"
#define ROUTER4	 "0a4d00fe"

#define G6	  "ff150000000000000000000000010203"
#define G6_MAC	  "333300010203"
#define ALL6	  "ff020000000000000000000000000001"
#define ROUTERS6  "ff020000000000000000000000000002"
#define V3_6	  "ff020000000000000000000000000016"
#define LL_ME	  "fe80000000000000000000fffe007701"
#define LL_ROUTER "fe8000000000000000000000000000fe"

#define REPORT3_4(type) IP4(V3_4_MAC, ME, "0028", IP_ME, V3_4, "22000000 00000001" type "000000" G4)
#define REPORT3_6(type)                                                                            \
	IP6("333300000016", ME, "0024", LL_ME, V3_6, "8f000000 00000001" type "000000" G6)
#define QUERY3_4(dmac, dst, code, group, tail)                                                     \
	IP4(dmac, OTHER, "0024", ROUTER4, dst, "11" code "0000" group tail)
#define QUERY2_4(dmac, dst, code, group)                                                           \
	IP4(dmac, OTHER, "0020", ROUTER4, dst, "11" code "0000" group)
#define QUERY3_6(dmac, dst, code, group, tail)                                                     \
	IP6(dmac, OTHER, "0024", LL_ROUTER, dst, "82000000" code "0000" group tail)
#define QUERY2_6(dmac, dst, code, group)                                                           \
	IP6(dmac, OTHER, "0020", LL_ROUTER, dst, "82000000" code "0000" group)
#define NONE4 "00000000"
#define NONE6 "00000000000000000000000000000000"

#endif
