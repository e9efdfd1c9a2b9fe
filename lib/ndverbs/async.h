/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events. */
#ifndef NDV_ASYNC_H
#define NDV_ASYNC_H

#include "ndclient/ndclient.h"
#include "ndverbs/context.h"

/* The session is there: from now on its events make the context's descriptor readable. */
void ndv_async_start(struct ndv_context *c);
/* An object is destroyed, and libndclient has forgotten its events: if none is left the descriptor
 * is not readable any more. */
void ndv_async_forget(struct ndv_context *c);
/* What verbs calls an event; false: it has none such. */
bool ndv_event_type(enum nd_event_type type, enum ibv_event_type *out);

#endif
