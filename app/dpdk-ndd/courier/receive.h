/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes by a client's socket. Open files come along with a message if the client attaches
 * some, and whatever drops the last reference of a file closes it, which takes as long as the
 * client has arranged: a TCP socket with SO_LINGER, a file system of its own. So a message that
 * brings files is never taken, and a socket that still holds one is closed by a thread that may
 * wait.
 */
#ifndef NDD_RECEIVE_H
#define NDD_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ndd_received {
	NDD_RECEIVED,
	NDD_RECEIVED_NOTHING, /* so far */
	NDD_RECEIVED_LONG,    /* a message that does not fit: it is gone */
	NDD_RECEIVED_FILES,   /* the next message brings files: it stays in the socket */
	NDD_RECEIVED_END,     /* the client is gone */
};
/* The next message of sock, of at most room bytes. Does not block. */
enum ndd_received ndd_receive(int sock, void *buf, size_t room, size_t *bytes);

/* Close a client's socket, in which nothing more arrives from now on. False: it holds files, or so
 * many messages that it is not known, and is for the closer. */
bool ndd_receive_close(int sock);

#endif
