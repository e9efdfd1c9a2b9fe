/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of a shard: requests in flight, and their extensions. */
#include "roce/shard/pool.h"

#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_op.h"

/*
 * Requests to send leave some of both pools to receives: if they could take all, two peers might
 * wait for ever, each for the other to have a roce_wqe for its receive. Both pools are checked,
 * because before the fetch it is not known whether a descriptor needs an extension.
 */
bool
roce_wqe_for_send(const struct roce_shard *s)
{
	return s->usage.wqes < s->wqes_for_sends && s->exts_left > s->exts_for_recvs;
}

void
roce_wqe_free(struct roce_shard *s, struct roce_wqe *w)
{
	if (w->ext != NULL) {
		w->ext->next = s->ext_free;
		s->ext_free = w->ext;
		s->exts_left++;
	}
	w->next = s->wqe_free;
	s->wqe_free = w;
	s->usage.wqes--;
}

struct roce_wqe *
roce_wqe_for_probe(struct roce_shard *s)
{
	struct roce_wqe *w = roce_wqe_alloc(s, false);

	*w = (struct roce_wqe){
		.op = NDSH_OP_WRITE, .flags = NDSH_WRF_SILENT, .bits = ROCE_WQB_PROBE};
	return w;
}
