/* SPDX-License-Identifier: BSD-3-Clause */
/* What each operation asks of the server while a step runs. */
#ifndef NDPERF_SERVER_DATA_H
#define NDPERF_SERVER_DATA_H

#include "session.h"

/* Prepare the buffer for the step in s->start. */
void session_data_start(struct session *s);
/* Poll for messages of the step, and answer them. Returns whether there was something to do. */
bool session_data_tick(struct session *s);
/* Check a window of writes that is in place. */
void session_data_check(struct session *s, const struct ndperf_msg *window);
/* Post the next receive of q; any message of the session fits it. */
nd_status session_data_post(struct session *s, struct session_qp *q);

#endif
