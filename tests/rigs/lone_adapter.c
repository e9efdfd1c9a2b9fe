/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/lone_adapter.h"

#include <stdlib.h>
#include <string.h>

#include "ndclient/session/adapter.h"

struct nd_adapter *
lone_adapter_new(void)
{
	struct nd_adapter *a = aligned_alloc(64, sizeof(*a));

	memset(a, 0, sizeof(*a));
	nd_adapter_init(a);
	a->abi_minor = NDSH_ABI_MINOR;
	return a;
}
