/* SPDX-License-Identifier: BSD-3-Clause */
/* May memory be exchanged although the application did not ask for it? */
#ifndef ND_SAFE_H
#define ND_SAFE_H

#include <stdbool.h>
#include <stddef.h>

#include "ndclient/ndclient.h"

struct nd_safe_found {
	bool others; /* threads of the application's run */
	bool dear; /* ND_ADOPT_ADVICE: that is not known, but it would cost too much to find out */
};

/* of_kernel: as nd_exchange_open() tells. ND_ADOPT_REASONS: there is no reason against it. */
enum nd_adopt_reason nd_safe_look(
	const void *at, size_t bytes, bool of_kernel, struct nd_safe_found *found);
/* Of memory that was adopted so: may it be private again now? */
bool nd_safe_to_return(bool of_kernel, bool *others);

#endif
