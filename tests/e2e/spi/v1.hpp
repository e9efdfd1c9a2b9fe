/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of NetworkDirect's interfaces, version 1. */
#ifndef V1_HPP
#define V1_HPP

#include "spi.hpp"

ID_OF(INDAdapter);
ID_OF(INDCompletionQueue);
ID_OF(INDMemoryWindow);
ID_OF(INDEndpoint);
ID_OF(INDConnector);
ID_OF(INDListen);
ID_OF(INDProvider);

/* What a call with this OVERLAPPED came to. */
template <class I>
HRESULT
outcome1(HRESULT hr, I *object, OVERLAPPED *ov)
{
	SIZE_T bytes;

	return hr == ND_PENDING ? object->GetOverlappedResult(ov, &bytes, TRUE) : hr;
}

INDAdapter *open1(const Place &place);

/* What one end has. */
struct Side1 {
	static constexpr SIZE_T depth = 64, bytes = 1 << 20;

	const Place *place;
	INDAdapter *adapter = nullptr;
	INDCompletionQueue *cq = nullptr; /* receives */
	INDCompletionQueue *out_cq = nullptr;
	INDConnector *connector = nullptr;
	INDEndpoint *endpoint = nullptr;
	ND_MR_HANDLE memory = nullptr; /* of the buffer */
	char *buffer = nullptr;

	explicit Side1(const Place &place);
	~Side1();
	INDCompletionQueue *new_cq(SIZE_T entries) const;
	INDConnector *new_connector() const;
	INDEndpoint *new_endpoint(SIZE_T reads) const;
	INDMemoryWindow *new_window(ND_RESULT *invalidated) const;
	INDListen *new_listen(sockaddr_in *at) const;
	ND_MR_HANDLE new_memory(const void *at, SIZE_T length) const;
	void drop_memory(ND_MR_HANDLE handle) const;
	ND_SGE sge(SIZE_T offset, SIZE_T length) const;
	/* Data of the buffer that nobody else has. */
	void fill(char seed) const;
	/* The next result, which must be this one. */
	void result(INDCompletionQueue *of, const ND_RESULT *wanted) const;
	void received(const ND_RESULT *wanted) const { result(cq, wanted); }
	void sent(const ND_RESULT *wanted) const { result(out_cq, wanted); }
	void bind(INDMemoryWindow *window, SIZE_T offset, SIZE_T length,
		ND_MW_DESCRIPTOR *descriptor) const;
};

/* a connects to b; returns the listener, which b still has. */
INDListen *meet1(Side1 &a, Side1 &b);

void v1_objects();
void v1_references();
void v1_orders();
void v1_sizes();
void v1_arguments();
void v1_posts();
void v1_cancels();
void v1_port();
void v1_memory();
void v1_registrations();
void v1_adapters();
void v1_talk();
void v1_batches();
void v1_results();
void v1_inline();
void v1_statuses();
void v1_no_receive();
void v1_descriptor();
void v1_windows();
void v1_invalidated();
void v1_late();
void v1_released();
void v1_bad_token();
void v1_connecting();
void v1_rejects();
void v1_goodbyes();
void v1_meets_v2();
void v1_silent();

#endif
