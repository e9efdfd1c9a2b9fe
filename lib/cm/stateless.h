/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to MADs that belong to no connection. When too many wait, or too many of them for one
 * host, the rest are dropped and counted: a peer that needs one asks again. */
#ifndef CM_STATELESS_H
#define CM_STATELESS_H

#include "cm/cm.h"
#include "cm/codec.h"
#include "cm/sidr.h"
#include "cm/source.h"

struct cm_in;

#define CM_STATELESS 128u /* answers that can wait */

struct cm_answer {
	struct roce_cm_tx tx;
	struct cm_origin to;
};

/* Of a REQ that no connection was made for. */
void cm_answer_rej(struct roce_cm *cm, const struct cm_in *in, uint16_t reason);
void cm_answer_drep(struct roce_cm *cm, const struct cm_in *in);
void cm_answer_sidr(struct roce_cm *cm, const struct cm_in *in, enum roce_cm_sidr_status status);
/* Take one to send; false: none. */
bool cm_stateless_take(struct roce_cm *cm, struct roce_cm_tx *tx);

#endif
