/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2CompletionQueue. */
#ifndef NDSPI_CQ_H
#define NDSPI_CQ_H

#include "ndspi/object.h"

struct spi_cq {
	struct spi_object object;
	struct nd_cq *cq;
};

extern const struct spi_class spi_cq_class;

#endif
