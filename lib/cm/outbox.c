/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/manager.h"
#include "cm/outbox.h"

void
cm_tx_set(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t tx)
{
	if (c->tx == 0 && tx != 0)
		TAILQ_INSERT_TAIL(&cm->tx_queue, c, tx_entry);
	if (c->tx != 0 && tx == 0)
		TAILQ_REMOVE(&cm->tx_queue, c, tx_entry);
	c->tx = (uint8_t)tx;
}

void
cm_send(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t what)
{
	cm_tx_set(cm, c, c->tx | what);
}
