/* SPDX-License-Identifier: BSD-3-Clause */
/* INDConnector::CreateEndpoint. */
#include "ndspi/create.h"
#include "ndspi/v1/adapter.h"
#include "ndspi/v1/cq.h"
#include "ndspi/v1/endpoint.h"

/* libndclient counts the parameters of version 2's CreateQueuePair. */
static HRESULT
endpoint_status(nd_status st)
{
	switch (st) {
	case ND_INVALID_PARAMETER_5:
		return ND_INVALID_PARAMETER_3;
	case ND_INVALID_PARAMETER_6:
		return ND_INVALID_PARAMETER_4;
	case ND_INVALID_PARAMETER_7:
		return ND_INVALID_PARAMETER_5;
	case ND_INVALID_PARAMETER_8:
		return ND_INVALID_PARAMETER_6;
	default:
		return st;
	}
}

/* With the completion queues that the application named. */
static HRESULT
endpoint_check(const struct spi_adapter *a, INDCompletionQueue *inbound,
	INDCompletionQueue *outbound, struct nd_qp_options *options)
{
	const struct spi1_cq *i = spi_object_of((IUnknown *)inbound, &spi1_cq_class, a);
	const struct spi1_cq *o = spi_object_of((IUnknown *)outbound, &spi1_cq_class, a);

	if (i == NULL)
		return ND_INVALID_PARAMETER_1;
	if (o == NULL)
		return ND_INVALID_PARAMETER_2;
	options->receive_cq = i->cq;
	options->initiator_cq = o->cq;
	return ND_SUCCESS;
}

/* All that the adapter has to give of inline data: version 1 has no parameter to ask for it. */
static HRESULT
endpoint_create(struct spi1_endpoint *e, struct nd_qp_options *options, SIZE_T *max_inline)
{
	struct nd_adapter_info info;
	nd_status st = nd_adapter_query(e->object.adapter->adapter, &info);

	if (st != ND_SUCCESS)
		return st;
	options->inline_bytes = info.max_inline_bytes;
	st = nd_qp_create(e->object.adapter->pd, options, &e->qp);
	if (st != ND_SUCCESS)
		return endpoint_status(st);
	if (max_inline != NULL)
		*max_inline = info.max_inline_bytes;
	return ND_SUCCESS;
}

HRESULT STDMETHODCALLTYPE
spi1_create_endpoint(INDConnector *self, INDCompletionQueue *inbound_cq,
	INDCompletionQueue *outbound_cq, SIZE_T inbound_depth, SIZE_T outbound_depth,
	SIZE_T inbound_sge, SIZE_T outbound_sge, SIZE_T inbound_reads, SIZE_T outbound_reads,
	SIZE_T *max_inline, INDEndpoint **out)
{
	struct nd_qp_options options = {
		.receive_depth = spi1_narrow(inbound_depth),
		.initiator_depth = spi1_narrow(outbound_depth),
		.max_receive_sge = spi1_narrow(inbound_sge),
		.max_initiator_sge = spi1_narrow(outbound_sge),
	};
	const IID *iid = spi1_endpoint_class.iid;
	struct spi1_endpoint *e;
	HRESULT hr = spi_create_begin(
		self, &spi1_endpoint_class, sizeof(*e), iid, NULL, (void **)out, &e);

	if (hr != ND_SUCCESS)
		return hr;
	e->inbound_reads = spi1_narrow(inbound_reads);
	e->outbound_reads = spi1_narrow(outbound_reads);
	hr = endpoint_check(e->object.adapter, inbound_cq, outbound_cq, &options);
	if (hr == ND_SUCCESS)
		hr = endpoint_create(e, &options, max_inline);
	return spi_create_end(&e->object, hr, iid, (void **)out);
}
