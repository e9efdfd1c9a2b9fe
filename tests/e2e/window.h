/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of one side of a pair. */
#ifndef E2E_WINDOW_H
#define E2E_WINDOW_H

#include "pair.h"

#define READ_AND_WRITE (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)

struct nd_mw *window_new(struct side *s);
/* Bind it to part of the side's buffer, invalidate it; the entry has been taken on return. */
void window_bind(struct side *s, struct nd_mw *mw, uint32_t offset, uint32_t bytes, uint32_t flags);
void window_invalidate(struct side *s, struct nd_mw *mw);
/* a can write to b's whole buffer through it, and read it. */
void window_works(struct pair *p, const struct nd_mw *mw);

#endif
