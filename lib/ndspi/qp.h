/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2QueuePair. */
#ifndef NDSPI_QP_H
#define NDSPI_QP_H

#include "ndspi/object.h"

struct spi_qp {
	struct spi_object object;
	struct nd_qp *qp;
};

extern const struct spi_class spi_qp_class;

#endif
