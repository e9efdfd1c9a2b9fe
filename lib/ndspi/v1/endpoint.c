/* SPDX-License-Identifier: BSD-3-Clause */
/* INDEndpoint: posts. A request's context is its ND_RESULT. */
#include <endian.h>

#include "base/compiler.h"
#include "ndspi/v1/endpoint.h"
#include "ndspi/v1/adapter.h"

#define WRITE_FLAGS (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE)
#define SEND_FLAGS  (WRITE_FLAGS | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)

static struct spi1_endpoint *
endpoint_of(INDEndpoint *self)
{
	return (struct spi1_endpoint *)self;
}

SPI_UNKNOWN(INDEndpoint, endpoint)

static HRESULT STDMETHODCALLTYPE
endpoint_flush(INDEndpoint *self)
{
	return nd_qp_flush(endpoint_of(self)->qp);
}

static void STDMETHODCALLTYPE
endpoint_start_batch(INDEndpoint *self)
{
	(void)self;
}

static void STDMETHODCALLTYPE
endpoint_submit_batch(INDEndpoint *self)
{
	(void)self;
}

/* ---- lists of buffers ---------------------------------------------------------------- */

/* Lists of libndclient's have lengths of 32 bits, and tokens for handles. A buffer without a handle
 * is of no registered memory. *flags: ND_OP_FLAG_INLINE, if there is one; else 0. */
BASE_INLINE HRESULT
sge_translate(struct nd_sge to[], const ND_SGE from[], SIZE_T n, uint32_t *flags)
{
	SIZE_T lengths = 0;

	*flags = 0;
	for (SIZE_T i = 0; i < n; i++) {
		lengths |= from[i].Length;
		to[i].buffer = from[i].pAddr;
		to[i].bytes = (uint32_t)from[i].Length;
		to[i].token = spi1_region_token(from[i].hMr);
		if (base_unlikely(from[i].hMr == NULL))
			*flags = ND_OP_FLAG_INLINE;
	}
	return base_likely(lengths <= UINT32_MAX) ? ND_SUCCESS : ND_BUFFER_OVERFLOW;
}

/* A list of libndclient's. */
struct sge_list {
	struct nd_sge sge[SPI1_SGE_MAX];
	uint32_t inlined; /* ND_OP_FLAG_INLINE, or 0 */
};

/* most: what the endpoint was made for. */
BASE_INLINE HRESULT
sge_list_of(
	const ND_RESULT *result, const ND_SGE sgl[], SIZE_T n, uint32_t most, struct sge_list *list)
{
	if (base_unlikely(result == NULL))
		return ND_INVALID_PARAMETER_1;
	if (base_unlikely(n > most))
		return ND_DATA_OVERRUN;
	if (base_unlikely(sgl == NULL && n != 0))
		return ND_INVALID_PARAMETER_2;
	return sge_translate(list->sge, sgl, n, &list->inlined);
}

/* ---- messages ------------------------------------------------------------------------ */

static HRESULT STDMETHODCALLTYPE
endpoint_send(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n, DWORD flags)
{
	const struct spi1_endpoint *e = endpoint_of(self);
	struct sge_list list;
	HRESULT hr = sge_list_of(result, sgl, n, e->outbound_sge, &list);

	if (hr != ND_SUCCESS)
		return hr;
	if ((flags & ~SEND_FLAGS) != 0)
		return ND_INVALID_PARAMETER_4;
	return nd_qp_send(e->qp, result, list.sge, (uint32_t)n, flags | list.inlined);
}

static HRESULT STDMETHODCALLTYPE
endpoint_send_and_invalidate(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n,
	const ND_MW_DESCRIPTOR *window, DWORD flags)
{
	const struct spi1_endpoint *e = endpoint_of(self);
	struct sge_list list;
	HRESULT hr = sge_list_of(result, sgl, n, e->outbound_sge, &list);

	if (hr != ND_SUCCESS)
		return hr;
	if (window == NULL)
		return ND_INVALID_PARAMETER_4;
	if ((flags & ~SEND_FLAGS) != 0)
		return ND_INVALID_PARAMETER_5;
	return nd_qp_send_and_invalidate(
		e->qp, result, list.sge, (uint32_t)n, window->Token, flags | list.inlined);
}

static HRESULT STDMETHODCALLTYPE
endpoint_receive(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n)
{
	const struct spi1_endpoint *e = endpoint_of(self);
	struct sge_list list;
	HRESULT hr = sge_list_of(result, sgl, n, e->inbound_sge, &list);

	return hr == ND_SUCCESS ? nd_qp_receive(e->qp, result, list.sge, (uint32_t)n) : hr;
}

/* ---- the peer's memory --------------------------------------------------------------- */

static uint64_t
window_address(const ND_MW_DESCRIPTOR *window, ULONGLONG offset)
{
	return be64toh(window->Base) + offset;
}

BASE_INLINE HRESULT
transfer_list(const struct spi1_endpoint *e, const ND_RESULT *result, const ND_SGE *sgl, SIZE_T n,
	const ND_MW_DESCRIPTOR *window, DWORD flags, struct sge_list *list)
{
	const HRESULT hr = sge_list_of(result, sgl, n, e->outbound_sge, list);

	if (hr != ND_SUCCESS)
		return hr;
	if (window == NULL)
		return ND_INVALID_PARAMETER_4;
	return (flags & ~WRITE_FLAGS) == 0 ? ND_SUCCESS : ND_INVALID_PARAMETER_6;
}

static HRESULT STDMETHODCALLTYPE
endpoint_read(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n,
	const ND_MW_DESCRIPTOR *window, ULONGLONG offset, DWORD flags)
{
	const struct spi1_endpoint *e = endpoint_of(self);
	struct sge_list list;
	HRESULT hr = transfer_list(e, result, sgl, n, window, flags, &list);

	if (hr != ND_SUCCESS)
		return hr;
	return nd_qp_read(e->qp, result, list.sge, (uint32_t)n, window_address(window, offset),
		window->Token, flags);
}

static HRESULT STDMETHODCALLTYPE
endpoint_write(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n,
	const ND_MW_DESCRIPTOR *window, ULONGLONG offset, DWORD flags)
{
	const struct spi1_endpoint *e = endpoint_of(self);
	struct sge_list list;
	HRESULT hr = transfer_list(e, result, sgl, n, window, flags, &list);

	if (hr != ND_SUCCESS)
		return hr;
	return nd_qp_write(e->qp, result, list.sge, (uint32_t)n, window_address(window, offset),
		window->Token, flags | list.inlined);
}

/* ---- windows ------------------------------------------------------------------------- */

static struct spi1_window *
window_of(INDEndpoint *self, INDMemoryWindow *window)
{
	return spi_object_of(
		(IUnknown *)window, &spi1_window_class, ((struct spi_object *)self)->adapter);
}

static HRESULT STDMETHODCALLTYPE
endpoint_bind(INDEndpoint *self, ND_RESULT *result, ND_MR_HANDLE handle, INDMemoryWindow *window,
	const void *buffer, SIZE_T bytes, DWORD flags, ND_MW_DESCRIPTOR *descriptor)
{
	const struct spi1_region *r = spi1_region_of(handle);
	struct spi1_window *w = window_of(self, window);
	nd_status st;

	if (result == NULL)
		return ND_INVALID_PARAMETER_1;
	if (spi1_region_token(handle) == 0)
		return ND_INVALID_PARAMETER_2;
	if (w == NULL)
		return ND_INVALID_PARAMETER_3;
	if (descriptor == NULL)
		return ND_INVALID_PARAMETER_7;
	st = nd_qp_bind(endpoint_of(self)->qp, result, r->mr, w->mw, buffer, bytes, flags);
	if (st != ND_SUCCESS)
		return st;
	spi1_window_bound(w);
	*descriptor = (ND_MW_DESCRIPTOR){
		.Base = htobe64((uintptr_t)buffer),
		.Length = htobe64(bytes),
		.Token = nd_mw_remote_token(w->mw), /* of the wire's order as it is */
	};
	return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE
endpoint_invalidate(INDEndpoint *self, ND_RESULT *result, INDMemoryWindow *window, DWORD flags)
{
	const struct spi1_window *w = window_of(self, window);

	if (result == NULL)
		return ND_INVALID_PARAMETER_1;
	if (w == NULL)
		return ND_INVALID_PARAMETER_2;
	return nd_qp_invalidate(endpoint_of(self)->qp, result, w->mw, flags);
}

static const INDEndpointVtbl endpoint_slots = {
	SPI_UNKNOWN_SLOTS(endpoint),
	.Flush = endpoint_flush,
	.StartRequestBatch = endpoint_start_batch,
	.SubmitRequestBatch = endpoint_submit_batch,
	.Send = endpoint_send,
	.SendAndInvalidate = endpoint_send_and_invalidate,
	.Receive = endpoint_receive,
	.Bind = endpoint_bind,
	.Invalidate = endpoint_invalidate,
	.Read = endpoint_read,
	.Write = endpoint_write,
};

static void
endpoint_close(struct spi_object *o)
{
	nd_qp_close(((struct spi1_endpoint *)o)->qp);
}

const struct spi_class spi1_endpoint_class = {
	.iid = &IID_INDEndpoint,
	.vtbl = &endpoint_slots,
	.close = endpoint_close,
};
