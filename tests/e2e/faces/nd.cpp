/* SPDX-License-Identifier: BSD-3-Clause */
/* What an end of libndclient's consists of. */
#include "nd.hpp"

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

std::unique_ptr<End>
new_nd(const Place &place)
{
	return std::make_unique<Nd>(place);
}
