/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGHUP: the configuration is read again, and the network's part of it takes effect. Connections,
 * queue pairs and address handles go on if their address and route are left; the others end, and
 * the log says why. A file with a mistake changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "control/daemon.h"
#include "control/events.h"
#include "control/reload.h"
#include "hostnet/network.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/session.h"
#include "ud/group.h"

#define ERROR_BYTES 4096

static struct config *
config_reload(const struct ndd *d)
{
	struct config *c;
	char err[ERROR_BYTES], *next = err, *line;

	if (d->config_path == NULL) {
		ndd_notice("reload: there is no configuration to read; addresses are the kernel's");
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL) {
		ndd_error("reload: no memory");
		return NULL;
	}
	if (config_load(c, d->config_path, err, sizeof(err)))
		return c;
	while ((line = strsep(&next, "\n")) != NULL)
		if (line[0] != '\0')
			ndd_error("%s", line);
	ndd_error("reload: nothing was changed");
	free(c);
	return NULL;
}

static bool
config_has_same_ports(const struct ndd *d, const struct config *to)
{
	bool same = to->ports == d->cfg->ports;

	for (uint32_t i = 0; same && i < to->ports; i++)
		same = strcmp(to->port[i].device, d->cfg->port[i].device) == 0 &&
		       to->port[i].shared == d->cfg->port[i].shared;
	if (!same)
		ndd_error("reload: other ports need a restart; nothing was changed");
	return same;
}

static bool
address_is_lost(struct ndd *d, const struct roce_path *path, const void *to)
{
	return !ndd_network_keeps(d, to, path->sgid.raw);
}

/* A datagram queue pair has only the session's address: without it, no peer can reach it. */
static void
end_datagrams(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why)
{
	struct ndd_session *s, *next;
	struct ndd_qp *qp;

	for (s = TAILQ_FIRST(&d->sessions); s != NULL; s = next) {
		struct roce_path path = {0};
		uint32_t pos = 0;

		next = TAILQ_NEXT(s, next); /* a message may end it */
		memcpy(path.sgid.raw, s->ip, sizeof(path.sgid.raw));
		if (s->state != NDSH_ST_OPEN || !lost(d, &path, arg))
			continue;
		while ((qp = ndd_slots_next(&s->qps, &pos)) != NULL)
			if (qp->datagrams && !qp->failed) {
				ndd_qp_take_away(s, qp, why);
				ndd_group_leave_all(s, qp);
			}
	}
}

/* While the address is still served: the DREQs have to leave from it. */
static void
end_from(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why)
{
	ndd_followers_end(d, lost, arg, why);
	end_datagrams(d, lost, arg, why);
	ndd_control_proceed(d, ndd_now_ns());
}

static bool
is_from(struct ndd *d, const struct roce_path *path, const void *ip)
{
	(void)d;
	return memcmp(path->sgid.raw, ip, sizeof(path->sgid.raw)) == 0;
}

void
ndd_end_address(struct ndd *d, const uint8_t ip[16], const char *why)
{
	end_from(d, is_from, ip, why);
}

static bool
route_is_lost(struct ndd *d, const struct roce_path *path, const void *arg)
{
	static const struct roce_gid none;
	struct net_nexthop hop;

	(void)arg;
	return !roce_gid_equal(&path->dgid, &none) &&
	       ndd_datagram_hop(d->net, ndd_now_ns(), NET_OWNER_HOST, &path->sgid, &path->dgid,
		       &hop) == NDSH_ERR_NETWORK_UNREACHABLE;
}

/* Beyond the network nothing is taken over, and d->cfg is as it was. */
static void
mention_the_rest(const struct ndd *d, const struct config *to)
{
	if (memcmp(d->cfg, to, sizeof(*to)) != 0)
		ndd_notice("reload: what else was changed takes effect at the next start");
}

void
ndd_reload(struct ndd *d)
{
	struct config *to = config_reload(d);

	if (to != NULL && config_has_same_ports(d, to)) {
		end_from(d, address_is_lost, to, "its address was taken out of the configuration");
		ndd_network_change(d, to);
		ndd_followers_end(
			d, route_is_lost, NULL, "its route was taken out of the configuration");
		mention_the_rest(d, to);
		ndd_notice("reload: addresses, VLANs and routes are those of %s", d->config_path);
	}
	free(to);
}
