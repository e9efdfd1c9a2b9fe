/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory of an INDAdapter. A handle is the address of a record, which is never freed
 * before the adapter and serves one registration after the other: so a handle that is not valid any
 * more can be told, and a post finds the token without a lock.
 */
#ifndef NDSPI_V1_REGION_H
#define NDSPI_V1_REGION_H

#include "ndspi/object.h"

struct spi1_region {
	/* First: nd_mr_local_token(), which a post finds here; 0: not registered. Atomic. */
	uint32_t token;
	struct nd_mr *mr;
	struct spi1_adapter *adapter;
	struct spi1_region *next;      /* of all */
	struct spi1_region *next_free; /* of those that are not in use */
};

struct spi1_regions {
	struct spi1_region *all;   /* atomic; grows only */
	struct spi1_region *ended; /* atomic: given back by completions, which take no lock */
	pthread_mutex_t lock;
	struct spi1_region *free; /* lock: to be used again */
};

void spi1_regions_init(struct spi1_regions *regions);
/* When the adapter of libndclient is closed. */
void spi1_regions_end(struct spi1_regions *regions);
/* End what is under way (nd_mr_cancel()). ND_SUCCESS. */
nd_status spi1_regions_cancel(struct spi1_regions *regions);

static inline struct spi1_region *
spi1_region_of(ND_MR_HANDLE handle)
{
	return (struct spi1_region *)handle;
}

/* 0: the handle is NULL, or its memory is not registered. */
static inline uint32_t
spi1_region_token(ND_MR_HANDLE handle)
{
	return handle != NULL ? __atomic_load_n(&spi1_region_of(handle)->token, __ATOMIC_ACQUIRE)
			      : 0;
}

/* INDAdapter's methods. */
HRESULT STDMETHODCALLTYPE spi1_register(
	INDAdapter *self, const void *buffer, SIZE_T bytes, OVERLAPPED *ov, ND_MR_HANDLE *out);
HRESULT STDMETHODCALLTYPE spi1_deregister(INDAdapter *self, ND_MR_HANDLE handle, OVERLAPPED *ov);

#endif
