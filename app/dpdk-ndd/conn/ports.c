/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/ports.h"

#include <stdlib.h>

#include "account/account.h"
#include "base/siphash.h"

static bool
is_any_address(const struct roce_gid *gid)
{
	static const struct roce_gid any;

	return roce_gid_equal(gid, &any);
}

/* ---- places -------------------------------------------------------------------------------- */

/* The wildcard never spans adapters (R-LSN-01). */
static bool
place_overlaps(const struct ndd_port_place *place, uint32_t nic, const struct roce_cm_addr *addr)
{
	const struct roce_cm_addr *own = &place->addr;

	return own->port == addr->port && place->nic == nic &&
	       (roce_gid_equal(&own->gid, &addr->gid) || is_any_address(&own->gid) ||
		       is_any_address(&addr->gid));
}

static struct ndd_port_bucket *
port_bucket(struct ndd_ports *t, uint16_t port)
{
	return &t->bucket[port % NDD_PORT_BUCKETS];
}

static struct ndd_port_place *
place_find(struct ndd_ports *t, uint32_t nic, const struct roce_cm_addr *addr)
{
	struct ndd_port_place *place;

	LIST_FOREACH (place, port_bucket(t, addr->port), entry)
		if (place->nic == nic && place->addr.port == addr->port &&
			roce_gid_equal(&place->addr.gid, &addr->gid))
			break;
	return place;
}

/* NULL: no memory. */
static struct ndd_port_place *
place_for(struct ndd_ports *t, uint32_t nic, const struct roce_cm_addr *addr)
{
	struct ndd_port_place *place = place_find(t, nic, addr);

	if (place != NULL)
		return place;
	place = calloc(1, sizeof(*place));
	if (place == NULL)
		return NULL;
	place->nic = nic;
	place->addr = *addr;
	LIST_INSERT_HEAD(port_bucket(t, addr->port), place, entry);
	return place;
}

static void
place_free_if_unused(struct ndd_port_place *place)
{
	if (place->uses != 0)
		return;
	LIST_REMOVE(place, entry);
	free(place);
}

/* ---- rules --------------------------------------------------------------------------------- */

static bool
is_connection_use(enum ndd_port_use use)
{
	return use == NDD_PORT_ACCEPTED || use == NDD_PORT_SHARING;
}

/* A use that excludes all others counts more than connections that are left of one. */
static enum ndsh_status
port_check(
	struct ndd_ports *t, enum ndd_port_use use, uint32_t nic, const struct roce_cm_addr *addr)
{
	enum ndsh_status status = NDSH_OK;
	const struct ndd_port_place *place;

	LIST_FOREACH (place, port_bucket(t, addr->port), entry) {
		if (!place_overlaps(place, nic, addr))
			continue;
		if (place->excludes || use == NDD_PORT_LISTENER)
			return NDSH_ERR_PORT_IN_USE;
		status = NDSH_ERR_ADDRESS_IN_USE;
	}
	return status;
}

/* Not the last that was given back: a late message may still be under way to it. */
static bool
port_choose(struct ndd_ports *t, enum ndd_port_use use, uint32_t nic, struct roce_cm_addr *addr)
{
	for (uint32_t i = 0; i < NDD_EPHEMERAL_COUNT; i++) {
		addr->port = (uint16_t)(NDD_EPHEMERAL_FIRST + t->next++ % NDD_EPHEMERAL_COUNT);
		if (port_check(t, use, nic, addr) == NDSH_OK)
			return true;
	}
	return false;
}

static enum ndsh_status
port_find(struct ndd_ports *t, struct ndd_port *p, enum ndd_port_use use, uint32_t nic,
	const struct roce_cm_addr *addr)
{
	p->nic = nic;
	p->addr = *addr;
	if (addr->port != 0)
		return port_check(t, use, nic, addr);
	return port_choose(t, use, nic, &p->addr) ? NDSH_OK : NDSH_ERR_NO_FREE_PORT;
}

/* Has it the right to this port, and the means? */
static enum ndsh_status
port_pay(struct ndd_account *account, uint16_t port)
{
	if (port != 0 && !ndd_account_may_choose_port(account, port))
		return NDSH_ERR_ACCESS;
	return ndd_account_take(account, CONFIG_SHARE_ports, 1) ? NDSH_OK : NDSH_ERR_NO_RESOURCES;
}

/* NDSH_ERR_NO_RESOURCES: no memory. */
static enum ndsh_status
port_enter(struct ndd_ports *t, struct ndd_port *p, enum ndd_port_use use)
{
	struct ndd_port_place *place = place_for(t, p->nic, &p->addr);

	if (place == NULL)
		return NDSH_ERR_NO_RESOURCES;
	if (!ndd_port_payer_join(&t->payers, p)) {
		place_free_if_unused(place);
		return NDSH_ERR_NO_RESOURCES;
	}
	place->uses++;
	place->excludes |= !is_connection_use(use);
	p->place = place;
	p->use = use;
	return NDSH_OK;
}

/* ---- what there is to do ------------------------------------------------------------------- */

enum ndsh_status
ndd_port_take(struct ndd_ports *t, struct ndd_account *account, struct ndd_port *p,
	enum ndd_port_use use, uint32_t nic, const struct roce_cm_addr *addr)
{
	enum ndsh_status status = account != NULL ? port_pay(account, addr->port) : NDSH_OK;

	if (status != NDSH_OK)
		return status;
	p->account = account;
	p->pays = account != NULL;
	status = port_find(t, p, use, nic, addr);
	if (status == NDSH_OK)
		status = port_enter(t, p, use);
	if (status != NDSH_OK && account != NULL)
		ndd_account_give(account, CONFIG_SHARE_ports, 1);
	return status;
}

enum ndsh_status
ndd_port_accepted(struct ndd_ports *t, struct ndd_account *account, struct ndd_port *p,
	uint32_t nic, const struct roce_cm_addr *addr)
{
	enum ndsh_status status;

	p->nic = nic;
	p->addr = *addr;
	p->account = account;
	p->pays = account != NULL && !ndd_port_payer_has(&t->payers, p);
	if (p->pays && !ndd_account_take(account, CONFIG_SHARE_ports, 1))
		return NDSH_ERR_NO_RESOURCES;
	status = port_enter(t, p, NDD_PORT_ACCEPTED);
	if (status != NDSH_OK && p->pays)
		ndd_account_give(account, CONFIG_SHARE_ports, 1);
	return status;
}

static struct ndd_sharing_bucket *
sharing_bucket(
	struct ndd_ports *t, const struct ndd_port *endpoint, const struct roce_cm_addr *peer)
{
	const struct roce_cm_addr *own = &endpoint->addr;
	uint64_t hash = ndsh_siphash_address(t->secret, own->gid.raw);

	hash = ndsh_siphash(t->secret, hash, (uint64_t)endpoint->nic << 16 | own->port);
	hash = ndsh_siphash(
		t->secret, hash ^ peer->port, ndsh_siphash_address(t->secret, peer->gid.raw));
	return &t->sharing[hash % NDD_SHARING_BUCKETS];
}

/* As long as the endpoint is there, no place that overlaps with its own has SHARING ones. */
enum ndsh_status
ndd_port_share(struct ndd_ports *t, struct ndd_port *p, const struct ndd_port *endpoint,
	const struct roce_cm_addr *peer)
{
	struct ndd_sharing_bucket *bucket = sharing_bucket(t, endpoint, peer);
	const struct ndd_port *other;
	enum ndsh_status status;

	LIST_FOREACH (other, bucket, sharing)
		if (other->place == endpoint->place && other->peer.port == peer->port &&
			roce_gid_equal(&other->peer.gid, &peer->gid))
			return NDSH_ERR_ADDRESS_IN_USE;
	p->nic = endpoint->nic;
	p->addr = endpoint->addr;
	p->peer = *peer;
	p->account = endpoint->account;
	p->pays = false;
	status = port_enter(t, p, NDD_PORT_SHARING);
	if (status == NDSH_OK)
		LIST_INSERT_HEAD(bucket, p, sharing);
	return status;
}

void
ndd_port_give(struct ndd_port *p)
{
	if (p->use == NDD_PORT_FREE)
		return;
	if (p->use == NDD_PORT_SHARING)
		LIST_REMOVE(p, sharing);
	if (!is_connection_use(p->use)) /* there is one at most */
		p->place->excludes = false;
	p->place->uses--;
	place_free_if_unused(p->place);
	ndd_port_payer_leave(p);
	p->use = NDD_PORT_FREE;
}
