/* SPDX-License-Identifier: BSD-3-Clause */
/* INDOverlapped. */
#ifndef NDSPI_V1_REQUEST_H
#define NDSPI_V1_REQUEST_H

#include "ndspi/request.h"

/* The functions of INDOverlapped for one interface, as SPI_OVERLAPPED makes those of version 2. */
#define SPI1_OVERLAPPED(iface, name, type, member, cancel)                                         \
	SPI_CANCELABLE(iface, name, type, member, cancel)                                          \
	static HRESULT STDMETHODCALLTYPE name##_result(                                            \
		iface *self, OVERLAPPED *ov, SIZE_T *bytes, BOOL wait)                             \
	{                                                                                          \
		(void)self;                                                                        \
		if (bytes != NULL)                                                                 \
			*bytes = 0;                                                                \
		return spi_request_result(ov, wait);                                               \
	}

#endif
