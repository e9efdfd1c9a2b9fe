/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread domains and parent domains, as programs call for them by the context. */
#ifndef NDV_DOMAIN_H
#define NDV_DOMAIN_H

#include <infiniband/verbs.h>

struct ibv_td *ndv_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *init);
int ndv_dealloc_td(struct ibv_td *td);
/* What may be used wherever a protection domain may. */
struct ibv_pd *ndv_alloc_parent_domain(
	struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);

#endif
