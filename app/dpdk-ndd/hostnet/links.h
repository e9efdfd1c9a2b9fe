/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_LINKS_H
#define NDD_LINKS_H

#include <stdint.h>

struct ndd;

/* From time to time: links that went up or down, connections of virtual devices made again. */
void ndd_links_check(struct ndd *d, uint64_t now_ns);

#endif
