/* SPDX-License-Identifier: BSD-3-Clause */
/* CPUs: which this process has, and whether it can have those that its configuration names. */
#ifndef NDD_CPUS_H
#define NDD_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

#define NDD_CPUS_TEXT_BYTES 2048u /* of a list of CPUs */

/* The first CPU that the calling thread may run on; 0 if the kernel does not say. */
unsigned ndd_cpus_first(void);
/* The kernel lets a thread of ours run on each CPU of "lcores"; false: said which, and why not.
 * Before EAL: of a CPU that it can't have, EAL says only that an argument is invalid. */
bool ndd_cpus_check(const struct config *cfg);
/* As a list for EAL ("0,2-3"): CPUs of the control thread, which are all that the calling thread
 * may run on but the shards', or all of them if none is left. */
void ndd_cpus_of_control(const struct config *cfg, char *out, size_t bytes);

#endif
