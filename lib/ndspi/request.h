/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: an OVERLAPPED of the application's, and libndclient's request that it stands for. */
#ifndef NDSPI_REQUEST_H
#define NDSPI_REQUEST_H

#include "ndspi/object.h"

struct spi_request {
	struct nd_overlapped nd; /* first */
	void *context;		 /* of the one that began it; NULL at first */
};

/* Begin a request of the object. *nd, in a struct spi_request, is for one call of libndclient,
 * which makes it pending or tells the outcome. done is called when it has pended and is over; it
 * ends by a call of spi_request_done(). Else ND_INVALID_PARAMETER: ov is NULL; ND_INVALID_HANDLE:
 * its event is none; ND_NO_MEMORY. */
HRESULT spi_request_begin(
	struct spi_object *o, OVERLAPPED *ov, nd_request_callback done, struct nd_overlapped **nd);
/* What that call said is what the method returns. With ND_PENDING the request may be over, and nd
 * gone, already. */
HRESULT spi_request_issued(struct nd_overlapped *nd, nd_status st);
/* The request is over: the application may know. nd is gone. */
void spi_request_done(struct nd_overlapped *nd, nd_status st);

/* begin, the call, issued. call: an expression with nd in it. */
#define SPI_REQUEST(object, overlapped, call)                                                      \
	SPI_REQUEST_WITH(object, overlapped, spi_request_done, call)
/* The same with another end. */
#define SPI_REQUEST_WITH(object, overlapped, done, call)                                           \
	({                                                                                         \
		struct nd_overlapped *nd;                                                          \
		HRESULT hr = spi_request_begin(object, overlapped, done, &nd);                     \
		hr == ND_SUCCESS ? spi_request_issued(nd, call) : hr;                              \
	})

/* GetOverlappedResult of any object. */
HRESULT spi_request_result(const OVERLAPPED *ov, BOOL wait);

/* The functions of IUnknown and CancelOverlappedRequests for one interface. cancel: libndclient's,
 * of the member that is named. */
#define SPI_CANCELABLE(iface, name, type, member, cancel)                                          \
	SPI_UNKNOWN(iface, name)                                                                   \
	static HRESULT STDMETHODCALLTYPE name##_cancel(iface *self)                                \
	{                                                                                          \
		return cancel(((type *)self)->member);                                             \
	}
/* Those of IND2Overlapped: these, and GetOverlappedResult. */
#define SPI_OVERLAPPED(iface, name, type, member, cancel)                                          \
	SPI_CANCELABLE(iface, name, type, member, cancel)                                          \
	static HRESULT STDMETHODCALLTYPE name##_result(iface *self, OVERLAPPED *ov, BOOL wait)     \
	{                                                                                          \
		(void)self;                                                                        \
		return spi_request_result(ov, wait);                                               \
	}
#define SPI_OVERLAPPED_SLOTS(name)                                                                 \
	SPI_UNKNOWN_SLOTS(name), .CancelOverlappedRequests = name##_cancel,                        \
				 .GetOverlappedResult = name##_result

#endif
