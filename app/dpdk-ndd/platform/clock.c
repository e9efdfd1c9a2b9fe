/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/clock.h"

uint64_t ndd_clock_mult;

void
ndd_clock_init(void)
{
	ndd_clock_mult = (uint64_t)(((unsigned __int128)NDD_S << 32) / rte_get_tsc_hz());
}
