/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs in multicast groups. */
#include "ndclient/ud/group.h"

#include <string.h>

#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"

#define IP4_GROUPS	 0xeu /* upper four bits */
#define IP6_GROUPS	 0xffu
#define IP6_SCOPE_LINK	 2u
#define IP4_MAPPED_BYTES 12

bool
nd_is_group(const struct ndsh_addr *a)
{
	static const uint8_t mapped[IP4_MAPPED_BYTES] = {[10] = 0xff, [11] = 0xff};

	if (memcmp(a->ip, mapped, sizeof(mapped)) == 0)
		return a->ip[IP4_MAPPED_BYTES] >> 4 == IP4_GROUPS;
	return a->ip[0] == IP6_GROUPS && (a->ip[1] & 0xfu) >= IP6_SCOPE_LINK;
}

static nd_status
ask_daemon(struct nd_qp *qp, struct ndsh_ud_group *m, const struct sockaddr *group, socklen_t bytes,
	const char *call)
{
	nd_status st;

	if (qp->state != ND_QP_DATAGRAM)
		return nd_fail(ND_INVALID_DEVICE_REQUEST, "not a queue pair of datagrams");
	if (qp->adapter->abi_minor < NDSH_MINOR_MULTICAST)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for %s()", call);
	if (!nd_address_from(&m->group, group, bytes) || !nd_is_group(&m->group))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 multicast address");
	m->qp = qp->index;
	m->group.port = 0;
	st = nd_control_call(qp->adapter, &(struct nd_request){.h = &m->h});
	if (st == ND_INVALID_PARAMETER)
		return nd_fail(ND_INVALID_ADDRESS, "the adapter's address is of another family");
	if (st == ND_NOT_SUPPORTED)
		return nd_fail(st, "a port of device udp is in groups only if ports[].addresses is "
				   "left out of the daemon's configuration");
	return st;
}

nd_status
nd_ud_qp_attach(struct nd_qp *qp, const struct sockaddr *group, socklen_t bytes, uint32_t flags)
{
	struct ndsh_ud_group m = {.h.type = NDSH_MSG_UD_ATTACH, .flags = flags};

	static_assert(ND_UD_NOT_OWN == NDSH_UDG_NOT_OWN, "passed on as it is");
	if (flags & ~ND_UD_NOT_OWN)
		return ND_INVALID_PARAMETER_4;
	return ask_daemon(qp, &m, group, bytes, __func__);
}

nd_status
nd_ud_qp_detach(struct nd_qp *qp, const struct sockaddr *group, socklen_t bytes)
{
	struct ndsh_ud_group m = {.h.type = NDSH_MSG_UD_DETACH};

	return ask_daemon(qp, &m, group, bytes, __func__);
}
