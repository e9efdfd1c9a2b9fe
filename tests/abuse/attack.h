/* SPDX-License-Identifier: BSD-3-Clause */
/* What attacks are made of. Each is a function that attacks for as long as attacking() says so, and
 * a line in the table of its theme. */
#ifndef ABUSE_ATTACK_H
#define ABUSE_ATTACK_H

#include "raw.h"

struct target {
	const char *socket;	 /* of the daemon that is attacked */
	const char *peer_socket; /* of its peer, for an accomplice's session */
	uint64_t ms, end_ns;
};

struct attack {
	const char *name;
	void (*run)(struct target *t, uint32_t arg);
	uint32_t arg;
	bool prepares; /* for some seconds, and calls attack_starts() itself */
};

extern const struct attack socket_attacks[], message_attacks[], object_attacks[], ring_attacks[],
	work_attacks[], memory_attacks[], connection_attacks[], datagram_attacks[],
	traffic_attacks[], unreliable_attacks[], window_attacks[], held_attacks[],
	crowd_attacks[]; /* each ends with one without a name */

/* Preparation is over: say so, and attack for ms from now. */
void attack_starts(struct target *t);
/* The attack's time is not over. */
bool attacking(const struct target *t);
/* Keep what the attack holds until its time is over. */
void attack_hold(const struct target *t);
/* Leave the CPUs to the daemons and the victim: the attack is not one on the scheduler. */
void attack_pause_us(uint32_t us);

/* A session of the daemon that is attacked and one of the other, an accomplice's, with a connection
 * between them; the regions have all rights over all of their memory. */
struct duo {
	struct raw r, peer;
	struct raw_cq cq, peer_cq;
	struct raw_qp qp, peer_qp;
	uint32_t key, peer_key;
};
/* All but the queue pairs and the connection; bytes of memory on each side. */
bool duo_open(struct duo *d, const struct target *t, uint32_t bytes, uint32_t cq_depth);
bool duo_begin(struct duo *d, const struct target *t, uint32_t depth);
/* The queue pairs, with rings of that depth, and a connection between them. */
bool duo_join(struct duo *d, uint32_t depth);
/* Two queue pairs that are brought up by hand towards each other. */
bool duo_by_hand(
	struct duo *d, struct raw_qp *qp, struct raw_qp *peer_qp, uint32_t depth, uint32_t psn);
/* An unreliable connection of the two. */
bool duo_unreliable(struct duo *d, uint32_t depth, uint32_t psn);
void duo_end(struct duo *d);
/* A session has ended, or the queue pair has. */
bool duo_over(const struct duo *d);
/* A request over the connection, of so many bytes in the middle of both memories. */
struct ndsh_swr duo_request(const struct duo *d, enum ndsh_op op, uint32_t bytes);
/* The same of the accomplice. */
struct ndsh_swr duo_peer_request(const struct duo *d, enum ndsh_op op, uint32_t bytes);

#endif
