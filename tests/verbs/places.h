/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions with an iova on memory of several kinds, and what is in them. */
#ifndef VERBS_PLACES_H
#define VERBS_PLACES_H

#include "rig.h"

#define PLACE_LARGE 1000000u
#define PLACE_SMALL 40000u

/* Memory that the daemon may reach (a large private mapping), and that it can't. */
enum place_kind { PLACE_MAPPED, PLACE_STACK, PLACE_HEAP, PLACE_SHARED, PLACE_KINDS };

struct place {
	uint8_t *at;
	uint32_t bytes;
	uint64_t iova;
	struct ibv_mr *mr;
};

/* stack: PLACE_SMALL bytes, for memory of that kind. */
uint8_t *place_memory(enum place_kind kind, uint8_t *stack, uint32_t *bytes);
void place_memory_free(enum place_kind kind, const struct place *p);
/* Must succeed. */
void place_register(struct rig *r, struct place *p, uint64_t iova, int access);

struct ibv_sge place_sge(const struct place *p, uint32_t off, uint32_t bytes);
/* A signaled request, number 1, of that SGE, towards there; an atomic adds 1. */
struct ibv_send_wr place_request(
	const struct place *there, enum ibv_wr_opcode op, struct ibv_sge *sge, uint32_t off);
void place_fill(const struct place *p, uint32_t off, uint32_t bytes, unsigned seed);
/* Are they as place_fill() leaves them? */
bool place_holds(const struct place *p, uint32_t off, uint32_t bytes, unsigned seed);

#endif
