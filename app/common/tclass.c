/* SPDX-License-Identifier: BSD-3-Clause */
#include "tclass.h"

#include "fail.h"
#include "number.h"

#define ECN 3u

bool
app_parse_tclass(const char *option, const char *text, uint32_t *dscp)
{
	uint64_t v;

	if (!app_parse_u64(text, 0, 255, &v)) {
		app_complain("%s %s: must be 0..255", option, text);
		return false;
	}
	if ((v & ECN) != 0) {
		app_complain("%s %s: its lower two bits are ECN's and must be 0; "
			     "DSCP %u alone is %u",
			option, text, (unsigned)(v >> 2), (unsigned)(v & ~ECN));
		return false;
	}
	*dscp = (uint32_t)(v >> 2);
	return true;
}
