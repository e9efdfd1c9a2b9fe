/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of NetworkDirect's interfaces, between two daemons, in one process. */
#ifndef SPI_HPP
#define SPI_HPP

#include <cstring>
#include <string>
#include <vector>

#include <ndsupport.h>

#include "../want.h"

/* Where a daemon listens, and an address of it. */
struct Place {
	std::string socket;
	sockaddr_in address;

	IND2Adapter *open() const;
};
extern Place place_a, place_b;
extern pid_t daemon_b;

template <class I> struct Id;
#define ID_OF(I)                                                                                   \
	template <> struct Id<I> {                                                                 \
		static REFIID iid() { return IID_##I; }                                            \
	}
ID_OF(IND2Adapter);
ID_OF(IND2CompletionQueue);
ID_OF(IND2SharedReceiveQueue);
ID_OF(IND2MemoryRegion);
ID_OF(IND2MemoryWindow);
ID_OF(IND2QueuePair);
ID_OF(IND2Connector);
ID_OF(IND2Listener);
ID_OF(IND2Provider);

/* What one end has. */
struct Side {
	static constexpr ULONG depth = 64, bytes = 1 << 20;

	const Place *place;
	IND2Adapter *adapter = nullptr;
	HANDLE file = nullptr;
	IND2CompletionQueue *cq = nullptr;
	IND2QueuePair *qp = nullptr;
	IND2Connector *connector = nullptr;
	IND2MemoryRegion *region = nullptr;
	char *buffer = nullptr;

	explicit Side(const Place &place);
	~Side();
	IND2Connector *new_connector() const;
	IND2Listener *new_listener() const;
	IND2MemoryRegion *new_region() const;
	ND2_SGE sge(ULONG offset, ULONG length) const;
	/* The next result, which must be of the request and a success. */
	ND2_RESULT result(void *context, ND2_REQUEST_TYPE type) const;
};

/* What a call with this OVERLAPPED came to. */
template <class I>
HRESULT
outcome(HRESULT hr, I *object, OVERLAPPED *ov)
{
	return hr == ND_PENDING ? object->GetOverlappedResult(ov, TRUE) : hr;
}

/* a connects to b; returns the listener, which b still has. */
IND2Listener *meet(Side &a, Side &b);

void objects();
void references();
void sizes();
void orders();
void arguments();
void cancels();
void releases();
void twice();
void events();
void talk();
void windows();
void rejects();
void listeners();
void shared();
void storm();
void adapters();
void regions_of_others();
void tokens_of_others();
void low_queues();
void two_queues();
void near_queues();
void batches();
void packets();
void two_takers();
void closed_queue();
void nowhere();
void ports();

#endif
