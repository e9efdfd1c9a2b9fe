/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/aeth.h"

/* The encoding of the RNR NAK timer field in IBTA volume 1, chapter 9: code 0 is the longest. */
uint64_t
roce_rnr_ns(uint8_t code)
{
	static const uint32_t us[32] = {655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480,
		640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960,
		61440, 81920, 122880, 163840, 245760, 327680, 491520};

	return us[code & 31] * UINT64_C(1000);
}
