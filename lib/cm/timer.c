/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deadlines are in a binary heap: thousands of connections, and the next deadline is always at
 * hand.
 */
#include "cm/manager.h"
#include "cm/timer.h"

static void
heap_place(struct roce_cm *cm, uint32_t i, struct roce_cm_conn *c)
{
	cm->heap[i] = c;
	c->timer_pos = i + 1;
}

static void
heap_up(struct roce_cm *cm, uint32_t i, struct roce_cm_conn *c)
{
	for (; i > 0; i = (i - 1) / 2) {
		struct roce_cm_conn *parent = cm->heap[(i - 1) / 2];

		if (parent->deadline_ns <= c->deadline_ns)
			break;
		heap_place(cm, i, parent);
	}
	heap_place(cm, i, c);
}

static void
heap_down(struct roce_cm *cm, uint32_t i, struct roce_cm_conn *c)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= cm->heap_n)
			break;
		if (child + 1 < cm->heap_n &&
			cm->heap[child + 1]->deadline_ns < cm->heap[child]->deadline_ns)
			child++;
		if (c->deadline_ns <= cm->heap[child]->deadline_ns)
			break;
		heap_place(cm, i, cm->heap[child]);
		i = child;
	}
	heap_place(cm, i, c);
}

void
cm_timer_cancel(struct roce_cm *cm, struct roce_cm_conn *c)
{
	const uint32_t i = c->timer_pos - 1;
	struct roce_cm_conn *last;

	if (c->timer_pos == 0)
		return;
	c->timer_pos = 0;
	last = cm->heap[--cm->heap_n];
	if (last == c)
		return;
	heap_up(cm, i, last);
	heap_down(cm, last->timer_pos - 1, last);
}

void
cm_timer_set(struct roce_cm *cm, struct roce_cm_conn *c, uint64_t deadline_ns)
{
	cm_timer_cancel(cm, c);
	c->deadline_ns = deadline_ns;
	heap_up(cm, cm->heap_n++, c);
}

uint64_t
roce_cm_next_deadline(const struct roce_cm *cm)
{
	return cm->heap_n > 0 ? cm->heap[0]->deadline_ns : UINT64_MAX;
}

/* 4.096 us * 2^code, as Linux rounds it (cm_convert_to_ms() in drivers/infiniband/core/cm.c); at
 * most what an MRA of ours asks. */
uint64_t
cm_code_ns(uint32_t code)
{
	if (code > CM_SERVICE_TIMEOUT)
		code = CM_SERVICE_TIMEOUT;
	return CM_MS << (code > 8 ? code - 8 : 0);
}

/* W-CM-52. The code is the peer's word: neither a moment nor hours. */
uint64_t
cm_timewait_ns(uint8_t ack_timeout)
{
	if (ack_timeout < 16)
		ack_timeout = 16;
	return cm_code_ns(ack_timeout < 20 ? ack_timeout : 20);
}
