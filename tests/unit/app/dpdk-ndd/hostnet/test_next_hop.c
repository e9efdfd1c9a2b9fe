/* SPDX-License-Identifier: BSD-3-Clause */
/* What a next hop's state means for a client. */
#include "hostnet/next_hop.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "rigs/net_rig.h"

static enum ndsh_status
resolve(struct net_rig *r, const char *to, struct net_nexthop *hop)
{
	const struct roce_gid src = net_rig_gid("10.77.0.1"), dst = net_rig_gid(to);

	return ndd_next_hop(r->n, r->now, NET_OWNER_HOST, &src, &dst, hop);
}

Test(next_hop, each_state_of_it_has_its_status)
{
	static const uint8_t peer[6] = {2, 0, 0, 0, 0x77, 2};
	struct net_nexthop hop;
	struct net_rig r;

	net_rig_init(&r, 16);
	cr_expect(eq(i32, resolve(&r, "192.0.2.1", &hop), NDSH_ERR_NETWORK_UNREACHABLE));
	cr_expect(eq(i32, resolve(&r, "10.77.0.2", &hop), NDSH_PENDING));
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	cr_expect(eq(i32, resolve(&r, "10.77.0.2", &hop), NDSH_OK));
	cr_expect(zero(int, memcmp(hop.dmac, peer, 6)));
	cr_expect(eq(i32, resolve(&r, "10.77.0.9", &hop), NDSH_PENDING));
	while (resolve(&r, "10.77.0.9", &hop) == NDSH_PENDING) {
		cr_assert(lt(u64, net_next_deadline(r.n), 100 * S));
		net_rig_run_until(&r, net_next_deadline(r.n));
	}
	cr_expect(eq(i32, resolve(&r, "10.77.0.9", &hop), NDSH_ERR_HOST_UNREACHABLE));
}

Test(next_hop, one_that_is_still_unknown_at_the_deadline_is_unreachable)
{
	cr_expect(eq(i32, ndd_next_hop_by(NDSH_PENDING, 99, 100), NDSH_PENDING));
	cr_expect(eq(i32, ndd_next_hop_by(NDSH_PENDING, 100, 100), NDSH_ERR_HOST_UNREACHABLE));
	cr_expect(eq(i32, ndd_next_hop_by(NDSH_OK, 101, 100), NDSH_OK));
	cr_expect(eq(i32, ndd_next_hop_by(NDSH_ERR_NETWORK_UNREACHABLE, 1, 100),
		NDSH_ERR_NETWORK_UNREACHABLE));
}
