/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second line of defence of shared segments. Seals keep a client from shrinking its memory
 * under us; should a page still be missing (the machine or a cgroup out of memory, a memory error),
 * the access gets a private zero page instead of killing the daemon, and the segment counts as
 * broken there for good. What ports have in common with their peers is cared for in the same way,
 * by drivers/ethdev/ethdev_memory.c.
 */
#ifndef NDD_SIGBUS_H
#define NDD_SIGBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool ndd_sigbus_install(void);
/* Guard the pages of [base, base+bytes), which are no other guard's; false: no memory. Any thread
 * may guard and unguard. */
bool ndd_sigbus_guard(void *base, size_t bytes);
/* No longer what was guarded at base, if anything: no thread touches it any more. */
void ndd_sigbus_unguard(void *base);
/* True once after an access to a missing page; the caller then checks the segments. */
bool ndd_sigbus_happened(void);
/* Are pages of what is guarded at base missing? All those lie in [*low, *high). */
bool ndd_sigbus_broken(const void *base, uintptr_t *low, uintptr_t *high);

#endif
