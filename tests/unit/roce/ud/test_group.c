/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams to groups: the table, and which of a shard's queue pairs get a copy. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/ud_world.h"
#include "roce/ud/group.h"

#define MEMBERS 4u

static const struct roce_gid group4 = {{[10] = 0xff, 0xff, 239, 1, 2, 3}},
			     group6 = {{0xff, 0x15, [14] = 2, 3}};

struct world {
	struct ud_world ud;
	struct roce_groups *groups;
	struct roce_group_member member[ROCE_GROUP_MEMBERS_MAX];
	unsigned members;
};

static struct roce_groups *
table_of(const struct roce_group_key *key, const struct roce_group_member *member, uint32_t n)
{
	static const uint64_t secret[2] = {1, 2};
	size_t bytes = roce_groups_bytes(1, n);
	struct roce_groups *t = roce_groups_init(calloc(1, bytes), 1, n, secret);

	roce_groups_add(t, key, 0, member, n);
	return t;
}

/* Side 1's first queue pairs are in the group; side 0's handle leads to it. */
static void
make(struct world *w, const struct pair_opts *opts, unsigned members)
{
	struct roce_group_key key = {.gid = opts->v6 ? group6 : group4, .vlan = opts->vlan};
	struct roce_qp_attr attr;

	*w = (struct world){.ud = ud_world_new(opts), .members = members};
	ud_world_start(&w->ud);
	for (unsigned i = 0; i < members; i++)
		w->member[i].qpn = roce_qp_num(w->ud.p->side[1].q[i].qp);
	w->groups = table_of(&key, w->member, members);
	w->ud.p->side[1].groups = w->groups;
	pair_attr(w->ud.p, 0, 0, &attr);
	attr.path.dgid = key.gid;
	roce_ah_set(&w->ud.ah[0][UD_AH % UD_AHS], UD_AH, &attr.path, 0, UD_MTU);
}

static void
destroy(struct world *w)
{
	pair_free(w->ud.p);
	free(w->groups);
}

/* The members anew, as w->member has them. */
static void
renew(struct world *w, const struct roce_group_key *key)
{
	free(w->groups);
	w->groups = table_of(key, w->member, w->members);
	w->ud.p->side[1].groups = w->groups;
}

static void
post_to(struct world *w, uint32_t qpn, uint64_t context, uint32_t bytes, uint32_t q_key)
{
	struct pair *p = w->ud.p;
	struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.rkey = UD_AH,
			.raddr = NDSH_UD_RADDR(qpn, q_key),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
		&sge, NULL);
}

/* It leaves, as far as the sender knows. */
static void
send_all(struct world *w, uint32_t bytes, uint32_t q_key)
{
	post_to(w, ROCE_QPN_MULTICAST, 1, bytes, q_key);
	cr_assert(pair_run(w->ud.p, PAIR_LONG));
	(void)pair_expect(w->ud.p, 0, 1, NDSH_WC_SUCCESS);
}

/*
 * checks W-MC-06[1], W-MC-07[1,3,16], W-PKT-07[1,5,6]: header and payload of each copy, for both
 * families, one for each member, and none for others.
 */
Test(group, W_MC_07_a_copy_for_each_member)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		struct world w;
		const struct roce_gid *gid = v6 ? &group6 : &group4;
		struct pair *p;

		make(&w, &(struct pair_opts){.v6 = v6, .qps = MEMBERS, .vlan = 9}, MEMBERS - 1);
		p = w.ud.p;
		for (uint32_t bytes = 0; bytes <= UD_MTU; bytes += UD_MTU / 2) {
			ud_fill(&w.ud, bytes);
			for (unsigned i = 0; i < MEMBERS - (bytes != 0); i++)
				pair_recv(p, 1, i, i, UD_TARGET + i * 8192, UD_GRH + bytes);
			send_all(&w, bytes, UD_Q_KEY);
			for (unsigned i = 0; i < MEMBERS - 1; i++) {
				const uint8_t *at = p->side[1].arena + UD_TARGET + i * 8192;
				struct ndsh_cqe c = pair_expect(p, 1, i, NDSH_WC_SUCCESS);

				cr_assert_eq(c.bytes, UD_GRH + bytes);
				cr_assert_eq(c.syndrome, roce_qp_num(p->side[0].q[0].qp));
				cr_assert(c.flags & NDSH_CQEF_GRH);
				cr_assert_arr_eq(at + UD_GRH, p->side[0].arena, bytes);
				cr_assert_arr_eq(
					at + (v6 ? 24 : 36), gid->raw + (v6 ? 0 : 12), v6 ? 16 : 4);
			}
			pair_expect_none(p, 1);
		}
		cr_assert_eq(ud_count(&w.ud, 1)->rx_multicast, 3);
		cr_assert_eq(p->sent[0], 3, "one packet on the wire for all");
		destroy(&w);
	}
}

/*
 * checks W-MC-06[2], W-MC-07[2,4], W-PKT-13[1,3], W-UD-01: each member by its own key, receive
 * and state.
 */
Test(group, W_MC_07_members_are_judged_one_by_one)
{
	struct world w;
	struct pair *p;

	make(&w, &(struct pair_opts){.qps = 6}, 6);
	p = w.ud.p;
	ud_fill(&w.ud, 100);
	cr_assert_eq(roce_ud_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, 0x111),
		ROCE_UD_MODIFIED);
	pair_recv(p, 1, 0, 10, UD_TARGET, 4096);
	/* 1 has no receive, 2 one that is too small, 3 has ended, 4 is gone, 5 gets it */
	pair_recv(p, 1, 2, 12, UD_TARGET, UD_GRH + 99);
	pair_recv(p, 1, 3, 13, UD_TARGET, 4096);
	cr_assert_eq(roce_qp_modify(p->side[1].shard, p->side[1].q[3].qp, p->now_ns, ROCE_QPS_ERR,
			     0, &(struct roce_qp_attr){.retry = 0}),
		ROCE_MODIFY_OK);
	(void)pair_run(p, PAIR_LONG);
	(void)pair_expect(p, 1, 13, NDSH_WC_FLUSH_ERR);
	w.member[4].qpn ^= 0x100;
	renew(&w, &(struct roce_group_key){.gid = group4});
	pair_recv(p, 1, 4, 14, UD_TARGET, 4096);
	pair_recv(p, 1, 5, 15, UD_TARGET, 4096);
	send_all(&w, 100, UD_Q_KEY);
	(void)pair_expect(p, 1, 15, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	cr_assert_eq(ud_count(&w.ud, 1)->rx_wrong_q_key, 1);
	cr_assert_eq(ud_count(&w.ud, 1)->rx_datagram_no_receive, 1);
	cr_assert_eq(ud_count(&w.ud, 1)->rx_datagram_too_long, 1);
	send_all(&w, 99, UD_Q_KEY); /* the small receive is still there */
	(void)pair_expect(p, 1, 12, NDSH_WC_SUCCESS);
	send_all(&w, 100, 0x111);
	(void)pair_expect(p, 1, 10, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	destroy(&w);
}

/*
 * checks W-ICRC-05[1,2], W-MC-07[5-8], W-MC-08[5,6], W-PKT-11[4]: a broken ICRC, another
 * transport's opcode, a group as the source: no copy.
 */
Test(group, W_MC_07_checks_of_the_packet)
{
	struct world w;
	const struct roce_counters *n;
	struct pair *p;
	struct roce_path path = {.sgid = group4, .dgid = group4, .udp_sport = 0xc000, .ttl = 1};
	struct roce_qp_attr attr;
	uint8_t frame[ROCE_FRAME_MAX];

	make(&w, &(struct pair_opts){.qps = 1}, 1);
	n = ud_count(&w.ud, 1);
	p = w.ud.p;
	pair_attr(p, 0, 0, &attr);
	pair_recv(p, 1, 0, 1, UD_TARGET, 4096);
	for (unsigned fault = 0; fault < 6; fault++) {
		struct roce_hdr_tmpl tmpl;
		struct roce_pkt pkt = {.opcode = fault == 1 ? ROCE_SEND_ONLY : ROCE_UD_SEND_ONLY,
			.qpn = fault == 3 ? w.member[0].qpn : ROCE_QPN_MULTICAST,
			.pkey = ROCE_PKEY_DEFAULT,
			.qkey = UD_Q_KEY,
			.src_qpn = 0x1234,
			.payload_bytes = 8};
		uint32_t hdr, len;

		path.sgid = fault == 2 ? group4 : attr.path.sgid;
		path.dgid = fault == 4 ? attr.path.dgid : group4;
		roce_hdr_tmpl_init(&tmpl, &path);
		hdr = roce_wire_build(frame, &tmpl, &pkt, 0);
		memset(frame + hdr, 0x5a, 8);
		len = roce_wire_seal(frame, &tmpl, hdr, 8);
		if (fault == 0)
			frame[hdr] ^= 1;
		cr_assert_eq(roce_wire_parse(frame, len, &pkt), ROCE_WIRE_OK);
		pair_rx(p, 1, &pkt);
		cr_assert(pair_run(p, PAIR_LONG));
		if (fault < 5)
			pair_expect_none(p, 1);
		else
			(void)pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(n->rx_icrc_error, 1);
	cr_assert_eq(n->rx_wrong_class, 1);
	cr_assert_eq(n->rx_wrong_address, 2);
	cr_assert_eq(n->rx_multicast, 4, "neither that to a member's number nor that to a host");
	destroy(&w);
}

/* A packet to a group is counted as any packet is, and what it leads to has its time. */
Test(group, counted_and_dated)
{
	struct world w;
	struct roce_qp_record r[8];
	struct roce_qp_attr attr;
	struct roce_pkt pkt = {.opcode = ROCE_UD_SEND_ONLY,
		.qpn = ROCE_QPN_MULTICAST,
		.pkey = ROCE_PKEY_DEFAULT,
		.qkey = UD_Q_KEY,
		.payload_bytes = 100};
	uint8_t frame[ROCE_FRAME_MAX];
	struct pair *p;
	uint32_t len;

	make(&w, &(struct pair_opts){.qps = 1}, 1);
	p = w.ud.p;
	pair_attr(p, 0, 0, &attr);
	attr.path.dgid = group4;
	len = pair_build(frame, &attr.path, &pkt, NULL);
	cr_assert_eq(roce_wire_parse(frame, len, &pkt), ROCE_WIRE_OK);
	pair_recv(p, 1, 0, 1, PAIR_ARENA - 64, 4096); /* not the client's memory */
	p->now_ns += 1000000;
	pair_rx(p, 1, &pkt);
	cr_assert_eq(ud_count(&w.ud, 1)->rx_packets, 1);
	cr_assert_eq(ud_count(&w.ud, 1)->rx_bytes, 100);
	cr_assert_eq(roce_qp_records(p->side[1].q[0].qp, r), 1);
	cr_assert_eq(r[0].kind_psn >> 24, ROCE_REC_ERROR);
	cr_assert_eq(r[0].detail, ROCE_REASON_RECV_PROT);
	cr_assert_eq(r[0].now_ns, p->now_ns);
	destroy(&w);
}

/*
 * checks W-PKT-08[3]: an IP packet of 48 bytes, with an opcode that does not exist and the
 * number of all queue pairs, has made rxe read beyond its frame. It is no packet.
 */
Test(group, rxe_bug_undefined_opcode_to_the_multicast_number)
{
	struct world w;
	struct pair *p;

	make(&w, &(struct pair_opts){.qps = 1}, 1);
	p = w.ud.p;
	pair_recv(p, 1, 0, 1, UD_TARGET, 4096);
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const uint8_t head[] = {0x01, 0x00, 0x5e, 1, 2, 3, 2, 0, 0, 0, 0, 1, 0x08, 0x00,
			0x45, 0, 0, 48, 0, 0, 0x40, 0, 1, 17, 0, 0, 10, 0, 0, 1, 239, 1, 2, 3, 0xc0,
			0, 0x12, 0xb7, 0, 28, 0, 0, (uint8_t)opcode, 0, 0xff, 0xff, 0, 0xff, 0xff,
			0xff, 0, 0, 0, 0};
		uint8_t *frame = malloc(62); /* its very size: a read beyond it is seen */
		uint32_t sum = 0;
		struct roce_pkt pkt;

		memset(frame, 0, 62);
		memcpy(frame, head, sizeof(head));
		for (unsigned i = 14; i < 34; i += 2)
			sum += (uint32_t)frame[i] << 8 | frame[i + 1];
		sum = (sum & 0xffff) + (sum >> 16);
		frame[24] = (uint8_t)(~sum >> 8);
		frame[25] = (uint8_t)~sum;
		if (roce_wire_parse(frame, 62, &pkt) == ROCE_WIRE_OK)
			pair_rx(p, 1, &pkt);
		else if (opcode == 0xff)
			cr_assert_eq(roce_wire_parse(frame, 62, &pkt), ROCE_WIRE_OPCODE);
		free(frame);
	}
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 1);
	destroy(&w);
}

/*
 * checks W-MC-06[3]: the handle decides. The number of all queue pairs is for groups, and a
 * group has no other; a request that mixes them fails and stops the sending.
 */
Test(group, W_MC_06_numbers_and_handles_agree)
{
	for (unsigned to_group = 0; to_group < 2; to_group++) {
		struct world w;
		struct pair *p;
		struct roce_qp_attr attr;

		make(&w, &(struct pair_opts){.qps = 1}, 1);
		p = w.ud.p;
		pair_attr(p, 0, 0, &attr);
		if (!to_group)
			roce_ah_set(&w.ud.ah[0][UD_AH % UD_AHS], UD_AH, &attr.path, 0, UD_MTU);
		pair_recv(p, 1, 0, 2, UD_TARGET, 4096);
		post_to(&w, to_group ? roce_qp_num(p->side[1].q[0].qp) : ROCE_QPN_MULTICAST, 1, 8,
			UD_Q_KEY);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 1, NDSH_WC_LOC_QP_OP_ERR);
		cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_UD_SQE);
		cr_assert_eq(p->sent[0], 0);
		destroy(&w);
	}
}

/*
 * checks W-MC-09[2,3]: a member that refuses its own datagrams gets none of them, others do; a
 * datagram of a queue pair of the same number elsewhere is not its own.
 */
Test(group, W_MC_09_not_its_own)
{
	struct world w;
	struct pair *p;
	struct roce_path path = {.dgid = group4, .udp_sport = 0xc000, .ttl = 1};
	struct roce_qp_attr attr;
	uint8_t frame[ROCE_FRAME_MAX];

	make(&w, &(struct pair_opts){.qps = 2}, 2);
	p = w.ud.p;
	pair_attr(p, 1, 0, &attr);
	w.member[0].not_own = true;
	renew(&w, &(struct roce_group_key){.gid = group4});
	for (unsigned own = 0; own < 2; own++) {
		struct roce_hdr_tmpl tmpl;
		struct roce_pkt pkt = {.opcode = ROCE_UD_SEND_ONLY,
			.qpn = ROCE_QPN_MULTICAST,
			.pkey = ROCE_PKEY_DEFAULT,
			.qkey = UD_Q_KEY,
			.src_qpn = w.member[0].qpn};
		uint32_t len;

		path.sgid = own ? attr.path.sgid : attr.path.dgid;
		roce_hdr_tmpl_init(&tmpl, &path);
		len = roce_wire_seal(frame, &tmpl, roce_wire_build(frame, &tmpl, &pkt, 0), 0);
		cr_assert_eq(roce_wire_parse(frame, len, &pkt), ROCE_WIRE_OK);
		for (unsigned i = 0; i < 2; i++)
			pair_recv(p, 1, i, i, UD_TARGET, 4096);
		pair_rx(p, 1, &pkt);
		cr_assert(pair_run(p, PAIR_LONG));
		if (!own)
			(void)pair_expect(p, 1, 0, NDSH_WC_SUCCESS);
		(void)pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		pair_expect_none(p, 1);
	}
	destroy(&w);
}

/* checks W-MC-08[1,2]: the table tells groups, ports and VLANs apart, and finds all of them. */
Test(group, W_MC_08_groups_ports_and_vlans)
{
	static const uint64_t secret[2] = {3, 4};
	const uint32_t n = 300;
	struct roce_groups *t = roce_groups_init(calloc(1, roce_groups_bytes(n, n)), n, n, secret);
	struct roce_path path = {.udp_sport = 0xc000};
	struct roce_group_key key;

	memset(&key, 0, sizeof(key));
	for (uint32_t i = 0; i < n; i++) {
		const struct roce_group_member m = {.qpn = i};

		key.gid = i % 2 ? group4 : group6;
		key.gid.raw[14] = (uint8_t)(i / 2);
		key.port = i % 3 == 0;
		key.vlan = i % 5;
		roce_groups_add(t, &key, i, &m, 1);
	}
	for (uint32_t i = 0; i < 2 * n; i++) {
		const struct roce_group *g;
		uint8_t frame[ROCE_FRAME_MAX];
		struct roce_hdr_tmpl tmpl;
		struct roce_pkt pkt = {
			.opcode = ROCE_UD_SEND_ONLY, .qpn = ROCE_QPN_MULTICAST, .pkey = 0xffff};
		uint16_t port = i % 3 == 0;
		uint32_t len;

		path.dgid = i % 2 ? group4 : group6;
		path.dgid.raw[14] = (uint8_t)(i / 2);
		if (i >= 2 * 256)
			path.dgid.raw[13] = 77;
		path.sgid = path.dgid;
		path.tagged = i % 5 != 0;
		path.vlan_tci = (uint16_t)(3u << 13 | i % 5);
		roce_hdr_tmpl_init(&tmpl, &path);
		len = roce_wire_seal(frame, &tmpl, roce_wire_build(frame, &tmpl, &pkt, 0), 0);
		cr_assert_eq(roce_wire_parse(frame, len, &pkt), ROCE_WIRE_OK);
		g = roce_groups_find(t, &pkt, port);
		if (i >= n) {
			cr_assert_null(g, "%u", i);
			continue;
		}
		cr_assert_not_null(g, "%u", i);
		cr_assert_eq(g->elsewhere, i);
		cr_assert_eq(roce_groups_member(t, g, 0)->qpn, i);
		cr_assert_null(roce_groups_find(t, &pkt, port ^ 1));
		pkt.vlan++;
		cr_assert_null(roce_groups_find(t, &pkt, port));
	}
	free(t);
	cr_assert_eq(roce_groups_bytes((1u << 20) + 1, 0), 0);
	cr_assert_eq(roce_groups_bytes(0, (1u << 25) + 1), 0);
}
