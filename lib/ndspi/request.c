/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndclient's request lives in the record that the platform makes for an OVERLAPPED, so a request
 * is one allocation, and several can be under way on one OVERLAPPED. It ends by a callback, under
 * libndclient's locks: the platform's completion neither waits nor calls back.
 */
#include "ndspi/request.h"

#include "ndspi/adapter.h"

void
spi_request_done(struct nd_overlapped *nd, nd_status st)
{
	ndwin_request_complete(nd->key, st, 0);
}

HRESULT
spi_request_begin(
	struct spi_object *o, OVERLAPPED *ov, nd_request_callback done, struct nd_overlapped **nd)
{
	struct ndwin_file *file = o->file != NULL ? o->file : o->adapter->file;
	struct ndwin_request *request;
	LONG status = ndwin_request_begin(file, ov, sizeof(struct spi_request), &request);

	if (status != 0)
		return status;
	*nd = ndwin_request_extra(request);
	(*nd)->flags = ND_REQUEST_CALLBACK;
	(*nd)->done = done;
	(*nd)->key = request;
	return ND_SUCCESS;
}

HRESULT
spi_request_issued(struct nd_overlapped *nd, nd_status st)
{
	if (st != ND_PENDING)
		ndwin_request_return(nd->key, st);
	return st;
}

HRESULT
spi_request_result(const OVERLAPPED *ov, BOOL wait)
{
	return ov == NULL ? ND_INVALID_PARAMETER : ndwin_overlapped_status(ov, wait);
}
