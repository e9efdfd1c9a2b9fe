/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams: queue pairs without a peer, address handles, what was sent and may arrive. */
#ifndef SIM_UD_H
#define SIM_UD_H

#include "roce/ud/ud.h"
#include "sim_ops.h"

#define SIM_UD_SENDS   64u   /* of one of them */
#define SIM_UD_RECVS   1024u /* that one of them may complete */
#define SIM_UD_HANDLES 64u   /* theirs begin here: connections' are below */
#define SIM_AHS	       4u    /* of a client */
#define SIM_GROUPS     4u    /* of multicast: the second half has IPv6 addresses */
#define SIM_GROUPS_AT  100u  /* their addresses, among the hosts' */
#define SIM_STRANGERS  32u   /* datagrams that no queue pair sent */
#define SIM_DGRAMS     (SIM_UDS_MAX * SIM_UD_SENDS + SIM_STRANGERS)

/* A client's address handles, as it and as the engine has them. */
struct sim_ah {
	bool live;
	uint32_t token, mtu;
	struct roce_path path;
};
struct sim_ahs {
	struct sim_ah of[SIM_AHS];
	struct roce_ah engine[SIM_AHS];
	struct roce_ah_table table;
	uint32_t generation;
};

struct sim_target { /* of a datagram */
	uint32_t qpn, q_key;
	unsigned address; /* of the host */
	bool v6;
};

/* On the wire, or gone from there: it may arrive as often as the network likes, or never. */
struct sim_dgram {
	uint32_t src_qpn, psn, qpn, q_key, imm, bytes;
	bool has_imm, se;
	const uint8_t *data;
};

struct sim_send {
	uint64_t context;
	uint8_t op, flags, nsge;
	uint8_t bad;	    /* it fails with this when its turn comes; NDSH_WC_SUCCESS: it leaves */
	bool left, stopped; /* stopped: it failed, and the send side went on later */
	int slot;	    /* of source; -1: none */
	uint32_t token, qpn, q_key, imm, bytes;
	struct ndsh_sge sge[NDSH_SGE_MAX];
	uint8_t *data;
};

/* A receive that was filled, or that failed, as its completion must say. */
struct sim_arrival {
	struct sim_recv *recv;
	uint8_t status, flags;
	uint32_t src_qpn, imm, bytes;
	uint8_t *data; /* header and payload */
};

enum sim_ud_state { SIM_UD_WAIT, SIM_UD_UP, SIM_UD_ENDING, SIM_UD_OVER };
struct sim_ud {
	struct sim_world *w;
	struct sim_client *client;
	unsigned number;
	bool v6, shares; /* shares: is to have an SRQ */
	enum sim_ud_state state;
	uint64_t start_ns, end_ns;
	struct roce_qp *qp;
	uint32_t qpn, index, q_key;
	struct ndsh_qp_dims dims;
	struct ndsh_qp_page *page;
	struct ndsh_sq sq;
	struct ndsh_rq rq;
	struct sim_cq *send_cq, *recv_cq;
	struct sim_srq *srq; /* or NULL */
	struct sim_arena source, inbox;
	/* Sends: [head, posted) are in flight, [sent, posted) have not left. */
	struct sim_send *sends;
	unsigned head, sent, posted, quota, abrupt_at;
	uint32_t psn;		  /* of the next datagram; UINT32_MAX: none has left */
	unsigned groups, not_own; /* it is attached to; bits */
	bool failed;		  /* the application heard that the send side stopped */
	uint64_t next_post_ns;
	/* Receives: arrivals[recv_head..arrived) are to complete. */
	struct sim_recv *recvs;
	unsigned recv_posted, recv_head, arrived;
	struct sim_arrival *arrivals;
	struct sim_taker taker;
	bool breach;		/* it posts what is no datagram, instead of the last one */
	bool flushing;		/* it was told to go to ERR, or has to go there */
	bool errored, breached; /* the engine said so */
};

/* sim_ud.c */
void sim_ud_plan(struct sim_world *w);
/* Planned changes and ends; when to look again. */
uint64_t sim_ud_step(struct sim_ud *u);
/* The datagram queue pair that an event of the engine is about, or NULL. */
struct sim_ud *sim_ud_of(struct sim_world *w, const void *owner);
void sim_ud_event(struct sim_ud *u, const struct roce_event *ev);
void sim_ud_host_died(struct sim_host *h);
bool sim_ud_breach_planned(const struct sim_world *w);

/* sim_ah.c */
void sim_ahs_init(struct sim_client *c);
/* A handle to the address that a host has, or had; NULL: no room now. */
const struct sim_ah *sim_ah_to(struct sim_client *c, unsigned address, bool v6);
/* One that is no more, or never was. */
uint32_t sim_ah_dead(struct sim_client *c);
const struct sim_ah *sim_ah_find(const struct sim_client *c, uint32_t token);
/* Now and then one is destroyed, in use or not. */
void sim_ah_step(struct sim_client *c);

/* sim_ud_post.c: what the application posts; true: it may want to post more soon */
bool sim_ud_act(struct sim_ud *u, unsigned *done);

/* sim_ud_model.c */
/* A frame left the engine of c; is it one of a datagram, then it must be the next of its queue. */
void sim_ud_left(struct sim_client *c, const uint8_t *frame, uint32_t bytes);
/* A frame comes to the shard, for the queue pair of datagrams that qpn names; false: for none. */
bool sim_ud_rx(struct sim_shard *sh, const struct roce_pkt *pkt, struct roce_qp *qp, bool damaged);
void sim_ud_completion(
	struct sim_client *c, unsigned index, const struct sim_cq *cq, const struct ndsh_cqe *e);
/* The handle is no more: what has not left by it fails when its turn comes. */
void sim_ud_doom(struct sim_ud *u, uint32_t token);
/* The send side goes on: what was posted so far is flushed. */
void sim_ud_restarted(struct sim_ud *u);
/* Nothing is in flight in the send queue. */
bool sim_ud_idle(const struct sim_ud *u);
bool sim_ud_recvs_done(const struct sim_ud *u);
/* Everything must have completed. */
void sim_ud_end(struct sim_ud *u);
void sim_ud_vanish(struct sim_ud *u);
struct sim_dgram *sim_dgram_new(struct sim_world *w);

/* The receive that the next datagram would take; of shared ones this one. NULL: there is none. */
struct sim_recv *sim_ud_receive(const struct sim_ud *u, unsigned shared);
/* A frame to a group: is it for this queue pair, but for what the group says? */
bool sim_ud_group_good(
	const struct sim_ud *u, const struct roce_pkt *pkt, const struct sim_recv *r);
/* It took the frame. */
void sim_ud_expect(struct sim_ud *u, struct sim_recv *r, const struct roce_pkt *pkt);

/* sim_group.c */
struct sim_group_before { /* of a member, before a frame came */
	unsigned done, shared;
	bool dead, attached, excused;
};
struct roce_path sim_group_path(const struct sim_host *from, unsigned group);
/* One that u may be in, or send to. */
unsigned sim_group_choose(const struct sim_ud *u);
/* Is it to a group, by its MAC address? */
bool sim_group_frame(const uint8_t *frame);
void sim_group_step(struct sim_ud *u);
/* A frame to the multicast number comes to a shard. */
void sim_group_rx(struct sim_shard *sh, const struct sim_frame *f, const struct roce_pkt *pkt);

/* sim_stranger.c: when it acts again */
uint64_t sim_stranger_step(struct sim_world *w);

#endif
