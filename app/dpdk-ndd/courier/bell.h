/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bell wakes a client that reads, or polls, the file at its other end: a UNIX stream socket. An
 * lcore rings it, and the courier of the client's principal writes to it. A direct bell is written
 * to by the lcore, at once: for principals that are trusted with the lcore's time.
 *
 * - A pipe would hold up the courier for ever: its reader has the pipe's lock while the kernel
 *   copies to the reader's memory, and that copy waits for a page as long as the client likes (a
 *   mapped file of its own file system, userfaultfd). The writer waits for the lock, O_NONBLOCK or
 *   not. A socket's writer takes no lock that is held during a copy.
 * - An eventfd would, too: both ends are one file, whose O_NONBLOCK is the client's to clear.
 *
 * Nothing can be sent towards the daemon, least of all descriptors, which it would have to close.
 */
#ifndef NDD_BELL_H
#define NDD_BELL_H

#include <stdbool.h>
#include <stdint.h>

struct ndd_bell;
struct ndd_courier;

/* By the control thread: a bell, and its file for the client, which is the caller's to close.
 * *woken is one more each time that a client was told: not if it was told so often that no more is
 * kept, or is gone. NULL: no descriptors, or no memory; errno. */
struct ndd_bell *ndd_bell_new(struct ndd_courier *c, bool direct, uint64_t *woken, int *client_end);
/* The client's end becomes readable soon. By one thread; takes no time to speak of, unless the bell
 * is a direct one. */
void ndd_bell_ring(struct ndd_bell *b);
/* By the control thread: nobody rings it any more. What was rung before comes before the end of the
 * file. ndd_couriers_collect() calls closed(owner) when the daemon's end is closed. May be NULL. */
void ndd_bell_free(struct ndd_bell *b, void (*closed)(void *owner), void *owner);

#endif
