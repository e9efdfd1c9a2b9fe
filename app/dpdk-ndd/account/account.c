/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/account.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
ndd_account_refuse(struct ndd_account *account, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(account->why, sizeof(account->why), fmt, ap);
	va_end(ap);
}

static uint32_t
account_place(const struct ndd_account *account, enum config_share what)
{
	return config_share_of_shard(what) ? account->shard : 0;
}

/* Which limit refused it, and what the operator can do about it. */
static void
account_explain(struct ndd_account *account, enum config_share what, enum base_grant grant)
{
	const uint32_t at = account_place(account, what);
	const struct base_share *share = &account->principal->share[at][what];
	const struct base_pool *pool = &account->all->pool[at][what];
	const char *owner = account->principal->name, *name = config_share_name(what);
	const uint64_t unit = config_share_unit(what);

	if (grant == BASE_OVER_LIMIT)
		ndd_account_refuse(account,
			"%s has %" PRIu64 " of its %" PRIu64 " %s (its limits.%s)", owner,
			share->used / unit, share->limit / unit, name, name);
	else if (grant == BASE_OVER_FAIR)
		ndd_account_refuse(account,
			"%s has %" PRIu64 " of %" PRIu64 " %s, its fair share; limits.%s can set "
			"another",
			owner, share->used / unit, pool->total / unit, name, name);
	else
		ndd_account_refuse(account,
			"no %s are left for %s: all %" PRIu64 " are in use or reserved", name,
			owner, pool->total / unit);
}

bool
ndd_account_take(struct ndd_account *account, enum config_share what, uint64_t n)
{
	const uint32_t at = account_place(account, what);
	struct base_share *share = &account->principal->share[at][what];
	enum base_grant grant = base_share_take(&account->all->pool[at][what], share, n);

	if (grant == BASE_GRANTED)
		return true;
	share->refused++;
	account->all->refused[what]++;
	account_explain(account, what, grant);
	return false;
}

void
ndd_account_give(struct ndd_account *account, enum config_share what, uint64_t n)
{
	const uint32_t at = account_place(account, what);

	base_share_give(&account->all->pool[at][what], &account->principal->share[at][what], n);
}

bool
ndd_account_take_with_files(
	struct ndd_account *account, enum config_share what, uint64_t n, uint32_t files)
{
	if (what != CONFIG_SHARE_COUNT && !ndd_account_take(account, what, n))
		return false;
	if (files == 0 || ndd_account_take(account, CONFIG_SHARE_descriptors, files))
		return true;
	ndd_account_give_with_files(account, what, n, 0);
	return false;
}

void
ndd_account_give_with_files(
	struct ndd_account *account, enum config_share what, uint64_t n, uint32_t files)
{
	if (what != CONFIG_SHARE_COUNT)
		ndd_account_give(account, what, n);
	if (files != 0)
		ndd_account_give(account, CONFIG_SHARE_descriptors, files);
}

bool
ndd_account_take_stranger(struct ndd_account *account)
{
	return base_share_take(&account->all->pool[0][CONFIG_SHARE_descriptors],
		       &account->principal->strangers, 1) == BASE_GRANTED;
}

/* base_share_take() would give a single holder that much. */
uint64_t
ndd_account_most(const struct ndd_account *account, enum config_share what)
{
	const uint32_t at = account_place(account, what);
	const struct base_share *share = &account->principal->share[at][what];
	const struct ndd_principal *p;
	uint64_t others = 0, left, fair;

	TAILQ_FOREACH (p, &account->all->principals, next)
		if (p != account->principal)
			others += p->share[at][what].reserve;
	left = account->all->pool[at][what].total - others;
	if (share->limit != BASE_SHARE_FAIR)
		return share->limit < left ? share->limit : left;
	fair = (left - share->reserve) / (BASE_FAIR_FACTOR + 1) * BASE_FAIR_FACTOR;
	return share->reserve + fair;
}

void
ndd_account_give_stranger(struct ndd_account *account)
{
	base_share_give(&account->all->pool[0][CONFIG_SHARE_descriptors],
		&account->principal->strangers, 1);
}

bool
ndd_account_may_connect(struct ndd_account *account)
{
	const struct config_principal *rule = account->principal->rule;

	if (rule == NULL || rule->allow)
		return true;
	ndd_account_refuse(account, "clients of principal \"%s\" are refused (principals[].allow)",
		rule->name);
	return false;
}

bool
ndd_account_has_addresses(const struct ndd_account *account)
{
	return account->principal->rule != NULL && account->principal->rule->addresses != 0;
}

bool
ndd_account_owns_address(const struct ndd_account *account, const uint8_t ip[16])
{
	const struct config_principal *rule = account->principal->rule;

	if (!ndd_account_has_addresses(account))
		return true;
	for (uint32_t i = 0; i < rule->addresses; i++)
		if (memcmp(rule->address[i], ip, sizeof(rule->address[i])) == 0)
			return true;
	return false;
}

bool
ndd_account_may_use_address(struct ndd_account *account, const uint8_t ip[16])
{
	if (ndd_account_owns_address(account, ip))
		return true;
	ndd_account_refuse(account, "the address is not one of %s's (its principals[].addresses)",
		account->principal->name);
	return false;
}

bool
ndd_account_may_choose_port(struct ndd_account *account, uint16_t port)
{
	const struct config_principal *rule = account->principal->rule;

	if (rule == NULL || rule->listens == 0)
		return true;
	for (uint32_t i = 0; i < rule->listens; i++)
		if (port >= rule->listen[i].first && port <= rule->listen[i].last)
			return true;
	ndd_account_refuse(account, "port %u is not one of %s's (its principals[].listen)", port,
		account->principal->name);
	return false;
}
