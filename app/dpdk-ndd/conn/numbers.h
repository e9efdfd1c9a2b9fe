/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections by numbers (shm/ndsh_msg_cm.h): the CM's exchange for a queue pair that its client
 * brings up. The connection remembers the number alone: it neither holds the queue pair nor is held
 * by it, and the number rests as long as the CM knows the connection.
 */
#ifndef NDD_CONN_NUMBERS_H
#define NDD_CONN_NUMBERS_H

#include "session/reply.h"

struct ndd_conn;

ndd_handler ndd_cm_permit, ndd_cm_connect, ndd_cm_accept;
/* It has its number still: the queue pair is there, and no other connection's. */
bool ndd_cm_has_number(const struct ndd_conn *c);

#endif
