/* SPDX-License-Identifier: BSD-3-Clause */
/* Data by each kind of request, and what results are. */
#include "v1.hpp"

/* Sends, receives, reads and writes between two ends, with the bytes that each result tells. */
void
v1_talk()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	INDMemoryWindow *window = b.new_window(nullptr);
	ND_SGE sge[2] = {a.sge(0, 100), a.sge(1000, 5000)}, into = b.sge(0, 8000);
	ND_RESULT sent = {ND_UNSUCCESSFUL, 1}, received = sent;
	ND_MW_DESCRIPTOR descriptor;
	OVERLAPPED solicited = {};

	a.fill(1);
	WANT(ND_PENDING, b.cq->Notify(ND_CQ_NOTIFY_SOLICITED, &solicited));
	WANT(ND_SUCCESS, b.endpoint->Receive(&received, &into, 1));
	WANT(ND_SUCCESS, a.endpoint->Send(&sent, sge, 2, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	a.sent(&sent);
	WANT(ND_SUCCESS, outcome1(ND_PENDING, b.cq, &solicited));
	b.received(&received);
	CHECK(sent.Status == ND_SUCCESS && sent.BytesTransferred == 5100);
	CHECK(received.Status == ND_SUCCESS && received.BytesTransferred == 5100);
	CHECK(memcmp(b.buffer, a.buffer, 100) == 0);
	CHECK(memcmp(b.buffer + 100, a.buffer + 1000, 5000) == 0);

	/* Nothing at all is a message, too. */
	WANT(ND_SUCCESS, b.endpoint->Receive(&received, nullptr, 0));
	WANT(ND_SUCCESS, a.endpoint->Send(&sent, nullptr, 0, ND_OP_FLAG_SILENT_SUCCESS));
	b.received(&received);
	CHECK(received.BytesTransferred == 0);

	b.bind(window, 0, Side1::bytes, &descriptor);
	sge[0] = a.sge(0, Side1::bytes);
	WANT(ND_SUCCESS, a.endpoint->Write(&sent, sge, 1, &descriptor, 0, 0));
	a.sent(&sent); /* the silent one made none */
	CHECK(sent.Status == ND_SUCCESS && sent.BytesTransferred == Side1::bytes);
	CHECK(memcmp(a.buffer, b.buffer, Side1::bytes) == 0);
	b.fill(99);
	WANT(ND_SUCCESS, a.endpoint->Read(&sent, sge, 1, &descriptor, 0, 0));
	a.sent(&sent);
	CHECK(sent.Status == ND_SUCCESS && sent.BytesTransferred == Side1::bytes);
	CHECK(memcmp(a.buffer, b.buffer, Side1::bytes) == 0);
	WANT(ND_SUCCESS, a.cq->Resize(256));
	WANT(ND_INVALID_PARAMETER, a.cq->Resize((SIZE_T)1 << 33));

	/* What is outstanding comes back (R-FL-01), and nothing goes after it. */
	WANT(ND_SUCCESS, b.endpoint->Receive(&received, &into, 1));
	WANT(ND_SUCCESS, b.endpoint->Flush());
	b.received(&received);
	CHECK(received.Status == ND_CANCELED && received.BytesTransferred == 0);
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}

/* checks R-POST-14: requests of a batch run when they are posted, whether it is submitted or not. */
void
v1_batches()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	ND_RESULT sent[4], received[4];
	ND_SGE from = a.sge(0, 16), into = b.sge(0, 16);

	for (ND_RESULT &r : received)
		WANT(ND_SUCCESS, b.endpoint->Receive(&r, &into, 1));
	a.endpoint->SubmitRequestBatch(); /* of none */
	a.endpoint->StartRequestBatch();
	for (int i = 0; i < 2; i++) {
		WANT(ND_SUCCESS, a.endpoint->Send(&sent[i], &from, 1, 0));
		a.sent(&sent[i]); /* although the batch is open */
		b.received(&received[i]);
	}
	WANT(ND_INVALID_PARAMETER_4, a.endpoint->Send(&sent[2], &from, 1, 8));
	a.endpoint->SubmitRequestBatch();
	a.endpoint->StartRequestBatch();
	a.endpoint->StartRequestBatch();
	for (int i = 2; i < 4; i++)
		WANT(ND_SUCCESS, a.endpoint->Send(&sent[i], &from, 1, 0));
	for (int i = 2; i < 4; i++) {
		a.sent(&sent[i]);
		WANT(ND_SUCCESS, sent[i].Status);
		b.received(&received[i]);
	}
	CHECK(listen->Release() == 0);
}

/* checks R-CR-03[3]: what GetResults gives are the application's own ND_RESULTs, in order, which it
 * writes then and not before. */
void
v1_results()
{
	constexpr int count = 40;
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	ND_RESULT sent[count], received[count], *results[count + 1];
	ND_SGE from[2], into = b.sge(0, 100);
	SIZE_T taken = 0;

	for (int i = 0; i < count; i++) {
		received[i] = {ND_UNSUCCESSFUL, 4711};
		WANT(ND_SUCCESS, b.endpoint->Receive(&received[i], &into, 1));
	}
	for (int i = 0; i < count; i++) {
		from[0] = a.sge(0, (SIZE_T)i);
		WANT(ND_SUCCESS, a.endpoint->Send(&sent[i], from, 1, 0));
	}
	while (taken < count) {
		const SIZE_T n = a.out_cq->GetResults(&results[taken], count - taken);

		for (SIZE_T i = taken; i < taken + n; i++) {
			CHECK(results[i] == &sent[i]);
			CHECK(sent[i].Status == ND_SUCCESS && sent[i].BytesTransferred == i);
		}
		taken += n;
	}
	/* All have come, so all can be taken: none of them is written yet. */
	for (const ND_RESULT &r : received)
		CHECK(r.Status == ND_UNSUCCESSFUL && r.BytesTransferred == 4711);
	CHECK(b.cq->GetResults(nullptr, 0) == 0);
	for (taken = 0; taken < count;)
		taken += b.cq->GetResults(&results[taken], taken == 0 ? 7 : count + 1 - taken);
	CHECK(taken == count && b.cq->GetResults(results, count) == 0);
	for (SIZE_T i = 0; i < count; i++)
		CHECK(results[i] == &received[i] && received[i].BytesTransferred == i);
	CHECK(listen->Release() == 0);
}

/* Buffers without a handle are inline: of any memory, and free at once. */
void
v1_inline()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	INDMemoryWindow *window = b.new_window(nullptr);
	ND_ADAPTER_INFO info;
	ND_MW_DESCRIPTOR descriptor;
	ND_SGE into = b.sge(0, 4096), mixed[2];
	ND_RESULT sent, received;

	WANT(ND_SUCCESS, a.adapter->Query(1, &info, nullptr));
	std::vector<char> stack(info.MaxInlineData + 1, 'x'), kept = stack;
	ND_SGE sge = {stack.data(), info.MaxInlineData, nullptr};
	a.fill(7);
	mixed[0] = {stack.data(), 3, nullptr};
	mixed[1] = a.sge(50, 5);
	WANT(ND_SUCCESS, b.endpoint->Receive(&received, &into, 1));
	WANT(ND_SUCCESS, a.endpoint->Send(&sent, &sge, 1, 0));
	memset(stack.data(), 'y', stack.size());
	a.sent(&sent);
	b.received(&received);
	CHECK(sent.Status == ND_SUCCESS && received.BytesTransferred == info.MaxInlineData);
	CHECK(memcmp(b.buffer, kept.data(), info.MaxInlineData) == 0);

	WANT(ND_SUCCESS, b.endpoint->Receive(&received, &into, 1));
	WANT(ND_SUCCESS, a.endpoint->Send(&sent, mixed, 2, 0));
	a.sent(&sent);
	b.received(&received);
	CHECK(received.BytesTransferred == 8);
	CHECK(memcmp(b.buffer, "yyy", 3) == 0 && memcmp(b.buffer + 3, a.buffer + 50, 5) == 0);

	b.bind(window, 100, 100, &descriptor);
	sge.Length = 10;
	WANT(ND_SUCCESS, a.endpoint->Write(&sent, &sge, 1, &descriptor, 90, 0));
	memset(stack.data(), 'z', stack.size());
	a.sent(&sent);
	WANT(ND_SUCCESS, sent.Status);
	CHECK(memcmp(b.buffer + 190, "yyyyyyyyyy", 10) == 0);

	sge.Length = info.MaxInlineData + 1;
	WANT(ND_BUFFER_OVERFLOW, a.endpoint->Send(&sent, &sge, 1, 0));
	WANT(ND_BUFFER_OVERFLOW, a.endpoint->Write(&sent, &sge, 1, &descriptor, 0, 0));
	/* A read has nowhere to put it. */
	sge.Length = 8;
	WANT(ND_SUCCESS, a.endpoint->Read(&sent, &sge, 1, &descriptor, 0, 0));
	a.sent(&sent);
	WANT(ND_ACCESS_VIOLATION, sent.Status);
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}

/* Failures by version 1's names: a message longer than its receive, and memory that is not there. */
void
v1_statuses()
{
	ND_RESULT sent, received;
	OVERLAPPED ov = {};

	CHECK(ND_LOCAL_LENGTH == ND_DATA_OVERRUN);
	CHECK(ND_INVALIDATION_ERROR == ND_INVALID_DEVICE_REQUEST);
	{
		Side1 a(place_a), b(place_b);
		INDListen *listen = meet1(a, b);
		ND_SGE from = a.sge(0, 1024), into = b.sge(0, 1023);

		WANT(ND_SUCCESS, b.endpoint->Receive(&received, &into, 1));
		WANT(ND_SUCCESS, a.endpoint->Send(&sent, &from, 1, 0));
		a.sent(&sent);
		b.received(&received);
		WANT(ND_REMOTE_ERROR, sent.Status);
		WANT(ND_BUFFER_OVERFLOW, received.Status);
		CHECK(sent.BytesTransferred == 0 && received.BytesTransferred == 0);
		CHECK(listen->Release() == 0);
	}
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	ND_MR_HANDLE memory = a.new_memory(a.buffer, 4096);
	ND_SGE from = {a.buffer, 4096, memory}, into = b.sge(0, 4096);

	a.drop_memory(memory);
	WANT(ND_INVALID_HANDLE, a.adapter->DeregisterMemory(memory, &ov));
	WANT(ND_SUCCESS, b.endpoint->Receive(&received, &into, 1));
	WANT(ND_SUCCESS, a.endpoint->Send(&sent, &from, 1, 0));
	a.sent(&sent);
	WANT(ND_ACCESS_VIOLATION, sent.Status);
	CHECK(listen->Release() == 0);
}

/* A send that no receive is posted for ends, with version 1's name for it (R-SR-05). */
void
v1_no_receive()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	ND_SGE from = a.sge(0, 8);
	ND_RESULT sent = {ND_SUCCESS, 1}, behind = sent;

	WANT(ND_SUCCESS, a.endpoint->Send(&sent, &from, 1, 0));
	WANT(ND_SUCCESS, a.endpoint->Send(&behind, &from, 1, 0));
	a.sent(&sent);
	WANT(ND_TIMEOUT, sent.Status);
	CHECK(sent.BytesTransferred == 0);
	a.sent(&behind);
	WANT(ND_CANCELED, behind.Status);
	CHECK(listen->Release() == 0);
}
