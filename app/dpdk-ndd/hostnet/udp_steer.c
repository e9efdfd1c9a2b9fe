/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/udp_steer.h"

#include <assert.h>
#include <linux/filter.h>

#include "lcore/handover.h"
#include "wire/protocol.h"

#define ROUNDS	  4u /* of roce_qpn_place() */
#define HALF_BITS 12u
#define HALF_MASK 0xfffu
#define QPN_AT	  4u /* of a BTH: a reserved byte, and the number */
static_assert(sizeof(((struct roce_qpn_key *)0)->mul) == ROUNDS * sizeof(uint64_t), "one for each");
static_assert(ROCE_PLACE_SHARD_SHIFT >= HALF_BITS, "the left half has the shard");
static_assert(NDD_IO_OWNER == 0, "what can't be read has this result, too");

/* Words of the program's memory. */
enum word { HALF_A, HALF_B, LOW, MIDDLE, HIGH, SQUARE };

struct program {
	struct sock_filter *f;
	uint16_t n;
};

static void
instruction_put(struct program *p, uint16_t code, uint32_t k)
{
	p->f[p->n++] = (struct sock_filter){.code = code, .k = k};
}

static void
jump_put(struct program *p, uint16_t kind, uint32_t k, uint8_t yes, uint8_t no)
{
	p->f[p->n++] = (struct sock_filter){
		.code = (uint16_t)(BPF_JMP | kind | BPF_K), .jt = yes, .jf = no, .k = k};
}

/* A = A op k */
static void
number_put(struct program *p, uint16_t op, uint32_t k)
{
	instruction_put(p, (uint16_t)(BPF_ALU | op | BPF_K), k);
}

/* A = A op word */
static void
word_put(struct program *p, uint16_t op, enum word w)
{
	instruction_put(p, BPF_LDX | BPF_MEM, w);
	instruction_put(p, (uint16_t)(BPF_ALU | op | BPF_X), 0);
}

static void
load_put(struct program *p, enum word w)
{
	instruction_put(p, BPF_LD | BPF_MEM, w);
}

static void
store_put(struct program *p, enum word w)
{
	instruction_put(p, BPF_ST, w);
}

/*
 * x = half * mul + add, 64 bits: 16 bits each in LOW and MIDDLE, and 32 in HIGH. half has 12 bits,
 * so that no sum of the lower ones leaves 32.
 */
static void
line_put(struct program *p, enum word half, uint64_t mul, uint64_t add)
{
	load_put(p, half);
	number_put(p, BPF_MUL, mul & 0xffff);
	number_put(p, BPF_ADD, add & 0xffff);
	store_put(p, LOW);
	number_put(p, BPF_RSH, 16);
	store_put(p, MIDDLE);
	load_put(p, half);
	number_put(p, BPF_MUL, mul >> 16 & 0xffff);
	number_put(p, BPF_ADD, add >> 16 & 0xffff);
	word_put(p, BPF_ADD, MIDDLE);
	store_put(p, MIDDLE);
	number_put(p, BPF_RSH, 16);
	store_put(p, HIGH);
	load_put(p, half);
	number_put(p, BPF_MUL, (uint32_t)(mul >> 32));
	number_put(p, BPF_ADD, (uint32_t)(add >> 32));
	word_put(p, BPF_ADD, HIGH);
	store_put(p, HIGH);
	load_put(p, LOW);
	number_put(p, BPF_AND, 0xffff);
	store_put(p, LOW);
	load_put(p, MIDDLE);
	number_put(p, BPF_AND, 0xffff);
	store_put(p, MIDDLE);
}

/*
 * Of x * x the upper half of 64 bits, into A. With x = HIGH << 32 | l that is 2 * HIGH * l, and the
 * upper half of l * l. With l = MIDDLE << 16 | LOW the latter is MIDDLE * MIDDLE, and what
 * 2 * MIDDLE * LOW carries there: halved, as it has 33 bits.
 */
static void
square_put(struct program *p)
{
	load_put(p, MIDDLE);
	number_put(p, BPF_LSH, 16);
	word_put(p, BPF_OR, LOW);
	word_put(p, BPF_MUL, HIGH);
	number_put(p, BPF_LSH, 1);
	store_put(p, HIGH);
	load_put(p, LOW);
	word_put(p, BPF_MUL, LOW);
	number_put(p, BPF_RSH, 17);
	store_put(p, SQUARE);
	load_put(p, LOW);
	word_put(p, BPF_MUL, MIDDLE);
	word_put(p, BPF_ADD, SQUARE);
	number_put(p, BPF_RSH, 15);
	word_put(p, BPF_ADD, HIGH);
	store_put(p, HIGH);
	load_put(p, MIDDLE);
	word_put(p, BPF_MUL, MIDDLE);
	word_put(p, BPF_ADD, HIGH);
}

/* One round: right ^= the upper bits of the square, for the left half. The halves change places. */
static void
round_put(struct program *p, enum word left, enum word right, uint64_t mul, uint64_t add)
{
	line_put(p, left, mul, add);
	square_put(p);
	number_put(p, BPF_RSH, 32 - HALF_BITS);
	word_put(p, BPF_XOR, right);
	store_put(p, right);
}

/* The number's halves; those that name no queue pair end here. */
static void
halves_put(struct program *p)
{
	instruction_put(p, BPF_LD | BPF_W | BPF_ABS, QPN_AT);
	number_put(p, BPF_AND, ROCE_QPN_MASK);
	jump_put(p, BPF_JEQ, ROCE_QPN_GSI, 1, 0);
	jump_put(p, BPF_JEQ, ROCE_QPN_MULTICAST, 0, 1);
	instruction_put(p, BPF_RET | BPF_K, NDD_IO_OWNER);
	instruction_put(p, BPF_MISC | BPF_TAX, 0);
	number_put(p, BPF_RSH, HALF_BITS);
	store_put(p, HALF_A);
	instruction_put(p, BPF_MISC | BPF_TXA, 0);
	number_put(p, BPF_AND, HALF_MASK);
	store_put(p, HALF_B);
}

uint16_t
ndd_udp_steer(struct sock_filter *f, const struct roce_qpn_key *key, uint32_t shards)
{
	struct program p = {.f = f};

	static_assert(ROUNDS % 2 == 0, "the left half is where it was");
	halves_put(&p);
	for (uint32_t i = ROUNDS; i-- > 0;)
		round_put(&p, i % 2 != 0 ? HALF_A : HALF_B, i % 2 != 0 ? HALF_B : HALF_A,
			key->mul[i], key->add[i]);
	load_put(&p, HALF_A);
	number_put(&p, BPF_RSH, ROCE_PLACE_SHARD_SHIFT - HALF_BITS);
	jump_put(&p, BPF_JGE, shards, 0, 1);
	instruction_put(&p, BPF_RET | BPF_K, NDD_IO_OWNER);
	instruction_put(&p, BPF_RET | BPF_A, 0);
	return p.n;
}
