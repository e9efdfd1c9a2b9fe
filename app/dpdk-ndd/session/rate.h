/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions whose principal has asked for as much as it may in this time (limits.commands): their
 * requests wait, and the control thread sleeps meanwhile. */
#ifndef NDD_RATE_H
#define NDD_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;
struct ndd_session;

/* May its next request be served? If not, it waits until it may. */
bool ndd_rate_permits(struct ndd_session *s, uint64_t now_ns);
/* Serve those whose time has come. */
void ndd_rate_go_on(struct ndd *d, uint64_t now_ns);

#endif
