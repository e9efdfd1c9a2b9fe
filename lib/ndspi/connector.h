/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2Connector. */
#ifndef NDSPI_CONNECTOR_H
#define NDSPI_CONNECTOR_H

#include "ndspi/object.h"

struct spi_connector {
	struct spi_object object;
	struct nd_connector *connector;
};

extern const struct spi_class spi_connector_class;

#endif
