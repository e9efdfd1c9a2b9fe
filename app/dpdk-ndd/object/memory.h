/* SPDX-License-Identifier: BSD-3-Clause */
/* How much shared memory there is: what counts against the limits of a session and the daemon. */
#ifndef NDD_MEMORY_H
#define NDD_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "account/account.h"

struct ndd;
struct ndd_session;

struct ndd_memory {
	struct ndd_principal *principal; /* it is there: the session's worker holds a seat */
	uint64_t bytes;
	bool borrowed; /* beyond the mappings that each session is sure of */
};

/* Count one segment more. False: it would be too much, and the session's account says of what. */
bool ndd_memory_take(struct ndd_session *s, struct ndd_memory *m, uint64_t bytes);
/* The daemon has let go of it. s is NULL if the session has ended. */
void ndd_memory_give(struct ndd *d, struct ndd_session *s, struct ndd_memory *m);

#endif
