/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams that were posted leave before what they need is destroyed. Programs (mckey is one)
 * destroy handle and queue pair right behind the post: an adapter of hardware has copied the one,
 * and has sent by then. The daemon gets a while for it, and no longer.
 */
#ifndef NDV_LEAVING_H
#define NDV_LEAVING_H

#include "ndverbs/object.h"

/* A queue pair of datagrams is there from now on; before its end its datagrams leave. */
void ndv_leaving_begin(struct ndv_qp *qp);
void ndv_leaving_end(struct ndv_qp *qp);
/* A handle of that domain is to be destroyed. */
void ndv_leaving_wait(const struct ndv_pd *pd);

#endif
