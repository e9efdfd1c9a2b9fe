/* SPDX-License-Identifier: BSD-3-Clause */
/* What the network says of our REQs and SIDR_REQs (W-CM-64). */
#include "cm/codec.h"
#include "cm/manager.h"
#include "cm/retry.h"
#include "cm/table.h"

/* The connection or query that sent this REQ, as long as nothing has been heard of the peer. A
 * station that quotes its id and transaction id has seen the REQ, and could as well have answered
 * it. */
static struct roce_cm_conn *
find_quoted(const struct roce_cm *cm, const struct roce_gid *to, const struct cm_mad *m)
{
	struct roce_cm_conn *c = NULL;

	if (m->attr == CM_ATTR_REQ)
		c = cm_find_local_id(cm, m->local_id);
	else if (m->attr == CM_ATTR_SIDR_REQ)
		c = cm_find_query_id(cm, m->local_id);
	return c != NULL && (c->state == CM_REQ_SENT || c->state == CM_SIDR_SENT) &&
			       c->tid == m->tid && roce_gid_equal(&c->remote.gid, to)
		       ? c
		       : NULL;
}

/* A way that is missing may be there again in a moment: other copies of the REQ try it. */
static bool
is_final(const struct roce_cm_conn *c, enum roce_cm_undelivered why)
{
	const uint32_t enough =
		c->max_retries < CM_RETRIES_LEAST ? c->max_retries : CM_RETRIES_LEAST;

	return why == ROCE_CM_NO_SERVICE || c->retries >= enough;
}

void
roce_cm_undelivered(struct roce_cm *cm, uint64_t now_ns, const struct roce_gid *to,
	const uint8_t mad[ROCE_MAD_BYTES], enum roce_cm_undelivered why)
{
	struct roce_cm_conn *c = NULL;
	struct cm_mad m;

	if (cm_mad_decode(&m, mad) == CM_DECODE_OK)
		c = find_quoted(cm, to, &m);
	if (c == NULL || !is_final(c, why))
		return;
	cm->counters.undelivered++;
	c->ev_undelivered = (uint8_t)why;
	cm_give_up(cm, now_ns, c);
}
