/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of queue pairs of the ND face, as the ABI has them. */
#ifndef ND_ATTRIBUTES_H
#define ND_ATTRIBUTES_H

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

/* Refuses what does not fit into the message, with words. */
nd_status nd_attributes_out(struct ndsh_qp_attr *to, const struct nd_qp_attributes *from);
void nd_attributes_in(struct nd_qp_attributes *to, const struct ndsh_qp_attr *from);

#endif
