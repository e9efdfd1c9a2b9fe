/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/lone_adapter.h"

#include "ndclient/session/adapter.h"

struct nd_adapter *
lone_adapter_new(void)
{
	struct nd_adapter *a = nd_adapter_new();

	a->abi_minor = NDSH_ABI_MINOR;
	return a;
}
