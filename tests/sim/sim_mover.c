/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that only its client can reach: a share of the regions. The client's mover carries out
 * copy commands at a pace of its own, sleeps when there are none and stalls now and then; and, as
 * the library does, all of them before it looks at completions.
 */
#include <sys/mman.h>

#include "roce/mem/mover.h"
#include "sim.h"
#include "sim_kind.h"

#define POOL_AT	     UINT64_C(0x300000000000)
#define POOL_BYTES   (UINT64_C(64) << 20)
#define STALL_MAX_NS (2 * SIM_MS) /* far less than a peer's patience */
#define PIECE	     4096u

/* Copy commands name real addresses, and peers see them: they must be the same in each run. */
static uint8_t *
pool(struct sim_world *w)
{
	static uint8_t *at;
	void *p;

	if (at != NULL)
		return at;
	p = mmap((void *)POOL_AT, POOL_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	sim_check(w, p == (void *)POOL_AT, "no room at the address of memory behind movers");
	return at = p;
}

void *
sim_mover_alloc(struct sim_world *w, uint32_t bytes)
{
	uint64_t at = w->far_used + 8 * sim_below(w, 4096 / 8);

	w->far_used = (at + bytes + 4095) & ~UINT64_C(4095);
	sim_check(w, w->far_used <= POOL_BYTES, "no memory left for movers");
	return pool(w) + at;
}

void
sim_mover_init(struct sim_client *c)
{
	struct sim_mover *m = &c->mover;
	void *shared;

	m->next_ns = SIM_NEVER;
	if (!sim_chance(c->w, 5000) || c->wakeups.limit != 0)
		return; /* one that is woken late places late, and its peers give up */
	shared = sim_alloc(c->w, ndsh_mover_bytes(true));
	m->client = c;
	m->engine = roce_mover_create(
		c->shard->s, &c->engine, sim_alloc(c->w, roce_mover_bytes()), shared, true, m);
	sim_check(c->w, m->engine != NULL, "roce_mover_create()");
	ndsh_mover_view(&m->commands, shared, true);
	m->share = (unsigned)sim_below(c->w, 10001);
	m->pace_ns = 20 << sim_below(c->w, 8);
	m->next_ns = c->w->now_ns;
}

void
sim_mover_destroy(struct sim_mover *m)
{
	if (m->engine != NULL)
		sim_check(m->client->w, roce_mover_destroy(m->client->shard->s, m->engine),
			"a mover is still in use");
}

static uint32_t
copy_all(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (sim_loss_copy(ctx, &commands[i]))
			failed |= 1u << i;
		else
			ndsh_mover_copy_plain(m, &commands[i]);
	}
	return failed;
}

/* Returns how many copy commands were done, at most n. */
static uint32_t
carry_out(struct sim_mover *m, uint32_t n)
{
	struct sim_client *c = m->client;
	uint32_t done = ndsh_mover_run(&m->commands, n, copy_all, c);

	if (done == 0)
		return 0;
	sim_progress(c->w);
	ndsh_full_barrier();
	if (__atomic_load_n(&c->session->asleep, __ATOMIC_RELAXED) != 0)
		sim_shard_wake(c->shard, c->w->now_ns + 100);
	return done;
}

void
sim_mover_finish(struct sim_client *c)
{
	if (c->mover.engine != NULL)
		carry_out(&c->mover, UINT32_MAX);
}

void
sim_mover_wake(struct sim_mover *m)
{
	struct sim_world *w = m->client->w;

	sim_check(w, m->asleep, "wake-up of a mover that did not sleep");
	m->asleep = false;
	m->next_ns = w->now_ns + 200;
}

/* As other queue pairs of the client would that receive more than it takes: for a while nothing can
 * be staged. */
static void
fill(struct sim_mover *m)
{
	static const uint8_t bytes[PIECE];
	struct sim_client *c = m->client;

	if (m->spare == NULL)
		m->spare = sim_mover_alloc(c->w, PIECE);
	while (roce_mover_has_room(m->engine, 1, PIECE))
		roce_mover_in(c->shard->s, m->engine, (uintptr_t)m->spare, bytes, PIECE,
			&(struct roce_move){0});
	sim_shard_wake(c->shard, c->w->now_ns);
	sim_kind(SIM_KIND_full_staging);
}

/* Its time has come. */
void
sim_mover_run(struct sim_mover *m)
{
	struct sim_world *w = m->client->w;
	uint32_t most = 1 + (uint32_t)sim_below(w, 16);
	enum ndsh_arm before;

	if (sim_chance(w, 50)) {
		w->stalls++;
		if (sim_chance(w, 1000))
			fill(m);
		m->next_ns = w->now_ns + sim_below(w, STALL_MAX_NS);
		return;
	}
	m->next_ns = w->now_ns + 1 + sim_below(w, most * m->pace_ns);
	if (carry_out(m, most) == most ||
		ndsh_cq_arm(&m->commands.reader, NDSH_ARM_ANY, &before) != NDSH_ARMED)
		return;
	m->asleep = true;
	m->next_ns = SIM_NEVER;
}

/* Published commands without a wake-up would wait for ever. */
void
sim_mover_check(const struct sim_mover *m)
{
	const struct ndsh_cq_reader *r = &m->commands.reader;

	if (m->asleep)
		sim_check(m->client->w, r->page->produced <= r->taken, "a mover sleeps on orders");
}

bool
sim_mover_is_full(const struct sim_mover *m)
{
	return m->engine != NULL &&
	       !roce_mover_has_room(m->engine, NDSH_SGE_MAX, NDSH_GRH_BYTES + SIM_MTU_MAX);
}
