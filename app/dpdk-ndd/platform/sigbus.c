/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/sigbus.h"

#define GUARDS_MAX 16384u

/* Written by the control thread; read by the handler on whichever thread faulted. */
static struct guard {
	uintptr_t base; /* 0: free */
	size_t bytes;
	uintptr_t low, high; /* missing pages lie in [low, high); 0: none */
} guards[GUARDS_MAX];
static uint32_t guards_used; /* high-water mark */
static uint32_t happened;
static uintptr_t page_bytes;

/* Several threads may be here at once. */
static void
loss_widen(struct guard *g, uintptr_t page)
{
	uintptr_t low = __atomic_load_n(&g->low, __ATOMIC_RELAXED);
	uintptr_t high = __atomic_load_n(&g->high, __ATOMIC_RELAXED);

	while ((low == 0 || page < low) && !__atomic_compare_exchange_n(&g->low, &low, page, false,
						   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	while (page + page_bytes > high &&
		!__atomic_compare_exchange_n(&g->high, &high, page + page_bytes, false,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	uint32_t n = __atomic_load_n(&guards_used, __ATOMIC_ACQUIRE);

	(void)context;
	for (uint32_t i = 0; i < n; i++) {
		struct guard *g = &guards[i];
		uintptr_t base = __atomic_load_n(&g->base, __ATOMIC_ACQUIRE);

		if (base == 0 || addr < base || addr - base >= g->bytes)
			continue;
		if (mmap((void *)(addr & ~(page_bytes - 1)), page_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			break;
		loss_widen(g, addr & ~(page_bytes - 1));
		__atomic_store_n(&happened, 1, __ATOMIC_RELEASE);
		return;
	}
	/* Not a client's memory: our own fault, with a core dump. */
	signal(sig, SIG_DFL);
	raise(sig);
}

bool
ndd_sigbus_install(void)
{
	struct sigaction sa;

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_sigbus;
	sa.sa_flags = SA_SIGINFO;
	sigemptyset(&sa.sa_mask);
	return sigaction(SIGBUS, &sa, NULL) == 0;
}

bool
ndd_sigbus_guard(void *base, size_t bytes)
{
	uint32_t i = 0;

	while (i < guards_used && guards[i].base != 0)
		i++;
	if (i == GUARDS_MAX)
		return false;
	guards[i].bytes = bytes;
	guards[i].low = guards[i].high = 0;
	__atomic_store_n(&guards[i].base, (uintptr_t)base, __ATOMIC_RELEASE);
	if (i == guards_used)
		__atomic_store_n(&guards_used, i + 1, __ATOMIC_RELEASE);
	return true;
}

static struct guard *
guard_find(const void *base)
{
	for (uint32_t i = 0; i < guards_used; i++)
		if (guards[i].base == (uintptr_t)base)
			return &guards[i];
	return NULL;
}

void
ndd_sigbus_unguard(void *base)
{
	struct guard *g = guard_find(base);

	if (g != NULL)
		__atomic_store_n(&g->base, 0, __ATOMIC_RELEASE);
}

bool
ndd_sigbus_broken(const void *base, uintptr_t *low, uintptr_t *high)
{
	const struct guard *g = guard_find(base);

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
