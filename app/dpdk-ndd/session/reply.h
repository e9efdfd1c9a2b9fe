/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_REPLY_H
#define NDD_REPLY_H

#include "shm/ndsh_msg.h"

struct ndd_session;

/* A reply under construction: zeroed, header set; the handler of the request fills the body. */
struct ndd_reply {
	union {
		struct ndsh_msg_hdr h;
		struct ndsh_hello_reply hello;
		struct ndsh_address_list_reply address_list;
		struct ndsh_route route;
		struct ndsh_open_reply open;
		struct ndsh_adapter_reply adapter;
		struct ndsh_segment_create_reply segment;
		struct ndsh_id_msg id;
		struct ndsh_affinity_reply affinity;
		struct ndsh_mw_create_reply mw;
		struct ndsh_frmr_create_reply frmr;
		struct ndsh_qp_create_reply qp;
		struct ndsh_qp_modify_reply qp_modify;
		struct ndsh_qp_query_reply qp_query;
		struct ndsh_listener_create_reply listener;
		struct ndsh_bind_reply bind;
		struct ndsh_cm_permit_reply permit;
		uint8_t bytes[NDSH_MSG_BYTES];
	};
	bool later;  /* it is sent later: there is nothing to send yet */
	int fd;	     /* goes with the reply and is closed afterwards; -1: none */
	int keep_fd; /* goes with the reply and stays open; -1: none */
};

/* Carry out one request. msg has the size of its type, and is legal in the session's state. */
typedef enum ndsh_status ndd_handler(struct ndd_session *s, const void *msg, struct ndd_reply *r);

#endif
