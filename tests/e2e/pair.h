/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a connection in one process, each behind a daemon of its own. */
#ifndef E2E_PAIR_H
#define E2E_PAIR_H

#include <ndclient.h>
#include <sys/types.h>

#define PATIENCE_MS  60000
#define BUFFER_BYTES 65536

struct side {
	const char *name, *socket_path;
	uint32_t profile;
	struct sockaddr_storage addr;
	socklen_t addr_bytes;
	struct nd_adapter *adapter;
	struct nd_pd *pd;
	struct nd_cq *cq;
	struct nd_qp *qp;
	struct nd_connector *connector;
	struct nd_mr *mr; /* all rights over buf */
	char *buf;
};

struct pair {
	struct side a, b;
	pid_t daemon_a;
};

/* A wrong outcome ends the program with a line that says what was called and what came. */
#define WANT(want, call) want_status(__FILE__, __LINE__, #call, (call), (want))
#define CHECK(cond)	 check(__FILE__, __LINE__, #cond, (cond))
void want_status(const char *file, int line, const char *what, nd_status got, nd_status want);
void check(const char *file, int line, const char *what, int good);

/* Memory of no segment, to read and write; flags: MAP_SHARED or MAP_PRIVATE. */
char *map_anonymous(size_t bytes, int flags);
/* The same of a file, which has no name any more. */
char *map_file(size_t bytes, int flags);

void side_address(struct side *s, const char *socket_path, const char *text);
/* Adapter, PD, CQ, buffer and region. */
void side_open(struct side *s, uint32_t cq_depth);
/* A region that is registered at once. */
nd_status region_new(struct nd_pd *pd, void *buf, size_t bytes, uint32_t flags, struct nd_mr **mr);
/* A region with all rights over the buffer. */
void side_register(struct side *s);
void side_create_qp(struct side *s, uint32_t depth);
void side_close(struct side *s);

/* side_open() and side_create_qp() of both, then connect a to b. */
void pair_open(struct pair *p);
/* Connect a's queue pair to b's: b listens at a port that it chooses. */
void pair_connect(struct pair *p);
void pair_close(struct pair *p);
/* other: another connection of the same adapters and domains, with completion queues of its own and
 * the buffers of p. */
void pair_beside(const struct pair *p, struct pair *other);

/* A post of bytes at offset 0 of the buffer; remote ones go to offset 0 of the peer's. */
nd_status side_receive(struct side *s, uint32_t bytes);
nd_status side_send(struct side *s, uint32_t bytes);
nd_status side_write(struct side *s, const struct side *peer, uint32_t bytes, uint32_t token);
nd_status side_read(struct side *s, const struct side *peer, uint32_t bytes, uint32_t token);
/* A write, or a read, at any address of the peer's. */
nd_status side_reach(struct side *s, int write, const void *remote, uint32_t bytes, uint32_t token);

/* Wait for an overlapped request. */
nd_status finish(nd_status inline_status, struct nd_overlapped *ov);
/* Wait for one result; its status. */
nd_status side_result(struct side *s, struct nd_result *result);
/* The same, and what a receive invalidated. */
nd_status side_result_ex(struct side *s, struct nd_result_ex *result);
/* The same of a queue of datagrams. */
nd_status side_ud_result(struct side *s, struct nd_ud_result *result);
/* What the adapter has adopted now. */
struct nd_adoption side_adoption(const struct side *s);
/* No result within ms. */
int side_quiet(struct side *s, unsigned int ms);
void sleep_ms(unsigned int ms);

/* A write from a to b arrives as it was sent. */
void pair_works(struct pair *p);
/* a's write or read is refused, and the connection is at its end on both sides. */
void pair_refuses(struct pair *p, int write, const void *remote, uint32_t bytes, uint32_t token);

#endif
