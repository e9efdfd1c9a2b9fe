/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of peers for a datagram service, and the client's responses. */
#ifndef NDD_SIDR_REQUEST_H
#define NDD_SIDR_REQUEST_H

#include "conn/sidr_user.h"
#include "session/reply.h"

struct ndd;
struct roce_cm_conn;
struct roce_cm_event;

struct ndd_sidr_request {
	struct ndd_sidr_user sidr;
	uint32_t id;
	struct ndd_session *session;
	struct roce_cm_conn *cm;
};

ndd_handler ndd_sidr_respond;
/* For a listener, by numbers or not. */
void ndd_sidr_on_request(struct ndd *d, const struct roce_cm_event *ev);

#endif
