/* SPDX-License-Identifier: BSD-3-Clause */
/* What an input has left in a daemon whose clients have all gone. */
#ifndef FUZZ_LEFT_H
#define FUZZ_LEFT_H

struct ndd;
struct ndd_shard;

/* How many files this process has open. */
unsigned left_files(void);
/* Nothing is left in any table; files: as many as were open before. Else the input has found
 * something. */
void left_nothing(struct ndd *d, const struct ndd_shard *shard, unsigned files);

#endif
