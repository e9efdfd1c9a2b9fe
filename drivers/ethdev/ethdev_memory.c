/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a port has in common with its peer: that of a vhost-user guest. It is files of the
 * peer's, and what happens to a file is not ours to say. DPDK 22.11 maps it as it comes, in a
 * thread of its own, by mmap64(); this file's definition of it comes first.
 *
 * Virtual machines do not seal their memory, so an access can fail: zeros in private memory then
 * stand where the shared memory was, and the port moves nothing until the driver has unmapped it. A
 * port whose driver alone, not a burst, met missing memory goes on with the zeros: that is between
 * it and its peer.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "ethdev/ethdev.h"

#define AREAS 64u /* vhost-user knows 8 regions for each of 8 ports */

/* Written by the drivers' threads under the lock; read by the signal handler. */
static struct area {
	uintptr_t base; /* 0: free */
	size_t bytes;
	struct ethdev *lost_by; /* the port that met missing memory here, or NULL */
} areas[AREAS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct area *
area_at(uintptr_t base)
{
	for (uint32_t i = 0; i < AREAS; i++)
		if (__atomic_load_n(&areas[i].base, __ATOMIC_ACQUIRE) == base)
			return &areas[i];
	return NULL;
}

/* False: no room. */
static bool
area_add(void *base, size_t bytes)
{
	struct area *a;

	pthread_mutex_lock(&lock);
	a = area_at(0);
	if (a != NULL) {
		a->bytes = bytes;
		a->lost_by = NULL;
		__atomic_store_n(&a->base, (uintptr_t)base, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return a != NULL;
}

void
ethdev_memory_unmapped(void *base)
{
	struct area *a;

	pthread_mutex_lock(&lock);
	a = base == NULL ? NULL : area_at((uintptr_t)base);
	if (a != NULL) {
		__atomic_store_n(&a->lost_by, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&a->base, 0, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

/* By the names that DPDK gives them. */
static bool
is_thread_of_vhost(void)
{
	char name[16] = "";

	(void)prctl(PR_GET_NAME, name, 0, 0, 0);
	return strncmp(name, "vhost", strlen("vhost")) == 0;
}

/* The thread that maps what peers have sent maps nothing else in this way: other memory of DPDK's
 * has its place. */
static bool
is_of_a_peer(const void *addr, int flags, int fd)
{
	return addr == NULL && fd >= 0 && (flags & MAP_SHARED) != 0 && is_thread_of_vhost();
}

/* All pages that a mapping has, also if these are huge. */
static size_t
whole_pages(int fd, size_t bytes)
{
	struct statfs fs;
	size_t page = fstatfs(fd, &fs) == 0 ? (size_t)fs.f_bsize : (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static void *
map_now(void *addr, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	return (void *)syscall(SYS_mmap, addr, bytes, prot, flags, fd, offset);
}

static void *
map_of_a_peer(size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	void *mem = map_now(NULL, bytes, prot, flags, fd, offset);

	if (mem != MAP_FAILED && !area_add(mem, whole_pages(fd, bytes))) {
		(void)syscall(SYS_munmap, mem, bytes);
		errno = ENOMEM;
		mem = MAP_FAILED;
	}
	return mem;
}

void *
mmap64(void *addr, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	return is_of_a_peer(addr, flags, fd) ? map_of_a_peer(bytes, prot, flags, fd, offset)
					     : map_now(addr, bytes, prot, flags, fd, offset);
}

bool
ethdev_memory_restore(uintptr_t addr)
{
	for (uint32_t i = 0; i < AREAS; i++) {
		struct area *a = &areas[i];
		uintptr_t base = __atomic_load_n(&a->base, __ATOMIC_ACQUIRE);
		struct ethdev *e;

		if (base == 0 || addr < base || addr - base >= a->bytes)
			continue;
		if (map_now((void *)base, a->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			    0) == MAP_FAILED)
			return false;
		e = rte_lcore_id() == LCORE_ID_ANY ? NULL : ethdev_grace_in_burst();
		if (e != NULL) {
			__atomic_store_n(&a->lost_by, e, __ATOMIC_RELAXED);
			__atomic_store_n(&e->moving, false, __ATOMIC_RELAXED);
			if (!__atomic_exchange_n(&e->lost, true, __ATOMIC_RELEASE))
				__atomic_fetch_add(&e->memory_lost, 1, __ATOMIC_RELEASE);
		}
		return true;
	}
	return false;
}

bool
ethdev_memory_is_mapped(const struct ethdev *e)
{
	for (uint32_t i = 0; i < AREAS; i++)
		if (__atomic_load_n(&areas[i].lost_by, __ATOMIC_ACQUIRE) == e)
			return true;
	return false;
}
