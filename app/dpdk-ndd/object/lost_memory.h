/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_LOST_MEMORY_H
#define NDD_LOST_MEMORY_H

struct ndd;

/* Look after clients whose memory lost pages since the last call. */
void ndd_lost_memory(struct ndd *d);

#endif
