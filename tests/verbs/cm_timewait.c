/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of connections' time-wait, which programs are told that keep their queue pairs for it. */
#include <poll.h>

#include "choose.h"
#include "cm_rig.h"
#include "cm_scenarios.h"

#define SHORTEST 0.268 /* seconds: 4.096 us << 16 */
#define LONGEST	 4.295 /* << 20 */

static bool
is_silent(const struct cm_rig *r, double seconds)
{
	return poll(&(struct pollfd){.fd = r->channel->fd, .events = POLLIN}, 1,
		       (int)(seconds * 1000)) == 0;
}

static struct rdma_cm_id *
await_exit(struct cm_rig *r)
{
	struct rdma_cm_event *e = cm_rig_event(r, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	struct rdma_cm_id *id = e->id;

	WANT(e->status == 0);
	WANT(rdma_ack_cm_event(e) == 0);
	return id;
}

/* Each end is told once, and not before; an identifier that is destroyed, never. */
void
run_timewait(void)
{
	struct rdma_cm_id *first;
	struct cm_rig r;
	double begin, took;

	cm_rig_open(&r);
	cm_rig_connect(&r);
	begin = scenario_seconds();
	cm_rig_disconnect(&r);
	first = await_exit(&r);
	took = scenario_seconds() - begin;
	WANT(took >= SHORTEST);
	WANT(first == r.here || first == r.there);
	WANT(await_exit(&r) == (first == r.here ? r.there : r.here));
	cm_rig_forget(&r);
	cm_rig_connect(&r);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	WANT(is_silent(&r, took < LONGEST ? took + SHORTEST : LONGEST + SHORTEST));
	cm_rig_close(&r);
}
