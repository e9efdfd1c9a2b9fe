/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's half of a mover; ndsh_mover.h says which side writes what. */
#include "ndsh_mover.h"

#include "ndsh_shared.h"

uint32_t
ndsh_mover_staging(void)
{
	return ndsh_cq_bytes(NDSH_MOVER_DEPTH);
}
static_assert(NDSH_MOVER_DEPTH * sizeof(struct ndsh_cqe) % NDSH_CACHE_LINE == 0,
	"the staging begins with a cache line");

uint32_t
ndsh_mover_failed(void)
{
	return ndsh_mover_staging() + NDSH_MOVER_IN_BYTES +
	       NDSH_MOVER_SLOTS * NDSH_MOVER_SLOT_BYTES;
}

uint32_t
ndsh_mover_bytes(bool tells)
{
	return ndsh_mover_failed() + (tells ? NDSH_MOVER_DEPTH / 8 : 0);
}

void
ndsh_mover_view(struct ndsh_mover *m, void *base, bool tells)
{
	ndsh_cq_reader_view(&m->reader, base, NDSH_MOVER_DEPTH);
	m->staging = (uint8_t *)base + ndsh_mover_staging();
	m->failed = tells ? (void *)((uint8_t *)base + ndsh_mover_failed()) : NULL;
}

static void
command_run_atomic(const struct ndsh_mover *m, const struct ndsh_cqe *command)
{
	uint64_t *word = (uint64_t *)(uintptr_t)command->context, old;
	struct ndsh_move_atomic a;

	memcpy(&a, m->staging + command->data, sizeof(a));
	if (command->op == NDSH_MOVE_FETCH_ADD)
		old = ndsh_fetch_add(word, a.swap_add);
	else
		old = ndsh_cmp_swap(word, a.compare, a.swap_add);
	memcpy(m->staging + a.result, &old, sizeof(old));
}

void
ndsh_mover_copy_plain(const struct ndsh_mover *m, const struct ndsh_cqe *command)
{
	uint8_t *memory = (uint8_t *)(uintptr_t)command->context,
		*staging = m->staging + command->data;

	switch (command->op) {
	case NDSH_MOVE_IN:
		ndsh_place(memory, staging, command->bytes);
		break;
	case NDSH_MOVE_OUT:
		memcpy(staging, memory, command->bytes);
		break;
	case NDSH_MOVE_CMP_SWAP:
	case NDSH_MOVE_FETCH_ADD:
		command_run_atomic(m, command);
	}
}

/* Bits of older commands stand in the way of newer ones, until these are done. */
static void
command_tell(struct ndsh_mover *m, uint64_t command, bool failed)
{
	uint64_t *word = &m->failed[command % NDSH_MOVER_DEPTH / 64], was = ndsh_load64(word);
	uint64_t bit = UINT64_C(1) << command % 64;
	uint64_t is = failed ? was | bit : was & ~bit;

	if (is != was)
		ndsh_store64(word, is);
}

uint32_t
ndsh_mover_run(struct ndsh_mover *m, uint32_t n, ndsh_mover_copy *copy, void *ctx)
{
	struct ndsh_cqe command[NDSH_MOVER_BATCH];
	uint32_t done = 0, got, failed;

	do {
		uint64_t first = m->reader.taken;

		for (got = 0; got < NDSH_MOVER_BATCH && done + got < n; got++)
			if (!ndsh_cq_take(&m->reader, &command[got]))
				break;
		if (got == 0)
			break;
		failed = copy(ctx, m, command, got);
		for (uint32_t i = 0; i < got && m->failed != NULL; i++)
			command_tell(m, first + i, failed >> i & 1);
		ndsh_cq_taken(&m->reader);
		done += got;
	} while (got == NDSH_MOVER_BATCH);
	return done;
}
