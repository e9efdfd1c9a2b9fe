/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters, of both versions. */
#ifndef NDSPI_ADAPTER_H
#define NDSPI_ADAPTER_H

#include "ndspi/object.h"

/* An adapter instance of libndclient. Each interface holds it, that of the adapter itself like any
 * other; with the last of them it is closed. */
struct spi_adapter {
	struct nd_adapter *adapter;
	struct nd_pd *pd;	 /* of all that it makes */
	struct ndwin_file *file; /* of the requests of objects without one; NULL: there are none */
	uint32_t holders;	 /* atomic */
	/* Behind the close: ends what the version adds to this structure. May be NULL. */
	void (*closed)(struct spi_adapter *a);
};

/* Zeroed, of so many bytes, this structure first, for an adapter just opened, which it takes over:
 * closed if this fails. The caller holds it. */
HRESULT spi_adapter_new(struct nd_adapter *adapter, size_t bytes, void *out);
void spi_adapter_hold(struct spi_adapter *a);
void spi_adapter_drop(struct spi_adapter *a);

/* An IND2Adapter of an adapter just opened, which it takes over: closed if this fails. */
HRESULT spi_adapter_give(struct nd_adapter *adapter, REFIID iid, void **out);

#endif
