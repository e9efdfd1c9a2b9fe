/* SPDX-License-Identifier: BSD-3-Clause */
/* INDAdapter. */
#ifndef NDSPI_V1_ADAPTER_H
#define NDSPI_V1_ADAPTER_H

#include "ndspi/adapter.h"
#include "ndspi/v1/region.h"
#include "ndspi/v1/window.h"

struct spi1_adapter {
	struct spi_adapter base;       /* first */
	HANDLE handle;		       /* of its file */
	struct sockaddr_storage local; /* that it was opened by; port 0 */
	struct spi1_regions regions;
	struct spi1_windows windows;
};

/* That of an object of version 1. */
static inline struct spi1_adapter *
spi1_adapter_of(const void *object)
{
	return (struct spi1_adapter *)((const struct spi_object *)object)->adapter;
}

/* Open the adapter with this local address. Statuses of nd_adapter_open(); E_POINTER: out. */
HRESULT spi1_adapter_open(const struct sockaddr *address, SIZE_T bytes, INDAdapter **out);

/* An address of the adapter with this port, in network order. */
struct sockaddr_storage spi1_adapter_address(const struct spi1_adapter *a, USHORT port);

/* Sizes and numbers are wider here than libndclient's. What does not fit, none of its limits
 * allows, and neither the greatest number. */
static inline uint32_t
spi1_narrow(SIZE_T value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* A number of IANA. Ports do not depend on it. */
static inline bool
spi1_is_protocol(INT protocol)
{
	return protocol >= 0 && protocol <= 255;
}

/* This version's word for a port that is in use. */
static inline HRESULT
spi1_port_status(nd_status st)
{
	return st == ND_SHARING_VIOLATION ? ND_ADDRESS_ALREADY_EXISTS : st;
}

#endif
