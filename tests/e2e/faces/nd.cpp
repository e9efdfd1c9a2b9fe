/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient's own calls. */
#include <cstring>
#include <vector>

#include <ndclient.h>

#include "face.hpp"

#define PATIENCE_MS 60000

namespace {

class Nd : public End {
	Nd *const host;
	sockaddr_in local;
	nd_adapter *adapter = nullptr;
	nd_pd *pd = nullptr;
	nd_cq *cq = nullptr;
	nd_srq *srq = nullptr;
	nd_qp *qp = nullptr;
	nd_mr *mr = nullptr, *mr2 = nullptr;
	nd_mw *mw = nullptr;
	nd_connector *connector = nullptr;
	nd_listener *listener = nullptr;
	nd_overlapped requests[6] = {};
	std::vector<nd_overlapped> notify;

	nd_overlapped *
	of(Request which)
	{
		return &requests[(int)which];
	}
	std::vector<nd_sge>
	list(const Piece *pieces, uint32_t n) const
	{
		std::vector<nd_sge> sges;

		for (uint32_t i = 0; i < n; i++)
			sges.push_back({start(pieces[i]), pieces[i].length,
				nd_mr_local_token(pieces[i].second ? mr2 : mr)});
		return sges;
	}
	static int32_t
	waited(nd_status begun, nd_overlapped *ov)
	{
		return begun == ND_PENDING ? nd_overlapped_wait(ov, PATIENCE_MS) : begun;
	}
	nd_srq *the_srq();
	int32_t create_pair(bool shared);
	void create_memory();

      public:
	explicit Nd(const Place &place);
	explicit Nd(Nd &of, bool lean = false)
	    : End(lean ? 0 : bytes), host(&of), local(of.local), adapter(of.adapter), pd(of.pd),
	      cq(of.cq), notify(lean ? 0 : waiters)
	{
	}
	~Nd() override;
	std::unique_ptr<End>
	another(bool shared) override
	{
		auto end = std::make_unique<Nd>(*this);

		WANT(ND_SUCCESS, end->create_pair(shared));
		end->create_memory();
		return end;
	}
	std::unique_ptr<End>
	lean(int32_t *status) override
	{
		auto end = std::make_unique<Nd>(*this, true);

		*status = end->create_pair(false);
		return *status == ND_SUCCESS ? std::move(end) : nullptr;
	}
	Limits
	limits() override
	{
		nd_adapter_info i;

		WANT(ND_SUCCESS, nd_adapter_query(adapter, &i));
		return {i.max_initiator_sge, i.max_caller_data, i.max_callee_data,
			i.max_inbound_reads, i.max_cq_depth, i.max_read_sge};
	}

	int32_t
	receive_list(const void *context, const Piece *pieces, uint32_t n) override
	{
		return nd_qp_receive(qp, (void *)context, list(pieces, n).data(), n);
	}
	int32_t
	send_list(const void *context, const Piece *pieces, uint32_t n, uint32_t flags) override
	{
		return nd_qp_send(qp, (void *)context, list(pieces, n).data(), n, flags);
	}
	int32_t
	write(const void *context, const Piece &piece, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		return nd_qp_write(qp, (void *)context, list(&piece, 1).data(), 1, to.address + at,
			to.token, flags);
	}
	int32_t
	read_list(const void *context, const Piece *pieces, uint32_t n, const Far &from,
		uint64_t at, uint32_t flags) override
	{
		return nd_qp_read(qp, (void *)context, list(pieces, n).data(), n, from.address + at,
			from.token, flags);
	}
	int32_t
	bind(const void *context, const Piece &piece, uint32_t flags, Far *told) override
	{
		const nd_status st = nd_qp_bind(qp, (void *)context, piece.second ? mr2 : mr, mw,
			start(piece), piece.length, flags);
		*told = {(uintptr_t)start(piece), piece.length, nd_mw_remote_token(mw)};
		return st;
	}
	int32_t
	invalidate(const void *context, uint32_t flags) override
	{
		return nd_qp_invalidate(qp, (void *)context, mw, flags);
	}
	int32_t
	send_and_invalidate(const void *context, uint32_t offset, uint32_t length,
		const Far &window, uint32_t flags) override
	{
		const Piece piece = {offset, length};
		return nd_qp_send_and_invalidate(
			qp, (void *)context, list(&piece, 1).data(), 1, window.token, flags);
	}
	int32_t
	flush() override
	{
		return nd_qp_flush(qp);
	}

	int32_t
	enroll(const void *at, uint64_t length, uint32_t flags) override
	{
		nd_overlapped ov = {};
		return waited(nd_mr_register(mr2, (void *)at, length, flags, &ov), &ov);
	}
	int32_t
	retire() override
	{
		nd_overlapped ov = {};
		return waited(nd_mr_deregister(mr2, &ov), &ov);
	}
	Far
	second() override
	{
		return {(uintptr_t)buffer, bytes, nd_mr_remote_token(mr2)};
	}

	int32_t
	share(const void *context, const Piece *pieces, uint32_t n) override
	{
		return nd_srq_receive(the_srq(), (void *)context, list(pieces, n).data(), n);
	}
	int32_t
	resize_shared(uint32_t receives) override
	{
		return nd_srq_modify(the_srq(), receives, 0);
	}

	bool
	take(Result *result) override
	{
		nd_result r;

		if (nd_cq_get_results(cq, &r, 1) != 1)
			return false;
		*result = {r.status, r.bytes_transferred, r.request_context,
			static_cast<End *>(r.qp_context)};
		return true;
	}
	int32_t
	resize(uint32_t results) override
	{
		return nd_cq_resize(cq, results);
	}
	int32_t
	arm(uint32_t type, uint32_t waiter) override
	{
		const nd_status st = nd_cq_notify(cq, type, &notify[waiter]);
		return st == ND_PENDING ? ND_SUCCESS : st;
	}
	bool
	armed(uint32_t waiter) override
	{
		return nd_overlapped_status(&notify[waiter]) == ND_PENDING;
	}
	int32_t
	told(uint32_t waiter) override
	{
		return nd_overlapped_wait(&notify[waiter], PATIENCE_MS);
	}
	int32_t
	cancel_arms() override
	{
		return nd_cq_cancel(cq);
	}

	sockaddr_in listen(uint32_t backlog) override;
	int32_t
	get_request(End &into) override
	{
		Nd &nd = static_cast<Nd &>(into);
		return nd_listener_get_request(listener, nd.connector, nd.of(Request::get));
	}
	int32_t
	cancel_listening() override
	{
		return nd_listener_cancel(listener);
	}
	int32_t connect(const sockaddr_in &to, const Words &words) override;
	int32_t
	complete() override
	{
		return nd_connector_complete_connect(connector, of(Request::complete));
	}
	int32_t
	accept(const Words &words) override
	{
		return nd_connector_accept(connector, qp, words.inbound, words.outbound,
			words.data.data(), (uint32_t)words.data.size(), of(Request::accept));
	}
	int32_t
	reject(const Words &words) override
	{
		return nd_connector_reject(
			connector, words.data.data(), (uint32_t)words.data.size());
	}
	int32_t
	notify_disconnect() override
	{
		return nd_connector_notify_disconnect(connector, of(Request::notice));
	}
	int32_t
	disconnect() override
	{
		return nd_connector_disconnect(connector, of(Request::disconnect));
	}
	int32_t
	cancel() override
	{
		return nd_connector_cancel(connector);
	}
	int32_t
	ended(Request which, int32_t begun) override
	{
		return waited(begun, of(which));
	}
	bool
	under_way(Request which) override
	{
		return nd_overlapped_status(of(which)) == ND_PENDING;
	}
	int32_t
	private_data(void *data, uint32_t *room) override
	{
		return nd_connector_private_data(connector, data, room);
	}
	int32_t
	read_limits(uint32_t *inbound, uint32_t *outbound) override
	{
		return nd_connector_read_limits(connector, inbound, outbound);
	}
	int32_t
	local_address(sockaddr_in *address, uint32_t *room) override
	{
		return nd_connector_local_address(connector, (sockaddr *)address, room);
	}
	int32_t
	peer_address(sockaddr_in *address, uint32_t *room) override
	{
		return nd_connector_peer_address(connector, (sockaddr *)address, room);
	}

	void
	close_pair() override
	{
		nd_qp_close(qp);
		qp = nullptr;
	}
	void
	close_window() override
	{
		nd_mw_close(mw);
		mw = nullptr;
	}
	void
	close_connector() override
	{
		nd_connector_close(connector);
		connector = nullptr;
	}
	void
	close_listener() override
	{
		nd_listener_close(listener);
		listener = nullptr;
	}
};

sockaddr_in
Nd::listen(uint32_t backlog)
{
	sockaddr_in at;
	socklen_t bytes_of = sizeof(at);

	WANT(ND_SUCCESS, nd_listener_create(adapter, &listener));
	WANT(ND_SUCCESS,
		nd_listener_listen(listener, (const sockaddr *)&local, sizeof(local), backlog));
	WANT(ND_SUCCESS, nd_listener_local_address(listener, (sockaddr *)&at, &bytes_of));
	return at;
}

int32_t
Nd::connect(const sockaddr_in &to, const Words &words)
{
	sockaddr_in from = local;

	from.sin_port = words.port;
	if (words.port != 0) {
		const nd_status st =
			nd_connector_bind(connector, (const sockaddr *)&from, sizeof(from));
		if (st != ND_SUCCESS)
			return st;
	}
	return nd_connector_connect(connector, qp, (const sockaddr *)&to, sizeof(to), words.inbound,
		words.outbound, words.data.data(), (uint32_t)words.data.size(),
		of(Request::connect));
}

nd_srq *
Nd::the_srq()
{
	if (host != nullptr)
		return host->the_srq();
	if (srq == nullptr)
		WANT(ND_SUCCESS, nd_srq_create(pd, depth, 1, 0, &srq));
	return srq;
}

Nd::Nd(const Place &place) : host(nullptr), local(place.address), notify(waiters)
{
	nd_open_options options = {};

	options.socket_path = place.socket.c_str();
	WANT(ND_SUCCESS,
		nd_adapter_open((const sockaddr *)&local, sizeof(local), &options, &adapter));
	WANT(ND_SUCCESS, nd_pd_create(adapter, &pd));
	WANT(ND_SUCCESS, nd_cq_create(adapter, 4 * depth, &cq));
	WANT(ND_SUCCESS, create_pair(false));
	create_memory();
}

int32_t
Nd::create_pair(bool shared)
{
	nd_status st;
	nd_qp_options q = {};

	q.receive_cq = q.initiator_cq = cq;
	q.context = static_cast<End *>(this);
	q.receive_depth = q.initiator_depth = depth;
	q.max_receive_sge = q.max_initiator_sge = 2;
	q.inline_bytes = inlined;
	q.srq = shared ? the_srq() : nullptr;
	st = nd_qp_create(pd, &q, &qp);
	return st == ND_SUCCESS ? nd_connector_create(adapter, &connector) : st;
}

void
Nd::create_memory()
{
	WANT(ND_SUCCESS, nd_mr_create(pd, &mr));
	WANT(ND_SUCCESS, nd_mr_register(mr, buffer, bytes, ND_MR_FLAG_ALLOW_LOCAL_WRITE, nullptr));
	WANT(ND_SUCCESS, nd_mr_create(pd, &mr2));
	WANT(ND_SUCCESS, nd_mw_create(pd, &mw));
}

Nd::~Nd()
{
	if (host == nullptr) {
		WANT(ND_SUCCESS, nd_adapter_close(adapter));
		return;
	}
	nd_connector_close(connector);
	nd_qp_close(qp);
	nd_mw_close(mw);
	nd_mr_close(mr);
	nd_mr_close(mr2);
}

} // namespace

std::unique_ptr<End>
new_nd(const Place &place)
{
	return std::make_unique<Nd>(place);
}
