/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/face/event_type.h"

#include "shm/ndsh_msg.h"

enum nd_event_type
nd_event_type_of(uint32_t event)
{
	static const uint8_t of[] = {
		[NDSH_ASYNC_COMM_EST] = ND_EVENT_ESTABLISHED,
		[NDSH_ASYNC_SQ_DRAINED] = ND_EVENT_DRAINED,
		[NDSH_ASYNC_LAST_WQE] = ND_EVENT_LAST_RECEIVE,
		[NDSH_ASYNC_QP_REQUEST_ERROR] = ND_EVENT_QP_REQUEST_ERROR,
		[NDSH_ASYNC_QP_ACCESS_ERROR] = ND_EVENT_QP_ACCESS_ERROR,
		[NDSH_ASYNC_QP_ERROR] = ND_EVENT_QP_ERROR,
		[NDSH_ASYNC_QP_FATAL] = ND_EVENT_QP_FATAL,
		[NDSH_ASYNC_CQ_ERROR] = ND_EVENT_CQ_ERROR,
		[NDSH_ASYNC_LINK_DOWN] = ND_EVENT_LINK_DOWN,
		[NDSH_ASYNC_LINK_UP] = ND_EVENT_LINK_UP,
		[NDSH_ASYNC_ADDRESSES] = ND_EVENT_ADDRESSES,
	};

	return event < sizeof(of) ? of[event] : 0;
}
