/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between packets and scatter/gather lists. Keys are checked for every packet: a region may
 * be deregistered in the middle of a message. Payload is copied, never lent to the port: a frame
 * owes nothing to memory that its owner may change, give up or lose.
 */
#include "roce/mem/sge.h"

#include <string.h>

#include "base/compiler.h"
#include "roce/mem/copy.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"

bool
roce_sge_check(
	struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w, uint32_t right)
{
	const struct ndsh_sge *sge = roce_wqe_sge(w);

	for (uint32_t i = 0; i < w->num_sge; i++)
		if (sge[i].len > 0 &&
			!roce_mr_permits(s, qp, sge[i].key, sge[i].addr, sge[i].len, right))
			return false;
	return true;
}

/* Put pos at byte from of the message. Always done at its first byte, for pos may stem from an
 * older request at the same address. */
static void
pos_seek(struct roce_sge_pos *pos, const struct roce_wqe *w, uint32_t from)
{
	const struct ndsh_sge *sge = roce_wqe_sge(w);
	uint32_t left = from, i = 0;

	if (from != 0 && pos->wqe == w && pos->pos == from)
		return;
	while (i < w->num_sge && left >= sge[i].len)
		left -= sge[i++].len;
	*pos = (struct roce_sge_pos){.wqe = w, .pos = from, .off = left, .idx = i};
}

static bool
piece_of_list(struct roce_sge_pos *pos, const struct roce_wqe *w, uint32_t from, uint32_t bytes,
	struct roce_piece *p)
{
	const struct ndsh_sge *sge = roce_wqe_sge(w);

	pos_seek(pos, w, from);
	while (pos->idx < w->num_sge && pos->off == sge[pos->idx].len) {
		pos->idx++;
		pos->off = 0;
	}
	if (pos->idx >= w->num_sge)
		return false;
	sge += pos->idx;
	*p = (struct roce_piece){.va = sge->addr + pos->off,
		.key = sge->key,
		.bytes = sge->len - pos->off < bytes ? sge->len - pos->off : bytes};
	return true;
}

/* The piece that begins at byte from, of at most bytes; false: the list has come to its end. A
 * list of one needs no pos, which lies in a cache line of its own. */
static bool
piece_at(struct roce_sge_pos *pos, const struct roce_wqe *w, uint32_t from, uint32_t bytes,
	struct roce_piece *p)
{
	const struct ndsh_sge *sge = roce_wqe_sge(w);

	if (base_unlikely(w->num_sge != 1))
		return piece_of_list(pos, w, from, bytes, p);
	if (base_unlikely(from >= sge->len))
		return false;
	*p = (struct roce_piece){.va = sge->addr + from,
		.key = sge->key,
		.bytes = sge->len - from < bytes ? sge->len - from : bytes};
	return true;
}

static void
pos_advance(struct roce_sge_pos *pos, const struct roce_wqe *w, uint32_t bytes)
{
	if (base_likely(w->num_sge == 1))
		return;
	pos->off += bytes;
	pos->pos += bytes;
}

/*
 * Nearly all lists have one entry, and nearly all entries lie in one piece of memory: then it is
 * plain where a byte of the message is. NULL: the long way.
 */
static inline uint8_t *
sge_whole(struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w, uint32_t from,
	uint32_t bytes, uint32_t right)
{
	const struct ndsh_sge *sge = w->sge; /* one never needs the extension */

	if (w->num_sge != 1 || from > sge->len || bytes > sge->len - from)
		return NULL;
	return roce_mr_access(s, qp, sge->key, sge->addr + from, bytes, right);
}

static bool
gather_pieces(struct roce_shard *s, const struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, uint8_t *dst, uint32_t bytes)
{
	struct roce_piece p;

	for (; bytes > 0; bytes -= p.bytes, dst += p.bytes, from += p.bytes) {
		const uint8_t *host = NULL;

		if (piece_at(pos, w, from, bytes, &p))
			host = roce_mr_piece(s, qp, p.key, p.va, &p.bytes, ROCE_ACCESS_LOCAL_READ);
		if (host == NULL)
			return false;
		memcpy(dst, host, p.bytes);
		pos_advance(pos, w, p.bytes);
	}
	return true;
}

/* inline: the compiler is to put it into the one walk per packet that needs it, across files. */
inline bool
roce_sge_gather(struct roce_shard *s, const struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, uint8_t *dst, uint32_t bytes)
{
	const uint8_t *src;

	if (w->flags & NDSH_WRF_INLINE)
		src = roce_wqe_inline(w) + from;
	else
		src = sge_whole(s, qp, w, from, bytes, ROCE_ACCESS_LOCAL_READ);
	if (base_unlikely(src == NULL))
		return gather_pieces(s, qp, pos, w, from, dst, bytes);
	memcpy(dst, src, bytes);
	return true;
}

static enum roce_copy
scatter_pieces(struct roce_shard *s, struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, const uint8_t *src, uint32_t bytes)
{
	enum roce_copy put;
	enum ndsh_spoils spoils = w->op == NDSH_OP_RECV ? NDSH_SPOILS_RECEIVE : NDSH_SPOILS_REQUEST;
	struct roce_piece p;

	for (; bytes > 0; bytes -= p.bytes, src += p.bytes, from += p.bytes) {
		uint8_t *host;

		if (!piece_at(pos, w, from, bytes, &p))
			return ROCE_COPY_REFUSED;
		host = roce_mr_piece(s, qp, p.key, p.va, &p.bytes, NDSH_ACCESS_LOCAL_WRITE);
		if (base_likely(host != NULL)) {
			memcpy(host, src, p.bytes);
		} else {
			put = roce_moved_put(
				s, qp, p.key, p.va, src, p.bytes, NDSH_ACCESS_LOCAL_WRITE, spoils);
			if (put != ROCE_COPY_OK)
				return put;
		}
		pos_advance(pos, w, p.bytes);
	}
	return ROCE_COPY_OK;
}

enum roce_copy
roce_sge_scatter(struct roce_shard *s, struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, const uint8_t *src, uint32_t bytes)
{
	uint8_t *dst = sge_whole(s, qp, w, from, bytes, NDSH_ACCESS_LOCAL_WRITE);

	if (base_unlikely(dst == NULL))
		return scatter_pieces(s, qp, pos, w, from, src, bytes);
	memcpy(dst, src, bytes);
	return ROCE_COPY_OK;
}
