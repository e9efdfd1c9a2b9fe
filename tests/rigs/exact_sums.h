/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether many fetch-adds of 1 to one word were executed once each, whatever the network did. */
#ifndef UNIT_EXACT_SUMS_H
#define UNIT_EXACT_SUMS_H

#include "rigs/faults.h"

struct sums {
	uint32_t adders; /* requests in flight */
	/* Let side 0 post the fetch-add with context i, and later find what it brought. */
	void (*add)(struct pair *p, uint32_t i);
	uint64_t (*found)(struct pair *p, uint32_t i);
};
/* As many as ATOMICS in the environment says, or 20000, under fault_tap_dice(): what they found is
 * 0..n-1, each once. Returns n. */
uint32_t exact_sums(struct pair *p, const struct sums *s);

#endif
