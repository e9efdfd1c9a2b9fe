/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a port has in common with its peer: a memif's regions, the memory of a vhost-user
 * guest. It is a file of the peer's, and what happens to a file is not ours to say. DPDK 22.11 maps
 * it as it comes, in threads of its own, by mmap64(); this file's definition of it comes first.
 *
 * What memif brings must be sealed against shrinking and as large as it is said to be, which
 * memif's protocol asks of it anyway; such a file is never on a disk or a file system of the
 * peer's, either, where an access could last. Virtual machines do not seal their memory, so there,
 * and where a huge page is missing, an access can fail: zeros in private memory then stand where
 * the shared memory was, and the port moves nothing until the driver has unmapped it. A port whose
 * driver alone, not a burst, met missing memory goes on with the zeros: that is between it and its
 * peer.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <rte_interrupts.h>
#include <rte_lcore.h>

#include "ethdev/ethdev.h"

#define AREAS 2048u /* memif knows 256 regions for each of 8 ports */

/* Written by the drivers' threads under the lock; read by the signal handler. */
static struct area {
	uintptr_t base; /* 0: free */
	size_t bytes;
	struct ethdev *lost_by; /* the port that met missing memory here, or NULL */
} areas[AREAS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t refusals;

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

/* The threads that map what peers have sent map nothing else in this way: other memory of DPDK's
 * has its place. */
static bool
is_of_a_peer(const void *addr, int flags, int fd)
{
	return addr == NULL && fd >= 0 && (flags & MAP_SHARED) != 0 &&
	       (rte_thread_is_intr() || is_thread_of_vhost());
}

/* memif's regions are mapped on EAL's interrupt thread, and nothing else of a peer is. */
static bool
is_sound(int fd, size_t bytes)
{
	struct stat st;
	int seals;

	if (!rte_thread_is_intr())
		return true;
	seals = fcntl(fd, F_GET_SEALS);
	return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &st) == 0 &&
	       bytes <= (size_t)st.st_size;
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
	void *mem = MAP_FAILED;

	errno = EINVAL;
	if (is_sound(fd, bytes))
		mem = map_now(NULL, bytes, prot, flags, fd, offset);
	if (mem != MAP_FAILED && !area_add(mem, whole_pages(fd, bytes))) {
		(void)syscall(SYS_munmap, mem, bytes);
		errno = ENOMEM;
		mem = MAP_FAILED;
	}
	if (mem == MAP_FAILED)
		__atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
	return mem;
}

void *
mmap64(void *addr, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	return is_of_a_peer(addr, flags, fd) ? map_of_a_peer(bytes, prot, flags, fd, offset)
					     : map_now(addr, bytes, prot, flags, fd, offset);
}

uint32_t
ethdev_memory_refusals(void)
{
	return __atomic_exchange_n(&refusals, 0, __ATOMIC_RELAXED);
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
