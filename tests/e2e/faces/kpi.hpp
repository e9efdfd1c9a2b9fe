/* SPDX-License-Identifier: BSD-3-Clause */
/* NDK's dispatch tables, of the doc profile. What pends there is waited for where the others
 * return. */
#ifndef FACES_KPI_HPP
#define FACES_KPI_HPP

#include <atomic>

#include "told.hpp"

class Kpi : public End {
	Kpi *const host;
	sockaddr_in local;
	NDK_ADAPTER *adapter = nullptr;
	NDK_PD *pd = nullptr;
	NDK_CQ *cq = nullptr;
	NDK_SRQ *srq = nullptr;
	NDK_QP *qp = nullptr;
	NDK_MR *mr = nullptr, *mr2 = nullptr;
	NDK_MW *mw = nullptr;
	NDK_CONNECTOR *connector = nullptr;
	NDK_LISTENER *listener = nullptr;
	Told notified, asked, gone, requests[6];
	/* As it is told when it is gone, which may be later than its connectors. */
	Told listener_gone;
	bool listener_closed = false;
	/* Connectors that come when nobody wants them any more are closed. */
	std::mutex coming;
	bool unwanted = false;
	static void came(PVOID kpi, NDK_CONNECTOR *c);
	void end_listening();
	unsigned begun_at[6] = {};
	std::atomic<unsigned> armed_at{0}; /* threads arm one queue at a time */
	/* Connectors that the listener has given: those that are somebody's, and whose this is. */
	unsigned claimed = 0, claim = 0;
	Kpi *asker = nullptr;

	/* Of the queue, and so of what it tells. */
	Kpi &
	owner()
	{
		return host != nullptr ? *host : *this;
	}
	Told *
	of(Request which)
	{
		return &requests[(int)which];
	}
	PVOID
	begin(Request which)
	{
		begun_at[(int)which] = of(which)->so_far();
		return of(which);
	}
	std::vector<NDK_SGE> list(const Piece *pieces, uint32_t n) const;
	/* Register memory with it, and wait for that. */
	static int32_t enrolled(NDK_MR *of, const void *at, uint64_t length, uint32_t flags);
	int32_t create_pair(bool shared);
	void create_memory();
	NDK_SRQ *the_srq();

      public:
	explicit Kpi(const Place &place);
	explicit Kpi(Kpi &of, bool lean = false)
	    : End(lean ? 0 : bytes), host(&of), local(of.local), adapter(of.adapter), pd(of.pd),
	      cq(of.cq)
	{
	}
	~Kpi() override;
	std::unique_ptr<End> another(bool shared) override;
	std::unique_ptr<End> lean(int32_t *status) override;
	Limits limits() override;

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
	/* Arms join: those that ask are told by one callback. */
	int32_t arm(uint32_t type, uint32_t) override;
	bool armed(uint32_t) override;
	int32_t told(uint32_t) override;
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
		CLOSE(qp, NdkCloseQp);
	}
	void
	close_window() override
	{
		CLOSE(mw, NdkCloseMw);
	}
	void
	close_connector() override
	{
		CLOSE(connector, NdkCloseConnector);
	}
	void close_listener() override;
	bool
	by_the_pages() const override
	{
		return true;
	}

	int32_t word(int32_t status, bool of_receive) const override;
};

#endif
