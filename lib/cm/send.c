/* SPDX-License-Identifier: BSD-3-Clause */
/* What leaves: MADs of connections first, then answers that no connection stands for. */
#include "cm/build.h"
#include "cm/manager.h"
#include "cm/outbox.h"
#include "cm/stateless.h"

static void
conn_take_mad(struct roce_cm *cm, struct roce_cm_conn *c, struct roce_cm_tx *tx)
{
	const uint32_t what = c->tx & -(uint32_t)c->tx;
	struct cm_mad m;

	cm_build_mad(cm, c, what, &m);
	cm_mad_encode(tx->mad, &m);
	tx->sgid = c->local.gid;
	tx->dgid = c->remote.gid;
	tx->port = c->port;
	tx->tos = c->tos;
	tx->hop_limit = c->hop_limit;
	tx->ours = c->active;
	cm_tx_set(cm, c, c->tx & ~what);
	cm_conn_put(cm, c);
}

bool
roce_cm_tx(struct roce_cm *cm, struct roce_cm_tx *tx)
{
	struct roce_cm_conn *c = TAILQ_FIRST(&cm->tx_queue);

	if (c != NULL)
		conn_take_mad(cm, c, tx);
	else if (!cm_stateless_take(cm, tx))
		return false;
	cm->counters.tx_mads++;
	return true;
}

bool
roce_cm_has_work(const struct roce_cm *cm)
{
	return !TAILQ_EMPTY(&cm->tx_queue) || !TAILQ_EMPTY(&cm->ev_queue) || cm->stateless_n != 0;
}
