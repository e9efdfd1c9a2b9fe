/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/cq.h"
#include "ndspi/create.h"
#include "ndspi/request.h"

/* Results are taken straight into the application's array. */
_Static_assert(sizeof(ND2_RESULT) == sizeof(struct nd_result), "as large");
_Static_assert(offsetof(ND2_RESULT, Status) == offsetof(struct nd_result, status), "status");
_Static_assert(
	offsetof(ND2_RESULT, BytesTransferred) == offsetof(struct nd_result, bytes_transferred),
	"bytes");
_Static_assert(offsetof(ND2_RESULT, QueuePairContext) == offsetof(struct nd_result, qp_context),
	"queue pair");
_Static_assert(offsetof(ND2_RESULT, RequestContext) == offsetof(struct nd_result, request_context),
	"request");
_Static_assert(
	offsetof(ND2_RESULT, RequestType) == offsetof(struct nd_result, request_type), "type");

SPI_OVERLAPPED(IND2CompletionQueue, cq, struct spi_cq, cq, nd_cq_cancel)

static HRESULT STDMETHODCALLTYPE
cq_affinity(IND2CompletionQueue *self, USHORT *group, KAFFINITY *affinity)
{
	uint64_t mask;
	nd_status st;

	if (group == NULL || affinity == NULL)
		return ND_INVALID_PARAMETER;
	st = nd_cq_get_affinity(((struct spi_cq *)self)->cq, group, &mask);
	if (st == ND_SUCCESS)
		*affinity = mask;
	return st;
}

static HRESULT STDMETHODCALLTYPE
cq_resize(IND2CompletionQueue *self, ULONG depth)
{
	return nd_cq_resize(((struct spi_cq *)self)->cq, depth);
}

static HRESULT STDMETHODCALLTYPE
cq_notify(IND2CompletionQueue *self, ULONG type, OVERLAPPED *ov)
{
	struct spi_cq *q = (struct spi_cq *)self;

	return SPI_REQUEST(&q->object, ov, nd_cq_notify(q->cq, type, nd));
}

static ULONG STDMETHODCALLTYPE
cq_results(IND2CompletionQueue *self, ND2_RESULT results[], ULONG n)
{
	const int32_t taken =
		nd_cq_get_results(((struct spi_cq *)self)->cq, (struct nd_result *)results, n);

	return taken > 0 ? (ULONG)taken : 0;
}

static const IND2CompletionQueueVtbl cq_slots = {
	SPI_OVERLAPPED_SLOTS(cq),
	.GetNotifyAffinity = cq_affinity,
	.Resize = cq_resize,
	.Notify = cq_notify,
	.GetResults = cq_results,
};

static void
cq_close(struct spi_object *o)
{
	nd_cq_close(((struct spi_cq *)o)->cq);
}

const struct spi_class spi_cq_class = {
	.iid = &IID_IND2CompletionQueue,
	.base = &IID_IND2Overlapped,
	.vtbl = &cq_slots,
	.close = cq_close,
};

HRESULT STDMETHODCALLTYPE
spi_create_cq(IND2Adapter *self, REFIID iid, HANDLE file, ULONG depth, USHORT group,
	KAFFINITY affinity, void **out)
{
	struct spi_cq *q;
	HRESULT hr = spi_create_begin(self, &spi_cq_class, sizeof(*q), iid, &file, out, &q);

	if (hr != ND_SUCCESS)
		return hr;
	hr = nd_cq_create_near(q->object.adapter->adapter, depth, group, affinity, &q->cq);
	return spi_create_end(&q->object, hr, iid, out);
}
