/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/memory.h"
#include "ndspi/create.h"
#include "ndspi/request.h"

/* ---- regions ------------------------------------------------------------------------- */

SPI_OVERLAPPED(IND2MemoryRegion, region, struct spi_region, mr, nd_mr_cancel)

static HRESULT STDMETHODCALLTYPE
region_register(
	IND2MemoryRegion *self, const void *buffer, SIZE_T bytes, ULONG flags, OVERLAPPED *ov)
{
	struct spi_region *r = (struct spi_region *)self;

	return SPI_REQUEST(&r->object, ov, nd_mr_register(r->mr, (void *)buffer, bytes, flags, nd));
}

static HRESULT STDMETHODCALLTYPE
region_deregister(IND2MemoryRegion *self, OVERLAPPED *ov)
{
	struct spi_region *r = (struct spi_region *)self;

	return SPI_REQUEST(&r->object, ov, nd_mr_deregister(r->mr, nd));
}

static UINT32 STDMETHODCALLTYPE
region_local_token(IND2MemoryRegion *self)
{
	return nd_mr_local_token(((struct spi_region *)self)->mr);
}

static UINT32 STDMETHODCALLTYPE
region_remote_token(IND2MemoryRegion *self)
{
	return nd_mr_remote_token(((struct spi_region *)self)->mr);
}

static const IND2MemoryRegionVtbl region_slots = {
	SPI_OVERLAPPED_SLOTS(region),
	.Register = region_register,
	.Deregister = region_deregister,
	.GetLocalToken = region_local_token,
	.GetRemoteToken = region_remote_token,
};

static void
region_close(struct spi_object *o)
{
	nd_mr_close(((struct spi_region *)o)->mr);
}

const struct spi_class spi_region_class = {
	.iid = &IID_IND2MemoryRegion,
	.base = &IID_IND2Overlapped,
	.vtbl = &region_slots,
	.close = region_close,
};

HRESULT STDMETHODCALLTYPE
spi_create_region(IND2Adapter *self, REFIID iid, HANDLE file, void **out)
{
	struct spi_region *r;
	HRESULT hr = spi_create_begin(self, &spi_region_class, sizeof(*r), iid, &file, out, &r);

	if (hr != ND_SUCCESS)
		return hr;
	return spi_create_end(&r->object, nd_mr_create(r->object.adapter->pd, &r->mr), iid, out);
}

/* ---- windows ------------------------------------------------------------------------- */

SPI_UNKNOWN(IND2MemoryWindow, window)

static UINT32 STDMETHODCALLTYPE
window_remote_token(IND2MemoryWindow *self)
{
	return nd_mw_remote_token(((struct spi_window *)self)->mw);
}

static const IND2MemoryWindowVtbl window_slots = {
	SPI_UNKNOWN_SLOTS(window),
	.GetRemoteToken = window_remote_token,
};

static void
window_close(struct spi_object *o)
{
	nd_mw_close(((struct spi_window *)o)->mw);
}

const struct spi_class spi_window_class = {
	.iid = &IID_IND2MemoryWindow,
	.vtbl = &window_slots,
	.close = window_close,
};

HRESULT STDMETHODCALLTYPE
spi_create_window(IND2Adapter *self, REFIID iid, void **out)
{
	struct spi_window *w;
	HRESULT hr = spi_create_begin(self, &spi_window_class, sizeof(*w), iid, NULL, out, &w);

	if (hr != ND_SUCCESS)
		return hr;
	return spi_create_end(&w->object, nd_mw_create(w->object.adapter->pd, &w->mw), iid, out);
}
