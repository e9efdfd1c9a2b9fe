/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "models/interleave.h"

#define BUFFER	    64u
#define STACK_BYTES (256u << 10)

struct pending {
	volatile void *p;
	uint64_t v;
	size_t n;
};
struct cpu {
	ucontext_t ctx;
	void *stack;
	void (*entry)(void *);
	int *asleep; /* what it waits for */
	bool done;
	struct pending buf[BUFFER]; /* oldest first */
	unsigned count;
};
static struct {
	ucontext_t scheduler;
	struct cpu cpu[2];
	int running; /* -1: no run, accesses are immediate */
	uint64_t rng;
	void *arg;
} il = {.running = -1};

static uint64_t
rand64(void)
{
	uint64_t z = il.rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ z >> 27;
}

static uint64_t
read_memory(const volatile void *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, (const void *)p, n);
	return v;
}

static void
write_memory(volatile void *p, uint64_t v, size_t n)
{
	memcpy((void *)p, &v, n);
}

static void
flush_one(struct cpu *c)
{
	write_memory(c->buf[0].p, c->buf[0].v, c->buf[0].n);
	c->count--;
	memmove(c->buf, c->buf + 1, c->count * sizeof(c->buf[0]));
}

void
il_yield(void)
{
	if (il.running >= 0)
		swapcontext(&il.cpu[il.running].ctx, &il.scheduler);
}

static struct cpu *
self(void)
{
	return il.running < 0 ? NULL : &il.cpu[il.running];
}

uint64_t
il_load(const volatile void *p, size_t n)
{
	struct cpu *c = self();

	il_yield();
	for (unsigned i = c != NULL ? c->count : 0; i-- > 0;)
		if (c->buf[i].p == p && c->buf[i].n == n)
			return c->buf[i].v;
	return read_memory(p, n);
}

void
il_store(volatile void *p, uint64_t v, size_t n)
{
	struct cpu *c = self();

	if (c == NULL) {
		write_memory(p, v, n);
		return;
	}
	il_yield();
	if (c->count == BUFFER)
		flush_one(c);
	c->buf[c->count++] = (struct pending){p, v, n};
}

static void
locked(void)
{
	struct cpu *c = self();

	il_yield();
	while (c != NULL && c->count > 0)
		flush_one(c);
}

uint64_t
il_exchange(volatile void *p, uint64_t v, size_t n)
{
	uint64_t was;

	locked();
	was = read_memory(p, n);
	write_memory(p, v, n);
	return was;
}

uint64_t
il_or(volatile void *p, uint64_t v, size_t n)
{
	uint64_t was;

	locked();
	was = read_memory(p, n);
	write_memory(p, was | v, n);
	return was;
}

bool
il_swap(volatile void *p, void *expected, uint64_t v, size_t n)
{
	uint64_t was;

	locked();
	was = read_memory(p, n);
	if (was != read_memory(expected, n)) {
		write_memory(expected, was, n);
		return false;
	}
	write_memory(p, v, n);
	return true;
}

void
il_sleep(int *wake)
{
	struct cpu *c = self();

	c->asleep = wake;
	il_yield();
	c->asleep = NULL;
	*wake = 0;
}

static void
start(void)
{
	struct cpu *c = self();

	c->entry(il.arg);
	c->done = true;
	swapcontext(&c->ctx, &il.scheduler);
}

static void
prepare(struct cpu *c, void (*entry)(void *))
{
	void *stack = c->stack != NULL ? c->stack : malloc(STACK_BYTES);

	*c = (struct cpu){.entry = entry, .stack = stack};
	getcontext(&c->ctx);
	c->ctx.uc_stack.ss_sp = stack;
	c->ctx.uc_stack.ss_size = STACK_BYTES;
	c->ctx.uc_link = NULL;
	makecontext(&c->ctx, start, 0);
}

static bool
can_run(const struct cpu *c)
{
	return !c->done && (c->asleep == NULL || *c->asleep != 0);
}

/* One choice: a processor does its next access, or its oldest store reaches memory. How long
 * stores stay behind differs from run to run. */
void
il_run(uint64_t seed, void (*first)(void *), void (*second)(void *), void *arg)
{
	unsigned laziness;

	il.rng = seed;
	il.arg = arg;
	laziness = 1 + (unsigned)(rand64() >> 32) % 30;
	prepare(&il.cpu[0], first);
	prepare(&il.cpu[1], second);
	for (;;) {
		unsigned i = rand64() >> 63;
		struct cpu *c = &il.cpu[i], *other = &il.cpu[!i];

		if (c->count > 0 && ((rand64() >> 32) % laziness == 0 || !can_run(c))) {
			flush_one(c);
		} else if (can_run(c)) {
			il.running = (int)i;
			swapcontext(&il.scheduler, &c->ctx);
			il.running = -1;
		} else if (!can_run(other) && other->count == 0) {
			return;
		}
	}
}
