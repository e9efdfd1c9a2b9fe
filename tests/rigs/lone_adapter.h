/* SPDX-License-Identifier: BSD-3-Clause */
/* An adapter by itself: no socket, no thread, no daemon. For tests that hand it what a daemon would
 * send, or put objects into its lists. */
#ifndef RIGS_LONE_ADAPTER_H
#define RIGS_LONE_ADAPTER_H

struct nd_adapter;

/* All its lists are empty; free() ends it. */
struct nd_adapter *lone_adapter_new(void);

#endif
