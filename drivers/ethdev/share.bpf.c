// SPDX-License-Identifier: BSD-3-Clause
/*
 * The part of a shared interface that runs in the kernel: RoCEv2 goes to the daemon's socket of the
 * queue, all the rest goes on into the kernel. So do
 *  - fragments: only the first has ports;
 *  - frames of a VLAN, which are of another interface of the kernel's (eth0.100). A tag of VLAN 0
 *    names a priority only;
 *  - IPv6 packets with extension headers: RoCEv2 has none.
 * A queue without a socket, because the daemon has gone, leaves its packets to the kernel, too.
 *
 * xsks_map is where DPDK's AF_XDP driver looks for it.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define ROCE_PORT  4791
#define QUEUES_MAX 256
#define VLAN_ID	   0x0fff
#define FRAGMENT   0x3fff /* more of them, or not the first */

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, QUEUES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

struct vlan_tag {
	__be16 tci, type;
};

/* The UDP header of an IP packet; NULL: there is none at hand. */
static __always_inline struct udphdr *
udp_of(void *packet, void *end, __be16 type)
{
	struct iphdr *v4 = packet;
	struct ipv6hdr *v6 = packet;

	if (type == bpf_htons(ETH_P_IP)) {
		if ((void *)(v4 + 1) > end || v4->ihl != 5 || v4->protocol != IPPROTO_UDP ||
			(v4->frag_off & bpf_htons(FRAGMENT)) != 0)
			return 0;
		return (void *)(v4 + 1);
	}
	if (type == bpf_htons(ETH_P_IPV6)) {
		if ((void *)(v6 + 1) > end || v6->nexthdr != IPPROTO_UDP)
			return 0;
		return (void *)(v6 + 1);
	}
	return 0;
}

SEC("xdp")
int
ndd_share(struct xdp_md *ctx)
{
	void *at = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = at;
	struct vlan_tag *tag = (void *)(eth + 1);
	struct udphdr *udp;
	__be16 type;

	if ((void *)(eth + 1) > end)
		return XDP_PASS;
	type = eth->h_proto;
	at = eth + 1;
	if (type == bpf_htons(ETH_P_8021Q)) {
		if ((void *)(tag + 1) > end || (tag->tci & bpf_htons(VLAN_ID)) != 0)
			return XDP_PASS;
		type = tag->type;
		at = tag + 1;
	}
	udp = udp_of(at, end, type);
	if (!udp || (void *)(udp + 1) > end || udp->dest != bpf_htons(ROCE_PORT))
		return XDP_PASS;
	return bpf_redirect_map(&xsks_map, ctx->rx_queue_index, XDP_PASS);
}

char _license[] SEC("license") = "BSD";
