/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin of a session: the control connection, then the data connections of one client. */
#ifndef NDPERF_SERVER_JOIN_H
#define NDPERF_SERVER_JOIN_H

#include "session.h"

/*
 * Create a session for the client that connector has a request of. The session owns connector from
 * now on. NULL: the caller keeps connector and rejects the client with *refusal.
 */
struct session *session_create(struct nd_adapter *adapter, struct nd_adapter_info *info,
	struct nd_connector *connector, const struct ndperf_hello *hello, enum ndperf_memory memory,
	enum ndperf_refusal *refusal);
/* Accept one of the session's data connections. connector is the session's only if the result is
 * NDPERF_WELCOME. */
enum ndperf_refusal session_join(
	struct session *s, struct nd_connector *connector, const struct ndperf_hello *hello);
/* Poll the connections that are being accepted. When all are established the session is idle. */
void session_poll_joining(struct session *s);

#endif
