/* SPDX-License-Identifier: BSD-3-Clause */
#include "roce/responder/farewell.h"

#include <string.h>

#include "roce/lost.h"
#include "roce/mem/moved.h"
#include "roce/mem/mover.h"
#include "roce/qp/qp.h"
#include "roce/responder/response.h"
#include "roce/shard/shard.h"

/* What the client has copied to its memory before it asked for the end counts as placed. */
static void
look_at_mover(struct roce_shard *s, struct roce_moved *moved)
{
	(void)roce_mover_poll(moved->mover);
	if (moved->lost.of != NULL)
		roce_lost(s, moved);
	(void)roce_moved_progress(s, moved);
}

void
roce_farewell(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_farewell *f = &s->farewell[s->farewells];
	struct roce_tx_slot slot;

	if (qp->ack_owed == ROCE_OWED_NONE || s->farewells == ROCE_FAREWELLS)
		return;
	if (qp->moved != NULL)
		look_at_mover(s, qp->moved);
	slot = (struct roce_tx_slot){.buf = f->frame};
	if (qp->rd_pending > 0 || !roce_resp_tx(s, qp, &slot)) /* READ responses: W-ACK-03 */
		return;
	f->len = slot.len;
	f->port = slot.port;
	s->farewells++;
}

unsigned
roce_farewell_tx(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;

	while (done < n && s->farewells > 0) {
		const struct roce_farewell *f = &s->farewell[--s->farewells];

		memcpy(slots[done].buf, f->frame, f->len);
		slots[done].len = f->len;
		slots[done++].port = f->port;
	}
	return done;
}
