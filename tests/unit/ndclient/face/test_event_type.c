/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of events. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/face/event_type.h"
#include "shm/ndsh_msg.h"

Test(ndclient_event_type, each_is_another_and_unknown_ones_are_none)
{
	uint32_t seen = 0, kinds = 0;

	cr_expect(eq(int, nd_event_type_of(NDSH_ASYNC_QP_FATAL), ND_EVENT_QP_FATAL));
	cr_expect(eq(int, nd_event_type_of(NDSH_ASYNC_LINK_UP), ND_EVENT_LINK_UP));
	for (uint32_t event = 0; event < 256; event++) {
		enum nd_event_type type = nd_event_type_of(event);

		if (type == 0)
			continue;
		cr_expect(zero(u32, seen & 1u << type), "%u", event);
		seen |= 1u << type;
		kinds++;
	}
	cr_expect(eq(u32, kinds, 11));
	cr_expect(eq(int, nd_event_type_of(UINT32_MAX), 0));
}
