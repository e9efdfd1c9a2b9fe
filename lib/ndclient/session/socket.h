/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: finding the daemon, datagrams, and exchanges before there is a thread. */
#ifndef ND_SOCKET_H
#define ND_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

/* A connected socket after HELLO; *reply has the daemon's answer. */
nd_status nd_socket_open(
	const struct nd_open_options *opt, int *sock, struct ndsh_hello_reply *reply);
/* A connected socket. It waits for so many milliseconds where as many connect as the daemon's
 * socket holds. */
nd_status nd_socket_connect(const char *path, uint32_t wait_ms, int *sock);
/* Send a request and wait for its reply, while there is no control thread. fd: where a file
 * descriptor goes that came along, or NULL. */
nd_status nd_socket_exchange(int sock, struct ndsh_msg_hdr *request, void *reply, int *fd);
/* Receive one datagram: its bytes, 0 at the end, -1 with errno. *fd: the file descriptor that came
 * along, or -1. */
ssize_t nd_socket_receive(int sock, void *buf, size_t room, int *fd, int flags);

#endif
