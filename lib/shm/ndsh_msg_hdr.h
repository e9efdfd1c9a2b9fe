/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI, part 3: what all messages on the control socket have in common.
 */
#ifndef NDSH_MSG_HDR_H
#define NDSH_MSG_HDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndsh_abi.h"
#include "ndsh_status.h"

#define NDSH_MAGIC	    0x3144444eu /* "NDD1" */
#define NDSH_MSG_BYTES	    1024u	/* no message is longer */
#define NDSH_REPLY	    0x8000u
#define NDSH_SOCKET_DEFAULT "/run/dpdk-ndd/dpdk-ndd.sock"
/* In XDG_RUNTIME_DIR: of a daemon that a user runs for itself. */
#define NDSH_SOCKET_OF_USER "dpdk-ndd.sock"

enum ndsh_msg_type {
	NDSH_MSG_HELLO = 1,
	NDSH_MSG_ADDRESS_LIST,
	NDSH_MSG_OPEN, /* adapter by address; once per socket */
	NDSH_MSG_SEGMENT_CREATE,
	NDSH_MSG_SEGMENT_MAPPED,
	NDSH_MSG_SEGMENT_DESTROY,
	NDSH_MSG_PD_CREATE,
	NDSH_MSG_PD_DESTROY,
	NDSH_MSG_CQ_CREATE,
	NDSH_MSG_CQ_DESTROY,
	NDSH_MSG_ADMIN_CREATE, /* once per session; from minor version 3 on */
	NDSH_MSG_QP_CREATE,
	NDSH_MSG_QP_DESTROY,
	NDSH_MSG_QP_FLUSH, /* error state: everything outstanding completes FLUSH_ERR */
	NDSH_MSG_LISTENER_CREATE,
	NDSH_MSG_LISTENER_DESTROY,
	NDSH_MSG_CONNECT,
	NDSH_MSG_COMPLETE_CONNECT,
	NDSH_MSG_ACCEPT,
	NDSH_MSG_REJECT,
	NDSH_MSG_DISCONNECT,
	NDSH_MSG_CONN_DESTROY,
	NDSH_MSG_MW_CREATE, /* from minor version 1 on */
	NDSH_MSG_MW_DESTROY,
	NDSH_MSG_BIND,	     /* from minor version 1 on */
	NDSH_MSG_SRQ_CREATE, /* from minor version 2 on */
	NDSH_MSG_SRQ_ARM,
	NDSH_MSG_SRQ_DESTROY,
	NDSH_MSG_CQ_RESIZE, /* from minor version 4 on */
	NDSH_MSG_CQ_AFFINITY,
	NDSH_MSG_LISTENER_PAUSE, /* from minor version 3 on */
	NDSH_MSG_ENDPOINT_CREATE,
	NDSH_MSG_ENDPOINT_DESTROY,
	NDSH_MSG_FRMR_CREATE, /* from minor version 5 on */
	NDSH_MSG_FRMR_DESTROY,
	NDSH_MSG_PD_TOKEN,     /* reply: ndsh_id_msg, id is the privileged token */
	NDSH_MSG_MOVER_CREATE, /* from minor version 6 on */
	NDSH_MSG_QP_MODIFY,    /* from minor version 7 on */
	NDSH_MSG_QP_QUERY,
	NDSH_MSG_EVENTS,       /* id 1: EV_ASYNC is wanted from now on; 0: no more */
	NDSH_MSG_UD_QP_CREATE, /* from minor version 7 on: ndsh_msg_ud.h */
	NDSH_MSG_UD_QP_MODIFY,
	NDSH_MSG_AH_CREATE,
	NDSH_MSG_AH_DESTROY,
	NDSH_MSG_UD_LISTENER_CREATE, /* as LISTENER_CREATE */
	NDSH_MSG_UD_ANSWER,
	NDSH_MSG_ROUTE, /* from minor version 8 on */
	NDSH_MSG_ADDRESS_PAGE,
	NDSH_MSG_UD_ATTACH, /* from minor version 11 on: ndsh_msg_ud.h */
	NDSH_MSG_UD_DETACH,
	NDSH_MSG_LISTENER_BIND, /* from minor version 13 on */
	NDSH_MSG_LISTENER_LISTEN,
	NDSH_MSG_ADAPTER, /* what is known of one, also before OPEN */
	NDSH_MSG_SRQ_AFFINITY,
	NDSH_MSG_SRQ_RESIZE,
	NDSH_MSG_CM_PERMIT, /* from minor version 14 on: ndsh_msg_cm.h */
	NDSH_MSG_CM_LISTEN,
	NDSH_MSG_CM_CONNECT,
	NDSH_MSG_CM_ACCEPT,
	NDSH_MSG_CM_UD_BIND, /* from minor version 15 on: ndsh_msg_cm.h */
	NDSH_MSG_CM_LOOK_UP,
	NDSH_MSG_UC_QP_CREATE, /* from minor version 16 on: as QP_CREATE, of UC */
	NDSH_MSG_TYPE_COUNT,
	/* events */
	NDSH_EV_CONN_REQUEST = 0x4001, /* a listener got a REQ */
	NDSH_EV_CONN_REPLY,	       /* Connect: peer accepted (complete it), or failed */
	NDSH_EV_CONN_ESTABLISHED,      /* Accept: the peer's RTU or first request came, or failed */
	NDSH_EV_CONN_DISCONNECTED,     /* peer's DREQ, our own Disconnect done, or the QP died */
	NDSH_EV_SESSION_END,	       /* the daemon ends the session: reason says why */
	NDSH_EV_SRQ_LIMIT,	       /* fewer receives than SRQ_ARM's limit are left */
	NDSH_EV_QP_MODIFIED,	       /* what QP_MODIFY began is done, or failed: h.status */
	NDSH_EV_ASYNC,		       /* something happened to an object */
	NDSH_EV_AH,		       /* AH_CREATE has its outcome */
	NDSH_EV_UD_QUESTION,	       /* a peer asks for a datagram service */
	NDSH_EV_REFUSAL, /* right before a reply: why that will be no success, in words. Only to
			  * clients of minor version 12 and later */
	NDSH_EV_CM,	 /* of connections by numbers: ndsh_msg_cm.h */
};

struct ndsh_msg_hdr {
	uint16_t type;
	uint16_t reserved;
	int32_t status; /* replies and events: enum ndsh_status; requests: 0 */
	uint64_t cookie;
};
static_assert(sizeof(struct ndsh_msg_hdr) == 16, "ABI");

struct ndsh_addr { /* IPv4 as ::ffff:a.b.c.d; port in host order */
	uint8_t ip[16];
	uint16_t port;
	uint16_t reserved;
	uint32_t scope_id;
};
static_assert(sizeof(struct ndsh_addr) == 24, "ABI");

/* Requests that name one object (SEGMENT_MAPPED's reply: the segment), PD_CREATE (id 0, the reply
 * has the new one), and replies without a body of their own (id: the object made, or the
 * request's). */
struct ndsh_id_msg {
	struct ndsh_msg_hdr h;
	uint32_t id, reserved;
};

#endif
