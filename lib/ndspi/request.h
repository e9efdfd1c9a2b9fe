/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: an OVERLAPPED of the application's, and libndclient's request that it stands for. */
#ifndef NDSPI_REQUEST_H
#define NDSPI_REQUEST_H

#include "ndspi/object.h"

/* Begin a request of the object. *nd is for one call of libndclient, which makes it pending or
 * tells the outcome. Else ND_INVALID_PARAMETER: ov is NULL; ND_INVALID_HANDLE: its event is none;
 * ND_NO_MEMORY. */
HRESULT spi_request_begin(struct spi_object *o, OVERLAPPED *ov, struct nd_overlapped **nd);
/* What that call said is what the method returns. With ND_PENDING the request may be over, and nd
 * gone, already. */
HRESULT spi_request_issued(struct nd_overlapped *nd, nd_status st);

/* begin, the call, issued. call: an expression with nd in it. */
#define SPI_REQUEST(object, overlapped, call)                                                      \
	({                                                                                         \
		struct nd_overlapped *nd;                                                          \
		HRESULT hr = spi_request_begin(object, overlapped, &nd);                           \
		hr == ND_SUCCESS ? spi_request_issued(nd, call) : hr;                              \
	})

/* GetOverlappedResult of any object. */
HRESULT spi_request_result(const OVERLAPPED *ov, BOOL wait);

/* The functions of IND2Overlapped for one interface: those of IUnknown, and these. cancel:
 * libndclient's, of the member that is named. */
#define SPI_OVERLAPPED(iface, name, type, member, cancel)                                          \
	SPI_UNKNOWN(iface, name)                                                                   \
	static HRESULT STDMETHODCALLTYPE name##_cancel(iface *self)                                \
	{                                                                                          \
		return cancel(((type *)self)->member);                                             \
	}                                                                                          \
	static HRESULT STDMETHODCALLTYPE name##_result(iface *self, OVERLAPPED *ov, BOOL wait)     \
	{                                                                                          \
		(void)self;                                                                        \
		return spi_request_result(ov, wait);                                               \
	}
#define SPI_OVERLAPPED_SLOTS(name)                                                                 \
	SPI_UNKNOWN_SLOTS(name), .CancelOverlappedRequests = name##_cancel,                        \
				 .GetOverlappedResult = name##_result

#endif
