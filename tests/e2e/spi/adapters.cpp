/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters by their ids, and what belongs to one of them. */
#include "spi.hpp"

static int context[8];

/* checks R-ADP-01[1,3,4], R-ADP-02[1,2], R-ADP-04[1,2]: an id is of an address, whatever its
 * port; an adapter that is opened by it says the same, and that it is no device of PCI. */
void
adapters()
{
	const Side s(place_a); /* says which daemon */
	sockaddr_in at = place_a.address;
	IND2Provider *provider;
	IND2Adapter *again;
	ND2_ADAPTER_INFO info = {};
	ULONG bytes = sizeof(info);
	UINT64 id = 0;

	WANT(S_OK, NdOpenProvider(IID_IND2Provider, (void **)&provider));
	at.sin_port = htons(77);
	WANT(ND_SUCCESS, provider->ResolveAddress((const sockaddr *)&at, sizeof(at), &id));
	CHECK(id != 0);
	WANT(ND_SUCCESS, provider->OpenAdapter(IID_IND2Adapter, id, (void **)&again));
	info.InfoVersion = ND_VERSION_2;
	WANT(ND_SUCCESS, again->Query(&info, &bytes));
	CHECK(info.AdapterId == id && info.VendorId == 0 && info.DeviceId == 0);
	CHECK(info.MaxWindowSize == info.MaxRegistrationSize);
	CHECK(again->Release() == 0);
	WANT(ND_INVALID_PARAMETER,
		provider->OpenAdapter(IID_IND2Adapter, id + 4711, (void **)&again));
	WANT(ND_INVALID_ADDRESS, provider->ResolveAddress((const sockaddr *)&place_b.address,
					 sizeof(place_b.address), &id));
	CHECK(provider->Release() == 0);
}

/* The next result of a, which is of this request. */
static HRESULT
status_of(const Side &s, const void *request)
{
	ND2_RESULT r;

	while (s.cq->GetResults(&r, 1) == 0)
		Sleep(1);
	CHECK(r.RequestContext == request);
	return r.Status;
}

/* checks R-MR-02[1,2]: memory of another instance of the adapter is not for this one's requests. */
void
regions_of_others()
{
	Side a(place_a), other(place_a), b(place_b);
	IND2Listener *listener = meet(a, b);
	const ND2_SGE sge = other.sge(0, 8), into = b.sge(0, 8);

	WANT(ND_SUCCESS, b.qp->Receive(&context[0], &into, 1));
	WANT(ND_SUCCESS, a.qp->Send(&context[1], &sge, 1, 0));
	WANT(ND_ACCESS_VIOLATION, status_of(a, &context[1]));
	CHECK(listener->Release() == 0);
}

/* checks R-MR-02[4]: nor for requests of this one's peer. */
void
tokens_of_others()
{
	Side a(place_a), b(place_b), other(place_b);
	IND2Listener *listener = meet(a, b);
	const ND2_SGE sge = a.sge(0, 8), into = b.sge(0, 8);

	a.buffer[0] = 'x';
	WANT(ND_SUCCESS, b.qp->Receive(&context[0], &into, 1));
	WANT(ND_SUCCESS, a.qp->Write(&context[1], &sge, 1, (UINT64)(uintptr_t)other.buffer,
				 other.region->GetRemoteToken(), 0));
	WANT(ND_ACCESS_VIOLATION, status_of(a, &context[1]));
	WANT(ND_CANCELED, status_of(b, &context[0]));
	CHECK(other.buffer[0] == 0);
	CHECK(listener->Release() == 0);
}
