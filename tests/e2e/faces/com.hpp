/* SPDX-License-Identifier: BSD-3-Clause */
/* What NetworkDirect's two versions have in common: names of methods. */
#ifndef COM_HPP
#define COM_HPP

#include <vector>

#include "face.hpp"

/* Of each version: how one asks for the outcome of a request. */
inline HRESULT
outcome(IND2Overlapped *object, OVERLAPPED *ov, BOOL wait)
{
	return object->GetOverlappedResult(ov, wait);
}
inline HRESULT
outcome(INDOverlapped *object, OVERLAPPED *ov, BOOL wait)
{
	return object->GetOverlappedResult(ov, nullptr, wait);
}

template <class Object>
int32_t
waited(HRESULT begun, Object *object, OVERLAPPED *ov)
{
	return begun == ND_PENDING ? outcome(object, ov, TRUE) : begun;
}

template <class Object>
void
release(Object **object)
{
	if (*object != nullptr)
		(*object)->Release();
	*object = nullptr;
}

template <class Version> class Com : public End {
	std::vector<OVERLAPPED> notify;
	const Com *asked = nullptr; /* whose listener brings this one's request */

      protected:
	typename Version::Queue *cq;
	typename Version::Pair *qp = nullptr;
	typename Version::Window *window = nullptr;
	typename Version::Connector *connector = nullptr;
	typename Version::Listener *listener = nullptr;
	OVERLAPPED requests[6] = {};

	Com(typename Version::Queue *queue, bool lean) : End(lean ? 0 : bytes), notify(lean ? 0 : waiters), cq(queue)
	{
	}
	OVERLAPPED *
	of(Request which)
	{
		return &requests[(int)which];
	}

      public:
	int32_t
	flush() override
	{
		return qp->Flush();
	}

	int32_t
	resize(uint32_t results) override
	{
		return cq->Resize(results);
	}
	int32_t
	arm(uint32_t type, uint32_t waiter) override
	{
		const HRESULT hr = cq->Notify(type, &notify[waiter]);
		return hr == ND_PENDING ? ND_SUCCESS : hr;
	}
	bool
	armed(uint32_t waiter) override
	{
		return outcome(cq, &notify[waiter], FALSE) == ND_PENDING;
	}
	int32_t
	told(uint32_t waiter) override
	{
		return outcome(cq, &notify[waiter], TRUE);
	}
	int32_t
	cancel_arms() override
	{
		return cq->CancelOverlappedRequests();
	}

	int32_t
	get_request(End &into) override
	{
		Com &com = static_cast<Com &>(into);

		com.asked = this;
		return listener->GetConnectionRequest(com.connector, com.of(Request::get));
	}
	int32_t
	cancel_listening() override
	{
		return listener->CancelOverlappedRequests();
	}
	int32_t
	complete() override
	{
		return connector->CompleteConnect(of(Request::complete));
	}
	int32_t
	reject(const Words &words) override
	{
		return connector->Reject(words.data.data(), (ULONG)words.data.size());
	}
	int32_t
	notify_disconnect() override
	{
		return connector->NotifyDisconnect(of(Request::notice));
	}
	int32_t
	disconnect() override
	{
		return connector->Disconnect(of(Request::disconnect));
	}
	int32_t
	cancel() override
	{
		return connector->CancelOverlappedRequests();
	}
	int32_t
	ended(Request which, int32_t begun) override
	{
		if (which == Request::get && asked->listener != nullptr)
			return waited(begun, asked->listener, of(which));
		return waited(begun, connector, of(which));
	}
	bool
	under_way(Request which) override
	{
		return outcome(connector, of(which), FALSE) == ND_PENDING;
	}

	void
	close_pair() override
	{
		release(&qp);
	}
	void
	close_window() override
	{
		release(&window);
	}
	void
	close_connector() override
	{
		CHECK(connector->Release() == 0);
		connector = nullptr;
	}
	void
	close_listener() override
	{
		release(&listener);
	}
};

#endif
