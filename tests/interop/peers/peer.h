/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The remote ends of stock programs of rdma-core, on libndclient. Each is called as the program it
 * is the peer of, with that program's option letters as far as it has them, and -b for our own
 * address. What goes wrong ends the program with a line that says where.
 */
#ifndef PEER_H
#define PEER_H

#include <netinet/in.h>

#include "../../e2e/pair.h"

/* Each returns the exit code. */
int peer_rc_pingpong(int argc, char **argv);
int peer_srq_pingpong(int argc, char **argv);
int peer_ud_pingpong(int argc, char **argv);
int peer_udaddy(int argc, char **argv);
int peer_mckey(int argc, char **argv);
int peer_ucmatose(int argc, char **argv);
int peer_cmtime(int argc, char **argv);

/* Open s at our address, or end with a word on what -b is for. */
void peer_open(struct side *s, const char *address, uint32_t cq_depth);
/* A number of an option, or the end with a word on it. */
uint32_t peer_number(const char *option, const char *text, uint32_t min, uint32_t max);
/* Another program may act on it. */
void peer_tell(const char *word);
/* The next result, by polling: round trips are counted in microseconds. */
struct nd_result peer_result(struct nd_cq *cq);
/* text is an address of either family. */
void peer_address(const char *text, uint16_t port, struct sockaddr_storage *addr, socklen_t *bytes);

/* ---- what the pingpong programs tell each other over TCP ------------------------------- */

struct words {
	uint32_t number, psn;
	struct sockaddr_storage addr;
};

#define WORDS_PORT 18515

/* As client to host, tried until it listens; as server (host NULL), which tells "listening". */
int words_socket(const char *host, uint16_t port);
void words_say(int fd, const struct words *w);
struct words words_hear(int fd);
/* The client's last word. */
void words_say_done(int fd);
void words_hear_done(int fd);

/* ---- connections of ucmatose and cmtime ------------------------------------------------ */

struct node {
	struct nd_qp *qp;
	struct nd_cq *cq;
	struct nd_connector *connector;
	struct nd_overlapped ov;   /* connect, complete or accept, disconnect */
	struct nd_overlapped gone; /* the peer's disconnect */
	double begin_us, end_us;   /* of the step under way */
};

struct cm_options {
	const char *own, *server; /* server NULL: we are it */
	uint16_t port;
	uint32_t connections;
	uint32_t dscp;
};

#define CM_PORT		7471
#define CONNECTIONS_MAX 1024u

double now_us(void);
/* Queue pair, queue and connector of each. */
struct node *nodes_create(struct side *s, uint32_t count, uint32_t depth);
/* All at once; both end when all are established. */
void nodes_connect(struct node *nodes, const struct cm_options *o);
void nodes_accept(struct side *s, struct node *nodes, const struct cm_options *o);
/* Wait until the peer has ended them. */
void nodes_wait_gone(struct node *nodes, uint32_t count);
void nodes_disconnect(struct node *nodes, uint32_t count);

#endif
