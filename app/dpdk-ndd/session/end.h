/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_SESSION_END_H
#define NDD_SESSION_END_H

#include <stdint.h>

#include "shm/ndsh_msg.h"
#include "shm/ndsh_status.h"

struct ndd;
struct ndd_line;
struct ndd_session;

/* Mark the session as ended; the client gets the reason (NULL: it is gone already). Its objects
 * stay until ndd_session_reap(): callers up the stack still hold them. */
__attribute__((format(printf, 2, 3))) void ndd_session_end(
	struct ndd_session *s, const char *why, ...);
void ndd_end_message(struct ndsh_ev_session_end *m, enum ndsh_status status, const char *why);
/* The last message to a client, whether it has a session or not: why nothing more comes. */
void ndd_tell_end(struct ndd_line *line, enum ndsh_status status, const char *why);
/* The session that has this serial and has not ended, or NULL. */
struct ndd_session *ndd_session_find(struct ndd *d, uint64_t serial);

#endif
