/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between packets and scatter/gather lists. Keys are looked at for every packet: a region may die
 * in the middle of a message. Payload is copied, never lent to the port: a frame owes nothing to
 * memory that its owner may change, give up or lose.
 */
#include "roce/internal.h"

bool
roce_sge_check(
	struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w, uint32_t right)
{
	const struct ndsh_sge *sge = roce_wqe_sge(w);

	for (uint32_t i = 0; i < w->num_sge; i++)
		if (sge[i].len > 0 &&
			roce_mr_access(s, qp, sge[i].key, sge[i].addr, sge[i].len, right) ==
				NULL &&
			!roce_fr_permits(s, qp, sge[i].key, sge[i].addr, sge[i].len, right))
			return false;
	return true;
}

/* Put pos at byte from of the message. Always done at its first byte, for pos may stem from an
 * older request at the same address. */
static void
seek(struct roce_sge_pos *pos, const struct roce_wqe *w, uint32_t from)
{
	const struct ndsh_sge *sge = roce_wqe_sge(w);
	uint32_t left = from, i = 0;

	while (i < w->num_sge && left >= sge[i].len)
		left -= sge[i++].len;
	*pos = (struct roce_sge_pos){ .wqe = w, .pos = from, .off = left, .idx = i };
}

/* The next piece of at most bytes: its host address, and its length in *piece; NULL: no right. */
static uint8_t *
next_piece(struct roce_shard *s, const struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t bytes, uint32_t right, uint32_t *piece)
{
	const struct ndsh_sge *sge = roce_wqe_sge(w);
	uint8_t *host;

	while (pos->idx < w->num_sge && pos->off == sge[pos->idx].len) {
		pos->idx++;
		pos->off = 0;
	}
	if (pos->idx >= w->num_sge)
		return NULL;
	sge += pos->idx;
	*piece = sge->len - pos->off < bytes ? sge->len - pos->off : bytes;
	host = roce_mr_access(s, qp, sge->key, sge->addr + pos->off, *piece, right);
	if (roce_unlikely(host == NULL))
		host = roce_fr_piece(s, qp, sge->key, sge->addr + pos->off, piece, right);
	pos->off += *piece;
	pos->pos += *piece;
	return host;
}

bool
roce_sge_gather(struct roce_shard *s, const struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, uint8_t *dst, uint32_t bytes)
{
	uint32_t piece;

	if (w->flags & NDSH_WRF_INLINE) {
		memcpy(dst, roce_wqe_inline(w) + from, bytes);
		return true;
	}
	if (from == 0 || pos->wqe != w || pos->pos != from)
		seek(pos, w, from);
	for (; bytes > 0; bytes -= piece, dst += piece) {
		const uint8_t *host =
			next_piece(s, qp, pos, w, bytes, ROCE_ACCESS_LOCAL_READ, &piece);

		if (host == NULL)
			return false;
		memcpy(dst, host, piece);
	}
	return true;
}

bool
roce_sge_scatter(struct roce_shard *s, const struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, const uint8_t *src, uint32_t bytes)
{
	uint32_t piece;

	if (from == 0 || pos->wqe != w || pos->pos != from)
		seek(pos, w, from);
	for (; bytes > 0; bytes -= piece, src += piece) {
		uint8_t *host =
			next_piece(s, qp, pos, w, bytes, NDSH_ACCESS_LOCAL_WRITE, &piece);

		if (host == NULL)
			return false;
		memcpy(host, src, piece);
	}
	return true;
}
