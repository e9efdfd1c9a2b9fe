/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/number.h"

#include <stddef.h>

static bool
was_its_own(const struct ndd_number *n, const struct config_principal *rule, uid_t uid)
{
	return n->left != 0 && n->rule == rule && n->uid == uid;
}

/* NULL: all are taken. */
static struct ndd_number *
number_for(struct ndd_numbers *all, const struct config_principal *rule, uid_t uid)
{
	struct ndd_number *oldest = NULL;

	for (uint32_t i = 0; i < NDD_NUMBERS; i++) {
		struct ndd_number *n = &all->number[i];

		if (n->taken)
			continue;
		if (was_its_own(n, rule, uid))
			return n;
		if (oldest == NULL || n->left < oldest->left)
			oldest = n;
	}
	return oldest;
}

/* The last one's courier may not have ended yet. */
static void
number_begin(struct ndd_number *n, const struct config_principal *rule, uid_t uid)
{
	n->rule = rule;
	n->uid = uid;
	n->spent = (struct ndd_spent){0};
	ndd_arrears_forget(&n->arrears);
}

uint32_t
ndd_number_take(struct ndd_numbers *all, const struct config_principal *rule, uid_t uid)
{
	struct ndd_number *n = number_for(all, rule, uid);

	if (n == NULL)
		return NDD_NUMBERS + all->further++ % NDD_NUMBERS;
	if (!was_its_own(n, rule, uid))
		number_begin(n, rule, uid);
	n->taken = true;
	return (uint32_t)(n - all->number);
}

void
ndd_number_give(struct ndd_numbers *all, uint32_t number, const struct ndd_spent *spent)
{
	if (number >= NDD_NUMBERS)
		return;
	all->number[number].spent = *spent;
	all->number[number].taken = false;
	all->number[number].left = ++all->leavings;
}

struct ndd_spent
ndd_number_spent(const struct ndd_numbers *all, uint32_t number)
{
	return number < NDD_NUMBERS ? all->number[number].spent : (struct ndd_spent){0};
}

struct ndd_arrears *
ndd_number_arrears(struct ndd_numbers *all, uint32_t number)
{
	return number < NDD_NUMBERS ? &all->number[number].arrears : NULL;
}
