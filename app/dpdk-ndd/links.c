/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of the ports, looked at a few times a second: not every driver has events for them. */
#include "clock.h"
#include "daemon.h"
#include "log.h"

#define LOOK_NS (200 * NDD_MS)

static void
on_shard_restart(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	(void)shard;
	(void)now_ns;
	port_restart(arg);
}

void
ndd_links_look(struct ndd *d, uint64_t now_ns)
{
	if (now_ns < d->links_look_ns)
		return;
	d->links_look_ns = now_ns + LOOK_NS;
	for (uint32_t i = 0; i < d->plane.ports; i++) {
		struct port *p = &d->plane.port[i];

		if (port_link_changed(p))
			ndd_notice("port %s: link %s", p->device, p->link_up ? "up" : "down");
		/* Only the lcore that owns the ports uses them: there it is safe. */
		if (p->reconnects && !p->link_up)
			ndd_shard_call(d->plane.shard[NDD_IO_OWNER], on_shard_restart, p);
	}
}
