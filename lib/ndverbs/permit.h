/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions of the contexts of this process, and the queue pairs that librdmacm names by number. */
#ifndef NDV_PERMIT_H
#define NDV_PERMIT_H

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct ndv_context;

/* Its session is open; is about to be closed. */
void ndv_permit_add(struct ndv_context *c);
void ndv_permit_remove(struct ndv_context *c);
/* The right to name the queue pair with this number. EINVAL: no context has it. */
int ndv_permit(uint32_t number, struct ndsh_cm_permit *permit);

#endif
