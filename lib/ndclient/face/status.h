/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of the ND face. The daemon's answers become statuses of ND here, and nowhere else. */
#ifndef ND_FACE_STATUS_H
#define ND_FACE_STATUS_H

#include <stdint.h>

#include "ndclient/ndclient.h"

/* Of a reply or an event: status is ndsh_msg_hdr.status, enum ndsh_status. A number that is none of
 * these comes from a daemon of another version and is handed on as it is. */
nd_status nd_status_of_daemon(int32_t status);
/* Of an answer of the admin ring: NDSH_ADMIN_OK and so on. */
nd_status nd_status_of_admin(uint8_t answer);
/* Of a completion queue's fault: NDSH_CQ_OK and so on. */
nd_status nd_status_of_fault(uint32_t fault);

#endif
