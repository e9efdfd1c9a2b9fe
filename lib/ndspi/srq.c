/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/srq.h"
#include "ndspi/create.h"
#include "ndspi/request.h"

SPI_OVERLAPPED(IND2SharedReceiveQueue, srq, struct spi_srq, srq, nd_srq_cancel)

static HRESULT STDMETHODCALLTYPE
srq_affinity(IND2SharedReceiveQueue *self, USHORT *group, KAFFINITY *affinity)
{
	uint64_t mask;
	nd_status st;

	if (group == NULL || affinity == NULL)
		return ND_INVALID_PARAMETER;
	st = nd_srq_get_affinity(((struct spi_srq *)self)->srq, group, &mask);
	if (st == ND_SUCCESS)
		*affinity = mask;
	return st;
}

static HRESULT STDMETHODCALLTYPE
srq_modify(IND2SharedReceiveQueue *self, ULONG depth, ULONG threshold)
{
	return nd_srq_modify(((struct spi_srq *)self)->srq, depth, threshold);
}

static HRESULT STDMETHODCALLTYPE
srq_notify(IND2SharedReceiveQueue *self, OVERLAPPED *ov)
{
	struct spi_srq *q = (struct spi_srq *)self;

	return SPI_REQUEST(&q->object, ov, nd_srq_notify(q->srq, nd));
}

static HRESULT STDMETHODCALLTYPE
srq_receive(IND2SharedReceiveQueue *self, void *context, const ND2_SGE sge[], ULONG n)
{
	return nd_srq_receive(
		((struct spi_srq *)self)->srq, context, (const struct nd_sge *)sge, n);
}

static const IND2SharedReceiveQueueVtbl srq_slots = {
	SPI_OVERLAPPED_SLOTS(srq),
	.GetNotifyAffinity = srq_affinity,
	.Modify = srq_modify,
	.Notify = srq_notify,
	.Receive = srq_receive,
};

static void
srq_close(struct spi_object *o)
{
	nd_srq_close(((struct spi_srq *)o)->srq);
}

const struct spi_class spi_srq_class = {
	.iid = &IID_IND2SharedReceiveQueue,
	.base = &IID_IND2Overlapped,
	.vtbl = &srq_slots,
	.close = srq_close,
};

HRESULT STDMETHODCALLTYPE
spi_create_srq(IND2Adapter *self, REFIID iid, HANDLE file, ULONG depth, ULONG sge, ULONG threshold,
	USHORT group, KAFFINITY affinity, void **out)
{
	struct spi_srq *q;
	HRESULT hr = spi_create_begin(self, &spi_srq_class, sizeof(*q), iid, &file, out, &q);

	if (hr != ND_SUCCESS)
		return hr;
	hr = nd_srq_create_near(
		q->object.adapter->pd, depth, sge, threshold, group, affinity, &q->srq);
	return spi_create_end(&q->object, hr, iid, out);
}
