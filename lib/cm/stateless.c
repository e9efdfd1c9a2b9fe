/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cm/manager.h"
#include "cm/message.h"
#include "cm/stateless.h"

static void
stateless_put(struct roce_cm *cm, const struct cm_in *in, const struct cm_mad *m)
{
	struct cm_answer *answer;
	struct roce_cm_tx *tx;

	if (!cm_origin_may_hold(cm, CM_ANSWERS, in->origin, CM_STATELESS - cm->stateless_n)) {
		cm->counters.tx_dropped++;
		return;
	}
	cm_origin_hold(cm, CM_ANSWERS, in->origin);
	answer = &cm->stateless[(cm->stateless_head + cm->stateless_n++) % CM_STATELESS];
	answer->to = in->origin;
	tx = &answer->tx;
	/* W-CM-02: back to where it came from, from where it was addressed to. */
	tx->sgid = in->local;
	tx->dgid = in->remote;
	tx->port = in->port;
	tx->tos = in->tos;
	tx->hop_limit = ROCE_HOP_LIMIT;
	tx->ours = false;
	cm_mad_encode(tx->mad, m);
}

void
cm_answer_rej(struct roce_cm *cm, const struct cm_in *in, uint16_t reason)
{
	struct cm_mad m = {
		.attr = CM_ATTR_REJ,
		.tid = in->mad.tid,
		.remote_id = in->mad.local_id,
		.which = CM_WHICH_REQ,
		.reason = reason,
	};

	if (reason == ROCE_CM_REASON_INVALID_GID) {
		/* The ARI names a GID that would do: the one by which the peer reached us. */
		m.ari_bytes = sizeof(in->local.raw);
		memcpy(m.ari, in->local.raw, sizeof(in->local.raw));
	}
	stateless_put(cm, in, &m);
}

void
cm_answer_drep(struct roce_cm *cm, const struct cm_in *in)
{
	const struct cm_mad m = {
		.attr = CM_ATTR_DREP,
		.tid = in->mad.tid,
		.local_id = in->mad.remote_id,
		.remote_id = in->mad.local_id,
	};

	stateless_put(cm, in, &m);
}

void
cm_answer_sidr(struct roce_cm *cm, const struct cm_in *in, enum roce_cm_sidr_status status)
{
	const struct cm_mad m = {
		.attr = CM_ATTR_SIDR_REP,
		.tid = in->mad.tid,
		.local_id = in->mad.local_id,
		.status = status,
		.service_id = in->mad.service_id,
	};

	stateless_put(cm, in, &m);
}

bool
cm_stateless_take(struct roce_cm *cm, struct roce_cm_tx *tx)
{
	const struct cm_answer *answer = &cm->stateless[cm->stateless_head];

	if (cm->stateless_n == 0)
		return false;
	*tx = answer->tx;
	cm_origin_drop(cm, CM_ANSWERS, answer->to);
	cm->stateless_head = (cm->stateless_head + 1) % CM_STATELESS;
	cm->stateless_n--;
	return true;
}
