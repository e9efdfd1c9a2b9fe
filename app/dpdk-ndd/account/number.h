/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of principals, by which the CM and the network tell users apart. What those hold for a
 * user (connections in time-wait, say) outlives its principal. So a user that comes again gets its
 * old number: by coming and going it cannot reach another principal's number, and share. What it
 * owes is kept beside the number, so leaving does not pay its debts.
 */
#ifndef NDD_NUMBER_H
#define NDD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bucket.h"
#include "config/config.h"
#include "courier/rest.h"

struct config_principal;

#define NDD_NUMBERS 1024u /* as many as the CM tells apart */

/* What a principal has used up of what comes back with time. */
struct ndd_spent {
	struct base_bucket commands;
	struct base_bucket woken[CONFIG_LCORES_MAX]; /* its clients, on each shard */
	int64_t control_ns; /* time of the control thread, beyond what it has in this turn */
	uint64_t turn;	    /* of the control thread */
};

struct ndd_number {
	const struct config_principal *rule;
	uid_t uid;
	struct ndd_spent spent; /* when it left */
	struct ndd_arrears arrears;
	bool taken;
	uint64_t left; /* in the order in which principals left; 0: it was never given out */
};

struct ndd_numbers {
	struct ndd_number number[NDD_NUMBERS];
	uint64_t leavings;
	uint32_t further; /* beyond these */
};

/* The number that the principal had before, or else the one that has been free for longest. */
uint32_t ndd_number_take(struct ndd_numbers *all, const struct config_principal *rule, uid_t uid);
/* Its principal leaves, having spent so much. */
void ndd_number_give(struct ndd_numbers *all, uint32_t number, const struct ndd_spent *spent);
/* What its principal had spent when it left last. */
struct ndd_spent ndd_number_spent(const struct ndd_numbers *all, uint32_t number);
/* What its principal's couriers owe; NULL: that is not kept. */
struct ndd_arrears *ndd_number_arrears(struct ndd_numbers *all, uint32_t number);

#endif
