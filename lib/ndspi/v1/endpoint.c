/* SPDX-License-Identifier: BSD-3-Clause */
/* INDEndpoint: posts. A request's context is its ND_RESULT. */
#include <endian.h>

#include "base/compiler.h"
#include "ndspi/v1/endpoint.h"
#include "ndspi/v1/adapter.h"

static struct nd_qp *
qp_of(INDEndpoint *self)
{
	return ((struct spi1_endpoint *)self)->qp;
}

SPI_UNKNOWN(INDEndpoint, endpoint)

static HRESULT STDMETHODCALLTYPE
endpoint_flush(INDEndpoint *self)
{
	return nd_qp_flush(qp_of(self));
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

/* An application's list is one of libndclient's, as it stands: a handle is where the token is. */
_Static_assert(sizeof(ND_SGE) == sizeof(struct nd_buffer), "as large");
_Static_assert(offsetof(ND_SGE, pAddr) == offsetof(struct nd_buffer, buffer), "buffer");
_Static_assert(offsetof(ND_SGE, Length) == offsetof(struct nd_buffer, bytes), "bytes");
_Static_assert(offsetof(ND_SGE, hMr) == offsetof(struct nd_buffer, token), "token");
_Static_assert(offsetof(struct spi1_region, token) == 0, "what a handle points to");

static const struct nd_buffer *
list_of(const ND_SGE sgl[])
{
	return (const struct nd_buffer *)sgl;
}

/* ---- messages ------------------------------------------------------------------------ */

static HRESULT STDMETHODCALLTYPE
endpoint_send(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n, DWORD flags)
{
	if (base_unlikely(result == NULL))
		return ND_INVALID_PARAMETER_1;
	return nd_qp_send_buffers(qp_of(self), result, list_of(sgl), n, flags);
}

static HRESULT STDMETHODCALLTYPE
endpoint_send_and_invalidate(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n,
	const ND_MW_DESCRIPTOR *window, DWORD flags)
{
	HRESULT hr;

	if (base_unlikely(result == NULL))
		return ND_INVALID_PARAMETER_1;
	if (base_unlikely(window == NULL))
		return ND_INVALID_PARAMETER_4;
	hr = nd_qp_send_and_invalidate_buffers(
		qp_of(self), result, list_of(sgl), n, window->Token, flags);
	return hr == ND_INVALID_PARAMETER_4 ? ND_INVALID_PARAMETER_5 : hr; /* flags */
}

static HRESULT STDMETHODCALLTYPE
endpoint_receive(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n)
{
	if (base_unlikely(result == NULL))
		return ND_INVALID_PARAMETER_1;
	return nd_qp_receive_buffers(qp_of(self), result, list_of(sgl), n);
}

/* ---- the peer's memory --------------------------------------------------------------- */

static uint64_t
window_address(const ND_MW_DESCRIPTOR *window, ULONGLONG offset)
{
	return be64toh(window->Base) + offset;
}

static HRESULT STDMETHODCALLTYPE
endpoint_read(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n,
	const ND_MW_DESCRIPTOR *window, ULONGLONG offset, DWORD flags)
{
	if (base_unlikely(result == NULL))
		return ND_INVALID_PARAMETER_1;
	if (base_unlikely(window == NULL))
		return ND_INVALID_PARAMETER_4;
	return nd_qp_read_buffers(qp_of(self), result, list_of(sgl), n,
		window_address(window, offset), window->Token, flags);
}

static HRESULT STDMETHODCALLTYPE
endpoint_write(INDEndpoint *self, ND_RESULT *result, const ND_SGE *sgl, SIZE_T n,
	const ND_MW_DESCRIPTOR *window, ULONGLONG offset, DWORD flags)
{
	if (base_unlikely(result == NULL))
		return ND_INVALID_PARAMETER_1;
	if (base_unlikely(window == NULL))
		return ND_INVALID_PARAMETER_4;
	return nd_qp_write_buffers(qp_of(self), result, list_of(sgl), n,
		window_address(window, offset), window->Token, flags);
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
	st = nd_qp_bind(qp_of(self), result, r->mr, w->mw, buffer, bytes, flags);
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
	return nd_qp_invalidate(qp_of(self), result, w->mw, flags);
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
