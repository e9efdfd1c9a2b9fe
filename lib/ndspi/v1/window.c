/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/create.h"
#include "ndspi/v1/adapter.h"
#include "ndspi/v1/cq.h"

/* ---- by token; the lock is held ------------------------------------------------------ */

/* Tokens of one adapter differ in their upper bits and in their lower ones. */
static uint32_t
token_bucket(UINT32 token)
{
	return token * 2654435761u >> (32 - SPI1_WINDOW_BITS);
}

static void
window_hide(struct spi1_window *w)
{
	if (w->token != 0)
		LIST_REMOVE(w, hash);
	w->token = 0;
}

static struct spi1_window *
window_find(struct spi1_windows *windows, UINT32 token)
{
	struct spi1_window *w;

	LIST_FOREACH (w, &windows->by_token[token_bucket(token)], hash)
		if (w->token == token)
			return w;
	return NULL;
}

/* ---- late results; the lock is held -------------------------------------------------- */

static void
window_not_late(struct spi1_window *w)
{
	struct spi1_late *late;

	if (w->late_at == NULL)
		return;
	late = &w->late_at->late;
	TAILQ_REMOVE(&late->windows, w, late);
	__atomic_store_n(&late->any, !TAILQ_EMPTY(&late->windows), __ATOMIC_RELEASE);
	w->late_at = NULL;
}

static void
window_be_late(struct spi1_window *w, struct spi1_cq *q)
{
	TAILQ_INSERT_TAIL(&q->late.windows, w, late);
	q->late.told = false;
	__atomic_store_n(&q->late.any, true, __ATOMIC_RELEASE);
	w->late_at = q;
}

static ND_RESULT *
window_tell(const struct spi1_window *w)
{
	*w->result = (ND_RESULT){.Status = ND_SUCCESS};
	return w->result;
}

/* ---- what queues and endpoints call -------------------------------------------------- */

void
spi1_window_bound(struct spi1_window *w)
{
	struct spi1_windows *windows = &spi1_adapter_of(w)->windows;

	if (w->result == NULL)
		return;
	pthread_mutex_lock(&windows->lock);
	window_hide(w);
	w->token = nd_mw_remote_token(w->mw);
	LIST_INSERT_HEAD(&windows->by_token[token_bucket(w->token)], w, hash);
	pthread_mutex_unlock(&windows->lock);
}

ND_RESULT *
spi1_windows_invalidated(struct spi1_windows *windows, UINT32 token, struct spi1_cq *q, bool room)
{
	struct spi1_window *w;
	ND_RESULT *result = NULL;

	pthread_mutex_lock(&windows->lock);
	w = window_find(windows, token);
	if (w != NULL) {
		window_hide(w);
		window_not_late(w); /* of an earlier binding, in a queue that is not emptied */
		if (room)
			result = window_tell(w);
		else
			window_be_late(w, q);
	}
	pthread_mutex_unlock(&windows->lock);
	return result;
}

ND_RESULT *
spi1_windows_late(struct spi1_windows *windows, struct spi1_cq *q)
{
	struct spi1_window *w;
	ND_RESULT *result = NULL;

	if (!__atomic_load_n(&q->late.any, __ATOMIC_ACQUIRE))
		return NULL;
	pthread_mutex_lock(&windows->lock);
	w = TAILQ_FIRST(&q->late.windows);
	if (w != NULL) {
		window_not_late(w);
		result = window_tell(w);
	}
	pthread_mutex_unlock(&windows->lock);
	return result;
}

bool
spi1_windows_late_is_news(struct spi1_windows *windows, struct spi1_cq *q)
{
	bool news;

	if (!__atomic_load_n(&q->late.any, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&windows->lock);
	news = !TAILQ_EMPTY(&q->late.windows) && !q->late.told;
	q->late.told = true;
	pthread_mutex_unlock(&windows->lock);
	return news;
}

void
spi1_windows_drop_late(struct spi1_windows *windows, struct spi1_cq *q)
{
	struct spi1_window *w;

	pthread_mutex_lock(&windows->lock);
	while ((w = TAILQ_FIRST(&q->late.windows)) != NULL)
		window_not_late(w);
	pthread_mutex_unlock(&windows->lock);
}

/* ---- the object ---------------------------------------------------------------------- */

SPI_UNKNOWN(INDMemoryWindow, window)

static const INDMemoryWindowVtbl window_slots = {SPI_UNKNOWN_SLOTS(window)};

/* Its result may be freed from now on. */
static void
window_close(struct spi_object *o)
{
	struct spi1_window *w = (struct spi1_window *)o;
	struct spi1_windows *windows = &spi1_adapter_of(w)->windows;

	pthread_mutex_lock(&windows->lock);
	window_hide(w);
	window_not_late(w);
	pthread_mutex_unlock(&windows->lock);
	if (w->result != NULL)
		__atomic_fetch_sub(&windows->with_result, 1, __ATOMIC_RELAXED);
	nd_mw_close(w->mw);
}

const struct spi_class spi1_window_class = {
	.iid = &IID_INDMemoryWindow,
	.vtbl = &window_slots,
	.close = window_close,
};

HRESULT STDMETHODCALLTYPE
spi1_create_window(INDAdapter *self, ND_RESULT *result, INDMemoryWindow **out)
{
	const IID *iid = spi1_window_class.iid;
	struct spi1_window *w;
	HRESULT hr =
		spi_create_begin(self, &spi1_window_class, sizeof(*w), iid, NULL, (void **)out, &w);

	if (hr != ND_SUCCESS)
		return hr;
	w->result = result;
	if (result != NULL)
		__atomic_fetch_add(&spi1_adapter_of(w)->windows.with_result, 1, __ATOMIC_RELAXED);
	hr = nd_mw_create(w->object.adapter->pd, &w->mw);
	return spi_create_end(&w->object, hr, iid, (void **)out);
}
