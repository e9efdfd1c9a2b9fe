/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains, and the privileged token that each may have. */
#ifndef NDD_PD_H
#define NDD_PD_H

#include "session/reply.h"

struct roce_mr;

struct ndd_pd {
	uint32_t id, engine;
	uint32_t users;
	struct roce_mr *arena_key; /* its privileged token, or NULL */
};

ndd_handler ndd_pd_token;

#endif
