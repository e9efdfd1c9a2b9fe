/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Movers: memory of a client that the daemon does not have mapped is read and written by the client
 * itself. Part of the ABI between daemon and client.
 *
 * One block per session: a completion queue, whose entries are copy commands, and staging memory. A
 * copy command means: copy from staging to memory (IN), from memory to staging (OUT), or execute an
 * atomic on a word of memory, whose operands are in the staging of IN and whose old value goes to
 * that of OUT. The client carries the commands out in their order and moves page->consumer behind
 * those that are done: this is its acknowledgement, and in this queue consumer means nothing else.
 * The queue is armed and wakes its client as any other.
 *  The daemon writes the staging of IN before the command that names it (release, with the entry's
 * last word). The client writes the memory and the staging of OUT before consumer (release; the
 * daemon loads it with acquire). A client that moves consumer too far only spoils its own
 * transfers. The daemon checks rights and alignment before it gives a command.
 *
 * A command is given before the completion of the request that it belongs to. So a client that
 * carries out all commands that it finds, and then takes the completions that were published
 * before, has done what those report.
 *
 * A command that the client can't carry out, because the memory has gone, is done all the same, and
 * its bit in failed[] says so: bit command % NDSH_MOVER_DEPTH, which the client writes for each
 * command before consumer. The daemon then fails that transfer and ends its queue pair. The
 * completion may have been made already: the command says which one it is, and the client corrects
 * it (from minor version 10 on).
 */
#ifndef NDSH_MOVER_H
#define NDSH_MOVER_H

#include <string.h>

#include "ndsh_ring.h"
#include "ndsh_shared.h"

#define NDSH_MOVER_DEPTH      1024u	 /* copy commands */
#define NDSH_MOVER_IN_BYTES   (1u << 20) /* staging of IN, a ring */
#define NDSH_MOVER_SLOTS      192u	 /* staging of OUT */
#define NDSH_MOVER_SLOT_BYTES 4096u	 /* payload of one packet */

/* ndsh_cqe.op of a copy command. context: the client's address; bytes; data: where in the staging,
 * for atomics (from minor version 7 on) that is where its operands are. */
enum {
	NDSH_MOVE_IN = 64,
	NDSH_MOVE_OUT = 65,
	NDSH_MOVE_CMP_SWAP = 66,
	NDSH_MOVE_FETCH_ADD = 67,
};

/*
 * What is not true if a copy command fails (syndrome of the entry). qp: the client's handle;
 * slot_count: of the first completion that is concerned. Of RECEIVE and REQUEST that one has failed
 * (LOC_PROT_ERR), and those of the same queue behind it are flushed; of WRITE all are flushed.
 */
enum ndsh_spoils {
	NDSH_SPOILS_NONE, /* nothing is completed before the client has carried the command out */
	NDSH_SPOILS_RECEIVE,
	NDSH_SPOILS_WRITE,   /* the peer's: completions of receives behind it */
	NDSH_SPOILS_REQUEST, /* READ, atomic */
};

struct ndsh_move_atomic { /* operands */
	uint64_t swap_add, compare;
	uint64_t result; /* where in the staging the old value goes; 8 bytes */
};

/* Bytes of the block, and where in it the staging begins: first that of IN, then the slots; behind
 * them failed[]. tells: the block has room for it. */
uint32_t ndsh_mover_bytes(bool tells);
uint32_t ndsh_mover_staging(void);
uint32_t ndsh_mover_failed(void);

struct ndsh_mover { /* client's view */
	struct ndsh_cq_reader reader;
	uint8_t *staging;
	uint64_t *failed; /* NULL: the daemon does not look */
};
void ndsh_mover_view(struct ndsh_mover *m, void *base, bool tells);

#define NDSH_MOVER_BATCH 32u
/* Carries out n commands, at most NDSH_MOVER_BATCH, in their order; returns those that it could
 * not: bit i, command i. */
typedef uint32_t ndsh_mover_copy(
	void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n);
/* Carry out at most n copy commands; returns how many. One thread at a time. The caller then passes
 * a full barrier and wakes the daemon if its session page says that it sleeps. */
uint32_t ndsh_mover_run(struct ndsh_mover *m, uint32_t n, ndsh_mover_copy *copy, void *ctx);
/* One command, by loads and stores of this thread: for memory that is certainly there. */
void ndsh_mover_copy_plain(const struct ndsh_mover *m, const struct ndsh_cqe *command);

/* Instructions of the CPU: the application may use the same ones on its word meanwhile. */
static inline uint64_t
ndsh_cmp_swap(uint64_t *word, uint64_t compare, uint64_t swap)
{
	(void)__atomic_compare_exchange_n(
		word, &compare, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return compare;
}

static inline uint64_t
ndsh_fetch_add(uint64_t *word, uint64_t add)
{
	return __atomic_fetch_add(word, add, __ATOMIC_SEQ_CST);
}

#define NDSH_PLACE_TAIL 8u

/*
 * An application without a receive to wait for polls the last bytes of what is written: they are
 * stored last, byte after byte, or as one word if they are one in memory (R-ORD-07). memcpy() alone
 * stores in any order, often the head behind the tail.
 */
static inline void
ndsh_place(uint8_t *dst, const uint8_t *src, uint32_t bytes)
{
	uint32_t i = bytes > NDSH_PLACE_TAIL ? bytes - NDSH_PLACE_TAIL : 0;
	uint64_t word;

	if (i > 0)
		memcpy(dst, src, i);
	if (bytes >= sizeof(word) && (uintptr_t)(dst + i) % sizeof(word) == 0) {
		memcpy(&word, src + i, sizeof(word));
		__atomic_store_n((ndsh_word64 *)(dst + i), word, __ATOMIC_RELEASE);
		return;
	}
	for (; i < bytes; i++)
		__atomic_store_n(&dst[i], src[i], __ATOMIC_RELEASE);
}
static_assert(NDSH_PLACE_TAIL == sizeof(uint64_t), "one word");

#endif
