/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bugs of Linux's Soft-RoCE (drivers/infiniband/sw/rxe) that became known, each as the packet or
 * the request that it takes. Here they are seen and refused, and the connection beside them goes
 * on. A packet lies in a block of exactly its size, so that a sanitizer sees each byte that is read
 * outside. The last one, the sockets of a network namespace that were released twice, has its test
 * in tests/unit/app/dpdk-ndd/hostnet/test_rtnl_close.c.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "rigs/windows.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "wire/icrc.h"

#define IP	  14u
#define UDP	  (IP + 20u)
#define BTH	  (UDP + 8u)
#define MULTICAST 0xffffffu

/* A frame of the peer of side 1's queue pair 0, of which a test says every length. */
struct forged {
	uint8_t opcode, pad;
	uint32_t qpn, psn;
	uint32_t udp_bytes; /* as IP and UDP say; the frame has them, too */
};

static void
put_be16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void
put_be24(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 16);
	put_be16(at + 1, value);
}

static void
fix_ip_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	put_be16(ip + 10, 0);
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(ip + 10, ~(sum + (sum >> 16)));
}

/* An ICRC that is right for whatever there is in front of the last four bytes. */
static void
seal(uint8_t *ip, uint32_t bytes)
{
	static const uint8_t masked_at[] = {1, 8, 10, 11, 26, 27, 32};
	uint8_t in[8 + ROCE_FRAME_MAX];
	uint32_t crc;

	memset(in, 0xff, 8);
	memcpy(in + 8, ip, bytes - 4);
	for (unsigned i = 0; i < sizeof(masked_at); i++)
		if (masked_at[i] < bytes - 4)
			in[8 + masked_at[i]] = 0xff;
	crc = roce_crc32(0, in, 8 + bytes - 4);
	for (unsigned i = 0; i < 4; i++)
		ip[bytes - 4 + i] = (uint8_t)(crc >> 8 * i);
}

static uint8_t *
forge(const struct pair *p, const struct forged *f, size_t *bytes)
{
	uint8_t plain[ROCE_FRAME_MAX] = {0}, *frame;
	const struct roce_pkt any = peer_packet(p, ROCE_SEND_ONLY, f->psn, 0);
	struct roce_hdr_tmpl tmpl;
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	roce_hdr_tmpl_init(&tmpl, &a.path);
	roce_wire_build(plain, &tmpl, &any, 0);
	plain[BTH] = f->opcode;
	plain[BTH + 1] = (uint8_t)(f->pad << 4);
	put_be24(plain + BTH + 5, f->qpn);
	put_be16(plain + UDP + 4, f->udp_bytes);
	put_be16(plain + IP + 2, 20 + f->udp_bytes);
	fix_ip_checksum(plain + IP);
	*bytes = UDP + f->udp_bytes;
	if (f->udp_bytes >= 8 + 4)
		seal(plain + IP, 20 + f->udp_bytes);
	frame = malloc(*bytes);
	return memcpy(frame, plain, *bytes);
}

/* What the parser says; what it accepts goes on to the engine. */
static enum roce_wire_err
arrives(struct pair *p, const struct forged *f)
{
	enum roce_wire_err err;
	struct roce_pkt pkt;
	uint8_t *frame;
	size_t n;

	frame = forge(p, f, &n);
	err = roce_wire_parse(frame, n, &pkt);
	if (err == ROCE_WIRE_OK) {
		cr_assert(pkt.payload >= frame && pkt.payload_bytes + pkt.pad + 4 <= n);
		cr_assert_eq(pkt.payload + pkt.payload_bytes + pkt.pad + 4, frame + n);
		cr_assert(roce_icrc_ok(&pkt));
		pair_rx(p, 1, &pkt);
	}
	free(frame);
	return err;
}

static void
expect_unmoved(struct pair *p, struct peer_tape *t, uint32_t psn)
{
	unsigned said = t->n;

	pair_expect_alive(p, 1, 0);
	peer_say_plain(p, ROCE_WRITE_ONLY, psn, 8);
	peer_heard(p, t, said + 1, ROCE_SYN_ACK, psn);
	pair_free(p);
}

/* One packet of 48 bytes with opcode 0xff to the multicast queue pair made the kernel read the
 * headers of an opcode that it has no description of. Every opcode, of every length from none on,
 * to that number. checks W-PKT-08[3] */
Test(rxe_bugs, one_packet_of_48_bytes_with_an_unknown_opcode_to_multicast)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct forged f = {.opcode = 0xff, .qpn = MULTICAST, .psn = PEER_PSN, .udp_bytes = 48 - 20};
	unsigned parsed = 0;

	cr_assert_eq(arrives(p, &f), ROCE_WIRE_OPCODE);
	f.udp_bytes = 48 - 14 - 20;
	cr_assert_neq(arrives(p, &f), ROCE_WIRE_OK);
	for (unsigned opcode = 0; opcode < 256; opcode++)
		for (f.udp_bytes = 8; f.udp_bytes < 100; f.udp_bytes++) {
			f.opcode = (uint8_t)opcode;
			if (arrives(p, &f) != ROCE_WIRE_OK)
				continue;
			cr_assert_neq(roce_opcode_info[opcode].flags & ROCE_OPF_VALID, 0);
			parsed++;
		}
	cr_assert_gt(parsed, 1000);
	cr_assert_eq(pair_count(p, 1)->rx_out_of_sequence + pair_count(p, 1)->rx_duplicate, 0);
	peer_silent(p, &t, 0);
	expect_unmoved(p, &t, PEER_PSN);
}

/* The same to a queue pair that is there, from its peer's address: what parses is in no sequence,
 * so that nothing but its form counts. */
Test(rxe_bugs, every_opcode_of_every_length_to_a_queue_pair)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct forged f = {.qpn = roce_qp_num(p->side[1].q[0].qp), .psn = PEER_PSN + 0x400000};

	for (unsigned opcode = 0; opcode < 256; opcode++)
		for (f.udp_bytes = 8; f.udp_bytes < 100; f.udp_bytes++)
			for (f.pad = 0; f.pad < 4; f.pad++) {
				f.opcode = (uint8_t)opcode;
				(void)arrives(p, &f);
			}
	cr_assert_gt(pair_count(p, 1)->rx_out_of_sequence, 1000);
	cr_assert_eq(pair_count(p, 1)->rx_icrc_error, 0);
	peer_heard(p, &t, 1, ROCE_SYN_NAK_SEQ, PEER_PSN);
	expect_unmoved(p, &t, PEER_PSN);
}

/* Header, pad and ICRC were subtracted from a length that was shorter than they are: the payload
 * had nearly 4 GiB. */
Test(rxe_bugs, pad_and_icrc_of_more_bytes_than_there_are)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	unsigned refused = 0;

	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const struct roce_opcode_desc *d = &roce_opcode_info[opcode];
		struct forged f = {.opcode = (uint8_t)opcode,
			.qpn = roce_qp_num(p->side[1].q[0].qp),
			.psn = PEER_PSN + 7};

		if (!(d->flags & ROCE_OPF_VALID))
			continue;
		for (f.pad = 0; f.pad < 4; f.pad++)
			for (uint32_t less = 1; less <= 4u + f.pad; less++, refused++) {
				f.udp_bytes = 8 + d->hdr_bytes + f.pad + 4 - less;
				cr_assert_eq(arrives(p, &f), ROCE_WIRE_LENGTH, "%#x, pad %u, -%u",
					opcode, f.pad, less);
			}
	}
	cr_assert_gt(refused, 500);
	cr_assert_eq(pair_count(p, 1)->rx_packets, 0);
	expect_unmoved(p, &t, PEER_PSN);
}

/* An ATOMIC WRITE of another length than 8 wrote as many bytes as it brought over a word on the
 * stack. */
Test(rxe_bugs, an_atomic_write_of_any_length)
{
	static const uint32_t lengths[] = {0, 1, 4, 7, 8, 9, 12, 16, 64, PEER_MTU, 4096};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_pkt w = peer_packet(p, ROCE_ATOMIC_WRITE, PEER_PSN, lengths[i]);

			w.dma_bytes = lengths[k];
			peer_say(p, &w);
			peer_heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PEER_PSN);
			for (uint32_t b = 0; b < 4096; b++)
				cr_assert_eq(p->side[1].arena[b], 0);
			pair_free(p);
		}
}

/* Is the client of side 0 told of its breach, and the other queue pair left alone? */
static void
expect_breach(struct pair *p)
{
	pair_expect_dead(p, 0, 0, ROCE_REASON_CLIENT_BREACH);
	pair_write(p, 0, 1, 9, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* num_sge of a descriptor in shared memory was believed, beyond its array. Each number that the
 * field can hold, to send and to receive. checks W-RESP-11[2] */
Test(rxe_bugs, num_sge_of_a_descriptor)
{
	for (uint32_t n = 0; n < 256; n++) {
		struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
		struct pair_side *d = &p->side[0];
		const uint32_t max = d->dims.sq_sge;
		struct ndsh_swr *wr = &d->q[0].sq.ring[0];
		uint32_t phase;

		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		phase = wr->ctrl & 0x80000000u;
		wr->ctrl = NDSH_CTRL(NDSH_OP_WRITE, n, 0, 0) | phase;
		(void)pair_run(p, 1000000);
		if (n > max) {
			expect_breach(p);
			continue;
		}
		pair_free(p);
	}
	for (uint32_t n = 0; n < 256; n++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct pair_side *d = &p->side[1];
		struct ndsh_rwr *wr = &d->q[0].rq.ring[0];

		pair_recv(p, 1, 0, 1, 0, 64);
		wr->ctrl = (wr->ctrl & 0x80000000u) | NDSH_CTRL(0, n, 0, 0);
		peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 8);
		pair_turn(p, 1);
		if (n > d->dims.rq_sge) {
			peer_heard(p, &t, 1, ROCE_SYN_NAK_REM_OP, PEER_PSN);
			pair_expect_dead(p, 1, 0, ROCE_REASON_CLIENT_BREACH);
		}
		pair_free(p);
	}
}

/* cur_sge, the place in the list that a message has come to, stood in the descriptor, where its
 * client could change it. Here all of a descriptor may change while its message is under way: the
 * place is the engine's own, and so is the list. */
Test(rxe_bugs, cur_sge_while_a_message_is_under_way)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256, .window = 16});
	const uint32_t lists = p->side[0].dims.sq_sge, each = 3000;
	struct ndsh_sge from[NDSH_SGE_MAX], to[NDSH_SGE_MAX];

	cr_assert_gt(lists, 2);
	for (uint32_t i = 0; i < lists; i++) {
		from[i] = pair_sge(p, 0, i * 4096, each);
		to[i] = pair_sge(p, 1, i * 4096, each);
		memset(p->side[0].arena + i * 4096, (int)i + 1, each);
	}
	ndsh_rq_push(&p->side[1].q[0].rq, 1, to, lists);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 2, .ctrl = NDSH_CTRL(NDSH_OP_SEND, lists, 0, 0)},
		from, NULL);
	for (unsigned turns = 0; turns < 5; turns++) {
		pair_turn(p, turns & 1);
		p->now_ns += 2000;
	}
	cr_assert_not_null(p->side[1].q[0].qp->rx_wqe, "it is under way");
	memset(p->side[0].q[0].sq.ring, 0x5a, sizeof(struct ndsh_swr));
	memset(p->side[0].q[0].sq.sge, 0x5a, lists * sizeof(struct ndsh_sge));
	memset(p->side[1].q[0].rq.ring, 0x5a, sizeof(struct ndsh_rwr));
	memset(p->side[1].q[0].rq.sge, 0x5a, lists * sizeof(struct ndsh_sge));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(pair_expect(p, 1, 1, NDSH_WC_SUCCESS).bytes, lists * each);
	for (uint32_t i = 0; i < lists; i++)
		cr_assert_arr_eq(p->side[1].arena + i * 4096, p->side[0].arena + i * 4096, each);
	pair_free(p);
}

/* A window could be bound to a region of any protection domain. checks W-MEM-05[1] */
Test(rxe_bugs, a_window_on_a_region_of_another_domain)
{
	struct pair *p = window_pair();
	struct roce_shard *s = p->side[1].shard;
	uint32_t pd = roce_pd_create(s);
	struct window v = window_new(p);
	struct roce_mr *mr = roce_mr_register(
		s, pd, PAIR_VA, PAIR_ARENA, p->side[1].arena, NDSH_ACCESS_LOCAL_WRITE);

	window_bind_at(p, 0, 1, &v, roce_mr_key(mr), WINDOW_AT, WINDOW_BYTES, WINDOW_RW, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_BIND_ERR);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_ERR);
	window_expect_closed(p, 1, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	cr_assert(roce_mr_deregister(s, mr), "no window is on it");
	cr_assert(roce_pd_destroy(s, pd));
	window_pair_free(p, &v);
}
