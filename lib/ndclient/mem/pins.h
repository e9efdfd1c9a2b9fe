/* SPDX-License-Identifier: BSD-3-Clause */
/* What in this process could store to pages other than by their addresses. */
#ifndef ND_PINS_H
#define ND_PINS_H

#include <stdbool.h>

/* Can pages of this process be pinned for stores, as far as descriptors, mappings and the kernel's
 * own count tell? What can't be read, or is not known to be harmless, counts as yes. others: other
 * threads of the application's may be inside system calls. Makes system calls and stores to its
 * stack, nothing else. */
bool nd_pins_possible(bool others);

#endif
