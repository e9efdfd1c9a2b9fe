/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts: shards and their clients, a CM, and the rings between them. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim_client.h"
#include "sim_hog.h"
#include "sim_net.h"

#define SIM_IO_OWNER 0u /* the shard that owns the port */

struct sim_ring { /* of frames, first in, first out */
	struct sim_frame *first, **last;
	unsigned count, room;
};
void sim_ring_init(struct sim_ring *r, unsigned room);
/* False: it is full. */
bool sim_ring_put(struct sim_ring *r, struct sim_frame *f);
/* NULL: it is empty. */
struct sim_frame *sim_ring_take(struct sim_ring *r);
void sim_ring_free(struct sim_ring *r);

struct sim_shard {
	struct sim_host *host;
	struct roce_shard *s;
	struct sim_client client;
	struct sim_hog hog;
	struct roce_groups *groups; /* NULL: no queue pair was ever attached */
	unsigned number;
	struct sim_ring rx[SIM_SHARDS_MAX]; /* from each shard; from itself: loopback */
	struct sim_ring tx;		    /* for the I/O owner to send */
	struct sim_ring out;		    /* what tx, or the port, did not take yet */
	uint64_t next_ns;
	uint64_t stalled_ns; /* it has no CPU until then */
	unsigned idle_turns;
	uint64_t tx_frames; /* that the engine made */
};
struct sim_host {
	struct sim_world *w;
	unsigned number, n_shards;
	unsigned address; /* another one's, if it took its place */
	uint64_t secret[2];
	struct roce_qpn_key qpn_key;
	struct roce_gid gid4, gid6;
	uint8_t mac[6];
	struct sim_shard shard[SIM_SHARDS_MAX];
	struct sim_ring port; /* what has arrived */
	/* The control thread. */
	struct roce_cm *cm;
	uint32_t max_conns; /* of either part of its table */
	uint32_t backlog;   /* 0: no limit */
	unsigned floods;    /* of strangers, so far */
	unsigned untold;    /* requests of which the application has not heard */
	struct roce_cm_listener *listener, *lookups;
	uint32_t mad_psn;
	struct sim_ring control_rx, control_tx;
	uint64_t next_ns;
	/* Its death. */
	uint64_t die_ns, restart_ns;
	bool dead;
	struct sim_host *successor;
};
/* sim_host.c; before: the host that it replaces, or NULL */
void sim_host_init(struct sim_world *w, unsigned number, const struct sim_host *before);
/* What becomes due now, of the control thread and of each shard. */
void sim_host_run(struct sim_host *h);
uint64_t sim_host_next(const struct sim_host *h);
/* The control thread has to look. */
void sim_host_wake(struct sim_host *h, uint64_t at_ns);
/* All of it has to. */
void sim_host_wake_all(struct sim_host *h);
void sim_host_free(struct sim_host *h);
struct roce_path sim_path_to(const struct sim_host *from, unsigned address, bool v6);
struct roce_path sim_path(const struct sim_host *from, const struct sim_host *to, bool v6);
const struct roce_gid *sim_gid(const struct sim_host *h, bool v6);

/* sim_full.c */
void sim_full_plan(struct sim_host *h);
void sim_full_rx(struct sim_host *h, const struct roce_pkt *pkt);
void sim_full_wait(struct sim_conn *c);
bool sim_full_refuses(const struct sim_ep *ep, uint16_t reason);
/* sim_flood.c: now and then, before the messages that have come */
void sim_flood(struct sim_host *h);
bool sim_flood_is_request(const struct roce_cm_event *ev);
void sim_flood_on_request(struct sim_host *h, const struct roce_cm_event *ev);

/* sim_death.c */
void sim_host_dies(struct sim_host *h, uint64_t at_ns);
void sim_death_run(struct sim_host *h);
bool sim_death_host_is_up(struct sim_client **c);
bool sim_death_made_stale(const struct sim_ep *ep);

/* sim_lcore.c */
void sim_shard_init(struct sim_shard *sh, struct sim_host *h, unsigned number);
void sim_shard_turn(struct sim_shard *sh);
void sim_shard_wake(struct sim_shard *sh, uint64_t at_ns);
/* Frames that it has in its rings. */
bool sim_shard_has_frames(const struct sim_shard *sh);

#endif
