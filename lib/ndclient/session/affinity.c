/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "ndclient/session/affinity.h"
#include "ndclient/session/control.h"

#define GROUP_CPUS 64

bool
nd_affinity_has_group(uint16_t group)
{
	return group * GROUP_CPUS < sysconf(_SC_NPROCESSORS_CONF);
}

nd_status
nd_affinity_ask(
	struct nd_adapter *a, enum ndsh_msg_type type, uint32_t id, uint16_t *group, uint64_t *mask)
{
	struct ndsh_id_msg m = {.h.type = (uint16_t)type, .id = id};
	struct ndsh_affinity_reply reply;
	nd_status st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});

	if (st != ND_SUCCESS)
		return st;
	*group = (uint16_t)reply.group;
	*mask = reply.mask;
	return ND_SUCCESS;
}
