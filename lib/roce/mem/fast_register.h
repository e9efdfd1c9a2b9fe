/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast-register regions, and other memory in pieces, for the rest of the engine. */
#ifndef ROCE_FAST_REGISTER_H
#define ROCE_FAST_REGISTER_H

#include <stdbool.h>
#include <stdint.h>

struct roce_arena;
struct roce_mr;
struct roce_qp;
struct roce_shard;
struct roce_wqe;

/* A fast-register region's own part, in memory of the host. */
struct roce_frmr {
	const struct roce_arena *arena;
	const uint64_t *lists; /* shared with the client: each word is read once */
	uint32_t max_pages;
	uint32_t local_key;
	bool remote;
	uint64_t page[]; /* client's addresses: no pointer that could outlive its memory */
};

enum roce_frmr_result { ROCE_FRMR_OK, ROCE_FRMR_REFUSED, ROCE_FRMR_BAD_PAGE, ROCE_FRMR_BREACH };

/* Carry out the FAST_REGISTER w. */
enum roce_frmr_result roce_frmr_register(
	struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w);
/* What roce_mr_access() refused may be memory in pieces. Is [va, va+bytes) inside it? */
bool roce_frmr_permits(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right);
/* Its first piece, in the host's memory; *bytes is cut to that. NULL: refused. */
uint8_t *roce_frmr_piece(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint32_t *bytes, uint32_t right);
/* The registered region that this side calls key, or NULL. */
struct roce_mr *roce_frmr_of_local(struct roce_shard *s, const struct roce_qp *qp, uint32_t key);
/* Is token one of a fast-register region? */
bool roce_frmr_is(struct roce_shard *s, uint32_t token);

#endif
