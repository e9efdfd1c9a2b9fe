/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol of the control socket and the shared memory, spoken by hand: the caller decides
 * which of its rules are kept. For attacks, for clients that die in the middle, and for the abuses
 * of tests/e2e.
 */
#ifndef ABUSE_RAW_H
#define ABUSE_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/ndsh_msg.h"
#include "shm/ndsh_ring.h"

/* What raw_ask() returns beside enum ndsh_status: the session has ended; nothing came in time. */
#define RAW_GONE (-1000)
#define RAW_MUTE (-1001)

/* Of a session's first segment. */
#define RAW_SEGMENT_BYTES (2u << 20)
#define RAW_LARGE_BYTES	  (8u << 20)

struct raw { /* one session */
	int fd, wake;
	uint64_t cookie;
	struct ndsh_addr addr;
	uint8_t *base; /* of the first segment, with the session page */
	uint32_t segment, carved, bytes;
	uint32_t pd;
	struct ndsh_admin admin;
	struct ndsh_cq_reader admin_cq;
};

/* If not NULL, it is told of each step of the protocol by name. */
extern void (*raw_on_step)(const char *name);
void raw_step(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How long raw_ask() waits for a reply: 2000 by default. */
extern int raw_patience_ms;

/* ---- bytes ---- */

/* Each seed has numbers of its own. */
void raw_seed(uint64_t seed);
uint32_t raw_random(uint32_t below);
void raw_fill(void *to, size_t bytes);
/* Connect; -1 if that fails. The daemon need not have accepted the connection yet. */
int raw_dial(const char *path);
void raw_say(int fd, const void *data, size_t bytes);
/* A message with n open files. */
void raw_say_files(int fd, const void *data, size_t bytes, const int *files, uint32_t n);
/* Wait for a message: its bytes, 0 the connection has ended, -1 nothing within ms. */
long raw_hear(int fd, void *buf, size_t room, int *file, int ms);

/* ---- requests ---- */

/* Send the request, take its reply, and drop events that come in between. Status, or RAW_*. */
int raw_ask(struct raw *r, void *request, void *reply, int *file);
/* The same for requests of one id; *id (if not NULL) becomes that of the reply. */
int raw_ask_id(struct raw *r, uint16_t type, uint32_t id, uint32_t *out);
/* An event of that type within ms: its status, or RAW_*. */
int raw_event(struct raw *r, uint16_t type, void *event, int ms);

/* ---- sessions ---- */

int raw_hello(struct raw *r, const char *path);
/* HELLO and OPEN by the daemon's first address. */
int raw_open(struct raw *r, const char *path);
/* The same, and memory, a domain and an admin ring. Ends the program if the daemon won't. */
void raw_begin(struct raw *r, const char *path);
void raw_begin_with(struct raw *r, const char *path, uint32_t bytes);
void raw_end(struct raw *r);

/* ---- memory ---- */

/* Make a segment, map and touch it, and have the daemon map it. */
int raw_segment(struct raw *r, uint64_t bytes, uint8_t **base, uint32_t *segment);
/* Its first half: make the segment. Returns its file, or -1. */
int raw_segment_file(struct raw *r, uint64_t bytes, uint32_t *segment);
int raw_segment_mapped(struct raw *r, uint32_t segment, const void *base);
/* Room in the first segment; aligned. */
uint32_t raw_carve(struct raw *r, uint32_t bytes);

/* ---- objects ---- */

struct raw_cq {
	uint32_t id;
	int wake_fd;
	struct ndsh_cq_page *page;
	struct ndsh_cq_reader reader;
};
struct raw_qp {
	uint32_t id, qpn;
	struct ndsh_qp_dims dims;
	struct ndsh_qp_page *page;
	struct ndsh_sq sq;
	struct ndsh_rq rq;
};

int raw_cq(struct raw *r, uint32_t depth, struct raw_cq *cq);
/* A queue pair with send and receive rings of that depth. */
int raw_qp(struct raw *r, const struct raw_cq *cq, uint32_t depth, struct raw_qp *qp);
int raw_uc_qp(struct raw *r, const struct raw_cq *cq, uint32_t depth, struct raw_qp *qp);
int raw_ud_qp(struct raw *r, const struct raw_cq *cq, uint32_t depth, struct raw_qp *qp);
/* The whole of the first segment, all rights: its token, or 0. */
uint32_t raw_region(struct raw *r);
/* Push an admin request and ring; wait for its answer, if that is wanted. */
void raw_admin(struct raw *r, const struct ndsh_admin_request *q);
bool raw_admin_answer(struct raw *r, struct ndsh_cqe *answer, int ms);

/* To another state, without attributes. */
int raw_state(struct raw *r, const struct raw_qp *qp, enum ndsh_qp_state state);
/* From RESET to RTS by hand, towards that queue pair; one first PSN for both directions. */
int raw_by_hand(struct raw *r, const struct raw_qp *qp, const struct ndsh_addr *peer, uint32_t qpn,
	uint32_t psn);
int raw_uc_by_hand(struct raw *r, const struct raw_qp *qp, const struct ndsh_addr *peer,
	uint32_t qpn, uint32_t psn);

/* ---- work ---- */

/* Post the request, with its one SGE, and ring. */
void raw_post(struct raw *r, struct raw_qp *qp, const struct ndsh_swr *wr);
void raw_ring(struct raw *r, struct raw_qp *qp);
void raw_receive(struct raw *r, struct raw_qp *qp, uint32_t bytes, uint32_t key);

/* ---- connections ---- */

/* Listen at any port: the address. */
int raw_listen(struct raw *r, uint32_t *listener, struct ndsh_addr *where);
int raw_connect(
	struct raw *r, const struct raw_qp *qp, const struct ndsh_addr *where, uint32_t *conn);
int raw_accept(struct raw *r, const struct raw_qp *qp, uint32_t conn);
/* A connection of a's queue pair to b's, complete on both sides. */
int raw_join(struct raw *a, const struct raw_qp *aq, struct raw *b, const struct raw_qp *bq);

#endif
