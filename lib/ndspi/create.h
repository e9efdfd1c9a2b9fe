/* SPDX-License-Identifier: BSD-3-Clause */
/* What an adapter makes: IND2Adapter's methods of these names; and how objects of either version
 * are made. */
#ifndef NDSPI_CREATE_H
#define NDSPI_CREATE_H

#include "ndspi/adapter.h"

HRESULT STDMETHODCALLTYPE spi_create_cq(IND2Adapter *self, REFIID iid, HANDLE file, ULONG depth,
	USHORT group, KAFFINITY affinity, void **out);
HRESULT STDMETHODCALLTYPE spi_create_region(IND2Adapter *self, REFIID iid, HANDLE file, void **out);
HRESULT STDMETHODCALLTYPE spi_create_window(IND2Adapter *self, REFIID iid, void **out);
HRESULT STDMETHODCALLTYPE spi_create_srq(IND2Adapter *self, REFIID iid, HANDLE file, ULONG depth,
	ULONG sge, ULONG threshold, USHORT group, KAFFINITY affinity, void **out);
HRESULT STDMETHODCALLTYPE spi_create_qp(IND2Adapter *self, REFIID iid, IUnknown *receive_cq,
	IUnknown *initiator_cq, void *context, ULONG receive_depth, ULONG initiator_depth,
	ULONG receive_sge, ULONG initiator_sge, ULONG inline_bytes, void **out);
HRESULT STDMETHODCALLTYPE spi_create_qp_with_srq(IND2Adapter *self, REFIID iid,
	IUnknown *receive_cq, IUnknown *initiator_cq, IUnknown *srq, void *context,
	ULONG initiator_depth, ULONG initiator_sge, ULONG inline_bytes, void **out);
HRESULT STDMETHODCALLTYPE spi_create_connector(
	IND2Adapter *self, REFIID iid, HANDLE file, void **out);
HRESULT STDMETHODCALLTYPE spi_create_listener(
	IND2Adapter *self, REFIID iid, HANDLE file, void **out);

/*
 * The first step of each: an object of the class and of the maker's adapter, with the file of the
 * handle (NULL: it has none of its own). maker: an interface of this library. E_NOINTERFACE,
 * E_POINTER: iid, out; ND_INVALID_PARAMETER_2: the handle is not of a file of the adapter;
 * ND_NO_MEMORY. *out is NULL then.
 */
HRESULT spi_create_begin(void *maker, const struct spi_class *class, size_t bytes, REFIID iid,
	HANDLE *file, void **out, void *object);
/* The last: give it, if libndclient has made what it stands for; else it is freed. */
HRESULT spi_create_end(struct spi_object *o, nd_status st, REFIID iid, void **out);

#endif
