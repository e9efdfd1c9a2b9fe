/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/cq.h"
#include "ndspi/create.h"
#include "ndspi/memory.h"
#include "ndspi/qp.h"
#include "ndspi/srq.h"

/* An application's list of buffers is libndclient's, as it stands. */
_Static_assert(sizeof(ND2_SGE) == sizeof(struct nd_sge), "as large");
_Static_assert(offsetof(ND2_SGE, Buffer) == offsetof(struct nd_sge, buffer), "buffer");
_Static_assert(offsetof(ND2_SGE, BufferLength) == offsetof(struct nd_sge, bytes), "bytes");
_Static_assert(offsetof(ND2_SGE, MemoryRegionToken) == offsetof(struct nd_sge, token), "token");

static struct nd_qp *
qp_of(IND2QueuePair *self)
{
	return ((struct spi_qp *)self)->qp;
}

static const struct nd_sge *
sge_of(const ND2_SGE sge[])
{
	return (const struct nd_sge *)sge;
}

SPI_UNKNOWN(IND2QueuePair, qp)

static HRESULT STDMETHODCALLTYPE
qp_flush(IND2QueuePair *self)
{
	return nd_qp_flush(qp_of(self));
}

static HRESULT STDMETHODCALLTYPE
qp_send(IND2QueuePair *self, void *context, const ND2_SGE sge[], ULONG n, ULONG flags)
{
	return nd_qp_send(qp_of(self), context, sge_of(sge), n, flags);
}

static HRESULT STDMETHODCALLTYPE
qp_receive(IND2QueuePair *self, void *context, const ND2_SGE sge[], ULONG n)
{
	return nd_qp_receive(qp_of(self), context, sge_of(sge), n);
}

static HRESULT STDMETHODCALLTYPE
qp_bind(IND2QueuePair *self, void *context, IUnknown *region, IUnknown *window, const void *buffer,
	SIZE_T bytes, ULONG flags)
{
	const struct spi_adapter *a = ((struct spi_object *)self)->adapter;
	const struct spi_region *r = spi_object_of(region, &spi_region_class, a);
	const struct spi_window *w = spi_object_of(window, &spi_window_class, a);

	if (r == NULL)
		return ND_INVALID_PARAMETER_2;
	if (w == NULL)
		return ND_INVALID_PARAMETER_3;
	return nd_qp_bind(qp_of(self), context, r->mr, w->mw, buffer, bytes, flags);
}

static HRESULT STDMETHODCALLTYPE
qp_invalidate(IND2QueuePair *self, void *context, IUnknown *window, ULONG flags)
{
	const struct spi_window *w =
		spi_object_of(window, &spi_window_class, ((struct spi_object *)self)->adapter);

	if (w == NULL)
		return ND_INVALID_PARAMETER_2;
	return nd_qp_invalidate(qp_of(self), context, w->mw, flags);
}

static HRESULT STDMETHODCALLTYPE
qp_read(IND2QueuePair *self, void *context, const ND2_SGE sge[], ULONG n, UINT64 address,
	UINT32 token, ULONG flags)
{
	return nd_qp_read(qp_of(self), context, sge_of(sge), n, address, token, flags);
}

static HRESULT STDMETHODCALLTYPE
qp_write(IND2QueuePair *self, void *context, const ND2_SGE sge[], ULONG n, UINT64 address,
	UINT32 token, ULONG flags)
{
	return nd_qp_write(qp_of(self), context, sge_of(sge), n, address, token, flags);
}

static const IND2QueuePairVtbl qp_slots = {
	SPI_UNKNOWN_SLOTS(qp),
	.Flush = qp_flush,
	.Send = qp_send,
	.Receive = qp_receive,
	.Bind = qp_bind,
	.Invalidate = qp_invalidate,
	.Read = qp_read,
	.Write = qp_write,
};

static void
qp_close(struct spi_object *o)
{
	nd_qp_close(((struct spi_qp *)o)->qp);
}

const struct spi_class spi_qp_class = {
	.iid = &IID_IND2QueuePair,
	.vtbl = &qp_slots,
	.close = qp_close,
};

/* ---- making them --------------------------------------------------------------------- */

/* With the completion queues that the application named. ND_INVALID_PARAMETER_2, _3. */
static HRESULT
qp_queues(const struct spi_adapter *a, IUnknown *receive_cq, IUnknown *initiator_cq,
	struct nd_qp_options *options)
{
	const struct spi_cq *r = spi_object_of(receive_cq, &spi_cq_class, a);
	const struct spi_cq *i = spi_object_of(initiator_cq, &spi_cq_class, a);

	if (r == NULL)
		return ND_INVALID_PARAMETER_2;
	if (i == NULL)
		return ND_INVALID_PARAMETER_3;
	options->receive_cq = r->cq;
	options->initiator_cq = i->cq;
	return ND_SUCCESS;
}

HRESULT STDMETHODCALLTYPE
spi_create_qp(IND2Adapter *self, REFIID iid, IUnknown *receive_cq, IUnknown *initiator_cq,
	void *context, ULONG receive_depth, ULONG initiator_depth, ULONG receive_sge,
	ULONG initiator_sge, ULONG inline_bytes, void **out)
{
	struct nd_qp_options options = {
		.context = context,
		.receive_depth = receive_depth,
		.initiator_depth = initiator_depth,
		.max_receive_sge = receive_sge,
		.max_initiator_sge = initiator_sge,
		.inline_bytes = inline_bytes,
	};
	struct spi_qp *qp;
	HRESULT hr = spi_create_begin(self, &spi_qp_class, sizeof(*qp), iid, NULL, out, &qp);

	if (hr != ND_SUCCESS)
		return hr;
	hr = qp_queues(qp->object.adapter, receive_cq, initiator_cq, &options);
	if (hr == ND_SUCCESS)
		hr = nd_qp_create(qp->object.adapter->pd, &options, &qp->qp);
	return spi_create_end(&qp->object, hr, iid, out);
}

/* libndclient counts the parameters of CreateQueuePair; this method has no receive depth and no
 * receive SGEs, and one more in front of the context. */
static HRESULT
status_with_srq(nd_status st)
{
	return st == ND_INVALID_PARAMETER_8   ? ND_INVALID_PARAMETER_7
	       : st == ND_INVALID_PARAMETER_9 ? ND_INVALID_PARAMETER_8
					      : st;
}

HRESULT STDMETHODCALLTYPE
spi_create_qp_with_srq(IND2Adapter *self, REFIID iid, IUnknown *receive_cq, IUnknown *initiator_cq,
	IUnknown *srq, void *context, ULONG initiator_depth, ULONG initiator_sge,
	ULONG inline_bytes, void **out)
{
	struct nd_qp_options options = {
		.context = context,
		.initiator_depth = initiator_depth,
		.max_initiator_sge = initiator_sge,
		.inline_bytes = inline_bytes,
	};
	const struct spi_srq *s;
	struct spi_qp *qp;
	HRESULT hr = spi_create_begin(self, &spi_qp_class, sizeof(*qp), iid, NULL, out, &qp);

	if (hr != ND_SUCCESS)
		return hr;
	hr = qp_queues(qp->object.adapter, receive_cq, initiator_cq, &options);
	s = spi_object_of(srq, &spi_srq_class, qp->object.adapter);
	if (hr == ND_SUCCESS && s == NULL)
		hr = ND_INVALID_PARAMETER_4;
	if (hr == ND_SUCCESS) {
		options.srq = s->srq;
		hr = status_with_srq(nd_qp_create(qp->object.adapter->pd, &options, &qp->qp));
	}
	return spi_create_end(&qp->object, hr, iid, out);
}
