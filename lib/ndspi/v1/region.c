/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>

#include "ndspi/v1/adapter.h"
#include "ndspi/v1/request.h"

void
spi1_regions_init(struct spi1_regions *regions)
{
	pthread_mutex_init(&regions->lock, NULL);
}

void
spi1_regions_end(struct spi1_regions *regions)
{
	struct spi1_region *r, *next;

	for (r = regions->all; r != NULL; r = next) {
		next = r->next;
		free(r);
	}
	pthread_mutex_destroy(&regions->lock);
}

nd_status
spi1_regions_cancel(struct spi1_regions *regions)
{
	struct spi1_region *r = __atomic_load_n(&regions->all, __ATOMIC_ACQUIRE);

	for (; r != NULL; r = r->next)
		(void)nd_mr_cancel(r->mr);
	return ND_SUCCESS;
}

/* ---- records ------------------------------------------------------------------------- */

/* Without a lock: completions come here, under libndclient's. */
static void
region_give_back(struct spi1_region *r)
{
	struct spi1_region **ended = &r->adapter->regions.ended;

	r->next_free = __atomic_load_n(ended, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(
		ended, &r->next_free, r, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static struct spi1_region *
region_reuse(struct spi1_regions *regions)
{
	struct spi1_region *r;

	pthread_mutex_lock(&regions->lock);
	if (regions->free == NULL)
		regions->free = __atomic_exchange_n(&regions->ended, NULL, __ATOMIC_ACQUIRE);
	r = regions->free;
	if (r != NULL)
		regions->free = r->next_free;
	pthread_mutex_unlock(&regions->lock);
	return r;
}

static HRESULT
region_new(struct spi1_adapter *a, struct spi1_region **out)
{
	struct spi1_region *r = calloc(1, sizeof(*r));
	nd_status st;

	if (r == NULL)
		return ND_NO_MEMORY;
	st = nd_mr_create(a->base.pd, &r->mr);
	if (st != ND_SUCCESS) {
		free(r);
		return st;
	}
	r->adapter = a;
	r->next = __atomic_load_n(&a->regions.all, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(
		&a->regions.all, &r->next, r, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	*out = r;
	return ND_SUCCESS;
}

/* ---- requests ------------------------------------------------------------------------ */

/* What a request left of it, whatever that says: without a daemon no region is registered. */
static void
region_learn_token(struct spi1_region *r)
{
	__atomic_store_n(&r->token, nd_mr_local_token(r->mr), __ATOMIC_RELEASE);
}

static void
region_registered(struct nd_overlapped *nd, nd_status st)
{
	struct spi1_region *r = ((struct spi_request *)nd)->context;

	region_learn_token(r);
	if (st != ND_SUCCESS)
		region_give_back(r);
	spi_request_done(nd, st);
}

static void
region_deregistered(struct nd_overlapped *nd, nd_status st)
{
	struct spi1_region *r = ((struct spi_request *)nd)->context;

	region_learn_token(r);
	if (st == ND_SUCCESS)
		region_give_back(r);
	spi_request_done(nd, st);
}

/* Which is the one or the other. The request may be over, and the record another's, when this
 * returns. */
static HRESULT
region_begin(struct spi_object *adapter, struct spi1_region *r, OVERLAPPED *ov,
	nd_request_callback done, struct nd_overlapped **nd)
{
	const HRESULT hr = spi_request_begin(adapter, ov, done, nd);

	if (hr == ND_SUCCESS)
		((struct spi_request *)*nd)->context = r;
	return hr;
}

/* The peer's rights are those of the windows that are bound there. */
HRESULT STDMETHODCALLTYPE
spi1_register(INDAdapter *self, const void *buffer, SIZE_T bytes, OVERLAPPED *ov, ND_MR_HANDLE *out)
{
	struct spi1_adapter *a = spi1_adapter_of(self);
	struct spi1_region *r;
	struct nd_overlapped *nd;
	HRESULT hr = ND_SUCCESS;
	nd_status st;

	if (out == NULL)
		return ND_INVALID_PARAMETER_4;
	r = region_reuse(&a->regions);
	if (r == NULL)
		hr = region_new(a, &r);
	if (hr != ND_SUCCESS)
		return hr;
	hr = region_begin((struct spi_object *)self, r, ov, region_registered, &nd);
	if (hr != ND_SUCCESS) {
		region_give_back(r);
		return hr;
	}
	*out = (ND_MR_HANDLE)r; /* first: it may be over before the call returns */
	st = nd_mr_register(r->mr, (void *)buffer, bytes, ND_MR_FLAG_ALLOW_LOCAL_WRITE, nd);
	if (st != ND_PENDING) {
		*out = NULL;
		region_give_back(r);
	}
	return spi_request_issued(nd, st);
}

HRESULT STDMETHODCALLTYPE
spi1_deregister(INDAdapter *self, ND_MR_HANDLE handle, OVERLAPPED *ov)
{
	struct spi1_region *r = spi1_region_of(handle);
	struct nd_overlapped *nd;
	HRESULT hr;
	nd_status st;

	if (r == NULL || r->adapter != spi1_adapter_of(self))
		return ND_INVALID_HANDLE;
	hr = region_begin((struct spi_object *)self, r, ov, region_deregistered, &nd);
	if (hr != ND_SUCCESS)
		return hr;
	st = nd_mr_deregister(r->mr, nd);
	if (st != ND_PENDING)
		region_learn_token(r);
	if (st == ND_INVALID_DEVICE_STATE)
		st = ND_INVALID_HANDLE;
	return spi_request_issued(nd, st);
}
