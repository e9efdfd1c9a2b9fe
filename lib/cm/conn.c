/* SPDX-License-Identifier: BSD-3-Clause */
/* Life and end of a connection. */
#include <string.h>

#include "cm/id.h"
#include "cm/manager.h"
#include "cm/outbox.h"
#include "cm/timer.h"

/* Memory that a large table never needs is never touched. */
static struct roce_cm_conn *
conn_memory(struct roce_cm *cm)
{
	struct roce_cm_conn *c = LIST_FIRST(&cm->free_conns);

	if (c == NULL)
		return &cm->conns[cm->fresh_conns++];
	LIST_REMOVE(c, list_entry);
	return c;
}

struct roce_cm_conn *
cm_conn_new(struct roce_cm *cm, enum cm_state state, const struct cm_claim *claim)
{
	struct roce_cm_conn *c;

	if (!cm_room_take(cm, claim))
		return NULL;
	c = conn_memory(cm);
	memset(c, 0, sizeof(*c));
	c->state = (uint8_t)state;
	c->active = claim->active;
	c->claim = *claim;
	c->local_id = cm_new_id(cm);
	cm_table_link(cm, c, CM_BY_LOCAL_ID);
	return c;
}

void
cm_conn_state(struct roce_cm *cm, struct roce_cm_conn *c, enum cm_state state)
{
	const struct cm_state_facts *old = &cm_state_facts[c->state], *new = &cm_state_facts[state];

	if (c->listener != NULL && !new->undecided) {
		LIST_REMOVE(c, list_entry);
		c->listener->pending--;
		c->listener = NULL;
	}
	cm->refused -= c->refused; /* time-wait is over */
	c->refused = false;
	c->rej_copies = 0;
	if (old->sidr_request && !new->sidr_request) {
		cm->sidr_requests--;
		cm->users[c->claim.user].sidr_requests--;
	}
	cm->usage.timewait -= old->rests;
	cm->usage.timewait += new->rests;
	c->state = (uint8_t)state;
	cm_tx_set(cm, c, c->tx & new->tx);
	cm_timer_cancel(cm, c);
}

void
cm_conn_timewait(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	cm_conn_state(cm, c, CM_TIMEWAIT);
	cm_table_unlink(c, CM_BY_REMOTE_QPN);
	cm_timer_set(cm, c, now_ns + cm_timewait_ns(c->ack_timeout));
}

void
cm_conn_put(struct roce_cm *cm, struct roce_cm_conn *c)
{
	if (c->state != CM_DEAD || c->host_holds || c->tx != 0)
		return;
	c->state = CM_FREE;
	LIST_INSERT_HEAD(&cm->free_conns, c, list_entry);
	cm_room_give(cm, &c->claim);
}

void
cm_conn_dead(struct roce_cm *cm, struct roce_cm_conn *c)
{
	cm_conn_state(cm, c, CM_DEAD);
	for (enum cm_table t = 0; t < CM_TABLES; t++)
		cm_table_unlink(c, t);
	cm_conn_put(cm, c);
}

/* ---- private data ---- */

void
cm_set_in_priv(struct roce_cm_conn *c, const uint8_t *priv, uint32_t bytes)
{
	memcpy(c->in_priv, priv, bytes);
	c->in_priv_bytes = (uint16_t)bytes;
}

bool
cm_set_out_priv(struct roce_cm_conn *c, const void *priv, uint32_t bytes, uint32_t room)
{
	if (bytes > room)
		return false;
	memset(c->out_priv, 0, sizeof(c->out_priv));
	if (bytes > 0)
		memcpy(c->out_priv, priv, bytes);
	c->out_priv_bytes = (uint16_t)bytes;
	return true;
}
