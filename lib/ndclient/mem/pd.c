/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains. */
#include <stdlib.h>

#include "ndclient/mem/pd.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/object.h"

nd_status
nd_pd_create(struct nd_adapter *a, struct nd_pd **out)
{
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_PD_CREATE}, reply;
	struct nd_pd *pd;
	nd_status st;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	pd = calloc(1, sizeof(*pd));
	if (pd == NULL)
		return ND_NO_MEMORY;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		free(pd);
		return st;
	}
	pd->adapter = a;
	pd->id = reply.id;
	nd_object_open(&pd->obj, &nd_pd_class, a);
	*out = pd;
	return ND_SUCCESS;
}

static void
pd_destroy(struct nd_object *o)
{
	struct nd_pd *pd = (struct nd_pd *)o;

	(void)nd_object_forget(pd->adapter, NDSH_MSG_PD_DESTROY, pd->id);
	free(pd);
}

const struct nd_class nd_pd_class = {.destroy = pd_destroy};

nd_status
nd_pd_close(struct nd_pd *pd)
{
	return nd_close(pd, NULL);
}

nd_status
nd_pd_privileged_token(struct nd_pd *pd, uint32_t *token)
{
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_PD_TOKEN, .id = pd->id}, reply;
	nd_status st;

	if (token == NULL)
		return ND_INVALID_PARAMETER;
	*token = 0;
	if (pd->adapter->abi_minor < NDSH_MINOR_TOKENS)
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old for privileged tokens");
	st = nd_control_call(pd->adapter, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st == ND_SUCCESS)
		*token = reply.id;
	return st;
}
