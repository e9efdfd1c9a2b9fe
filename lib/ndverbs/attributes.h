/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of queue pairs, in verbs' words and in libndclient's. */
#ifndef NDV_ATTRIBUTES_H
#define NDV_ATTRIBUTES_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "ndclient/ndclient.h"

#define NDV_PSN_MASK 0xffffffu /* programs give random numbers of 32 bits */

/* EINVAL: a value is none; the step was found good. */
int ndv_attributes_to(struct nd_qp_attributes *to, const struct ibv_qp_attr *from, int mask);
/* All but the state. */
void ndv_attributes_from(struct ibv_qp_attr *to, const struct nd_qp_attributes *from);
/* Where an address vector leads. EINVAL: to no address, or from a GID that the port has not. */
int ndv_destination(const struct ibv_ah_attr *ah, struct sockaddr_storage *address);
/* States have the same numbers in both but SQE and ERR. */
uint32_t ndv_state_to(enum ibv_qp_state state);
enum ibv_qp_state ndv_state_from(uint32_t state);

#endif
