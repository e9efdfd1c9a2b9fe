/* SPDX-License-Identifier: BSD-3-Clause */
/* Other pages under a range of addresses, while the process goes on using it. */
#ifndef ND_EXCHANGE_H
#define ND_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

/* The descriptor that an exchange needs; -1: this system has none. */
int nd_exchange_open(void);
/* Would this thread have to store to the range while it exchanges it? */
bool nd_exchange_is_own(const void *at, size_t bytes);
/* The pages of copy, mapped elsewhere, come under at, which is no stack of this thread's and whose
 * pages are there. False: nothing happened. Closes fd. */
bool nd_exchange(int fd, void *at, size_t bytes, void *copy);

#endif
