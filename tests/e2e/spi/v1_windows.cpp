/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows: their descriptors, and both ways of invalidation. */
#include "v1.hpp"

/* One message from one to the other. */
static void
tell(const Side1 &from, const Side1 &to, const void *what, SIZE_T bytes, void *into)
{
	ND_SGE out = {(void *)what, bytes, nullptr}, in = to.sge(Side1::bytes - bytes, bytes);
	ND_RESULT sent, received;

	WANT(ND_SUCCESS, to.endpoint->Receive(&received, &in, 1));
	WANT(ND_SUCCESS, from.endpoint->Send(&sent, &out, 1, 0));
	from.sent(&sent);
	to.received(&received);
	CHECK(received.BytesTransferred == bytes);
	memcpy(into, to.buffer + Side1::bytes - bytes, bytes);
}

/* A number as it stands on the wire. */
static UINT64
number(const unsigned char *at, int bytes)
{
	UINT64 n = 0;

	for (int i = 0; i < bytes; i++)
		n = n << 8 | at[i];
	return n;
}

static HRESULT
write_there(const Side1 &a, SIZE_T from, SIZE_T bytes, const ND_MW_DESCRIPTOR &there,
	ULONGLONG offset)
{
	ND_SGE sge = a.sge(from, bytes);
	ND_RESULT r = {ND_UNSUCCESSFUL, 0};

	WANT(ND_SUCCESS, a.endpoint->Write(&r, &sge, 1, &there, offset, 0));
	a.sent(&r);
	return r.Status;
}

/* checks R-MW-12[1-3]: 20 bytes that the peer can use as they come, by offsets from their base. */
void
v1_descriptor()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	INDMemoryWindow *window = b.new_window(nullptr);
	ND_MW_DESCRIPTOR descriptor, there;
	unsigned char raw[sizeof(descriptor)];
	ND_SGE sge = a.sge(8192, 10);
	ND_RESULT r;

	CHECK(sizeof(descriptor) == 20);
	b.bind(window, 4096, 300, &descriptor);
	memcpy(raw, &descriptor, sizeof(raw));
	CHECK(number(raw, 8) == (UINT64)(uintptr_t)(b.buffer + 4096));
	CHECK(number(raw + 8, 8) == 300);
	CHECK(number(raw + 16, 4) != 0);
	tell(b, a, raw, sizeof(raw), &there);

	a.fill(1);
	WANT(ND_SUCCESS, write_there(a, 0, 100, there, 0));
	WANT(ND_SUCCESS, write_there(a, 1000, 100, there, 200));
	CHECK(memcmp(b.buffer + 4096, a.buffer, 100) == 0);
	for (int i = 100; i < 200; i++)
		CHECK(b.buffer[4096 + i] == 0);
	CHECK(memcmp(b.buffer + 4296, a.buffer + 1000, 100) == 0);
	CHECK(b.buffer[4095] == 0 && b.buffer[4396] == 0);
	WANT(ND_SUCCESS, a.endpoint->Read(&r, &sge, 1, &there, 290, 0));
	a.sent(&r);
	CHECK(r.Status == ND_SUCCESS && r.BytesTransferred == 10);
	CHECK(memcmp(a.buffer + 8192, a.buffer + 1090, 10) == 0);

	/* One byte behind it is not the window's. */
	HRESULT hr = write_there(a, 0, 10, there, 291);
	CHECK(hr == ND_ACCESS_VIOLATION || hr == ND_REMOTE_ERROR);
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}

/* checks R-INV-02[1,3], R-INV-05[1]: by version 1's Invalidate. */
void
v1_windows()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	INDMemoryWindow *window = b.new_window(nullptr);
	ND_MW_DESCRIPTOR first, second;
	ND_RESULT r = {ND_UNSUCCESSFUL, 1};
	OVERLAPPED ov = {};

	b.bind(window, 0, 64, &first);
	WANT(ND_INVALID_DEVICE_STATE,
		b.endpoint->Bind(&r, b.memory, window, b.buffer, 64, ND_OP_FLAG_ALLOW_READ, &second));
	WANT(ND_DEVICE_BUSY, b.adapter->DeregisterMemory(b.memory, &ov));
	a.fill(5);
	WANT(ND_SUCCESS, write_there(a, 0, 64, first, 0));
	WANT(ND_SUCCESS, b.endpoint->Invalidate(&r, window, ND_OP_FLAG_READ_FENCE));
	b.sent(&r);
	WANT(ND_SUCCESS, r.Status);
	b.bind(window, 128, 64, &second);
	CHECK(second.Token != first.Token && second.Base != first.Base);
	WANT(ND_SUCCESS, write_there(a, 64, 64, second, 0));
	CHECK(memcmp(b.buffer + 128, a.buffer + 64, 64) == 0);
	HRESULT hr = write_there(a, 0, 1, first, 0);
	CHECK(hr == ND_ACCESS_VIOLATION || hr == ND_REMOTE_ERROR);
	CHECK(window->Release() == 0);
	b.drop_memory(b.memory);
	b.memory = b.new_memory(b.buffer, Side1::bytes);
	CHECK(listen->Release() == 0);
}

/* ---- invalidated by the peer --------------------------------------------------------- */

/* So many messages; that one takes the window with it. */
static void
messages(const Side1 &a, const Side1 &b, ND_RESULT *received, int count, int which,
	const ND_MW_DESCRIPTOR &descriptor)
{
	ND_SGE from = a.sge(0, 32), into = b.sge(4096, 32);
	ND_RESULT sent;

	for (int i = 0; i < count; i++)
		WANT(ND_SUCCESS, b.endpoint->Receive(&received[i], &into, 1));
	for (int i = 0; i < count; i++) {
		WANT(ND_SUCCESS, i == which
			? a.endpoint->SendAndInvalidate(&sent, &from, 1, &descriptor, 0)
			: a.endpoint->Send(&sent, &from, 1, 0));
		a.sent(&sent);
		CHECK(sent.Status == ND_SUCCESS && sent.BytesTransferred == 32);
	}
}

/*
 * checks R-INV-13[1-3], R-INV-08[1], R-INV-11[1,2], R-INV-15[1]: the window's result comes right
 * behind the receive's, into arrays of any length, each time that the window is invalidated.
 */
void
v1_invalidated()
{
	constexpr int count = 5;
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	ND_RESULT invalidated = {ND_UNSUCCESSFUL, 1}, received[count], *results[16];
	INDMemoryWindow *window = b.new_window(&invalidated), *other = b.new_window(nullptr);
	ND_MW_DESCRIPTOR descriptor, others;

	a.fill(9);
	b.bind(other, 512, 64, &others);
	for (SIZE_T room = 1; room <= 8; room++)
		for (int which = 0; which < count; which++) {
			SIZE_T taken = 0;

			b.bind(window, 0, 64, &descriptor);
			messages(a, b, received, count, which, descriptor);
			invalidated = {ND_UNSUCCESSFUL, 1};
			while (taken < count + 1)
				taken += b.cq->GetResults(&results[taken], room);
			CHECK(taken == count + 1 && b.cq->GetResults(results + 8, 8) == 0);
			for (int i = 0; i < count; i++) {
				CHECK(results[i + (i > which)] == &received[i]);
				CHECK(received[i].Status == ND_SUCCESS);
				CHECK(received[i].BytesTransferred == 32);
			}
			CHECK(results[which + 1] == &invalidated);
			CHECK(invalidated.Status == ND_SUCCESS);
			CHECK(invalidated.BytesTransferred == 0);
			CHECK(memcmp(b.buffer + 4096, a.buffer, 32) == 0);
		}
	CHECK(b.out_cq->GetResults(results, 1) == 0);
	/* A window without a result makes none; nor does the application's own Invalidate. */
	messages(a, b, received, 1, 0, others);
	b.received(&received[0]);
	CHECK(b.cq->GetResults(results, 1) == 0);
	b.bind(window, 0, 64, &descriptor);
	WANT(ND_SUCCESS, b.endpoint->Invalidate(&received[0], window, 0));
	b.sent(&received[0]);
	CHECK(b.cq->GetResults(results, 1) == 0);
	CHECK(other->Release() == 0);
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}

/* checks R-CQ-11[1], R-CQ-12[1], R-CQ-20[2,4], R-CQ-21[2]: a window's result that had no room is
 * one event: it ends all that wait when a Notify for results comes, and none that comes later. */
void
v1_late()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	ND_RESULT invalidated, received;
	INDMemoryWindow *window = b.new_window(&invalidated);
	ND_MW_DESCRIPTOR descriptor;
	OVERLAPPED errors = {}, first = {}, second = {};

	for (DWORD type : {(DWORD)ND_CQ_NOTIFY_ANY, (DWORD)ND_CQ_NOTIFY_SOLICITED}) {
		b.bind(window, 0, 64, &descriptor);
		messages(a, b, &received, 1, 0, descriptor);
		b.received(&received); /* alone */
		WANT(ND_PENDING, b.cq->Notify(ND_CQ_NOTIFY_ERRORS, &errors));
		WANT(ND_PENDING, b.cq->GetOverlappedResult(&errors, nullptr, FALSE));
		WANT(ND_PENDING, b.cq->Notify(type, &first));
		WANT(ND_SUCCESS, b.cq->GetOverlappedResult(&first, nullptr, TRUE));
		WANT(ND_SUCCESS, b.cq->GetOverlappedResult(&errors, nullptr, FALSE));
		WANT(ND_PENDING, b.cq->Notify(type, &second));
		WANT(ND_PENDING, b.cq->GetOverlappedResult(&second, nullptr, FALSE));
		WANT(ND_SUCCESS, b.cq->CancelOverlappedRequests());
		b.received(&invalidated);
	}
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}

/* With a window's last Release its result is the application's, wherever it was. */
void
v1_released()
{
	for (int queue_first = 0; queue_first < 2; queue_first++) {
		Side1 a(place_a), b(place_b);
		INDListen *listen = meet1(a, b);
		ND_RESULT received, *results[2], *invalidated[2];
		INDMemoryWindow *window[2];
		ND_MW_DESCRIPTOR descriptor;

		for (int i = 0; i < 2; i++) {
			invalidated[i] = new ND_RESULT;
			window[i] = b.new_window(invalidated[i]);
			b.bind(window[i], 0, 64, &descriptor);
			messages(a, b, &received, 1, 0, descriptor);
			if (i == 0) /* that one is late, the other not taken at all */
				b.received(&received);
		}
		if (queue_first)
			CHECK(b.cq->Release() == 0);
		for (int i = 0; i < 2; i++) {
			CHECK(window[i]->Release() == 0);
			delete invalidated[i];
		}
		if (queue_first) {
			b.cq = b.new_cq(1);
		} else {
			b.received(&received);
			CHECK(b.cq->GetResults(results, 2) == 0);
		}
		CHECK(listen->Release() == 0);
	}
}

/* checks R-INV-09[2,3]: of version 1; nothing was invalidated, so nothing tells of it. */
void
v1_bad_token()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	ND_RESULT invalidated, received[2], sent, done, *results[2];
	INDMemoryWindow *window = b.new_window(&invalidated);
	ND_SGE from = a.sge(0, 32), into = b.sge(4096, 32);
	ND_MW_DESCRIPTOR descriptor;

	b.bind(window, 0, 64, &descriptor);
	WANT(ND_SUCCESS, b.endpoint->Invalidate(&done, window, 0));
	b.sent(&done);
	for (ND_RESULT &r : received)
		WANT(ND_SUCCESS, b.endpoint->Receive(&r, &into, 1));
	WANT(ND_SUCCESS, a.endpoint->SendAndInvalidate(&sent, &from, 1, &descriptor, 0));
	b.received(&received[0]);
	WANT(ND_INVALIDATION_ERROR, received[0].Status);
	b.received(&received[1]);
	WANT(ND_CANCELED, received[1].Status);
	CHECK(b.cq->GetResults(results, 2) == 0);
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}
