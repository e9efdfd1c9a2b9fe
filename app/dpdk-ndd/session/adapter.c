/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes a session one of an adapter and of a shard. */
#include <stdlib.h>
#include <string.h>

#include "control/daemon.h"
#include "courier/bell.h"
#include "courier/door.h"
#include "hostnet/address.h"
#include "hostnet/path.h"
#include "lcore/call.h"
#include "session/adapter.h"
#include "session/class.h"
#include "session/depths.h"
#include "session/membership.h"
#include "session/seat.h"
#include "session/session.h"

#define MAX_TRANSFER_BYTES ROCE_MSG_MAX

/* The least loaded shard, or the one that the client asked for. */
static struct ndd_shard *
shard_for(struct ndd *d, uint32_t wanted)
{
	uint32_t load[NDD_SHARDS_MAX] = {0}, best = 0;
	struct ndd_session *s;

	if (wanted != NDSH_PLACE_ANY && wanted < d->plane.shards)
		return d->plane.shard[wanted];
	TAILQ_FOREACH (s, &d->sessions, next)
		if (s->shard != NULL)
			load[s->shard->id]++;
	for (uint32_t i = 1; i < d->plane.shards; i++)
		if (load[i] < load[best])
			best = i;
	return d->plane.shard[best];
}

/* What the courier has not closed yet is a part of what its session took, whose seat it has. */
static void
seat_let_go(void *seat)
{
	ndd_seat_drop(seat);
}

void
ndd_session_free_lcore(struct ndd_session *s)
{
	if (s->lcore == NULL)
		return;
	if (s->lcore->door != NULL)
		ndd_door_free(s->lcore->door, seat_let_go, ndd_seat_hold(s->seat));
	free(s->lcore->ahs.slot);
	free(s->lcore->qp);
	free(s->lcore);
	s->lcore = NULL;
}

static bool
lcore_new(struct ndd_session *s)
{
	struct ndd_courier *courier = ndd_account_courier(&s->account);

	if (courier == NULL)
		return false;
	s->lcore = calloc(1, sizeof(*s->lcore));
	if (s->lcore == NULL)
		return false;
	s->lcore->qps = s->qps.max;
	s->lcore->qp = calloc(s->qps.max, sizeof(struct roce_qp *));
	if (s->lcore->qp == NULL) {
		ndd_session_free_lcore(s);
		return false;
	}
	roce_admin_init(&s->lcore->admin, s->daemon->cfg->max_mrs);
	s->lcore->door = ndd_door_new(courier, &s->shard->knocks);
	if (s->lcore->door == NULL)
		ndd_session_free_lcore(s);
	return s->lcore != NULL;
}

enum ndsh_status
ndd_adapter_open(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_open *m = msg;
	const struct config *cfg = s->daemon->cfg;
	struct net_ip ip;
	int port;

	if ((m->flags & ~NDSH_OPEN_NO_FLUSH) != 0)
		return NDSH_ERR_NOT_SUPPORTED;
	ip = ndd_ip(m->addr.ip);
	if (!ndd_account_may_use_address(&s->account, ip.b))
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	port = net_local_port(s->daemon->net, &ip);
	if (port < 0)
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	if (s->minor < NDSH_MINOR_MANY_QPS) /* its library gives each a doorbell of its own */
		ndd_slots_limit(&s->qps, NDSH_DOORBELLS);
	s->shard = shard_for(s->daemon, m->placement);
	s->account.shard = s->shard->id;
	if (!lcore_new(s))
		return NDSH_ERR_NO_RESOURCES;
	if (!ndd_session_join(s)) {
		ndd_session_free_lcore(s);
		return NDSH_ERR_NO_RESOURCES;
	}
	s->port = (uint32_t)port;
	s->no_flush = (m->flags & NDSH_OPEN_NO_FLUSH) != 0;
	s->path_mtu = ndd_path_mtu(s->daemon->plane.port[port].mtu);
	memcpy(s->ip, ip.b, 16);
	s->state = NDSH_ST_OPEN;
	r->keep_fd = ndd_door_fd(s->lcore->door);
	r->open = (struct ndsh_open_reply){
		.h = r->h,
		.adapter_id = ndd_adapter_id(s->port),
		.max_mr_bytes = cfg->max_memory_bytes,
		.max_transfer_bytes = MAX_TRANSFER_BYTES,
		.shard = s->shard->id,
		.numa_node = s->shard->numa_node < 0 ? 0 : (uint32_t)s->shard->numa_node,
		.max_sge = NDSH_SGE_MAX,
		.max_inline = NDSH_INLINE_MAX,
		.max_read_limit = ROCE_RD_ATOMIC_MAX,
		.max_qps = s->qps.max,
		.max_cqs = cfg->max_cqs,
		.max_mrs = cfg->max_mrs,
		.path_mtu = s->path_mtu,
	};
	ndd_depths_tell(s, &r->open);
	return NDSH_OK;
}

struct ndd_bell *
ndd_session_bell(struct ndd_session *s, int *client_end)
{
	const struct ndd_principal *p = s->account.principal;

	return ndd_bell_new(p->courier, p->direct, &s->shard->count.wakeups, client_end);
}

static void
bell_closed(void *arg)
{
	struct ndd_seat *seat = arg;

	ndd_account_give(&seat->account, CONFIG_SHARE_descriptors, 1);
	ndd_seat_drop(seat);
}

/* What the object gave back a moment ago is there to be taken. */
void
ndd_session_bell_free(struct ndd_session *s, struct ndd_bell *b)
{
	bool paid;

	if (b == NULL)
		return;
	paid = ndd_account_take(&s->seat->account, CONFIG_SHARE_descriptors, 1);
	ndd_bell_free(b, paid ? bell_closed : seat_let_go, ndd_seat_hold(s->seat));
}

/* ---- the lcore ----------------------------------------------------------------------------- */

struct attach {
	struct ndd_shard_session *lcore;
	bool ok;
};

static void
on_shard_attach(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct attach *a = arg;

	a->ok = ndd_lcore_attach(shard, a->lcore, now_ns);
}

static void
on_shard_detach(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	(void)now_ns;
	ndd_lcore_detach(shard, arg);
}

bool
ndd_session_attach(struct ndd_session *s, struct ndsh_session_page *page)
{
	struct attach a = {.lcore = s->lcore};

	memset(page, 0, sizeof(*page));
	s->lcore->page = page;
	ndd_shard_call(s->shard, on_shard_attach, &a);
	s->attached = a.ok;
	return a.ok;
}

static bool
session_detach(struct ndd_session *s)
{
	if (s->attached)
		ndd_shard_call(s->shard, on_shard_detach, s->lcore);
	return true;
}

const struct ndd_class ndd_lcore_class = {.name = "lcore", .end = session_detach};
