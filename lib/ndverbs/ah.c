/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ndverbs/address.h"
#include "ndverbs/attributes.h"
#include "ndverbs/context.h"
#include "ndverbs/errors.h"
#include "ndverbs/leaving.h"
#include "ndverbs/object.h"

/* Waits until the way there is known. */
static int
ah_lead_to(struct ndv_ah *ah, struct nd_adapter *a, const struct sockaddr_storage *to)
{
	struct nd_overlapped ov = {.flags = ND_REQUEST_NOT_TO_PORT};
	nd_status st = nd_ah_create(a, &ah->nd);

	if (st != ND_SUCCESS)
		return ndv_errno(st);
	st = nd_ah_resolve(ah->nd, (const struct sockaddr *)to, sizeof(*to), &ov);
	st = ndv_outcome(st, &ov);
	if (st != ND_SUCCESS)
		(void)nd_ah_close(ah->nd);
	return ndv_errno(st);
}

struct ibv_ah *
ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct sockaddr_storage to;
	int err = ndv_destination(attr, &to);
	struct ndv_ah *ah = err == 0 ? calloc(1, sizeof(*ah)) : NULL;

	if (ah == NULL)
		return ndv_null(err != 0 ? err : ENOMEM);
	err = ah_lead_to(ah, ndv_context(pd->context)->adapter, &to);
	if (err != 0) {
		free(ah);
		return ndv_null(err);
	}
	ah->base.context = pd->context;
	ah->base.pd = pd;
	ndv_use(&ndv_pd(pd)->users);
	return &ah->base;
}

int
ibv_destroy_ah(struct ibv_ah *base)
{
	struct ndv_ah *ah = (struct ndv_ah *)base;

	ndv_leaving_wait(ndv_pd(base->pd));
	(void)nd_ah_close(ah->nd);
	ndv_unuse(&ndv_pd(base->pd)->users);
	free(ah);
	return 0;
}

/* Back to where a datagram came from, by the header in front of it. */
int
ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
	struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	struct sockaddr_storage from;
	socklen_t bytes = sizeof(from);

	(void)context;
	if (!(wc->wc_flags & IBV_WC_GRH) ||
		nd_ud_source(grh, (struct sockaddr *)&from, &bytes) != ND_SUCCESS) {
		errno = EINVAL;
		return -1;
	}
	*attr = (struct ibv_ah_attr){.is_global = 1, .port_num = port, .grh.hop_limit = 0xff};
	ndv_gid_of(&from, &attr->grh.dgid);
	return 0;
}

struct ibv_ah *
ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) != 0)
		return NULL;
	return ibv_create_ah(pd, &attr);
}
