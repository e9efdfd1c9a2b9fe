/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put other pages under a range of addresses, with the same bytes in them, while the threads of
 * this process go on using it; no store is lost (doc/design-notes/adopted-memory.md has the proof).
 *
 * Write-protected by userfaultfd, a page that is stored to makes the thread sleep in the kernel.
 * Loads go on. Once no store is possible the bytes are copied, and the copy is moved over the range
 * by one mremap(), which other threads see as one step. Closing the descriptor wakes the threads
 * that sleep, and their stores go to the new pages.
 *
 * The thread that does it must not store to the range itself meanwhile: it blocks its signals, and
 * makes system calls and the copy, nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ndclient/mem/exchange.h"
#include "ndclient/mem/remap.h"

#define STACK  65536u /* of this thread, around where it is, that the exchange may use */
#define THREAD 4096u  /* what the C library knows of it */

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

/* Stores that the kernel does for a system call are held off as well, if this process may do that;
 * else they fail with EFAULT. */
static int
new_descriptor(bool *of_kernel)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	*of_kernel = fd >= 0;
	return fd >= 0 || errno != EPERM
		       ? fd
		       : (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
}

/* The second feature (Linux 5.19) is for the way back, from the arena's pages. */
int
nd_exchange_open(bool *of_kernel)
{
	struct uffdio_api api = {.api = UFFD_API,
		.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
	int fd = new_descriptor(of_kernel);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static pthread_mutex_t exchanges = PTHREAD_MUTEX_INITIALIZER;

void
nd_exchange_lock(void)
{
	pthread_mutex_lock(&exchanges);
}

void
nd_exchange_unlock(void)
{
	pthread_mutex_unlock(&exchanges);
}

bool
nd_exchange_is_own(const void *at, size_t bytes)
{
	uintptr_t from = (uintptr_t)at, to = from + bytes;
	uintptr_t stack = (uintptr_t)__builtin_frame_address(0), tls = (uintptr_t)&errno;
	uintptr_t thread =
		(uintptr_t)pthread_self(); /* the kernel stores there, when it resumes it */

	return (from < stack + STACK && to > stack - STACK) || (tls >= from && tls < to) ||
	       (from < thread + THREAD && to > thread);
}

static bool
hold_stores(int fd, void *at, size_t bytes)
{
	struct uffdio_register reg = {
		.range = {(uintptr_t)at, bytes}, .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect protect = {
		.range = {(uintptr_t)at, bytes}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
	int rc;

	if (ioctl(fd, UFFDIO_REGISTER, &reg) != 0)
		return false;
	do /* a fork() or another mremap() is under way */
		rc = ioctl(fd, UFFDIO_WRITEPROTECT, &protect);
	while (rc != 0 && errno == EAGAIN);
	return rc == 0;
}

enum nd_exchange_result
nd_exchange_if(int fd, void *at, size_t bytes, void *copy, bool (*is_barred)(bool), bool arg)
{
	enum nd_exchange_result result = ND_EXCHANGE_FAILED;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (hold_stores(fd, at, bytes)) {
		if (is_barred != NULL && is_barred(arg)) {
			result = ND_EXCHANGE_BARRED;
		} else {
			memcpy(copy, at, bytes);
			if (nd_remap_over(copy, bytes, at))
				result = ND_EXCHANGED;
		}
	}
	close(fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

bool
nd_exchange(int fd, void *at, size_t bytes, void *copy)
{
	return nd_exchange_if(fd, at, bytes, copy, NULL, false) == ND_EXCHANGED;
}
