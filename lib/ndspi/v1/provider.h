/* SPDX-License-Identifier: BSD-3-Clause */
/* INDProvider. */
#ifndef NDSPI_V1_PROVIDER_H
#define NDSPI_V1_PROVIDER_H

#include "ndspi/object.h"

extern const struct spi_class spi1_provider_class;

#endif
