/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of control messages, and the judgement of what came in by it. */
#include <string.h>

#include "ndsh_msg.h"

#define NEW  (1u << NDSH_ST_NEW)
#define HELD (1u << NDSH_ST_HELLO)
#define OPEN (1u << NDSH_ST_OPEN)

#define MSG(type, request, reply, legal)                                                           \
	[NDSH_MSG_##type] = {#type, sizeof(struct request), sizeof(struct reply), legal}

const struct ndsh_msg_desc ndsh_msg_table[NDSH_MSG_TYPE_COUNT] = {
	MSG(HELLO, ndsh_hello, ndsh_hello_reply, NEW),
	MSG(ADDRESS_LIST, ndsh_address_list, ndsh_address_list_reply, HELD | OPEN),
	MSG(OPEN, ndsh_open, ndsh_open_reply, HELD),
	MSG(SEGMENT_CREATE, ndsh_segment_create, ndsh_segment_create_reply, OPEN),
	MSG(SEGMENT_MAPPED, ndsh_segment_mapped, ndsh_id_msg, OPEN),
	MSG(SEGMENT_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(PD_CREATE, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(PD_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(CQ_CREATE, ndsh_cq_create, ndsh_id_msg, OPEN),
	MSG(CQ_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(ADMIN_CREATE, ndsh_admin_create, ndsh_id_msg, OPEN),
	MSG(QP_CREATE, ndsh_qp_create, ndsh_qp_create_reply, OPEN),
	MSG(QP_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(QP_FLUSH, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(LISTENER_CREATE, ndsh_listener_create, ndsh_listener_create_reply, OPEN),
	MSG(LISTENER_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(CONNECT, ndsh_connect, ndsh_id_msg, OPEN),
	MSG(COMPLETE_CONNECT, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(ACCEPT, ndsh_accept, ndsh_id_msg, OPEN),
	MSG(REJECT, ndsh_reject, ndsh_id_msg, OPEN),
	MSG(DISCONNECT, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(CONN_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(MW_CREATE, ndsh_mw_create, ndsh_mw_create_reply, OPEN),
	MSG(MW_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(BIND, ndsh_bind, ndsh_bind_reply, OPEN),
	MSG(SRQ_CREATE, ndsh_srq_create, ndsh_id_msg, OPEN),
	MSG(SRQ_ARM, ndsh_srq_arm, ndsh_id_msg, OPEN),
	MSG(SRQ_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(CQ_RESIZE, ndsh_cq_resize, ndsh_id_msg, OPEN),
	MSG(CQ_AFFINITY, ndsh_id_msg, ndsh_affinity_reply, OPEN),
	MSG(LISTENER_PAUSE, ndsh_listener_pause, ndsh_id_msg, OPEN),
	MSG(ENDPOINT_CREATE, ndsh_bind, ndsh_bind_reply, OPEN),
	MSG(ENDPOINT_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(FRMR_CREATE, ndsh_frmr_create, ndsh_frmr_create_reply, OPEN),
	MSG(FRMR_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(PD_TOKEN, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(MOVER_CREATE, ndsh_mover_create, ndsh_id_msg, OPEN),
	MSG(QP_MODIFY, ndsh_qp_modify, ndsh_qp_modify_reply, OPEN),
	MSG(QP_QUERY, ndsh_id_msg, ndsh_qp_query_reply, OPEN),
	MSG(EVENTS, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(UD_QP_CREATE, ndsh_ud_qp_create, ndsh_qp_create_reply, OPEN),
	MSG(UD_QP_MODIFY, ndsh_ud_qp_modify, ndsh_id_msg, OPEN),
	MSG(AH_CREATE, ndsh_ah_create, ndsh_id_msg, OPEN),
	MSG(AH_DESTROY, ndsh_id_msg, ndsh_id_msg, OPEN),
	MSG(UD_LISTENER_CREATE, ndsh_listener_create, ndsh_listener_create_reply, OPEN),
	MSG(UD_ANSWER, ndsh_ud_answer, ndsh_id_msg, OPEN),
	MSG(ROUTE, ndsh_route, ndsh_route, HELD | OPEN),
	MSG(ADDRESS_PAGE, ndsh_address_page, ndsh_address_list_reply, HELD | OPEN),
	MSG(UD_ATTACH, ndsh_ud_group, ndsh_id_msg, OPEN),
	MSG(UD_DETACH, ndsh_ud_group, ndsh_id_msg, OPEN),
	MSG(LISTENER_BIND, ndsh_bind, ndsh_bind_reply, OPEN),
	MSG(LISTENER_LISTEN, ndsh_listener_listen, ndsh_id_msg, OPEN),
	MSG(ADAPTER, ndsh_adapter, ndsh_adapter_reply, HELD | OPEN),
	MSG(SRQ_AFFINITY, ndsh_id_msg, ndsh_affinity_reply, OPEN),
	MSG(SRQ_RESIZE, ndsh_srq_resize, ndsh_id_msg, OPEN),
	MSG(CM_PERMIT, ndsh_id_msg, ndsh_cm_permit_reply, OPEN),
	MSG(CM_LISTEN, ndsh_listener_listen, ndsh_id_msg, OPEN),
	MSG(CM_CONNECT, ndsh_cm_connect, ndsh_id_msg, OPEN),
	MSG(CM_ACCEPT, ndsh_cm_accept, ndsh_id_msg, OPEN),
	MSG(CM_UD_BIND, ndsh_bind, ndsh_bind_reply, OPEN),
	MSG(CM_LOOK_UP, ndsh_cm_look_up, ndsh_id_msg, OPEN),
	MSG(UC_QP_CREATE, ndsh_qp_create, ndsh_qp_create_reply, OPEN),
};

static_assert(sizeof(struct ndsh_address_list_reply) <= NDSH_MSG_BYTES, "the longest message");

const char *
ndsh_msg_check(const void *buf, size_t bytes, enum ndsh_session_state state)
{
	struct ndsh_msg_hdr h;

	if (bytes < sizeof(h))
		return "shorter than a message header";
	memcpy(&h, buf, sizeof(h));
	if (h.type >= NDSH_MSG_TYPE_COUNT || ndsh_msg_table[h.type].bytes == 0)
		return "unknown message type";
	if (bytes != ndsh_msg_table[h.type].bytes)
		return "message has not the size of its type";
	if ((ndsh_msg_table[h.type].states >> state & 1) == 0)
		return "message not legal in this state of the session";
	if (h.reserved != 0 || h.status != 0)
		return "reserved header fields are not zero";
	return NULL;
}

static size_t
event_bytes(uint16_t type)
{
	switch (type) {
	case NDSH_EV_CONN_REQUEST:
	case NDSH_EV_CONN_REPLY:
	case NDSH_EV_CONN_ESTABLISHED:
	case NDSH_EV_CONN_DISCONNECTED:
		return sizeof(struct ndsh_ev_conn);
	case NDSH_EV_SRQ_LIMIT:
		return sizeof(struct ndsh_ev_srq);
	case NDSH_EV_ASYNC:
		return sizeof(struct ndsh_ev_async);
	case NDSH_EV_QP_MODIFIED:
		return sizeof(struct ndsh_ev_qp);
	case NDSH_EV_AH:
		return sizeof(struct ndsh_ev_ah);
	case NDSH_EV_UD_QUESTION:
		return sizeof(struct ndsh_ev_ud_question);
	case NDSH_EV_SESSION_END:
		return sizeof(struct ndsh_ev_session_end);
	case NDSH_EV_CM:
		return sizeof(struct ndsh_ev_cm);
	case NDSH_EV_REFUSAL:
		return sizeof(struct ndsh_ev_refusal);
	default:
		return 0;
	}
}

const char *
ndsh_msg_check_reply(const void *buf, size_t bytes)
{
	struct ndsh_msg_hdr h;
	size_t wanted;

	if (bytes < sizeof(h))
		return "shorter than a message header";
	memcpy(&h, buf, sizeof(h));
	if (h.type & NDSH_REPLY) {
		uint16_t type = h.type & (uint16_t)~NDSH_REPLY;

		wanted = type < NDSH_MSG_TYPE_COUNT ? ndsh_msg_table[type].reply_bytes : 0;
	} else {
		wanted = event_bytes(h.type);
	}
	if (wanted == 0)
		return "unknown message type";
	return bytes == wanted ? NULL : "message has not the size of its type";
}

void
ndsh_hello_fill(struct ndsh_hello *m)
{
	*m = (struct ndsh_hello){
		.h.type = NDSH_MSG_HELLO,
		.magic = NDSH_MAGIC,
		.abi_major = NDSH_ABI_MAJOR,
		.abi_minor = NDSH_ABI_MINOR,
		.swr_bytes = sizeof(struct ndsh_swr),
		.rwr_bytes = sizeof(struct ndsh_rwr),
		.cqe_bytes = sizeof(struct ndsh_cqe),
		.sge_bytes = sizeof(struct ndsh_sge),
		.qp_page_bytes = sizeof(struct ndsh_qp_page),
		.cq_page_bytes = sizeof(struct ndsh_cq_page),
		.session_page_bytes = sizeof(struct ndsh_session_page),
	};
}

const char *
ndsh_hello_check(const struct ndsh_hello *m)
{
	struct ndsh_hello own;

	ndsh_hello_fill(&own);
	if (m->magic != own.magic)
		return "not a dpdk-ndd client (magic number)";
	if (m->abi_major != own.abi_major)
		return "client library and daemon speak different ABI versions; update the older "
		       "one";
	if (m->swr_bytes != own.swr_bytes || m->rwr_bytes != own.rwr_bytes ||
		m->cqe_bytes != own.cqe_bytes || m->sge_bytes != own.sge_bytes ||
		m->qp_page_bytes != own.qp_page_bytes || m->cq_page_bytes != own.cq_page_bytes ||
		m->session_page_bytes != own.session_page_bytes)
		return "client library and daemon disagree on the size of a shared structure";
	return NULL;
}
