/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An act by every thread of the process. Linux keeps users, capabilities and filters of calls
 * for each thread, and most threads of the daemon are DPDK's.
 */
#ifndef NDD_THREADS_H
#define NDD_THREADS_H

#include <stdbool.h>

/*
 * act(arg) on each thread, the caller's last; threads that are made meanwhile, too, unless their
 * maker has acted. act runs in a signal handler: system calls only. False: one could not (the log
 * says which); then the others have acted all the same, and the process had better end.
 */
bool ndd_threads_each(bool (*act)(const void *arg), const void *arg);

#endif
