/* SPDX-License-Identifier: BSD-3-Clause */
/* INDEndpoint. */
#ifndef NDSPI_V1_ENDPOINT_H
#define NDSPI_V1_ENDPOINT_H

#include "ndspi/object.h"

struct spi1_endpoint {
	struct spi_object object;
	struct nd_qp *qp;
	uint32_t inbound_reads, outbound_reads; /* for Connect and Accept */
};

extern const struct spi_class spi1_endpoint_class;

/* INDConnector::CreateEndpoint */
HRESULT STDMETHODCALLTYPE spi1_create_endpoint(INDConnector *self, INDCompletionQueue *inbound_cq,
	INDCompletionQueue *outbound_cq, SIZE_T inbound_depth, SIZE_T outbound_depth,
	SIZE_T inbound_sge, SIZE_T outbound_sge, SIZE_T inbound_reads, SIZE_T outbound_reads,
	SIZE_T *max_inline, INDEndpoint **out);

#endif
