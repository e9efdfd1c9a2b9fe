/* SPDX-License-Identifier: BSD-3-Clause */
/* Which messages of connection management met an exchange in which state. */
#include "cm/conn.h"
#include "cm/message.h"
#include "sim_conn.h"
#include "sim_pair.h"
#include "wire/gsi.h"
#include "wire/packet.h"

/* The first is for a message of no exchange that is known. */
static const char *const states[CM_STATES] = {"none", "REQ_SENT", "MRA_REQ_RCVD", "REP_RCVD",
	"MRA_REP_SENT", "REQ_RCVD", "MRA_REQ_SENT", "REP_SENT", "MRA_REP_RCVD", "ESTABLISHED",
	"DREQ_SENT", "TIMEWAIT", "DEAD", "SIDR_SENT", "SIDR_RCVD", "SIDR_ANSWERED"};
static uint64_t met[CM_STATES][SIM_CM_STEPS];

/* A REJ without our comm id is taken for one of none. */
static const struct roce_cm_conn *
conn_of(const struct roce_cm *cm, const struct cm_in *in)
{
	switch (in->mad.attr) {
	case CM_ATTR_REQ:
		return cm_find_remote_id(cm, in->mad.ca_guid, &in->remote, in->mad.local_id);
	case CM_ATTR_SIDR_REQ:
		return cm_find_sidr_request(cm, in);
	case CM_ATTR_SIDR_REP:
		return cm_find_sidr_query(cm, in);
	default:
		return cm_find_mine(cm, in);
	}
}

void
sim_pair_cm_met(const struct roce_cm *cm, const struct roce_pkt *pkt)
{
	struct cm_in in = {0};
	const struct roce_cm_conn *c;

	if (!roce_gsi_is_mad(pkt) || cm_mad_decode(&in.mad, pkt->payload) != CM_DECODE_OK)
		return;
	roce_pkt_src_gid(pkt, &in.remote);
	roce_pkt_dst_gid(pkt, &in.local);
	c = conn_of(cm, &in);
	met[c == NULL ? CM_FREE : c->state][in.mad.attr - CM_ATTR_REQ]++;
}

void
sim_pairs_cm_print(void)
{
	sim_table_print(states, CM_STATES, sim_cm_names, SIM_CM_STEPS, met[0]);
}
