/* SPDX-License-Identifier: BSD-3-Clause */
/* The principals: those that the configuration names, and users for as long as they come. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/account.h"
#include "account/credentials.h"
#include "platform/clock.h"

/* ---- shares -------------------------------------------------------------------------------- */

static uint32_t
places_of(const struct config *cfg, enum config_share what)
{
	return config_share_of_shard(what) ? cfg->lcores : 1;
}

static void
shares_end(struct ndd_accounts *a, struct ndd_principal *p)
{
	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++)
		for (uint32_t i = 0; i < places_of(a->cfg, k); i++)
			base_share_end(&a->pool[i][k], &p->share[i][k]);
	base_share_end(&a->pool[0][CONFIG_SHARE_descriptors], &p->strangers);
}

/* What nobody may use is not kept for anybody. */
static uint64_t
reserve_of(const struct config_principal *rule, enum config_share what)
{
	return rule != NULL && rule->allow ? config_share_unit(what) * rule->reserve[what] : 0;
}

/* False: what is reserved is not there; *what says of what. */
static bool
shares_begin(struct ndd_accounts *a, struct ndd_principal *p, enum config_share *what)
{
	const struct config_principal *rule = p->rule;
	bool ok = true;

	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++) {
		const uint64_t unit = config_share_unit(k);
		const uint64_t limit = rule != NULL && rule->has_limit[k] ? unit * rule->limit[k]
									  : BASE_SHARE_FAIR;

		for (uint32_t i = 0; i < places_of(a->cfg, k); i++)
			if (!base_share_begin(
				    &a->pool[i][k], &p->share[i][k], reserve_of(rule, k), limit)) {
				*what = k;
				ok = false;
			}
	}
	return base_share_begin(
		       &a->pool[0][CONFIG_SHARE_descriptors], &p->strangers, 0, BASE_SHARE_FAIR) &&
	       ok;
}

uint32_t
ndd_principal_weight(const struct ndd_principal *p)
{
	return p->rule != NULL ? p->rule->weight : 1;
}

static int64_t
turn_ns(const struct ndd_principal *p)
{
	return (int64_t)NDD_TURN_NS * ndd_principal_weight(p);
}

/* ---- what it has spent --------------------------------------------------------------------- */

static struct ndd_spent
spent_by(const struct ndd_accounts *a, const struct ndd_principal *p)
{
	struct ndd_spent spent = {
		.commands = p->commands, .control_ns = turn_ns(p) - p->credit_ns, .turn = a->turns};

	memcpy(spent.woken, p->woken, sizeof(spent.woken));
	return spent;
}

/* It is as if it had been there in all the turns since. */
static void
principal_has_spent(const struct ndd_accounts *a, struct ndd_principal *p)
{
	const struct ndd_spent spent = ndd_number_spent(&a->numbers, p->number);
	const uint64_t turns = a->turns - spent.turn;
	int64_t left_ns = 0;

	if (turns <= (uint64_t)(spent.control_ns / NDD_TURN_NS))
		left_ns = spent.control_ns - (int64_t)turns * turn_ns(p);
	p->credit_ns = turn_ns(p) - (left_ns > 0 ? left_ns : 0);
	p->commands = spent.commands;
	memcpy(p->woken, spent.woken, sizeof(p->woken));
}

/* ---- principals ---------------------------------------------------------------------------- */

/* Is it one that the configuration names? Else it is a user and exists while it has clients. So is
 * each user whose clients are refused: what is left of one of them is no matter of the others. */
static bool
is_named(const struct config_principal *rule)
{
	return rule != NULL && rule->allow && !rule->each_user;
}

static struct ndd_principal *
principal_new(struct ndd_accounts *a, const struct config_principal *rule, uid_t uid)
{
	struct ndd_principal *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->rule = rule;
	p->number = ndd_number_take(&a->numbers, rule, uid);
	TAILQ_INIT(&p->due);
	TAILQ_INIT(&p->moved);
	TAILQ_INIT(&p->leaving_conns);
	principal_has_spent(a, p);
	p->uid = uid;
	/* The daemon's own user could as well end the daemon. */
	p->direct = rule != NULL ? rule->direct_wakeups : uid == geteuid();
	if (is_named(rule))
		(void)snprintf(p->name, sizeof(p->name), "%s", rule->name);
	else
		(void)snprintf(p->name, sizeof(p->name), "%s%suid %u", rule ? rule->name : "",
			rule ? ", " : "", uid);
	TAILQ_INSERT_TAIL(&a->principals, p, next);
	return p;
}

static void
courier_end(struct ndd_accounts *a, struct ndd_principal *p)
{
	if (p->courier == NULL)
		return;
	ndd_courier_release(p->courier);
	p->courier = NULL;
	base_share_give(&a->pool[0][CONFIG_SHARE_descriptors], p->courier_share, NDD_COURIER_FILES);
}

static void
principal_free(struct ndd_accounts *a, struct ndd_principal *p)
{
	const struct ndd_spent spent = spent_by(a, p);

	courier_end(a, p);
	shares_end(a, p);
	ndd_number_give(&a->numbers, p->number, &spent);
	TAILQ_REMOVE(&a->principals, p, next);
	free(p);
}

/* Without reserves: there is no failure but that of memory. */
static struct ndd_principal *
principal_of_user(struct ndd_accounts *a, const struct config_principal *rule, uid_t uid)
{
	struct ndd_principal *p;
	enum config_share what;

	TAILQ_FOREACH (p, &a->principals, next)
		if (p->rule == rule && p->uid == uid)
			return p;
	p = principal_new(a, rule, uid);
	if (p != NULL)
		(void)shares_begin(a, p, &what);
	return p;
}

static struct ndd_principal *
principal_named(struct ndd_accounts *a, const struct config_principal *rule)
{
	struct ndd_principal *p;

	TAILQ_FOREACH (p, &a->principals, next)
		if (p->rule == rule)
			break;
	return p;
}

static const struct config_principal *
rule_for(const struct ndd_accounts *a, const struct ndd_credentials *cred)
{
	for (uint32_t i = 0; i < a->cfg->principals; i++)
		if (ndd_credentials_match(cred, &a->cfg->principal[i]))
			return &a->cfg->principal[i];
	return NULL;
}

struct ndd_principal *
ndd_principal_get(struct ndd_accounts *a, const struct ndd_credentials *cred)
{
	const struct config_principal *rule = rule_for(a, cred);
	struct ndd_principal *p =
		is_named(rule) ? principal_named(a, rule) : principal_of_user(a, rule, cred->uid);

	if (p != NULL)
		p->refs++;
	return p;
}

struct ndd_principal *
ndd_principal_hold(struct ndd_principal *p)
{
	p->refs++;
	return p;
}

void
ndd_principal_put(struct ndd_accounts *a, struct ndd_principal *p)
{
	if (--p->refs == 0 && !is_named(p->rule))
		principal_free(a, p);
}

/* ---- couriers ------------------------------------------------------------------------------ */

/* A reserve is for it, too; limits are not. */
static struct base_share *
courier_share(struct ndd_account *account)
{
	struct base_pool *pool = &account->all->pool[0][CONFIG_SHARE_descriptors];
	struct ndd_principal *p = account->principal;
	struct base_share *own = &p->share[0][CONFIG_SHARE_descriptors];

	if (base_share_take(pool, own, NDD_COURIER_FILES) == BASE_GRANTED)
		return own;
	if (base_share_take(pool, &p->strangers, NDD_COURIER_FILES) == BASE_GRANTED)
		return &p->strangers;
	return NULL;
}

struct ndd_courier *
ndd_account_courier(struct ndd_account *account)
{
	struct ndd_principal *p = account->principal;

	if (p->courier != NULL)
		return p->courier;
	errno = EMFILE;
	p->courier_share = courier_share(account);
	if (p->courier_share == NULL)
		return NULL;
	p->courier = ndd_courier_start(
		&account->all->couriers, ndd_number_arrears(&account->all->numbers, p->number));
	if (p->courier == NULL)
		base_share_give(&account->all->pool[0][CONFIG_SHARE_descriptors], p->courier_share,
			NDD_COURIER_FILES);
	return p->courier;
}

bool
ndd_accounts_end_couriers(struct ndd_accounts *a)
{
	struct ndd_principal *p;

	TAILQ_FOREACH (p, &a->principals, next)
		courier_end(a, p);
	return ndd_couriers_wait(&a->couriers, NDD_S);
}

/* ---- time of the control thread ------------------------------------------------------------- */

void
ndd_accounts_turn(struct ndd_accounts *a)
{
	struct ndd_principal *p;

	a->turns++;
	TAILQ_FOREACH (p, &a->principals, next) {
		p->credit_ns += turn_ns(p);
		if (p->credit_ns > turn_ns(p))
			p->credit_ns = turn_ns(p);
	}
}

bool
ndd_principal_has_half(const struct ndd_principal *p)
{
	return p->credit_ns > turn_ns(p) / 2;
}

uint64_t
ndd_principal_charge(struct ndd_principal *p, uint64_t since_ns)
{
	uint64_t now_ns = ndd_now_ns();

	p->credit_ns -= (int64_t)(now_ns - since_ns);
	return now_ns;
}

static uint64_t
command_token_ns(const struct ndd_principal *p)
{
	return p->rule != NULL && p->rule->commands != 0 ? NDD_S / p->rule->commands : 0;
}

uint64_t
ndd_principal_command_ns(const struct ndd_principal *p)
{
	const uint64_t token_ns = command_token_ns(p);

	return token_ns == 0 ? 0 : base_bucket_ready_ns(&p->commands, token_ns, p->rule->commands);
}

void
ndd_principal_command(struct ndd_principal *p, uint64_t now_ns)
{
	base_bucket_take(&p->commands, now_ns, command_token_ns(p));
}

/* ---- all of them --------------------------------------------------------------------------- */

static bool
principals_begin(struct ndd_accounts *a, char why[NDD_WHY_BYTES])
{
	for (uint32_t i = 0; i < a->cfg->principals; i++) {
		const struct config_principal *rule = &a->cfg->principal[i];
		enum config_share what = CONFIG_SHARE_COUNT;
		struct ndd_principal *p;

		if (!is_named(rule))
			continue;
		p = principal_new(a, rule, 0);
		if (p != NULL && shares_begin(a, p, &what))
			continue;
		if (p == NULL)
			(void)snprintf(why, NDD_WHY_BYTES, "out of memory");
		else
			(void)snprintf(why, NDD_WHY_BYTES,
				"principals[%u].reserves.%s: %u are not there: of %" PRIu64
				", others reserve %" PRIu64,
				i, config_share_name(what), rule->reserve[what],
				a->pool[0][what].total, a->pool[0][what].promised);
		return false;
	}
	return true;
}

bool
ndd_accounts_init(struct ndd_accounts *a, const struct config *cfg, uint64_t descriptors,
	char why[NDD_WHY_BYTES])
{
	memset(a, 0, sizeof(*a));
	a->cfg = cfg;
	TAILQ_INIT(&a->principals);
	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++)
		for (uint32_t i = 0; i < places_of(cfg, k); i++)
			a->pool[i][k].total = k == CONFIG_SHARE_descriptors
						      ? descriptors
						      : config_total(cfg, k) * config_share_unit(k);
	if (principals_begin(a, why))
		return true;
	ndd_accounts_fini(a);
	return false;
}

void
ndd_accounts_fini(struct ndd_accounts *a)
{
	struct ndd_principal *p;

	while ((p = TAILQ_FIRST(&a->principals)) != NULL)
		principal_free(a, p);
}
