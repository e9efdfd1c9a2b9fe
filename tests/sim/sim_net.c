/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on their way. A link is first in, first out; reordering is a fault like the others. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "sim_cc.h"

static bool
earlier(const struct sim_frame *a, const struct sim_frame *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->seq < b->seq;
}

static void
heap_put(struct sim_net *n, struct sim_frame *f)
{
	unsigned i = n->count++;

	if (n->count > n->room) {
		n->room = n->room ? 2 * n->room : 256;
		n->heap = realloc(n->heap, n->room * sizeof(*n->heap));
		if (n->heap == NULL)
			abort();
	}
	for (; i > 0 && earlier(f, n->heap[(i - 1) / 2]); i = (i - 1) / 2)
		n->heap[i] = n->heap[(i - 1) / 2];
	n->heap[i] = f;
}

static struct sim_frame *
heap_take(struct sim_net *n)
{
	struct sim_frame *top = n->heap[0], *last = n->heap[--n->count];
	unsigned i = 0, child;

	while ((child = 2 * i + 1) < n->count) {
		if (child + 1 < n->count && earlier(n->heap[child + 1], n->heap[child]))
			child++;
		if (!earlier(n->heap[child], last))
			break;
		n->heap[i] = n->heap[child];
		i = child;
	}
	if (n->count > 0)
		n->heap[i] = last;
	return top;
}

/* The host that has that MAC address now, or that had it last. */
static struct sim_host *
destination(struct sim_world *w, const uint8_t *frame)
{
	struct sim_host *h = NULL;

	for (unsigned i = 0; i < w->n_hosts; i++)
		if (memcmp(frame, w->hosts[i].mac, 6) == 0)
			h = &w->hosts[i];
	return h;
}

/* An address that some host had before: it has another one now. */
static bool
is_old(const struct sim_world *w, const uint8_t *frame)
{
	for (unsigned i = 0; i < w->n_hosts && w->moved_macs; i++)
		if (memcmp(frame, w->hosts[i].mac, 5) == 0)
			return true;
	return false;
}

/* Only datagrams go to addresses that no host ever had. */
static bool
is_nobody(const struct sim_world *w, const uint8_t *frame)
{
	const struct roce_path p = sim_path_to(&w->hosts[0], frame[4], false);

	return w->n_uds > 0 && frame[4] <= SIM_ADDRESSES && memcmp(frame, p.dmac, 6) == 0;
}

struct sim_frame *
sim_frame_new(const uint8_t *frame, uint32_t bytes)
{
	struct sim_frame *f = malloc(sizeof(*f) + bytes);

	if (f == NULL)
		abort();
	*f = (struct sim_frame){.bytes = bytes};
	if (frame != NULL)
		memcpy(f->data, frame, bytes);
	return f;
}

static void
enqueue(struct sim_world *w, unsigned to, const uint8_t *frame, uint32_t bytes, uint64_t at_ns)
{
	struct sim_frame *f = sim_frame_new(frame, bytes);
	const struct sim_profile *p = w->profile;

	f->at_ns = at_ns;
	f->seq = w->net.seq++;
	f->to = to;
	if (p->marks > 0)
		sim_cc_mark(w, f);
	if (sim_chance(w, p->corrupt)) {
		unsigned bits = 1 + (unsigned)sim_below(w, 8);

		for (; bits > 0; bits--) {
			uint64_t bit = 8 * 12 + sim_below(w, (uint64_t)(bytes - 12) * 8);

			f->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		f->damaged = true;
		w->net.corrupted++;
		sim_note(w, "net: frame %lu corrupted", (unsigned long)f->seq);
	}
	if (sim_chance(w, p->cut)) {
		f->bytes = (uint32_t)sim_below(w, bytes);
		f = realloc(f, sizeof(*f) + f->bytes);
		if (f == NULL)
			abort();
		f->damaged = true;
		w->net.corrupted++;
		sim_note(w, "net: frame %lu cut to %u bytes", (unsigned long)f->seq, f->bytes);
	}
	heap_put(&w->net, f);
}

static bool
is_lost(struct sim_world *w)
{
	struct sim_net *n = &w->net;

	if (w->profile->outages && w->now_ns >= n->outage_to_ns && sim_chance(w, 10)) {
		n->outage_from_ns = w->now_ns;
		n->outage_to_ns = w->now_ns + sim_below(w, 30 * SIM_MS);
		sim_note(w, "net: outage of %lu us",
			(unsigned long)((n->outage_to_ns - w->now_ns) / SIM_US));
	}
	return (w->now_ns >= n->outage_from_ns && w->now_ns < n->outage_to_ns) ||
	       sim_chance(w, w->profile->loss);
}

/* Whose frame it is, as far as its fate goes: that of an end of a connection has nothing to do with
 * how many frames others send. */
static uint32_t
sender(const struct sim_world *w, const uint8_t *frame, uint32_t bytes)
{
	struct roce_pkt pkt;

	if (roce_wire_parse(frame, bytes, &pkt) != ROCE_WIRE_OK)
		return w->draws.actor;
	for (unsigned i = 0; i < 2 * w->n_conns; i++) {
		const struct sim_ep *ep = &w->conns[i / 2].ep[i % 2];

		if (ep->qpn == pkt.qpn)
			return sim_ep_actor(ep->peer);
	}
	return w->draws.actor;
}

/* to: the host that the frame is for, or NULL. */
static void
meet_fate(struct sim_world *w, unsigned from, struct sim_host *to, const uint8_t *frame,
	uint32_t bytes)
{
	const struct sim_profile *p = w->profile;
	struct sim_net *n = &w->net;
	uint64_t at;

	if (to == NULL || is_lost(w)) {
		n->lost++;
		sim_note(w, "net: frame of host %u lost", from);
		return;
	}
	/* Jitter delays the link as a whole, so order stays. */
	n->link_free_ns[from] += sim_below(w, p->jitter_ns / 16 + 1);
	at = n->link_free_ns[from] + 1000 + p->jitter_ns;
	if (sim_chance(w, p->reorder)) {
		at += sim_below(w, p->straggle_ns + 1);
		n->reordered++;
		sim_note(w, "net: frame %lu late", (unsigned long)n->seq);
	}
	if (sim_chance(w, p->dup)) {
		n->duplicated++;
		sim_note(w, "net: frame %lu duplicated", (unsigned long)n->seq);
		enqueue(w, to->number, frame, bytes, at + sim_below(w, p->straggle_ns + 1));
	}
	enqueue(w, to->number, frame, bytes, at);
}

static void
send(struct sim_world *w, unsigned from, const uint8_t *frame, uint32_t bytes)
{
	struct sim_net *n = &w->net;
	struct sim_host *to = destination(w, frame);
	uint64_t start;

	sim_check(w,
		to != NULL || sim_group_frame(frame) || is_nobody(w, frame) || is_old(w, frame),
		"host %u sends to an unknown MAC address", from);
	n->sent++;
	sim_hash(w, (uint64_t)roce_crc32(0, frame, bytes) << 32 | bytes << 4 | from);
	start = w->now_ns > n->link_free_ns[from] ? w->now_ns : n->link_free_ns[from];
	n->link_free_ns[from] = start + (bytes / 64 + 1) * n->ns_per_64_bytes;
	if (!sim_group_frame(frame)) {
		meet_fate(w, from, to, frame, bytes);
		return;
	}
	for (unsigned i = 0; i < w->n_hosts; i++)
		if (i != from)
			meet_fate(w, from, &w->hosts[i], frame, bytes);
}

void
sim_net_send(struct sim_world *w, unsigned from, const uint8_t *frame, uint32_t bytes)
{
	uint32_t was = sim_actor_set(w, sender(w, frame, bytes));

	send(w, from, frame, bytes);
	sim_actor_set(w, was);
}

void
sim_net_late(struct sim_world *w, unsigned to, const struct sim_frame *f, uint64_t late_ns)
{
	w->net.reordered++;
	enqueue(w, to, f->data, f->bytes, w->now_ns + 1000 + late_ns);
}

uint64_t
sim_net_next(const struct sim_world *w)
{
	return w->net.count > 0 ? w->net.heap[0]->at_ns : SIM_NEVER;
}

void
sim_net_deliver(struct sim_world *w)
{
	while (w->net.count > 0 && w->net.heap[0]->at_ns <= w->now_ns) {
		struct sim_frame *f = heap_take(&w->net);
		struct sim_host *h = &w->hosts[f->to];

		while (h->successor != NULL)
			h = h->successor;
		if (h->dead) {
			w->net.lost++;
			free(f);
			continue;
		}
		(void)sim_ring_put(&h->port, f); /* it has no limit */
		w->net.delivered++;
		sim_shard_wake(&h->shard[SIM_IO_OWNER], w->now_ns);
	}
}

void
sim_net_free(struct sim_world *w)
{
	for (unsigned i = 0; i < w->net.count; i++)
		free(w->net.heap[i]);
	free(w->net.heap);
}
