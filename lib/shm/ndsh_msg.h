/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI, part 3: messages on the control socket (AF_UNIX, SOCK_SEQPACKET).
 *
 * One datagram is one message: a header and the body that its type has, of
 * exactly the size in ndsh_msg_table[]. The client sends requests, the daemon
 * answers each once with the same type | NDSH_REPLY and the same cookie, and
 * sends events (cookie 0). A reply has its full size also when its status is a
 * failure; then only h counts and no file descriptor comes with it. File
 * descriptors travel from daemon to client only.
 */
#ifndef NDSH_MSG_H
#define NDSH_MSG_H

#include "ndsh_msg_cm.h"
#include "ndsh_msg_conn.h"
#include "ndsh_msg_hdr.h"
#include "ndsh_msg_object.h"
#include "ndsh_msg_session.h"
#include "ndsh_msg_ud.h"

/* ---- the one table: exact size of each request, and what it needs before it ---- */
enum ndsh_session_state { NDSH_ST_NEW, NDSH_ST_HELLO, NDSH_ST_OPEN, NDSH_ST_COUNT };
struct ndsh_msg_desc {
	const char *name;
	uint16_t bytes;	      /* exact size of the request, header included; 0: no such message */
	uint16_t reply_bytes; /* exact size of its reply */
	uint8_t states;	      /* bit per enum ndsh_session_state in which it is legal */
};
extern const struct ndsh_msg_desc ndsh_msg_table[NDSH_MSG_TYPE_COUNT];
/* What is wrong with a received request, in words, or NULL. */
const char *ndsh_msg_check(const void *buf, size_t bytes, enum ndsh_session_state state);
/* The same for a reply or event that a client received. */
const char *ndsh_msg_check_reply(const void *buf, size_t bytes);
/* Fill everything of a HELLO request but the cookie; features 0. */
void ndsh_hello_fill(struct ndsh_hello *m);
/* Daemon: may a client with this HELLO be served? Else what does not fit, in words. */
const char *ndsh_hello_check(const struct ndsh_hello *m);

#endif
