/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages about datagrams, all from minor version 7 on, but UD_ATTACH and UD_DETACH, 11.
 *
 * Queue pairs. UD_QP_CREATE gives one that sends and receives at once. QP_DESTROY and QP_FLUSH are
 * for them, too; no connection can have one.
 *
 * Address handles. AH_CREATE is answered with an id, which is what descriptors name; it is good
 * when EV_AH said NDSH_OK, until AH_DESTROY, or until a second EV_AH says why its route has ended.
 * With look_up the daemon sends a SIDR query for the datagram service of that port, too.
 * Descriptors that name one that is not good fail; so what is posted should be over before
 * AH_DESTROY.
 *
 * Services. A listener of datagram services is a listener: LISTENER_PAUSE and LISTENER_DESTROY are
 * for it, too. EV_UD_QUESTION gives an id that UD_ANSWER takes, once; NDSH_ERR_ABORTED: the
 * peer has given up meanwhile.
 */
#ifndef NDSH_MSG_UD_H
#define NDSH_MSG_UD_H

#include "ndsh_msg_hdr.h"
#include "ndsh_msg_object.h"

#define NDSH_LOOKUP_DATA_MAX 180u /* private data of the SIDR query */
#define NDSH_ANSWER_DATA_MAX 136u /* and of the response */

struct ndsh_ud_qp_create { /* reply: ndsh_qp_create_reply */
	struct ndsh_qp_create q;
	uint32_t q_key; /* NDSH_ERR_ACCESS: one with the top bit is not for clients */
	uint32_t reserved;
};
/* Another Q_Key, and a send side that stopped goes on. Reply: ndsh_id_msg. */
struct ndsh_ud_qp_modify {
	struct ndsh_msg_hdr h;
	uint32_t qp, q_key;
};
struct ndsh_ah_create { /* reply: ndsh_id_msg; then EV_AH */
	struct ndsh_msg_hdr h;
	struct ndsh_addr remote; /* port: of the service */
	uint32_t look_up;	 /* 0: the next hop alone */
	uint32_t priv_bytes;	 /* with look_up */
	uint8_t priv[NDSH_LOOKUP_DATA_MAX];
	uint32_t reserved;
};
struct ndsh_ev_ah {
	struct ndsh_msg_hdr h; /* NDSH_ERR_REFUSED: sidr_status and priv are the peer's */
	uint32_t ah;
	uint32_t mtu_bytes;		  /* longest datagram */
	uint32_t sidr_status, qpn, q_key; /* of the service */
	uint32_t priv_bytes;		  /* of the whole field: zero padded */
	uint8_t priv[NDSH_ANSWER_DATA_MAX];
};
struct ndsh_ev_ud_question {
	struct ndsh_msg_hdr h;
	uint32_t listener, question;
	struct ndsh_addr local, remote;
	uint32_t priv_bytes; /* of the whole field: zero padded */
	uint8_t priv[NDSH_LOOKUP_DATA_MAX];
};
struct ndsh_ud_answer { /* reply: ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t question;
	uint32_t accept; /* 1: with this queue pair, its number and Q_Key; 0: reject */
	uint32_t qp;
	uint32_t priv_bytes;
	uint8_t priv[NDSH_ANSWER_DATA_MAX];
};

/* UD_ATTACH: what is sent to the group, on the port of the session's address, reaches this queue
 * pair of datagrams, too, until UD_DETACH or its end. Reply: ndsh_id_msg. */
#define NDSH_UDG_NOT_OWN 1u /* but for what it sends itself; UD_ATTACH alone */
struct ndsh_ud_group {
	struct ndsh_msg_hdr h;
	uint32_t qp, flags;
	struct ndsh_addr group; /* port: 0 */
};

#endif
