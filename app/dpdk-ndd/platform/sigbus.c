/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which guard a page belongs to is found as a processor finds a page: by an index into a table of
 * tables. So the handler takes no lock, searches nothing, and is right at any moment of an update;
 * and guards are not from a pool of which a client could take the last.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/sigbus.h"
#include "ethdev/ethdev.h"
#include "memif/memif.h"

#define ADDRESS_BITS 48u /* of user space */
#define TABLE_BITS   30u /* of an address, that a table covers */
#define PAGE_BITS    12u
#define PAGE_BYTES   ((uintptr_t)1 << PAGE_BITS)
#define TABLES	     (1u << (ADDRESS_BITS - TABLE_BITS))
#define TABLE_PAGES  (1u << (TABLE_BITS - PAGE_BITS))

struct guard {
	uintptr_t base, end;
	uintptr_t low, high; /* missing pages lie in [low, high); 0: none */
};

struct table {
	struct guard *of_page[TABLE_PAGES];
};

/* Tables stay: the same addresses are mapped again and again. */
static struct table *tables[TABLES];
static uint32_t happened;

/* The entry of a page, or NULL: it never had a guard. */
static struct guard **
entry_of(uintptr_t addr)
{
	struct table *t = NULL;

	if (addr >> ADDRESS_BITS == 0)
		t = __atomic_load_n(&tables[addr >> TABLE_BITS], __ATOMIC_ACQUIRE);
	return t == NULL ? NULL : &t->of_page[(addr >> PAGE_BITS) % TABLE_PAGES];
}

static struct guard *
guard_of(uintptr_t addr)
{
	struct guard **entry = entry_of(addr);

	return entry == NULL ? NULL : __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

/* Several threads may be here at once. */
static void
loss_widen(struct guard *g, uintptr_t page)
{
	uintptr_t low = __atomic_load_n(&g->low, __ATOMIC_RELAXED);
	uintptr_t high = __atomic_load_n(&g->high, __ATOMIC_RELAXED);

	while ((low == 0 || page < low) && !__atomic_compare_exchange_n(&g->low, &low, page, false,
						   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	while (page + PAGE_BYTES > high &&
		!__atomic_compare_exchange_n(&g->high, &high, page + PAGE_BYTES, false,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(PAGE_BYTES - 1);
	struct guard *g = guard_of(page);

	(void)context;
	if (g != NULL && mmap((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
		loss_widen(g, page);
		__atomic_store_n(&happened, 1, __ATOMIC_RELEASE);
		return;
	}
	if (memif_memory_restore((uintptr_t)info->si_addr) ||
		ethdev_memory_restore((uintptr_t)info->si_addr))
		return;
	/* Neither a client's memory nor a peer's: our own fault, with a core dump. */
	signal(sig, SIG_DFL);
	raise(sig);
}

bool
ndd_sigbus_install(void)
{
	struct sigaction sa;

	if (sysconf(_SC_PAGESIZE) != (long)PAGE_BYTES)
		return false;
	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_sigbus;
	sa.sa_flags = SA_SIGINFO;
	sigemptyset(&sa.sa_mask);
	return sigaction(SIGBUS, &sa, NULL) == 0;
}

/* Two threads may want the same one. */
static bool
table_need(uintptr_t addr)
{
	struct table **at = &tables[addr >> TABLE_BITS], *t, *none = NULL;

	if (__atomic_load_n(at, __ATOMIC_ACQUIRE) != NULL)
		return true;
	t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t == MAP_FAILED)
		return false;
	if (!__atomic_compare_exchange_n(at, &none, t, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		munmap(t, sizeof(*t));
	return true;
}

/* Each page from g's first to its last belongs to value. */
static void
pages_set(const struct guard *g, struct guard *value)
{
	for (uintptr_t at = g->base; at < g->end; at += PAGE_BYTES)
		__atomic_store_n(entry_of(at), value, __ATOMIC_RELEASE);
}

bool
ndd_sigbus_guard(void *base, size_t bytes)
{
	const uintptr_t end_of_space = (uintptr_t)1 << ADDRESS_BITS, first = (uintptr_t)base;
	struct guard *g;

	if (bytes == 0 || bytes > end_of_space || first > end_of_space - bytes)
		return false;
	for (uintptr_t at = first >> TABLE_BITS; at <= (first + bytes - 1) >> TABLE_BITS; at++)
		if (!table_need(at << TABLE_BITS))
			return false;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return false;
	g->base = first & ~(PAGE_BYTES - 1);
	g->end = first + bytes;
	pages_set(g, g);
	return true;
}

void
ndd_sigbus_unguard(void *base)
{
	struct guard *g = guard_of((uintptr_t)base);

	if (g == NULL)
		return;
	pages_set(g, NULL);
	free(g);
}

bool
ndd_sigbus_broken(const void *base, uintptr_t *low, uintptr_t *high)
{
	const struct guard *g = guard_of((uintptr_t)base);

	if (g == NULL)
		return false;
	*high = __atomic_load_n(&g->high, __ATOMIC_ACQUIRE);
	*low = __atomic_load_n(&g->low, __ATOMIC_RELAXED);
	return *high != 0;
}

bool
ndd_sigbus_happened(void)
{
	return __atomic_exchange_n(&happened, 0, __ATOMIC_ACQUIRE) != 0;
}
