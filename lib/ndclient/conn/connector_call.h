/* SPDX-License-Identifier: BSD-3-Clause */
/* What the overlapped calls of connectors have in common. */
#ifndef ND_CONNECTOR_CALL_H
#define ND_CONNECTOR_CALL_H

#include <stdint.h>

#include "ndclient/ndclient.h"
#include "ndclient/session/control.h"
#include "shm/ndsh_msg.h"

struct nd_conn_call {
	struct nd_connector *c;
	struct nd_overlapped *ov;
	nd_reply_hook *hook; /* its arg is this structure */
};

/* An overlapped call of the connector; nd_connector.calls counts it already. The hook runs in any
 * case; if it says success, ov completes by it or later. */
nd_status nd_conn_call(struct nd_adapter *a, struct ndsh_msg_hdr *h, struct nd_overlapped *ov,
	struct nd_conn_call *p);
/* Values above the adapter's are silently lowered (R-CONN-09). */
uint8_t nd_conn_read_limit(uint32_t asked, uint32_t max);
/* May this connector use that queue pair? Then it does (R-CONN-02); nd_adapter.lock held. */
nd_status nd_conn_claim_qp(struct nd_connector *c, struct nd_qp *qp);

#endif
