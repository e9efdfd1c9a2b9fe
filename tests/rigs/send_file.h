/* SPDX-License-Identifier: BSD-3-Clause */
/* A message to a socket, with a file that goes along. */
#ifndef SEND_FILE_H
#define SEND_FILE_H

#include <sys/socket.h>

/* As send(). file: its descriptor, which stays open here; -1: none. */
ssize_t send_file(int sock, const void *msg, size_t bytes, int flags, int file);

#endif
