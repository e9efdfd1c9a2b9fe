/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipes and eventfds that wake a thread. */
#ifndef ND_FD_H
#define ND_FD_H

#include <stdbool.h>

/* Add one to an eventfd, which wakes what waits for it. fd: -1 does nothing. */
void nd_fd_wake(int fd);
/* Read all that is there. False: the other end is closed. */
bool nd_drain(int fd);

#endif
