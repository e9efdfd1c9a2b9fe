/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient: memory that is adopted into the arena where it lies. Part of ndclient.h. */
#ifndef NDCLIENT_ADOPT_H
#define NDCLIENT_ADOPT_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Memory that is not of nd_alloc() can be adopted when it is registered: as long as a region has
 * it, the pages under its addresses are the arena's, and the daemon reaches them without a copy.
 * The bytes, and what other threads store meanwhile, stay; a thread that stores is held off for the
 * time of one copy. When the last such region is deregistered, the pages are private ones again.
 *
 * What is not adopted is registered all the same, and moved as other memory is; nd_adoption()
 * counts that by its reason. Adopted is memory that is private, anonymous, readable and writable as
 * a whole (from malloc(), or mmap() with MAP_PRIVATE and MAP_ANONYMOUS), of ND_ADOPT_BYTES_MIN at
 * least, or of a page at least if it begins with one, rounded out to pages; with a kernel from 5.19
 * on that has userfaultfd.
 *
 * By default that happens where the library can see that nothing is lost: nothing in the process
 * can pin pages (io_uring, direct I/O, devices, another RDMA library), the memory is not locked
 * and has no advice, and system calls of other threads are held off, too, or there are no such
 * threads. If that is not so any more at the end, the memory keeps the arena's pages
 * (nd_adoption.kept). A child that a fork() makes has a copy of the memory, as of any other; it is
 * made then. Memory that is deregistered within a second, three times running, is not adopted by
 * default any more, because each time costs as much as hundreds of registrations; memory below
 * ND_ADOPT_BYTES_MIN is counted apart, and no more than 32 ranges of it are adopted at a time. The
 * environment can change the default: NDD_ADOPT=never turns it off, and NDD_ADOPT=always is as if
 * ND_MR_FLAG_ADOPT were in each registration.
 *
 * In any case: if the memory is unmapped, moved, or replaced by other memory while it is registered
 * (R-MR-14), what is mapped instead is not touched. A new region there is of the new memory, which
 * is moved as long as the older region has the addresses. No thread may map or unmap there in the
 * moment in which another one registers or deregisters the memory. Pages that are dropped
 * (MADV_DONTNEED) while they are adopted keep their bytes.
 */

/*
 * Of nd_mr_register(): adopt the memory, whatever else the process does. Meanwhile it is memory
 * shared with the daemon: huge pages, mlock() and advice for it are gone; a system call that was
 * begun before and stores there by direct I/O, or registered buffers of io_uring, would store to
 * pages that are not there any more; where the process may use userfaultfd for its own stores only
 * (vm.unprivileged_userfaultfd is 0, no CAP_SYS_PTRACE), a system call of another thread that
 * stores there in the moment of the adoption, or of its end, fails with EFAULT. A child that a
 * fork() makes has the memory for itself, but may see what the parent stores later in pages that it
 * did not store to.
 */
#define ND_MR_FLAG_ADOPT 0x00020000u
/* Of nd_mr_register(): do not adopt the memory. ND_INVALID_PARAMETER_3: beside one of the other
 * two. */
#define ND_MR_FLAG_DO_NOT_ADOPT 0x00040000u
/*
 * Of nd_mr_register(): as ND_MR_FLAG_ADOPT, and memory that the daemon cannot reach where it lies
 * is refused, not moved. ND_INSUFFICIENT_RESOURCES: it was not adopted for ND_ADOPT_RESOURCES;
 * ND_NOT_SUPPORTED: for another reason.
 */
#define ND_MR_FLAG_IN_PLACE 0x00100000u
#define ND_ADOPT_BYTES_MIN  65536u

/* Why memory was not adopted. From ND_ADOPT_OFF on: by default only. */
enum nd_adopt_reason {
	ND_ADOPT_TOO_SMALL,
	ND_ADOPT_KIND,	    /* not private, anonymous, to be read and written; or partly adopted */
	ND_ADOPT_STACK,	    /* this thread's */
	ND_ADOPT_SYSTEM,    /* no userfaultfd, or an older one */
	ND_ADOPT_RESOURCES, /* no memory, or not that much for this session */
	ND_ADOPT_OLD_DAEMON,
	ND_ADOPT_OFF,	  /* ND_MR_FLAG_DO_NOT_ADOPT or _DO_NOT_SECURE_VM, or NDD_ADOPT=never */
	ND_ADOPT_PINS,	  /* something in the process may pin pages */
	ND_ADOPT_THREADS, /* system calls of other threads could fail, or can't be judged */
	ND_ADOPT_ADVICE,  /* it is locked, or has advice, a policy or a protection key; or that is
			   * too dear to find out: it is a small part of a large mapping */
	ND_ADOPT_BRIEF,	  /* earlier ones were deregistered so soon that it did not pay */
	ND_ADOPT_REASONS,
};

struct nd_adoption {
	uint64_t ranges, bytes; /* adopted now */
	uint64_t adopted;	/* ranges, ever */
	uint64_t kept; /* that did not get private pages again: no memory, or it may be pinned */
	uint64_t not_adopted[16]; /* registrations, by enum nd_adopt_reason */
};
/* Any time, any thread. ND_INVALID_PARAMETER: a or out is NULL. */
nd_status nd_adoption(struct nd_adapter *a, struct nd_adoption *out);

#ifdef __cplusplus
}
#endif

#endif
