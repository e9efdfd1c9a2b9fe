/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of requests: from a datagram to its handler and back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conn/active.h"
#include "conn/conn.h"
#include "conn/listener.h"
#include "conn/numbers.h"
#include "conn/passive.h"
#include "conn/services.h"
#include "control/daemon.h"
#include "object/cq.h"
#include "object/pd.h"
#include "object/qp.h"
#include "object/segment.h"
#include "object/srq.h"
#include "platform/log.h"
#include "session/adapter.h"
#include "session/addresses.h"
#include "session/async.h"
#include "session/class.h"
#include "session/end.h"
#include "session/message.h"
#include "session/send.h"
#include "session/session.h"
#include "ud/group.h"
#include "ud/sidr_request.h"
#include "version.h"

static enum ndsh_status
session_hello(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_hello *m = msg;
	const char *why = ndsh_hello_check(m);

	r->hello.abi_major = NDSH_ABI_MAJOR;
	r->hello.abi_minor = NDSH_ABI_MINOR;
	r->hello.daemon_pid = (uint32_t)getpid();
	snprintf(r->hello.version, sizeof(r->hello.version), "%s", NDD_VERSION);
	if (why != NULL) {
		snprintf(r->hello.reason, sizeof(r->hello.reason), "%s", why);
		return NDSH_ERR_NOT_SUPPORTED;
	}
	s->minor = m->abi_minor;
	s->state = NDSH_ST_HELLO;
	return NDSH_OK;
}

/* A request has a handler of its own, or it makes or destroys an object of a class. */
#define HANDLED(h)                                                                                 \
	{                                                                                          \
		.handler = (h)                                                                     \
	}
#define CREATES(kind)                                                                              \
	{                                                                                          \
		.creates = &ndd_##kind##_class                                                     \
	}
#define DESTROYS(kind)                                                                             \
	{                                                                                          \
		.destroys = &ndd_##kind##_class                                                    \
	}

static const struct {
	ndd_handler *handler;
	const struct ndd_class *creates, *destroys;
} requests[NDSH_MSG_TYPE_COUNT] = {
	[NDSH_MSG_HELLO] = HANDLED(session_hello),
	[NDSH_MSG_ADDRESS_LIST] = HANDLED(ndd_address_list),
	[NDSH_MSG_ADDRESS_PAGE] = HANDLED(ndd_address_page),
	[NDSH_MSG_ROUTE] = HANDLED(ndd_address_route),
	[NDSH_MSG_ADAPTER] = HANDLED(ndd_adapter_find),
	[NDSH_MSG_OPEN] = HANDLED(ndd_adapter_open),
	[NDSH_MSG_SEGMENT_CREATE] = CREATES(segment),
	[NDSH_MSG_SEGMENT_MAPPED] = HANDLED(ndd_segment_mapped),
	[NDSH_MSG_SEGMENT_DESTROY] = HANDLED(ndd_segment_destroy),
	[NDSH_MSG_PD_CREATE] = CREATES(pd),
	[NDSH_MSG_PD_DESTROY] = DESTROYS(pd),
	[NDSH_MSG_PD_TOKEN] = HANDLED(ndd_pd_token),
	[NDSH_MSG_CQ_CREATE] = CREATES(cq),
	[NDSH_MSG_CQ_DESTROY] = DESTROYS(cq),
	[NDSH_MSG_CQ_RESIZE] = HANDLED(ndd_cq_resize),
	[NDSH_MSG_CQ_AFFINITY] = HANDLED(ndd_cq_affinity),
	[NDSH_MSG_ADMIN_CREATE] = CREATES(admin),
	[NDSH_MSG_MW_CREATE] = CREATES(mw),
	[NDSH_MSG_MW_DESTROY] = DESTROYS(mw),
	[NDSH_MSG_QP_CREATE] = CREATES(qp),
	[NDSH_MSG_QP_DESTROY] = HANDLED(ndd_qp_destroy),
	[NDSH_MSG_QP_FLUSH] = HANDLED(ndd_qp_flush),
	[NDSH_MSG_QP_MODIFY] = HANDLED(ndd_qp_modify),
	[NDSH_MSG_QP_QUERY] = HANDLED(ndd_qp_query),
	[NDSH_MSG_EVENTS] = HANDLED(ndd_async_on),
	[NDSH_MSG_SRQ_CREATE] = CREATES(srq),
	[NDSH_MSG_SRQ_RESIZE] = HANDLED(ndd_srq_resize),
	[NDSH_MSG_SRQ_ARM] = HANDLED(ndd_srq_arm),
	[NDSH_MSG_SRQ_AFFINITY] = HANDLED(ndd_srq_affinity),
	[NDSH_MSG_SRQ_DESTROY] = DESTROYS(srq),
	[NDSH_MSG_FRMR_CREATE] = CREATES(frmr),
	[NDSH_MSG_FRMR_DESTROY] = DESTROYS(frmr),
	[NDSH_MSG_MOVER_CREATE] = CREATES(mover),
	[NDSH_MSG_UC_QP_CREATE] = HANDLED(ndd_uc_qp_create),
	[NDSH_MSG_UD_QP_CREATE] = HANDLED(ndd_ud_qp_create),
	[NDSH_MSG_UD_QP_MODIFY] = HANDLED(ndd_ud_qp_modify),
	[NDSH_MSG_AH_CREATE] = CREATES(ah),
	[NDSH_MSG_AH_DESTROY] = DESTROYS(ah),
	[NDSH_MSG_UD_LISTENER_CREATE] = HANDLED(ndd_ud_listener_create),
	[NDSH_MSG_UD_ANSWER] = HANDLED(ndd_sidr_respond),
	[NDSH_MSG_UD_ATTACH] = HANDLED(ndd_group_attach),
	[NDSH_MSG_UD_DETACH] = HANDLED(ndd_group_detach),
	[NDSH_MSG_LISTENER_CREATE] = CREATES(listener),
	[NDSH_MSG_LISTENER_BIND] = HANDLED(ndd_listener_bind),
	[NDSH_MSG_LISTENER_LISTEN] = HANDLED(ndd_listener_listen),
	[NDSH_MSG_LISTENER_PAUSE] = HANDLED(ndd_listener_pause),
	[NDSH_MSG_LISTENER_DESTROY] = DESTROYS(listener),
	[NDSH_MSG_ENDPOINT_CREATE] = CREATES(endpoint),
	[NDSH_MSG_ENDPOINT_DESTROY] = DESTROYS(endpoint),
	[NDSH_MSG_BIND] = HANDLED(ndd_conn_bind),
	[NDSH_MSG_CONNECT] = HANDLED(ndd_conn_connect),
	[NDSH_MSG_COMPLETE_CONNECT] = HANDLED(ndd_conn_complete),
	[NDSH_MSG_ACCEPT] = HANDLED(ndd_conn_accept),
	[NDSH_MSG_REJECT] = HANDLED(ndd_conn_reject),
	[NDSH_MSG_CM_PERMIT] = HANDLED(ndd_cm_permit),
	[NDSH_MSG_CM_LISTEN] = HANDLED(ndd_cm_listen),
	[NDSH_MSG_CM_CONNECT] = HANDLED(ndd_cm_connect),
	[NDSH_MSG_CM_ACCEPT] = HANDLED(ndd_cm_accept),
	[NDSH_MSG_CM_UD_BIND] = HANDLED(ndd_cm_ud_bind),
	[NDSH_MSG_CM_LOOK_UP] = HANDLED(ndd_service_look_up),
	[NDSH_MSG_DISCONNECT] = HANDLED(ndd_conn_disconnect),
	[NDSH_MSG_CONN_DESTROY] = DESTROYS(conn),
};

static enum ndsh_status
request_dispatch(struct ndd_session *s, uint16_t type, const void *msg, struct ndd_reply *r)
{
	if (requests[type].creates != NULL)
		return requests[type].creates->create(s, msg, r);
	if (requests[type].destroys != NULL)
		return ndd_class_destroy(requests[type].destroys, s, msg);
	return requests[type].handler(s, msg, r);
}

/* The reply has no room for words. */
static void
refusal_send(struct ndd_session *s, const struct ndsh_msg_hdr *reply)
{
	struct ndsh_ev_refusal m = {
		.h = {.type = NDSH_EV_REFUSAL, .status = reply->status, .cookie = reply->cookie}};

	ndd_info("session %lu of process %d: %s", s->serial, s->pid, s->account.why);
	if (s->minor < NDSH_MINOR_REFUSAL)
		return;
	snprintf(m.reason, sizeof(m.reason), "%s", s->account.why);
	ndd_session_send(s, &m, sizeof(m), -1);
}

/* What is sent is closed. */
static bool
reply_copies(struct ndd_reply *r)
{
	r->fd = fcntl(r->keep_fd, F_DUPFD_CLOEXEC, 0);
	return r->fd >= 0;
}

void
ndd_session_message(struct ndd_session *s, const void *msg, size_t bytes)
{
	const char *wrong = ndsh_msg_check(msg, bytes, s->state);
	const struct ndsh_msg_hdr *h = msg;
	struct ndd_reply r;

	if (wrong != NULL) {
		ndd_session_end(s, "broken control message: %s", wrong);
		return;
	}
	memset(&r, 0, sizeof(r));
	r.fd = r.keep_fd = -1;
	r.h.type = (uint16_t)(h->type | NDSH_REPLY);
	r.h.cookie = h->cookie;
	if (ndsh_msg_table[h->type].reply_bytes == sizeof(struct ndsh_id_msg) &&
		bytes == sizeof(struct ndsh_id_msg))
		r.id.id = ((const struct ndsh_id_msg *)msg)->id;
	s->account.why[0] = '\0';
	r.h.status = request_dispatch(s, h->type, msg, &r);
	if (r.later)
		return;
	if (r.h.status != NDSH_OK && s->account.why[0] != '\0')
		refusal_send(s, &r.h);
	if (r.keep_fd >= 0 && !reply_copies(&r)) {
		ndd_session_end(s, "no descriptor for a reply: %s", strerror(errno));
		return;
	}
	ndd_session_send(s, &r, ndsh_msg_table[h->type].reply_bytes, r.fd);
}
