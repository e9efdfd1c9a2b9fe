/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/notify.h"

#include <string.h>

#include "conn/conn.h"
#include "session/send.h"

static void
address_fill(struct ndsh_addr *out, const struct roce_cm_addr *in)
{
	memcpy(out->ip, in->gid.raw, 16);
	out->port = in->port;
}

static void
notify_connection(
	struct ndd_conn *c, uint16_t type, enum ndsh_status status, const struct roce_cm_event *ev)
{
	struct ndsh_ev_conn m = {
		.h = {.type = type, .status = status},
		.conn = c->id,
		.listener = c->listener,
		.inbound_reads = c->inbound,
		.outbound_reads = c->outbound,
	};

	address_fill(&m.local, &c->local);
	address_fill(&m.remote, &c->remote);
	if (ev != NULL) {
		m.reject_reason = ev->reason;
		m.priv_bytes = ev->priv_bytes;
		memcpy(m.priv, ev->priv, sizeof(m.priv));
	}
	ndd_session_send(c->session, &m, sizeof(m), -1);
}

static void
notify_numbers(
	struct ndd_conn *c, uint16_t type, enum ndsh_status status, const struct roce_cm_event *ev)
{
	struct ndsh_ev_cm m = {
		.h = {.type = NDSH_EV_CM, .status = status},
		.conn = c->id,
		.listener = c->listener,
		.kind = type,
		.flow_label = c->flow_label,
		.ack_timeout = c->ack_timeout,
		.tos = c->tos,
		.hop_limit = c->hop_limit,
		.peer = {.qpn = c->peer.qpn,
			.psn = c->datagrams ? c->peer_q_key : c->peer.psn,
			.inbound_reads = c->inbound,
			.outbound_reads = c->outbound,
			.retries = c->peer.retry_count,
			.rnr_retries = c->peer.rnr_retry,
			.srq = c->peer.srq},
	};

	if (c->mtu_code != 0)
		m.mtu_bytes = 128u << c->mtu_code;
	address_fill(&m.local, &c->local);
	address_fill(&m.remote, &c->remote);
	if (ev != NULL) {
		m.reject_reason = ev->reason;
		m.priv_bytes = ev->priv_bytes;
		memcpy(m.priv, ev->priv, sizeof(m.priv));
	}
	ndd_session_send(c->session, &m, sizeof(m), -1);
}

void
ndd_conn_notify(
	struct ndd_conn *c, uint16_t type, enum ndsh_status status, const struct roce_cm_event *ev)
{
	if (c->by_numbers)
		notify_numbers(c, type, status, ev);
	else
		notify_connection(c, type, status, ev);
}
