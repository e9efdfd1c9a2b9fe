/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to be done, by the first letter of the message that comes first:
 *
 *	T address token bytes	a window of the other side. Write to it, invalidate it with a send,
 *				and write again, which must be refused
 *	O			bind a window of our own, tell it the same way, and receive the
 *				send that invalidates it. The next write that the other side tries
 *				must be refused
 *	F address token bytes	a word of the other side, in a region that ends so many bytes
 *				further on. Atomics on it, and one behind the end, which must be
 *				refused
 *	W			tell a word of our own the same way, and judge it when the other
 *				side says so
 *	I address token		receive a send and a write that have an immediate, then do the
 *				same there
 *	N address token number psn	bring a second queue pair up by hand, tell its own the same
 *				way (number and PSN in bytes and reserved), use it, destroy it
 */
#ifndef VERBSPEER_H
#define VERBSPEER_H

#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <string.h>

#define BYTES 5000 /* several packets */
/* What is done to a word that begins as 0, from either side. */
#define ADDS	200
#define ADDEND	3
#define SWAPPED 0x1122334455667788
/* Immediates, as numbers in the order of the wire. */
#define SEND_IMM     0x01020304
#define WRITE_IMM    0x05060708
#define RDMA_ACCESS  (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define LOCAL_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)

struct message {
	char what[4];
	uint32_t token; /* in the order of the wire */
	uint32_t bytes, reserved;
	uint64_t address;
};

struct peer {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct {
		struct message in, out;
		uint64_t word, was;
		uint8_t target[BYTES], source[BYTES];
	} area;
};

/* Of calls that set errno: ends the program unless good. */
void peer_must(int good, const char *what);
void peer_check(int good, const char *otherwise);
/* The next completion, whatever its status. */
struct ibv_wc peer_completion(struct peer *p);
struct ibv_wc peer_expect(struct peer *p, enum ibv_wc_status want, const char *what);
/* Of a message, to area.in. */
void peer_receive(struct peer *p);
/* The request, with bytes at buf; signaled. */
void peer_post(struct peer *p, struct ibv_send_wr *wr, void *buf, uint32_t bytes);
/* Send m, and wait until it is sent. */
void peer_tell(struct peer *p, const struct message *m);

void peer_uses_window(struct peer *p);
void peer_offers_window(struct peer *p);
void peer_uses_word(struct peer *p);
void peer_offers_word(struct peer *p);
void peer_immediates(struct peer *p);
void peer_by_numbers(struct peer *p);

#endif
