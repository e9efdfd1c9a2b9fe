/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_LOST_MEMORY_H
#define NDD_LOST_MEMORY_H

struct ndd;

/* Handle clients of which pages were found missing since the last call. */
void ndd_lost_memory(struct ndd *d);

#endif
