/* SPDX-License-Identifier: BSD-3-Clause */
/* The outcome of a request in its OVERLAPPED, and those that wait for it there. */
#ifndef NDWIN_OUTCOME_H
#define NDWIN_OUTCOME_H

#include <stdbool.h>

#include "ndwin/ndwin.h"

/* From here on ov may be the application's. */
void ndwin_outcome_store(OVERLAPPED *ov, LONG status, SIZE_T bytes);
/* The same if it is still STATUS_PENDING. */
void ndwin_outcome_store_if_pending(OVERLAPPED *ov, LONG status);
/* After either: wake threads that sleep until there is one. ov is an address here. */
void ndwin_outcome_wake(const OVERLAPPED *ov);

#endif
