/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections made as rdma_cm makes them (-R). */
#ifndef NDPERF_PERFTEST_CM_H
#define NDPERF_PERFTEST_CM_H

#include <stdbool.h>

#include "ndperf/conn.h"

struct perftest;

/* Connect conn's queue pair to the peer's port. patient: try again for some time while the peer
 * refuses. */
int perftest_cm_connect(struct perftest *p, struct conn *conn, bool patient);
/* Wait for the peer's next request and accept it with conn's queue pair. */
int perftest_cm_accept(struct perftest *p, struct conn *conn);
/* End the connection in the way that perftest's programs expect. */
void perftest_cm_disconnect(struct perftest *p, struct conn *conn);

#endif
