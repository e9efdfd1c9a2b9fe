/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_MESSAGE_H
#define NDD_MESSAGE_H

#include <stddef.h>

struct ndd_session;

/* One datagram that a client has sent. */
void ndd_session_message(struct ndd_session *s, const void *msg, size_t bytes);

#endif
