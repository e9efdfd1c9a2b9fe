/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/callback.h"

static __thread bool inside;

void
ndk_callback_enter(void)
{
	inside = true;
}

void
ndk_callback_leave(void)
{
	inside = false;
}

bool
ndk_in_callback(void)
{
	return inside;
}
