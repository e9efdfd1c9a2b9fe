/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether this thread is in a callback of the consumer's. */
#ifndef NDK_CALLBACK_H
#define NDK_CALLBACK_H

#include <stdbool.h>

/* Around each call of one. */
void ndk_callback_enter(void);
void ndk_callback_leave(void);
bool ndk_in_callback(void);

#endif
