/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of the daemon's that wakes a client which reads, or polls, the file at the other end: a
 * UNIX stream socket. An lcore writes to it, so nothing that the client does may hold that up:
 *
 * - A pipe would: its reader has the pipe's lock while the kernel copies to the reader's memory,
 *   and that copy waits for a page as long as the client likes (a mapped file of its own file
 *   system, userfaultfd). The writer waits for the lock, O_NONBLOCK or not. A socket's writer takes
 *   no lock that is held during a copy.
 * - An eventfd would: both ends are one file, whose O_NONBLOCK is the client's to clear.
 *
 * Nothing can be sent towards the daemon, least of all descriptors, which it would have to close.
 */
#ifndef NDD_CLIENT_WAKEUP_H
#define NDD_CLIENT_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

/* False: no descriptors, or no memory; errno. */
bool ndd_client_wakeup_open(int *daemon_end, int *client_end);
/* Never waits. True: the client's end is readable, or nobody has it any more. False: not now.
 * *woken: one more, unless the client was told so often that no more is kept, or is gone. */
bool ndd_client_wakeup_send(int daemon_end, uint64_t *woken);

#endif
