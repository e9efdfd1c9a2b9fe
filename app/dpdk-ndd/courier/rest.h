/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An errand that takes long is one of a file that a crowd waits for. Nothing else runs on its CPU
 * meanwhile, be it an lcore or another principal's courier, and interrupts wait. So a courier rests
 * behind such errands, for 2 s at most: it spends a hundredth of the time on those of up to 24 ms.
 */
#ifndef NDD_REST_H
#define NDD_REST_H

#include <stdbool.h>
#include <stdint.h>

struct ndd_rest {
	uint64_t cpu_ns;	      /* that the thread had used before its errand */
	uint64_t owed_ns, owed_at_ns; /* for errands that took long */
	uint64_t until_ns;
};

/* By the courier: what follows is an errand. */
void ndd_rest_begin_errand(struct ndd_rest *r);
/* Has it taken long already? */
bool ndd_rest_is_due(const struct ndd_rest *r);
/* It is done, and what follows may be another one. */
void ndd_rest_end_errand(struct ndd_rest *r);
/* Rest so long at least. */
void ndd_rest_for(struct ndd_rest *r, uint64_t ns);
/* How long it still rests; 0: not any more. */
uint64_t ndd_rest_left_ns(struct ndd_rest *r);

#endif
