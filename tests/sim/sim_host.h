/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts: shards, their clients, a CM. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim_client.h"

struct sim_shard {
	struct sim_host *host;
	struct roce_shard *s;
	struct sim_client client;
};
struct sim_host {
	struct sim_world *w;
	unsigned number, n_shards;
	uint64_t secret[2];
	struct roce_gid gid4, gid6;
	uint8_t mac[6];
	struct sim_shard shard[SIM_SHARDS_MAX];
	struct roce_cm *cm;
	struct roce_cm_listener *listener;
	uint32_t mad_psn;
	struct sim_frame *inbox, **inbox_tail;
	uint64_t next_ns;
	unsigned idle_turns;
	uint64_t tx_frames, tx_mads;
};
void sim_host_init(struct sim_world *w, unsigned number);
void sim_host_turn(struct sim_host *h);
void sim_host_wake(struct sim_host *h, uint64_t at_ns);
struct roce_path sim_path(const struct sim_host *from, const struct sim_host *to, bool v6);
const struct roce_gid *sim_gid(const struct sim_host *h, bool v6);

#endif
