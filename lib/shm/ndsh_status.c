/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "ndsh_status.h"

const char *
ndsh_status_name(int32_t status)
{
	switch ((enum ndsh_status)status) {
#define STATUS_CASE(name, number)                                                                  \
	case NDSH_##name:                                                                          \
		return #name;
		NDSH_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
	}
	return NULL;
}
