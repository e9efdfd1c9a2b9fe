/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups of the number and key of a queue pair of datagrams, by the CM (SIDR). */
#ifndef SIM_SIDR_H
#define SIM_SIDR_H

#include "cm/sidr.h"
#include "sim_types.h"

#define SIM_GIVEN_MAX 8u /* replies to one of them: copies may come late and count as new */

struct sim_target;

struct sim_ask {
	unsigned number;
	struct sim_ud *by, *about;
	uint64_t start_ns, give_up_ns;
	bool nobody, never; /* no listener; the application never answers */
	bool over, heard;
	unsigned address; /* of the host that was asked */
	bool v6;
	/* The asking side. */
	struct sim_host *host;
	struct roce_cm_conn *cm;
	uint32_t qpn, q_key; /* if it was heard */
	/* The other one. */
	struct sim_host *asked;
	struct roce_cm_conn *question;
	uint64_t answer_ns;
	struct roce_cm_sidr_reply given[SIM_GIVEN_MAX];
	unsigned n_given;
	uint64_t given_ns; /* the last */
};

void sim_sidr_plan(struct sim_world *w);
/* When to look again. */
uint64_t sim_sidr_step(struct sim_world *w);
void sim_sidr_event(struct sim_host *h, const struct roce_cm_event *ev);
void sim_sidr_host_died(struct sim_host *h);
bool sim_sidr_all_over(const struct sim_world *w);
/* What u has learned of some queue pair, if it chooses to use it. */
bool sim_sidr_heard(const struct sim_ud *u, struct sim_target *t);

#endif
