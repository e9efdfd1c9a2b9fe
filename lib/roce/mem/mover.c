/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Movers: copy commands of a shard to a client whose memory it can't reach (ndsh_mover.h). They are
 * carried out in order, so one number, how many are done, answers for all of them; the staging of
 * IN commands is a ring that the same number frees. A command that failed is done, too: its bit is
 * looked at once, when the number passes it, and what it was for is remembered here. What the
 * client says concerns its own slots and queue pairs, and none else.
 */
#include "roce/mem/mover.h"

#include <string.h>

#include "base/list.h"
#include "roce/mem/moved.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_mover.h"
#include "shm/ndsh_shared.h"

#define ALIGN 64u

size_t
roce_mover_bytes(void)
{
	return sizeof(struct roce_mover);
}

struct roce_mover *
roce_mover_create(struct roce_shard *s, struct roce_client *client, void *mem, void *shared,
	bool tells, void *owner)
{
	struct roce_mover *m = mem;
	struct roce_cq *cq = roce_cq_create(s, client, shared, NDSH_MOVER_DEPTH, owner);

	if (cq == NULL)
		return NULL;
	*m = (struct roce_mover){.cq = cq, .slots = NDSH_MOVER_SLOTS};
	m->in = (uint8_t *)shared + ndsh_mover_staging();
	m->out = m->in + NDSH_MOVER_IN_BYTES;
	m->failed = tells ? (const void *)((uint8_t *)shared + ndsh_mover_failed()) : NULL;
	for (uint32_t i = 0; i < NDSH_MOVER_SLOTS; i++)
		m->slot[i] = (uint16_t)i;
	base_list_init(&m->waiting);
	return m;
}

void
roce_mover_enter(struct roce_shard *s, struct roce_mover *m)
{
	roce_line_join(s, m->cq->client, ROCE_LINE_MOVERS, &m->active);
	s->movers++;
}

static void
mover_leave(struct roce_shard *s, struct roce_mover *m)
{
	s->movers -= base_linked(&m->active);
	base_list_remove(&m->active);
}

void
roce_mover_seen(struct roce_shard *s, struct roce_mover *m)
{
	bool more = m->done != roce_mover_posted(m) || m->checks > 0;

	mover_leave(s, m);
	if (more)
		roce_mover_enter(s, m);
}

bool
roce_mover_destroy(struct roce_shard *s, struct roce_mover *m)
{
	if (m->users > 0)
		return false;
	mover_leave(s, m);
	return roce_cq_destroy(s, m->cq);
}

/* The caller made sure of the room; a queue that overruns all the same is a client that lied about
 * what it has done, and its session ends by the event of the queue. */
static void
mover_command(struct roce_shard *s, struct roce_mover *m, uint8_t op, uint64_t va, uint32_t bytes,
	uint32_t at, const struct roce_move *move)
{
	uint32_t i = roce_mover_posted(m) % NDSH_MOVER_DEPTH;

	m->in_end[i] = m->in_head;
	m->move[i] = *move;
	roce_cq_push(s, m->cq,
		&(struct ndsh_cqe){
			.context = va,
			.qp = move->of != NULL ? move->of->qp->handle : 0,
			.bytes = bytes,
			.data = at,
			.slot_count = move->slot_count,
			.syndrome = move->spoils,
			.op = op,
		});
	roce_mover_watch(s, m);
}

/* Each IN command may waste a cache line, and one a packet at the end of the ring. */
bool
roce_mover_has_room(const struct roce_mover *m, uint32_t pieces, uint32_t bytes)
{
	uint32_t most = bytes + pieces * ALIGN + ROCE_MTU_MAX;

	return roce_mover_posted(m) - m->done + pieces <= NDSH_MOVER_DEPTH &&
	       m->in_head - m->in_tail + most <= NDSH_MOVER_IN_BYTES;
}

/* Copy to the staging of IN; returns the offset. */
static uint32_t
mover_stage(struct roce_mover *m, const void *src, uint32_t bytes)
{
	uint32_t at = m->in_head % NDSH_MOVER_IN_BYTES;

	if (at + bytes > NDSH_MOVER_IN_BYTES) {
		m->in_head += NDSH_MOVER_IN_BYTES - at;
		at = 0;
	}
	m->in_head += (bytes + ALIGN - 1) & ~(ALIGN - 1);
	memcpy(m->in + at, src, bytes);
	return at;
}

void
roce_mover_in(struct roce_shard *s, struct roce_mover *m, uint64_t va, const uint8_t *src,
	uint32_t bytes, const struct roce_move *move)
{
	uint32_t at = mover_stage(m, src, bytes);

	mover_command(s, m, NDSH_MOVE_IN, va, bytes, at, move);
}

uint32_t
roce_mover_next_slot(struct roce_mover *m)
{
	uint32_t slot = m->slot[m->slots - 1];

	m->fill[slot].since = roce_mover_posted(m);
	m->fill[slot].lost = false;
	return slot;
}

void
roce_mover_atomic(struct roce_shard *s, struct roce_mover *m, const struct roce_pkt *pkt,
	uint64_t va, uint32_t slot)
{
	const struct ndsh_move_atomic a = {.swap_add = pkt->swap_add,
		.compare = pkt->compare,
		.result = NDSH_MOVER_IN_BYTES + slot * NDSH_MOVER_SLOT_BYTES};
	uint8_t op = pkt->opcode == ROCE_CMP_SWAP ? NDSH_MOVE_CMP_SWAP : NDSH_MOVE_FETCH_ADD;
	uint32_t at = mover_stage(m, &a, sizeof(a));

	mover_command(
		s, m, op, va, sizeof(uint64_t), at, &(struct roce_move){.slot = (uint16_t)slot});
}

void
roce_mover_out(struct roce_shard *s, struct roce_mover *m, uint64_t va, uint32_t bytes,
	uint32_t slot, uint32_t at)
{
	mover_command(s, m, NDSH_MOVE_OUT, va, bytes,
		NDSH_MOVER_IN_BYTES + slot * NDSH_MOVER_SLOT_BYTES + at,
		&(struct roce_move){.slot = (uint16_t)slot});
}

static void
command_failed(struct roce_mover *m, uint64_t command)
{
	const struct roce_move *move = &m->move[command % NDSH_MOVER_DEPTH];

	if (move->of != NULL)
		roce_moved_lose(m, move, command);
	else if (command >= m->fill[move->slot].since)
		m->fill[move->slot].lost = true;
}

/* The commands from m->done on, up to done, have been passed; at most NDSH_MOVER_DEPTH. */
static void
mover_read_failures(struct roce_mover *m, uint64_t done)
{
	uint64_t from = m->done, to, word;

	for (; from < done; from = to) {
		to = (from | 63) + 1 < done ? (from | 63) + 1 : done;
		word = ndsh_load64(&m->failed[from % NDSH_MOVER_DEPTH / 64]) >> from % 64;
		if (to - from < 64)
			word &= (UINT64_C(1) << (to - from)) - 1;
		for (; word != 0; word &= word - 1)
			command_failed(m, from + (unsigned)__builtin_ctzll(word));
	}
}

bool
roce_mover_poll(struct roce_mover *m)
{
	uint64_t done = __atomic_load_n(&m->cq->ring.page->consumer, __ATOMIC_ACQUIRE);

	if (done == m->done || done - m->done > roce_mover_posted(m) - m->done)
		return false;
	if (m->failed != NULL)
		mover_read_failures(m, done);
	m->done = done;
	m->in_tail = m->in_end[(done - 1) % NDSH_MOVER_DEPTH];
	m->checks = m->waiters;
	return true;
}

struct roce_moved *
roce_mover_waiter(struct roce_mover *m)
{
	struct base_link *l;

	if (m->checks == 0)
		return NULL;
	m->checks--;
	l = base_list_first(&m->waiting);
	return l != NULL ? base_container(l, struct roce_moved, waiting) : NULL;
}

static bool
client_movers_rest(const struct roce_line *own)
{
	const struct base_link *l;

	for (l = own->items.next; l != &own->items; l = l->next) {
		const struct roce_mover *m = base_container(l, struct roce_mover, active);

		if (m->checks > 0 ||
			__atomic_load_n(&m->cq->ring.page->consumer, __ATOMIC_SEQ_CST) != m->done)
			return false;
	}
	return true;
}

bool
roce_shard_movers_rest(const struct roce_shard *s)
{
	const struct base_link *lines = &s->line[ROCE_LINE_MOVERS], *p, *c;

	for (p = lines->next; p != lines; p = p->next) {
		const struct roce_line *all = base_container(p, struct roce_line, link);

		for (c = all->items.next; c != &all->items; c = c->next)
			if (!client_movers_rest(base_container(c, struct roce_line, link)))
				return false;
	}
	return true;
}
