/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_STATS_H
#define NDD_STATS_H

struct ndd;

/* All counters to the log. */
void ndd_stats_log(const struct ndd *d);

#endif
