/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shard that serves the admin rings of two clients. Client i has one protection domain, which it
 * calls admin_bench_handle(i), and one range of memory, which it sees at admin_bench_va(i).
 */
#ifndef ADMIN_BENCH_H
#define ADMIN_BENCH_H

#include "roce/mem/admin.h"

#define ADMIN_DEPTH  8u
#define ADMIN_BYTES  65536u
#define ADMIN_MRS    16u
#define ADMIN_RIGHTS (NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ)

struct admin_bench_client {
	struct roce_admin *admin; /* behind it lies a page that can't be touched */
	struct ndsh_admin ring;
	struct ndsh_cq_reader answers;
	struct roce_cq *cq;
	void *block, *base;
	uint32_t pd; /* the engine's number */
	uint8_t memory[ADMIN_BYTES];
};

struct admin_bench {
	struct roce_shard *s;
	void *mem;
	struct admin_bench_client *c[2];
};

/* max: regions and windows of each client. mrs: slots of the shard's table. */
struct admin_bench *admin_bench_new(uint32_t max, uint32_t mrs);
/* Purges both clients, and expects that nothing is left. */
void admin_bench_free(struct admin_bench *b);
uint32_t admin_bench_handle(uint32_t i);
uint64_t admin_bench_va(uint32_t i);

/* Client i asks, and takes the answer. */
struct ndsh_cqe admin_bench_ask(
	struct admin_bench *b, uint32_t i, const struct ndsh_admin_request *r);
/* By client i, in its own domain. */
struct ndsh_cqe admin_bench_register(
	struct admin_bench *b, uint32_t i, uint64_t va, uint64_t bytes, uint32_t access);
uint8_t admin_bench_deregister(struct admin_bench *b, uint32_t i, uint32_t token);
/* What the token opens to queue pairs of client i's domain; NULL: nothing at this address. */
uint8_t *admin_bench_opens(struct admin_bench *b, uint32_t i, uint32_t token, uint64_t va);
/* Entries of the shard's table that are in use. */
uint32_t admin_bench_used(struct admin_bench *b);

#endif
