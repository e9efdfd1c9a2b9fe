/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of principals, by which the CM and the network tell users apart. What a user has left
 * there outlives its principal: so one that comes again has its old number, and not what another
 * one left, or is promised, by leaving as often as that takes. What it owes is kept beside its
 * number, so that it gains nothing by leaving either.
 */
#ifndef NDD_NUMBER_H
#define NDD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bucket.h"
#include "courier/rest.h"

struct config_principal;

#define NDD_NUMBERS 1024u /* as many as the CM tells apart */

/* What a principal has used up of what comes back with time. */
struct ndd_spent {
	struct base_bucket commands;
	int64_t control_ns; /* time of the control thread, beyond what it has in this turn */
	uint64_t turn;	    /* of the control thread */
};

struct ndd_number {
	const struct config_principal *rule;
	uid_t uid;
	struct ndd_spent spent; /* when it left */
	struct ndd_arrears arrears;
	bool taken;
	uint64_t left; /* in the order in which they left; 0: nobody had it yet */
};

struct ndd_numbers {
	struct ndd_number number[NDD_NUMBERS];
	uint64_t leavings;
	uint32_t further; /* beyond these */
};

/* The number that it had before, or the one that has been nobody's for longest. */
uint32_t ndd_number_take(struct ndd_numbers *all, const struct config_principal *rule, uid_t uid);
/* Who has it has left, and has spent so much. */
void ndd_number_give(struct ndd_numbers *all, uint32_t number, const struct ndd_spent *spent);
/* What who has it had spent when it left last. */
struct ndd_spent ndd_number_spent(const struct ndd_numbers *all, uint32_t number);
/* What its couriers owe; NULL: that is not kept. */
struct ndd_arrears *ndd_number_arrears(struct ndd_numbers *all, uint32_t number);

#endif
