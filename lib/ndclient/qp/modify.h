/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of queue pairs that wait for the daemon. nd_adapter.lock held. */
#ifndef ND_MODIFY_H
#define ND_MODIFY_H

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

/* The daemon tells the end of a change; by the control thread. */
void nd_qp_modified(struct nd_adapter *a, const struct ndsh_ev_qp *ev);
/* End the change of one queue pair, or of all, that waits for the next hop. */
void nd_qp_end_modify(struct nd_qp *qp, nd_status st);
void nd_qp_end_modifies(struct nd_adapter *a, nd_status st);

#endif
