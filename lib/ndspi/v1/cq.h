/* SPDX-License-Identifier: BSD-3-Clause */
/* INDCompletionQueue. */
#ifndef NDSPI_V1_CQ_H
#define NDSPI_V1_CQ_H

#include "ndspi/v1/window.h"

struct spi1_cq {
	struct spi_object object;
	struct nd_cq *cq;
	pthread_mutex_t lock; /* of those that take, so that late results keep their place */
	struct spi1_late late;
	unsigned releases; /* under way: what waits ends by an event, though it looks canceled */
};

extern const struct spi_class spi1_cq_class;

HRESULT STDMETHODCALLTYPE spi1_create_cq(INDAdapter *self, SIZE_T depth, INDCompletionQueue **out);

#endif
