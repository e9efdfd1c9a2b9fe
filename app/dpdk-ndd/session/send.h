/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to a client. Nothing here blocks: what the socket does not take is queued. */
#ifndef NDD_SEND_H
#define NDD_SEND_H

#include <stddef.h>
#include <stdint.h>

struct ndd;
struct ndd_session;

/* Send a message, with a copy of fd (or -1). May end the session. */
void ndd_session_send(struct ndd_session *s, const void *msg, size_t bytes, int fd);
/* The socket takes more: send what was queued. */
void ndd_session_flush(struct ndd_session *s);
/* Wait for what it needs next: a request, or room for messages. */
void ndd_session_watch(struct ndd_session *s);
void ndd_session_drop_outgoing(struct ndd_session *s);
/* Sessions whose clients don't read, or never began to speak, end here. */
void ndd_session_check_stalled(struct ndd *d, uint64_t now_ns);

#endif
