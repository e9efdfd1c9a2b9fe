/* SPDX-License-Identifier: BSD-3-Clause */
/* INDConnector. */
#ifndef NDSPI_V1_CONNECTOR_H
#define NDSPI_V1_CONNECTOR_H

#include "ndspi/object.h"

struct spi1_connector {
	struct spi_object object;
	struct nd_connector *connector;
	USHORT port; /* that Connect named, in network order; 0: none yet */
};

extern const struct spi_class spi1_connector_class;

HRESULT STDMETHODCALLTYPE spi1_create_connector(INDAdapter *self, INDConnector **out);

#endif
