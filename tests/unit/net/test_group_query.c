/* SPDX-License-Identifier: BSD-3-Clause */
/* What is no query about multicast groups, and what is one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/group_frames.h"

GROUP_SUITE(group_query);

/* checks W-MC-04[1-11]: what is no query of the link's, changes nothing. */
Test(group_query, W_MC_04_what_is_no_query)
{
	static const char *const wrong[] = {
		/* no router alert */
		IP4_PLAIN(ALL4_MAC, OTHER, "0020", ROUTER4, ALL4, "11000000" NONE4 "027d0000"),
		IP4_PLAIN(ALL4_MAC, OTHER, "001c", ROUTER4, ALL4, "11010000" NONE4),
		/* between the lengths of versions 2 and 3 */
		IP4(ALL4_MAC, OTHER, "0022", ROUTER4, ALL4, "11000000" NONE4 "027d"),
		/* more sources than are there */
		IP4(ALL4_MAC, OTHER, "0028", ROUTER4, ALL4, "11000000" NONE4 "027d0002" IP_PEER),
		/* to a group and to a host that this one is not; about no group */
		QUERY3_4("01005e010204", "ef010204", "00", NONE4, "027d0000"),
		QUERY3_4(ME, IP_PEER, "00", NONE4, "027d0000"),
		QUERY3_4(ALL4_MAC, ALL4, "00", IP_ME, "027d0000"),
		/* options: broken, and without end */
		ALL4_MAC OTHER "0800 46c0 0024 00004000 0102 0000" ROUTER4 ALL4
			       "07000000 11000000" NONE4 "027d0000",
		ALL4_MAC OTHER "0800 46c0 0024 00004000 0102 0000" ROUTER4 ALL4
			       "01010107 11000000" NONE4 "027d0000",
		/* MLD: no router alert; of something else; hop limit; not from the link; lengths */
		ALL4_MAC OTHER "86dd 60000000 001c 3a01" LL_ROUTER ALL6 "82000000 00000000" NONE6
			       "027d0000",
		"333300000001" OTHER "86dd 60000000 0024 0001" LL_ROUTER ALL6
		"3a00 0104 0000 0000 82000000 00000000" NONE6 "027d0000",
		"333300000001" OTHER "86dd 60000000 0024 0001" LL_ROUTER ALL6
		"3a00 0502 0001 0100 82000000 00000000" NONE6 "027d0000",
		"333300000001" OTHER "86dd 60000000 0024 0002" LL_ROUTER ALL6
		"3a00 0502 0000 0100 82000000 00000000" NONE6 "027d0000",
		IP6("333300000001", OTHER, "0024", "fd7700000000000000000000000000fe", ALL6,
			"82000000 00000000" NONE6 "027d0000"),
		IP6("333300000001", OTHER, "0022", LL_ROUTER, ALL6,
			"82000000 00000000" NONE6 "027d"),
		IP6("333300000001", OTHER, "0034", LL_ROUTER, ALL6,
			"82000000 00000000" NONE6 "027d0002" G6),
		IP6("333300000001", OTHER, "0014", LL_ROUTER, ALL6, "82000000 00000000 00000000"),
		IP6("333300010204", OTHER, "0024", LL_ROUTER, "ff150000000000000000000000010204",
			"82000000 00000000" NONE6 "027d0000"),
		IP6("333300000001", OTHER, "0024", LL_ROUTER, ALL6,
			"82000000 00000000" LL_ME "027d0000"),
		/* a header that is longer than the packet */
		"333300000001" OTHER "86dd 60000000 0008 0001" LL_ROUTER ALL6 "3a02 0502 0000 0100",
	};

	group_member(&r, &g4);
	group_member(&r, &g6);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		group_rx(&r, wrong[i]);
		net_rig_run_until(&r, r.now + 20 * S);
		cr_assert_not(net_tx(r.n, &r.tx), "number %zu was answered", i);
	}
	cr_assert_eq(net_counters(r.n)->rx_group_query, 0);
	/* A wrong checksum. */
	net_rig_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "00", NONE4, "027d0000"));
	net_rig_rx(&r, QUERY3_6("333300000001", ALL6, "0000", NONE6, "027d0000"));
	group_quiet(&r, 20 * S);
	/* And what comes to this host itself is one. */
	group_rx(&r, QUERY3_4(ME, IP_ME, "00", NONE4, "027d0000"));
	group_expect(&r, REPORT3_4("02"));
	group_rx(&r, QUERY3_6(ME, LL_ME, "0000", NONE6, "027d0000"));
	group_expect(&r, REPORT3_6("02"));
}

/* Each byte of a query cut away or flipped: what is left is judged, and nothing beyond is read. */
Test(group_query, W_MC_04_queries_cut_and_flipped)
{
	static const char *const whole[] = {
		QUERY3_4(ALL4_MAC, ALL4, "00", NONE4, "027d0000"),
		QUERY3_6("333300000001", ALL6, "0000", NONE6, "027d0000"),
	};

	group_member(&r, &g4);
	group_member(&r, &g6);
	for (unsigned k = 0; k < 2; k++) {
		uint8_t f[256];
		size_t n = group_frame(whole[k], f, sizeof(f));

		for (size_t cut = 0; cut < n; cut++) {
			uint8_t *exact = malloc(cut + 1);

			memcpy(exact, f, cut);
			net_rx(r.n, r.now, 0, exact, cut);
			free(exact);
		}
		for (size_t bit = 0; bit < n * 8; bit++) {
			uint8_t *exact = malloc(n);

			memcpy(exact, f, n);
			exact[bit / 8] ^= (uint8_t)(1u << bit % 8);
			net_rx(r.n, r.now, 0, exact, n);
			free(exact);
		}
	}
	net_rig_run_until(&r, r.now + 3600 * S);
}
