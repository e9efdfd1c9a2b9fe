/* SPDX-License-Identifier: BSD-3-Clause */
/* May memory be exchanged although the application did not ask for it? */
#ifndef ND_SAFE_H
#define ND_SAFE_H

#include <stdbool.h>
#include <stddef.h>

#include "ndclient/ndclient.h"

/* of_kernel: as nd_exchange_open() tells. ND_ADOPT_REASONS: there is no reason against it; then
 * *others says whether other threads of the application's run. */
enum nd_adopt_reason nd_safe_look(const void *at, size_t bytes, bool of_kernel, bool *others);
/* Of memory that was adopted so: may it be private again now? */
bool nd_safe_to_return(bool of_kernel, bool *others);

#endif
