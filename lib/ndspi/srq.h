/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2SharedReceiveQueue. */
#ifndef NDSPI_SRQ_H
#define NDSPI_SRQ_H

#include "ndspi/object.h"

struct spi_srq {
	struct spi_object object;
	struct nd_srq *srq;
};

extern const struct spi_class spi_srq_class;

#endif
