/* SPDX-License-Identifier: BSD-3-Clause */
/* Other pages under a range of addresses, while the process goes on using it. */
#ifndef ND_EXCHANGE_H
#define ND_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

/* One exchange at a time in this process, by this lock; forks wait for it. */
void nd_exchange_lock(void);
void nd_exchange_unlock(void);
/* The descriptor that an exchange needs; -1: this system has none. *of_kernel: what the kernel
 * stores for other threads is held as well; else their system calls fail in that moment. */
int nd_exchange_open(bool *of_kernel);
/* Would this thread have to store to the range while it exchanges it? */
bool nd_exchange_is_own(const void *at, size_t bytes);
/* Map the pages of copy, which are mapped elsewhere, at `at`: not a stack of this thread's, and
 * with all of its pages there. False: nothing happened. Closes fd. */
bool nd_exchange(int fd, void *at, size_t bytes, void *copy);

enum nd_exchange_result { ND_EXCHANGED, ND_EXCHANGE_FAILED, ND_EXCHANGE_BARRED };
/* The same, unless is_barred(arg), which is asked when no store is possible any more: so what
 * stores by other ways has begun before. It may make system calls and store to its stack, no more.
 */
enum nd_exchange_result nd_exchange_if(
	int fd, void *at, size_t bytes, void *copy, bool (*is_barred)(bool), bool arg);

#endif
