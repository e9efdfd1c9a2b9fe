/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient's own calls. */
#include <cstring>

#include <ndclient.h>

#include "face.hpp"

#define PATIENCE_MS 60000

namespace {

class Nd : public End {
	sockaddr_in local;
	nd_adapter *adapter = nullptr;
	nd_pd *pd = nullptr;
	nd_cq *cq = nullptr;
	nd_qp *qp = nullptr;
	nd_mr *mr = nullptr;
	nd_mw *mw = nullptr;
	nd_connector *connector = nullptr;
	nd_listener *listener = nullptr;
	nd_overlapped requests[6] = {}, notify = {};

	nd_overlapped *
	of(Request which)
	{
		return &requests[(int)which];
	}
	nd_sge
	sge(uint32_t offset, uint32_t length) const
	{
		return {buffer + offset, length, nd_mr_local_token(mr)};
	}

      public:
	explicit Nd(const Place &place);
	~Nd() override
	{
		WANT(ND_SUCCESS, nd_adapter_close(adapter));
	}

	int32_t
	receive(const void *context, uint32_t offset, uint32_t length) override
	{
		const nd_sge s = sge(offset, length);
		return nd_qp_receive(qp, (void *)context, &s, 1);
	}
	int32_t
	send(const void *context, uint32_t offset, uint32_t length, uint32_t flags) override
	{
		const nd_sge s = sge(offset, length);
		return nd_qp_send(qp, (void *)context, &s, 1, flags);
	}
	int32_t
	write(const void *context, uint32_t offset, uint32_t length, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		const nd_sge s = sge(offset, length);
		return nd_qp_write(qp, (void *)context, &s, 1, to.address + at, to.token, flags);
	}
	int32_t
	read(const void *context, uint32_t offset, uint32_t length, const Far &from,
		uint64_t at) override
	{
		const nd_sge s = sge(offset, length);
		return nd_qp_read(qp, (void *)context, &s, 1, from.address + at, from.token, 0);
	}
	int32_t
	bind(const void *context, uint32_t offset, uint32_t length, uint32_t flags,
		Far *told) override
	{
		const nd_status st =
			nd_qp_bind(qp, (void *)context, mr, mw, buffer + offset, length, flags);
		*told = {(uintptr_t)(buffer + offset), length, nd_mw_remote_token(mw)};
		return st;
	}
	int32_t
	invalidate(const void *context) override
	{
		return nd_qp_invalidate(qp, (void *)context, mw, 0);
	}
	int32_t
	send_and_invalidate(
		const void *context, uint32_t offset, uint32_t length, const Far &window) override
	{
		const nd_sge s = sge(offset, length);
		return nd_qp_send_and_invalidate(qp, (void *)context, &s, 1, window.token, 0);
	}
	int32_t
	flush() override
	{
		return nd_qp_flush(qp);
	}

	bool
	take(Result *result) override
	{
		nd_result r;

		if (nd_cq_get_results(cq, &r, 1) != 1)
			return false;
		*result = {r.status, r.bytes_transferred, r.request_context};
		return true;
	}
	int32_t
	arm(uint32_t type) override
	{
		const nd_status st = nd_cq_notify(cq, type, &notify);
		return st == ND_PENDING ? ND_SUCCESS : st;
	}
	bool
	armed() override
	{
		return nd_overlapped_status(&notify) == ND_PENDING;
	}
	void
	told() override
	{
		WANT(ND_SUCCESS, nd_overlapped_wait(&notify, PATIENCE_MS));
	}

	sockaddr_in
	listen() override
	{
		sockaddr_in at;
		socklen_t bytes_of = sizeof(at);

		WANT(ND_SUCCESS, nd_listener_create(adapter, &listener));
		WANT(ND_SUCCESS,
			nd_listener_listen(listener, (const sockaddr *)&local, sizeof(local), 0));
		WANT(ND_SUCCESS, nd_listener_local_address(listener, (sockaddr *)&at, &bytes_of));
		return at;
	}
	int32_t
	get_request() override
	{
		return nd_listener_get_request(listener, connector, of(Request::get));
	}
	int32_t
	connect(const sockaddr_in &to, const char *data) override
	{
		return nd_connector_connect(connector, qp, (const sockaddr *)&to, sizeof(to), 4, 4,
			data, (uint32_t)strlen(data) + 1, of(Request::connect));
	}
	int32_t
	complete() override
	{
		return nd_connector_complete_connect(connector, of(Request::complete));
	}
	int32_t
	accept(const char *data) override
	{
		return nd_connector_accept(
			connector, qp, 4, 4, data, (uint32_t)strlen(data) + 1, of(Request::accept));
	}
	int32_t
	reject(const char *data) override
	{
		return nd_connector_reject(connector, data, (uint32_t)strlen(data) + 1);
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
	ended(Request which, int32_t begun) override
	{
		return begun == ND_PENDING ? nd_overlapped_wait(of(which), PATIENCE_MS) : begun;
	}
	std::string
	peer_data() override
	{
		char data[256];
		uint32_t bytes_of = sizeof(data);

		WANT(ND_SUCCESS, nd_connector_private_data(connector, data, &bytes_of));
		return data;
	}
};

Nd::Nd(const Place &place) : local(place.address)
{
	nd_open_options options = {};
	nd_qp_options q = {};

	options.socket_path = place.socket.c_str();
	WANT(ND_SUCCESS,
		nd_adapter_open((const sockaddr *)&local, sizeof(local), &options, &adapter));
	WANT(ND_SUCCESS, nd_pd_create(adapter, &pd));
	WANT(ND_SUCCESS, nd_cq_create(adapter, 4 * depth, &cq));
	q.receive_cq = q.initiator_cq = cq;
	q.receive_depth = q.initiator_depth = depth;
	q.max_receive_sge = q.max_initiator_sge = 1;
	WANT(ND_SUCCESS, nd_qp_create(pd, &q, &qp));
	WANT(ND_SUCCESS, nd_mr_create(pd, &mr));
	WANT(ND_SUCCESS, nd_mr_register(mr, buffer, bytes, ND_MR_FLAG_ALLOW_LOCAL_WRITE, nullptr));
	WANT(ND_SUCCESS, nd_mw_create(pd, &mw));
	WANT(ND_SUCCESS, nd_connector_create(adapter, &connector));
}

} // namespace

std::unique_ptr<End>
new_nd(const Place &place)
{
	return std::make_unique<Nd>(place);
}
