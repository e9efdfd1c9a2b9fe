/* SPDX-License-Identifier: BSD-3-Clause */
/* One turn of a session. A single thread serves all sessions in turns, so a turn never waits. */
#ifndef NDPERF_SERVER_TICK_H
#define NDPERF_SERVER_TICK_H

#include "session.h"

/* Do what there is to do. Returns whether there was something. */
bool session_tick(struct session *s);

#endif
