/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/ports.h"

#include "account/account.h"

static bool
is_any_address(const struct roce_gid *gid)
{
	static const struct roce_gid any;

	return roce_gid_equal(gid, &any);
}

/* The wildcard never spans adapters (R-LSN-01). */
static bool
port_overlaps(const struct ndd_port *p, uint32_t nic, const struct roce_cm_addr *addr)
{
	const struct roce_cm_addr *own = &p->addr;

	return own->port == addr->port && p->nic == nic &&
	       (roce_gid_equal(&own->gid, &addr->gid) || is_any_address(&own->gid) ||
		       is_any_address(&addr->gid));
}

static struct ndd_port_bucket *
port_bucket(struct ndd_ports *t, uint16_t port)
{
	return &t->bucket[port % NDD_PORT_BUCKETS];
}

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
	const struct ndd_port *p;

	LIST_FOREACH (p, port_bucket(t, addr->port), entry) {
		if (!port_overlaps(p, nic, addr))
			continue;
		if (!is_connection_use(p->use) || use == NDD_PORT_LISTENER)
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

static void
port_enter(struct ndd_ports *t, struct ndd_port *p, enum ndd_port_use use)
{
	p->use = use;
	p->bucket = port_bucket(t, p->addr.port);
	LIST_INSERT_HEAD(p->bucket, p, entry);
}

/* What p's account has there besides, from `other` on. A listener's newest connection is the first
 * of them. */
static struct ndd_port *
port_beside(const struct ndd_port *p, struct ndd_port *other)
{
	for (; other != NULL; other = LIST_NEXT(other, entry))
		if (other != p && other->account == p->account && other->nic == p->nic &&
			other->addr.port == p->addr.port)
			return other;
	return NULL;
}

enum ndsh_status
ndd_port_take(struct ndd_ports *t, struct ndd_account *account, struct ndd_port *p,
	enum ndd_port_use use, uint32_t nic, const struct roce_cm_addr *addr)
{
	enum ndsh_status status = account != NULL ? port_pay(account, addr->port) : NDSH_OK;

	if (status != NDSH_OK)
		return status;
	status = port_find(t, p, use, nic, addr);
	if (status == NDSH_OK) {
		p->account = account;
		p->pays = account != NULL;
		port_enter(t, p, use);
	} else if (account != NULL) {
		ndd_account_give(account, CONFIG_SHARE_ports, 1);
	}
	return status;
}

enum ndsh_status
ndd_port_accepted(struct ndd_ports *t, struct ndd_account *account, struct ndd_port *p,
	uint32_t nic, const struct roce_cm_addr *addr)
{
	p->nic = nic;
	p->addr = *addr;
	p->account = account;
	p->pays = account != NULL && port_beside(p, LIST_FIRST(port_bucket(t, addr->port))) == NULL;
	if (p->pays && !ndd_account_take(account, CONFIG_SHARE_ports, 1))
		return NDSH_ERR_NO_RESOURCES;
	port_enter(t, p, NDD_PORT_ACCEPTED);
	return NDSH_OK;
}

enum ndsh_status
ndd_port_share(struct ndd_ports *t, struct ndd_port *p, const struct ndd_port *endpoint,
	const struct roce_cm_addr *peer)
{
	struct ndd_port_bucket *bucket = port_bucket(t, endpoint->addr.port);
	const struct ndd_port *other;

	LIST_FOREACH (other, bucket, entry)
		if (other->use == NDD_PORT_SHARING && other->peer.port == peer->port &&
			roce_gid_equal(&other->peer.gid, &peer->gid) &&
			port_overlaps(other, endpoint->nic, &endpoint->addr))
			return NDSH_ERR_ADDRESS_IN_USE;
	p->nic = endpoint->nic;
	p->addr = endpoint->addr;
	p->peer = *peer;
	p->account = endpoint->account;
	p->pays = false;
	port_enter(t, p, NDD_PORT_SHARING);
	return NDSH_OK;
}

/* Nobody may have ports for nothing by closing what they were taken for. */
static void
port_pass_on(struct ndd_port *p)
{
	struct ndd_port *heir = port_beside(p, LIST_FIRST(p->bucket)), *other = heir;

	while (other != NULL && !other->pays)
		other = port_beside(p, LIST_NEXT(other, entry));
	if (heir == NULL || other != NULL)
		ndd_account_give(p->account, CONFIG_SHARE_ports, 1);
	else
		heir->pays = true;
}

void
ndd_port_give(struct ndd_port *p)
{
	if (p->use == NDD_PORT_FREE)
		return;
	LIST_REMOVE(p, entry);
	if (p->pays)
		port_pass_on(p);
	p->use = NDD_PORT_FREE;
}
