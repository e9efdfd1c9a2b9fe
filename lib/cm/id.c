/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/siphash.h"
#include "cm/id.h"
#include "cm/manager.h"
#include "cm/table.h"

/* Eight rounds of Luby and Rackoff: with halves of 16 bits four are proven for some hundreds of
 * numbers only, and a connection takes two of them. */
#define ID_ROUNDS 8u

/* What is permuted: the words make the same counter two numbers that have nothing in common. */
enum id_kind { ID_COMM = 0x636f6d6d, ID_TRANSACTION = 0x74726e73 };

/* A keyed permutation of 32 bits: a number repeats only after all others were used, and those that
 * were seen tell nothing of the next. */
static uint32_t
id_permute(const struct roce_cm *cm, enum id_kind kind, uint32_t x)
{
	uint32_t left = x >> 16, right = x & 0xffff;

	for (uint32_t round = 0; round < ID_ROUNDS; round++) {
		const uint64_t f =
			ndsh_siphash(cm->cfg.secret, (uint64_t)kind << 32 | round, right);
		const uint32_t next = left ^ (uint32_t)(f & 0xffff);

		left = right;
		right = next;
	}
	return left << 16 | right;
}

uint32_t
cm_new_id(struct roce_cm *cm)
{
	uint32_t id;

	do {
		id = id_permute(cm, ID_COMM, cm->next_id++);
	} while (id == 0 || cm_find_local_id(cm, id) != NULL);
	return id;
}

/* The low half is the id's, as Linux has it; a DREQ's differs from the REQ's in the high one. */
uint64_t
cm_new_tid(struct roce_cm *cm, uint32_t local_id)
{
	return (uint64_t)id_permute(cm, ID_TRANSACTION, cm->next_tid++) << 32 | local_id;
}
