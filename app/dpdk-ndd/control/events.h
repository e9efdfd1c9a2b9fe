/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the engine and of the CM: one table each names the function for each kind of event. */
#ifndef NDD_EVENTS_H
#define NDD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;

/* Events and frames that the shards have sent up. True: there may be more. */
bool ndd_control_receive(struct ndd *d, uint64_t now_ns);
/* Timers and events of network and CM, resolved next hops; then everything that waits to be sent.
 */
void ndd_control_proceed(struct ndd *d, uint64_t now_ns);
/* Time of the next thing to do; UINT64_MAX: none. */
uint64_t ndd_control_deadline(const struct ndd *d);

#endif
