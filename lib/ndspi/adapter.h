/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters. */
#ifndef NDSPI_ADAPTER_H
#define NDSPI_ADAPTER_H

#include "ndspi/object.h"

/* An adapter instance of libndclient. Each interface holds it, IND2Adapter's like any other; with
 * the last of them it is closed. */
struct spi_adapter {
	struct nd_adapter *adapter;
	struct nd_pd *pd; /* of all that it makes */
	uint32_t holders; /* atomic */
};

void spi_adapter_hold(struct spi_adapter *a);
void spi_adapter_drop(struct spi_adapter *a);

/* An IND2Adapter of an adapter just opened, which it takes over: closed if this fails. */
HRESULT spi_adapter_give(struct nd_adapter *adapter, REFIID iid, void **out);

#endif
