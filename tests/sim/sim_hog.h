/* SPDX-License-Identifier: BSD-3-Clause */
/* A client that takes what it can, beside the one that the models are of. */
#ifndef SIM_HOG_H
#define SIM_HOG_H

#include "roce/shard/principal.h"
#include "shm/ndsh_ring.h"

#define SIM_HOG_QPS 3u

struct sim_shard;

struct sim_hog {
	bool there;
	struct roce_principal principal;
	struct roce_client client;
	struct roce_cq *cq;
	struct ndsh_cq_reader reader;
	uint32_t pd;
	struct {
		struct roce_qp *qp;
		void *block;
		struct ndsh_sq sq;
		struct ndsh_rq rq;
	} q[SIM_HOG_QPS];
};

void sim_hog_init(struct sim_shard *sh);
/* Its part in a turn of its shard. */
void sim_hog_run(struct sim_shard *sh);
/* Is the owner that an event names the hog? */
bool sim_hog_owns(const struct sim_shard *sh, const void *owner);
/* All principals of the shard end; checks that they have left nothing. */
void sim_hog_end(struct sim_shard *sh);
/* Is this one of its frames? They lead nowhere. */
bool sim_hog_frame(const uint8_t *frame);

#endif
