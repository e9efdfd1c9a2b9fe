/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet sequence numbers: 24 bits, compared by their signed difference (W-PSN-01). */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include <stdint.h>

#include "wire/protocol.h"

/* <0: a is older than b, 0: equal, >0: newer. */
static inline int32_t
roce_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* Distance forward from b to a. */
static inline uint32_t
roce_psn_from(uint32_t a, uint32_t b)
{
	return (a - b) & ROCE_PSN_MASK;
}

static inline uint32_t
roce_psn_add(uint32_t a, uint32_t n)
{
	return (a + n) & ROCE_PSN_MASK;
}

#endif
