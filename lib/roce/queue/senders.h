/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that may have something to send, in line at their client. */
#ifndef ROCE_SENDERS_H
#define ROCE_SENDERS_H

#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/shard/turns.h"

static inline struct roce_client *
roce_qp_client(const struct roce_qp *qp)
{
	return qp->send_cq->client;
}

/* Behind the others, unless it stands somewhere already: there, or among those that wait. */
static inline void
roce_senders_join(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_linked(&qp->tx_link))
		return;
	base_list_append(&roce_qp_client(qp)->senders, &qp->tx_link);
	roce_turns_join(s, roce_qp_client(qp));
}

/* Before the others; it stands nowhere. */
static inline void
roce_senders_lead(struct roce_shard *s, struct roce_qp *qp)
{
	base_list_prepend(&roce_qp_client(qp)->senders, &qp->tx_link);
	roce_turns_join(s, roce_qp_client(qp));
}

#define ROCE_SENDERS_LEAD 16u

/* The first of a line of queue pairs that waited before all others of their clients, in the same
 * order. */
static inline void
roce_senders_lead_line(struct roce_shard *s, struct base_link *line)
{
	struct base_link *first[ROCE_SENDERS_LEAD];
	unsigned n = 0;

	while (n < ROCE_SENDERS_LEAD && (first[n] = base_list_first(line)) != NULL)
		base_list_remove(first[n++]);
	while (n-- > 0)
		roce_senders_lead(s, base_container(first[n], struct roce_qp, tx_link));
}

#endif
