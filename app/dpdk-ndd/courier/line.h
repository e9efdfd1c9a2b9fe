/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line: a client's control socket. Its courier receives, sends, closes, and watches the client's
 * process; the control thread has the messages by memory. Each of these calls goes through all that
 * wait for the client's end of the socket, or takes a lock that is held for as long.
 *
 * One request is under way at a time: the next one is received when the control thread is through
 * with it, and not while a message waits to be sent. So a client that does not read its replies is
 * not served.
 *
 * Files that lie in sockets count against a limit that all of the daemon's user have together
 * (RLIMIT_NOFILE, too: see unix(7), ETOOMANYREFS). So a client has NDD_LINE_FILES_UNREAD of them at
 * most that it has not taken, and its requests wait until it takes those.
 *
 * All functions are the control thread's.
 */
#ifndef NDD_LINE_H
#define NDD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ndd_courier;
struct ndd_line;

#define NDD_LINE_FILES_UNREAD 4u

/* fd: the socket, which is the line's from now on; nothing is received yet. local: the control
 * thread itself does all but the closing, as it trusts the client. NULL: no memory, and fd is still
 * the caller's. */
struct ndd_line *ndd_line_new(struct ndd_courier *c, bool local, int fd);
/* Receive, and watch the client's process by pidfd, which is the line's from now on; -1: don't.
 * heard(owner) is called when there is news. */
void ndd_line_open(struct ndd_line *l, int pidfd, void (*heard)(void *owner), void *owner);

enum ndd_line_end {
	NDD_LINE_OPEN,
	NDD_LINE_GONE,	    /* the client, or its process, is */
	NDD_LINE_LONG,	    /* it sent a message longer than any */
	NDD_LINE_FILES,	    /* it sent one that brings files: it stays in the socket */
	NDD_LINE_NO_MEMORY, /* of the kernel's, to watch the socket */
};
/* Is it at its end? What was received before may still be there. */
enum ndd_line_end ndd_line_end(const struct ndd_line *l);
/* The request that has been received; NULL: there is none. */
const void *ndd_line_request(const struct ndd_line *l, size_t *bytes);
/* The caller is through with it. */
void ndd_line_next(struct ndd_line *l);

/* Send a message, behind those before, and with it fd, which is the line's from now on (-1: none).
 * False: there is no memory; fd is closed. */
bool ndd_line_send(struct ndd_line *l, const void *msg, size_t bytes, int fd);
/* How many messages wait to be sent. */
uint32_t ndd_line_waiting(const struct ndd_line *l);
/* How many have been sent since the line is there, modulo 2^32. */
uint32_t ndd_line_sent(const struct ndd_line *l);
/* Does a message wait for the client, which has to take others first? */
bool ndd_line_is_full(const struct ndd_line *l);
/* Now and then: what the kernel had no room for is tried again, if nothing tells when it has. */
void ndd_line_again(struct ndd_line *l);

/* Send what the socket takes at once, and close it. Then ndd_couriers_collect() calls
 * closed(owner), and the line is no more. *left is -1, or the socket, which is the caller's again:
 * files lie in it, so that closing it may take long. */
void ndd_line_close(struct ndd_line *l, int *left, void (*closed)(void *owner), void *owner);

#endif
