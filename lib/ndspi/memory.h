/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2MemoryRegion, IND2MemoryWindow. */
#ifndef NDSPI_MEMORY_H
#define NDSPI_MEMORY_H

#include "ndspi/object.h"

struct spi_region {
	struct spi_object object;
	struct nd_mr *mr;
};

struct spi_window {
	struct spi_object object;
	struct nd_mw *mw;
};

extern const struct spi_class spi_region_class, spi_window_class;

#endif
