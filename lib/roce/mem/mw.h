/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows, for the rest of the engine. */
#ifndef ROCE_MW_H
#define ROCE_MW_H

#include <stdbool.h>

struct roce_mr;
struct roce_qp;
struct roce_shard;
struct roce_wqe;

enum roce_bind_result { ROCE_BIND_OK, ROCE_BIND_REFUSED, ROCE_BIND_BREACH };

/* Carry out the BIND w. */
enum roce_bind_result roce_mw_bind(
	struct roce_shard *s, struct roce_qp *qp, const struct roce_wqe *w);
/* False: it is not bound through qp. */
bool roce_mw_invalidate(struct roce_shard *s, struct roce_qp *qp, struct roce_mr *mw);
/* Invalidate all windows that are bound through qp. */
void roce_mw_unbind_all(struct roce_shard *s, struct roce_qp *qp);

#endif
