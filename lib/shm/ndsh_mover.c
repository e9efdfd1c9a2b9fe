/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's half of a mover; ndsh_mover.h says which side writes what. */
#include "ndsh_mover.h"

#include "ndsh_shared.h"

uint32_t
ndsh_mover_staging(void)
{
	return (ndsh_cq_bytes(NDSH_MOVER_DEPTH) + NDSH_CACHE_LINE - 1) & ~(NDSH_CACHE_LINE - 1);
}

uint32_t
ndsh_mover_bytes(void)
{
	return ndsh_mover_staging() + NDSH_MOVER_IN_BYTES +
	       NDSH_MOVER_SLOTS * NDSH_MOVER_SLOT_BYTES;
}

void
ndsh_mover_view(struct ndsh_mover *m, void *base)
{
	ndsh_cq_reader_view(&m->reader, base, NDSH_MOVER_DEPTH);
	m->staging = (uint8_t *)base + ndsh_mover_staging();
}

static void
command_run_atomic(const struct ndsh_mover *m, const struct ndsh_cqe *command)
{
	uint64_t *word = (uint64_t *)(uintptr_t)command->context, old;
	struct ndsh_move_atomic a;

	memcpy(&a, m->staging + command->data, sizeof(a));
	if (command->op == NDSH_MOVE_CMP_SWAP)
		old = ndsh_cmp_swap(word, a.compare, a.swap_add);
	else
		old = ndsh_fetch_add(word, a.swap_add);
	memcpy(m->staging + a.result, &old, sizeof(old));
}

/* Addresses are those that the application registered: if one is no longer mapped, that is a fault
 * of the application, as if it had touched the memory itself. */
static void
command_run(const struct ndsh_mover *m, const struct ndsh_cqe *command)
{
	uint8_t *memory = (uint8_t *)(uintptr_t)command->context,
		*staging = m->staging + command->data;

	if (command->op == NDSH_MOVE_IN)
		ndsh_place(memory, staging, command->bytes);
	else if (command->op == NDSH_MOVE_OUT)
		memcpy(staging, memory, command->bytes);
	else if (command->op == NDSH_MOVE_CMP_SWAP || command->op == NDSH_MOVE_FETCH_ADD)
		command_run_atomic(m, command);
}

uint32_t
ndsh_mover_run(struct ndsh_mover *m, uint32_t n)
{
	struct ndsh_cqe command;
	uint32_t done = 0;

	while (done < n && ndsh_cq_take(&m->reader, &command)) {
		command_run(m, &command);
		done++;
	}
	if (done > 0)
		ndsh_cq_taken(&m->reader);
	return done;
}
