/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/port_payer.h"

#include <stdlib.h>

#include "account/account.h"
#include "base/siphash.h"
#include "conn/ports.h"

static struct ndd_port_payer_bucket *
payer_bucket(struct ndd_port_payers *t, const struct ndd_port *p)
{
	uint64_t hash = ndsh_siphash(
		t->secret, (uintptr_t)p->account, (uint64_t)p->nic << 16 | p->addr.port);

	return &t->bucket[hash % NDD_PORT_PAYER_BUCKETS];
}

static struct ndd_port_payer *
payer_find(struct ndd_port_payers *t, const struct ndd_port *p)
{
	struct ndd_port_payer *payer;

	LIST_FOREACH (payer, payer_bucket(t, p), entry)
		if (payer->account == p->account && payer->nic == p->nic &&
			payer->port == p->addr.port)
			break;
	return payer;
}

bool
ndd_port_payer_has(struct ndd_port_payers *t, const struct ndd_port *p)
{
	return payer_find(t, p) != NULL;
}

static struct ndd_port_payer *
payer_new(struct ndd_port_payers *t, const struct ndd_port *p)
{
	struct ndd_port_payer *payer = calloc(1, sizeof(*payer));

	if (payer == NULL)
		return NULL;
	payer->account = p->account;
	payer->nic = p->nic;
	payer->port = p->addr.port;
	TAILQ_INIT(&payer->has);
	LIST_INSERT_HEAD(payer_bucket(t, p), payer, entry);
	return payer;
}

bool
ndd_port_payer_join(struct ndd_port_payers *t, struct ndd_port *p)
{
	p->payer = NULL;
	if (p->account == NULL)
		return true;
	p->payer = payer_find(t, p);
	if (p->payer == NULL)
		p->payer = payer_new(t, p);
	if (p->payer == NULL)
		return false;
	if (p->pays)
		TAILQ_INSERT_HEAD(&p->payer->has, p, beside);
	else
		TAILQ_INSERT_TAIL(&p->payer->has, p, beside);
	return true;
}

static void
pass_on(struct ndd_port_payer *payer)
{
	struct ndd_port *heir = TAILQ_FIRST(&payer->has);

	if (heir == NULL || heir->pays)
		ndd_account_give(payer->account, CONFIG_SHARE_ports, 1);
	else
		heir->pays = true;
}

void
ndd_port_payer_leave(struct ndd_port *p)
{
	struct ndd_port_payer *payer = p->payer;

	if (payer == NULL)
		return;
	TAILQ_REMOVE(&payer->has, p, beside);
	if (p->pays)
		pass_on(payer);
	if (!TAILQ_EMPTY(&payer->has))
		return;
	LIST_REMOVE(payer, entry);
	free(payer);
}
