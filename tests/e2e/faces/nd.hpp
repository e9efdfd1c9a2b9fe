/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient's own calls. */
#ifndef FACES_ND_HPP
#define FACES_ND_HPP

#include <vector>

#include <ndclient.h>

#include "face.hpp"

#define PATIENCE_MS 60000

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
	std::vector<nd_sge> list(const Piece *pieces, uint32_t n) const;
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

	int32_t receive_list(const void *context, const Piece *pieces, uint32_t n) override;
	int32_t send_list(const void *context, const Piece *pieces, uint32_t n, uint32_t flags) override;
	int32_t write(const void *context, const Piece &piece, const Far &to, uint64_t at, uint32_t flags) override;
	int32_t read_list(const void *context, const Piece *pieces, uint32_t n, const Far &from, uint64_t at, uint32_t flags) override;
	int32_t bind(const void *context, const Piece &piece, uint32_t flags, Far *told) override;
	int32_t invalidate(const void *context, uint32_t flags) override;
	int32_t send_and_invalidate(const void *context, uint32_t offset, uint32_t length, const Far &window, uint32_t flags) override;
	int32_t flush() override;

	int32_t enroll(const void *at, uint64_t length, uint32_t flags) override;
	int32_t retire() override;
	Far second() override;

	int32_t share(const void *context, const Piece *pieces, uint32_t n) override;
	int32_t resize_shared(uint32_t receives) override;

	bool take(Result *result) override;
	int32_t resize(uint32_t results) override;
	int32_t arm(uint32_t type, uint32_t waiter) override;
	bool armed(uint32_t waiter) override;
	int32_t told(uint32_t waiter) override;
	int32_t cancel_arms() override;

	sockaddr_in listen(uint32_t backlog) override;
	int32_t get_request(End &into) override;
	int32_t cancel_listening() override;
	int32_t connect(const sockaddr_in &to, const Words &words) override;
	int32_t complete() override;
	int32_t accept(const Words &words) override;
	int32_t reject(const Words &words) override;
	int32_t notify_disconnect() override;
	int32_t disconnect() override;
	int32_t cancel() override;
	int32_t ended(Request which, int32_t begun) override;
	bool under_way(Request which) override;
	int32_t private_data(void *data, uint32_t *room) override;
	int32_t read_limits(uint32_t *inbound, uint32_t *outbound) override;
	int32_t local_address(sockaddr_in *address, uint32_t *room) override;
	int32_t peer_address(sockaddr_in *address, uint32_t *room) override;

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

#endif
