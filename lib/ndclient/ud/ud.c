/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams: sending, and the source of a received one. Queue pairs are made in qp/qp.c. */
#include <stdlib.h>
#include <string.h>

#include "ndclient/face/flags.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/ud/ah.h"
#include "ndclient/ud/ud.h"

#define FLAGS                                                                                      \
	(ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT | ND_OP_FLAG_INLINE |       \
		ND_OP_FLAG_DEFER)
#define QPN_FIRST 2u

nd_status
nd_ud_supported(const struct nd_adapter *a, const char *call)
{
	if (a->abi_minor >= NDSH_MINOR_UD)
		return ND_SUCCESS;
	return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for %s()", call);
}

void *
nd_ud_new(const struct nd_adapter *a, size_t bytes, const char *call, nd_status *st)
{
	void *object = NULL;

	*st = nd_gone(a) ? ND_DEVICE_REMOVED : nd_ud_supported(a, call);
	if (*st == ND_SUCCESS) {
		object = calloc(1, bytes);
		*st = object != NULL ? ND_SUCCESS : ND_NO_MEMORY;
	}
	return object;
}

nd_status
nd_ud_qp_modify(struct nd_qp *qp, uint32_t q_key)
{
	struct ndsh_ud_qp_modify m = {
		.h.type = NDSH_MSG_UD_QP_MODIFY, .qp = qp->index, .q_key = q_key};

	uint32_t stopped;
	nd_status st;

	if (qp->state != ND_QP_DATAGRAM)
		return nd_fail(ND_INVALID_DEVICE_REQUEST, "not a queue pair of datagrams");
	/* Before the call: a datagram that fails behind it stops the sending again. */
	stopped = __atomic_exchange_n(&qp->sends_stopped, 0, __ATOMIC_ACQ_REL);
	st = nd_control_call(qp->adapter, &(struct nd_request){.h = &m.h});
	if (st != ND_SUCCESS && stopped != 0)
		__atomic_store_n(&qp->sends_stopped, 1, __ATOMIC_RELEASE);
	return st;
}

/* wr has context and immediate; bad_flags: what to say of flags. */
static nd_status
send_to(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, const struct nd_ah *ah, uint64_t where, uint32_t flags, nd_status bad_flags)
{
	uint32_t remote_qp = (uint32_t)where;

	if (ah == NULL || ah->adapter != qp->adapter)
		return ND_INVALID_PARAMETER_4;
	if (remote_qp < QPN_FIRST || remote_qp > ND_UD_GROUP_QP)
		return ND_INVALID_PARAMETER_5;
	if (flags & ~FLAGS)
		return bad_flags;
	if (__atomic_load_n(&ah->state, __ATOMIC_ACQUIRE) != ND_AH_READY)
		return ND_ADDRESS_NOT_ASSOCIATED;
	if ((remote_qp == ND_UD_GROUP_QP) != ah->group) /* W-MC-06 */
		return ND_INVALID_PARAMETER_5;
	wr->rkey = ah->token;
	wr->raddr = where;
	return nd_post_datagram(qp, op, wr, sge, n, nd_request_flags(flags));
}

nd_status
nd_ud_send(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	const struct nd_ah *ah, uint32_t remote_qp, uint32_t q_key, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context};

	return send_to(qp, NDSH_OP_SEND, &wr, sge, n, ah, NDSH_UD_RADDR(remote_qp, q_key), flags,
		ND_INVALID_PARAMETER_7);
}

nd_status
nd_ud_send_with_immediate(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	const struct nd_ah *ah, uint32_t remote_qp, uint32_t q_key, uint32_t immediate,
	uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context, .imm = immediate};

	return send_to(qp, NDSH_OP_SEND_IMM, &wr, sge, n, ah, NDSH_UD_RADDR(remote_qp, q_key),
		flags, ND_INVALID_PARAMETER_8);
}

/* The first 40 bytes of a receive (W-PKT-07): where an address stands in each family. */
#define V4_HEADER 20
struct header_place {
	unsigned v6, v4;
};

static nd_status
address_in_header(
	const void *header, const struct header_place *at, struct sockaddr *addr, socklen_t *bytes)
{
	struct ndsh_addr a = {.ip = {[10] = 0xff, [11] = 0xff}};
	const uint8_t *h = header;

	if (h == NULL)
		return ND_INVALID_PARAMETER;
	if (h[0] >> 4 == 6)
		memcpy(a.ip, h + at->v6, 16);
	else if (h[V4_HEADER] >> 4 == 4)
		memcpy(a.ip + 12, h + V4_HEADER + at->v4, 4);
	else
		return nd_fail(ND_INVALID_PARAMETER, "not the header of a datagram");
	return nd_address_give(&a, addr, bytes);
}

nd_status
nd_ud_source(const void *header, struct sockaddr *addr, socklen_t *bytes)
{
	static const struct header_place source = {.v6 = 8, .v4 = 12};

	return address_in_header(header, &source, addr, bytes);
}

nd_status
nd_ud_destination(const void *header, struct sockaddr *addr, socklen_t *bytes)
{
	static const struct header_place destination = {.v6 = 24, .v4 = 16};

	return address_in_header(header, &destination, addr, bytes);
}
