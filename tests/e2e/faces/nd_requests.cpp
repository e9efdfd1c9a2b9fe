/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient's requests, their results, and the memory that they name. */
#include "nd.hpp"

std::vector<nd_sge>
Nd::list(const Piece *pieces, uint32_t n) const
{
	std::vector<nd_sge> sges;

	for (uint32_t i = 0; i < n; i++)
		sges.push_back({start(pieces[i]), pieces[i].length,
			nd_mr_local_token(pieces[i].second ? mr2 : mr)});
	return sges;
}

int32_t
Nd::receive_list(const void *context, const Piece *pieces, uint32_t n)
{
	return nd_qp_receive(qp, (void *)context, list(pieces, n).data(), n);
}

int32_t
Nd::send_list(const void *context, const Piece *pieces, uint32_t n, uint32_t flags)
{
	return nd_qp_send(qp, (void *)context, list(pieces, n).data(), n, flags);
}

int32_t
Nd::write(const void *context, const Piece &piece, const Far &to, uint64_t at,
		uint32_t flags)
{
	return nd_qp_write(qp, (void *)context, list(&piece, 1).data(), 1, to.address + at,
		to.token, flags);
}

int32_t
Nd::read_list(const void *context, const Piece *pieces, uint32_t n, const Far &from,
		uint64_t at, uint32_t flags)
{
	return nd_qp_read(qp, (void *)context, list(pieces, n).data(), n, from.address + at,
		from.token, flags);
}

int32_t
Nd::bind(const void *context, const Piece &piece, uint32_t flags, Far *told)
{
	const nd_status st = nd_qp_bind(qp, (void *)context, piece.second ? mr2 : mr, mw,
		start(piece), piece.length, flags);
	*told = {(uintptr_t)start(piece), piece.length, nd_mw_remote_token(mw)};
	return st;
}

int32_t
Nd::invalidate(const void *context, uint32_t flags)
{
	return nd_qp_invalidate(qp, (void *)context, mw, flags);
}

int32_t
Nd::send_and_invalidate(const void *context, uint32_t offset, uint32_t length,
		const Far &window, uint32_t flags)
{
	const Piece piece = {offset, length};
	return nd_qp_send_and_invalidate(
		qp, (void *)context, list(&piece, 1).data(), 1, window.token, flags);
}

int32_t
Nd::flush()
{
	return nd_qp_flush(qp);
}

int32_t
Nd::enroll(const void *at, uint64_t length, uint32_t flags)
{
	nd_overlapped ov = {};
	return waited(nd_mr_register(mr2, (void *)at, length, flags, &ov), &ov);
}

int32_t
Nd::retire()
{
	nd_overlapped ov = {};
	return waited(nd_mr_deregister(mr2, &ov), &ov);
}

Far
Nd::second()
{
	return {(uintptr_t)buffer, bytes, nd_mr_remote_token(mr2)};
}

int32_t
Nd::share(const void *context, const Piece *pieces, uint32_t n)
{
	return nd_srq_receive(the_srq(), (void *)context, list(pieces, n).data(), n);
}

int32_t
Nd::resize_shared(uint32_t receives)
{
	return nd_srq_modify(the_srq(), receives, 0);
}

bool
Nd::take(Result *result)
{
	nd_result r;

	if (nd_cq_get_results(cq, &r, 1) != 1)
		return false;
	*result = {r.status, r.bytes_transferred, r.request_context,
		static_cast<End *>(r.qp_context)};
	return true;
}

int32_t
Nd::resize(uint32_t results)
{
	return nd_cq_resize(cq, results);
}

int32_t
Nd::arm(uint32_t type, uint32_t waiter)
{
	const nd_status st = nd_cq_notify(cq, type, &notify[waiter]);
	return st == ND_PENDING ? ND_SUCCESS : st;
}

bool
Nd::armed(uint32_t waiter)
{
	return nd_overlapped_status(&notify[waiter]) == ND_PENDING;
}

int32_t
Nd::told(uint32_t waiter)
{
	return nd_overlapped_wait(&notify[waiter], PATIENCE_MS);
}

int32_t
Nd::cancel_arms()
{
	return nd_cq_cancel(cq);
}
