/* SPDX-License-Identifier: BSD-3-Clause */
/* File descriptors in the control thread's epoll, each with the function that serves it. */
#ifndef NDD_WATCH_H
#define NDD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;

/* Part of the object that has the descriptor; epoll's data.ptr points to it. */
struct ndd_watch {
	void (*ready)(struct ndd *d, struct ndd_watch *w, uint32_t events);
	int fd;
};
/* False: the kernel refuses, and fd is still the caller's. */
bool ndd_watch_add(struct ndd *d, struct ndd_watch *w, int fd, uint32_t events,
	void (*ready)(struct ndd *d, struct ndd_watch *w, uint32_t events));
/* Wait for other events. */
void ndd_watch_change(struct ndd *d, struct ndd_watch *w, uint32_t events);
/* Returns the descriptor, which is the caller's again. */
int ndd_watch_take(struct ndd *d, struct ndd_watch *w);
/* Closes the descriptor. */
void ndd_watch_del(struct ndd *d, struct ndd_watch *w);

#endif
