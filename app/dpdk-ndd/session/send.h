/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to a client. Nothing here blocks: what the socket does not take is queued. */
#ifndef NDD_SEND_H
#define NDD_SEND_H

#include <stddef.h>
#include <stdint.h>

struct ndd;
struct ndd_session;

/* Send a message, and with it fd (or -1), which is closed then. May end the session. */
void ndd_session_send(struct ndd_session *s, const void *msg, size_t bytes, int fd);
/* Sessions whose clients don't read, or never began to speak, end here. */
void ndd_session_check_stalled(struct ndd *d, uint64_t now_ns);

#endif
