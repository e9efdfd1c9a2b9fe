/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links of the ports, checked a few times a second: not every driver has events for them. A link
 * that comes up may lead to another switch: addresses are announced and neighbours probed again.
 * Connections on a link that is down go on as far as their retries carry them.
 */
#include "hostnet/links.h"

#include "control/daemon.h"
#include "hostnet/udp_host.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/async.h"

#define CHECK_NS (200 * NDD_MS)

static void
link_changed(struct ndd *d, uint32_t i, uint64_t now_ns)
{
	struct port *p = &d->plane.port[i];

	ndd_notice("port %s: link %s", p->device, p->link_up ? "up" : "down");
	ndd_async_link(d, i, p->link_up);
	if (p->link_up) {
		p->links_up++;
		net_port_up(d->net, now_ns, i);
	} else {
		p->links_down++;
	}
}

void
ndd_links_check(struct ndd *d, uint64_t now_ns)
{
	if (now_ns < d->links_check_ns)
		return;
	d->links_check_ns = now_ns + CHECK_NS;
	for (uint32_t i = 0; i < d->plane.ports; i++) {
		struct port *p = &d->plane.port[i];
		const char *news;

		if (port_link_changed(p))
			link_changed(d, i, now_ns);
		news = p->ops->tend(p);
		if (news != NULL)
			ndd_log_limited(NDD_LOG_WARNING, "port %s: %s", p->device, news);
		ndd_udp_hear_errors(d, i);
	}
}
