/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An errand that takes long is one of a file that a crowd waits for. Nothing else runs on its CPU
 * meanwhile, be it an lcore or another principal's courier, and interrupts wait. So a courier rests
 * behind such errands, for 2 s at most: it spends a hundredth of the time on those of up to 24 ms.
 * So does the next courier of a principal that has left meanwhile and come again.
 */
#ifndef NDD_REST_H
#define NDD_REST_H

#include <stdbool.h>
#include <stdint.h>

/* What a principal owes for errands that took long: its couriers', one of which may still end when
 * the next begins. It is paid as time passes. */
struct ndd_arrears {
	uint64_t paid_ns; /* when all is; 0: it never owed anything */
};

struct ndd_rest {
	uint64_t cpu_ns; /* that the thread had used before its errand */
	struct ndd_arrears *arrears;
	uint64_t until_ns; /* whatever it owes */
};

void ndd_arrears_forget(struct ndd_arrears *a);

/* By the courier: what follows is an errand. */
void ndd_rest_begin_errand(struct ndd_rest *r);
/* Has it taken long already? */
bool ndd_rest_is_due(const struct ndd_rest *r);
/* It is done, and what follows may be another one. */
void ndd_rest_end_errand(struct ndd_rest *r);
/* Rest so long at least. */
void ndd_rest_for(struct ndd_rest *r, uint64_t ns);
/* How long it still rests; 0: not any more. */
uint64_t ndd_rest_left_ns(const struct ndd_rest *r);

#endif
