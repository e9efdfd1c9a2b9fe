/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/create.h"
#include "ndspi/v1/adapter.h"
#include "ndspi/v1/cq.h"
#include "ndspi/v1/request.h"

#define BATCH 16u /* results that are taken from libndclient at a time */

SPI1_OVERLAPPED(INDCompletionQueue, cq, struct spi1_cq, cq, nd_cq_cancel)

static HRESULT STDMETHODCALLTYPE
cq_resize(INDCompletionQueue *self, SIZE_T depth)
{
	return nd_cq_resize(((struct spi1_cq *)self)->cq, spi1_narrow(depth));
}

/* ---- notifications ------------------------------------------------------------------- */

static void
notify_done(struct nd_overlapped *nd, nd_status st)
{
	const struct spi1_cq *q = ((struct spi_request *)nd)->context;

	if (st == ND_CANCELED && __atomic_load_n(&q->releases, __ATOMIC_ACQUIRE) != 0)
		st = ND_SUCCESS;
	spi_request_done(nd, st);
}

/* All that wait end by one event (R-CQ-20, R-CQ-21), of which libndclient knows nothing. */
static void
cq_end_waits(struct spi1_cq *q)
{
	__atomic_fetch_add(&q->releases, 1, __ATOMIC_ACQ_REL);
	nd_cq_cancel(q->cq);
	__atomic_fetch_sub(&q->releases, 1, __ATOMIC_ACQ_REL);
}

/* A result that is late is one that libndclient does not know to lie there (R-CQ-12). It is one
 * event, so that a Notify behind that waits (R-CQ-11). */
static nd_status
cq_arm(struct spi1_cq *q, DWORD type, struct nd_overlapped *nd)
{
	const bool results = type == ND_CQ_NOTIFY_ANY || type == ND_CQ_NOTIFY_SOLICITED;

	((struct spi_request *)nd)->context = q;
	if (!results || !spi1_windows_late_is_news(&spi1_adapter_of(q)->windows, q))
		return nd_cq_notify(q->cq, type, nd);
	cq_end_waits(q);
	spi_request_done(nd, ND_SUCCESS);
	return ND_PENDING;
}

static HRESULT STDMETHODCALLTYPE
cq_notify(INDCompletionQueue *self, DWORD type, OVERLAPPED *ov)
{
	struct spi1_cq *q = (struct spi1_cq *)self;

	return SPI_REQUEST_WITH(&q->object, ov, notify_done, cq_arm(q, type, nd));
}

/* ---- results ------------------------------------------------------------------------- */

/* Of those that libndclient tells, this version does not have all. */
static HRESULT
result_status(const struct nd_result_ex *e)
{
	switch (e->status) {
	case ND_IO_TIMEOUT:
		return ND_TIMEOUT;
	case ND_DATA_ERROR:
		return ND_REMOTE_ERROR;
	case ND_DATA_OVERRUN:
		return e->request_type == ND_REQUEST_RECEIVE ? ND_BUFFER_OVERFLOW : e->status;
	default:
		return e->status;
	}
}

static ND_RESULT *
result_fill(const struct nd_result_ex *e)
{
	ND_RESULT *result = e->request_context;

	*result = (ND_RESULT){
		.Status = result_status(e),
		.BytesTransferred = e->bytes_transferred,
	};
	return result;
}

/*
 * The results of so many entries; room: of results, at least as many. The result of a window goes
 * right behind that of the receive, if there is room besides that for the other entries.
 */
static SIZE_T
cq_fill(struct spi1_cq *q, const struct nd_result_ex *e, uint32_t n, ND_RESULT *results[],
	SIZE_T room)
{
	struct spi1_windows *windows = &spi1_adapter_of(q)->windows;
	SIZE_T done = 0;

	for (uint32_t i = 0; i < n; i++) {
		ND_RESULT *more;

		results[done++] = result_fill(&e[i]);
		if (e[i].request_type != ND_REQUEST_RECEIVE_AND_INVALIDATE)
			continue;
		more = spi1_windows_invalidated(
			windows, e[i].invalidated_token, q, room - done > n - i - 1);
		if (more != NULL)
			results[done++] = more;
	}
	return done;
}

/*
 * How many entries to take for so many results: no more than could all bring a window's result with
 * them, and one. So all have room but the last one's, which is what the next call begins with.
 * Entries of a window that is made at this very moment are at their place but for the window's.
 */
static uint32_t
cq_want(const struct spi1_windows *windows, SIZE_T room)
{
	if (__atomic_load_n(&windows->with_result, __ATOMIC_RELAXED) != 0)
		room = (room + 1) / 2;
	return room < BATCH ? (uint32_t)room : BATCH;
}

/* When this returns fewer than n, the queue is empty (R-CR-02). */
static SIZE_T
cq_take(struct spi1_cq *q, ND_RESULT *results[], SIZE_T n)
{
	struct spi1_windows *windows = &spi1_adapter_of(q)->windows;
	struct nd_result_ex e[BATCH];
	ND_RESULT *late;
	SIZE_T done = 0;

	while (done < n && (late = spi1_windows_late(windows, q)) != NULL)
		results[done++] = late;
	while (done < n) {
		const uint32_t want = cq_want(windows, n - done);
		const int32_t got = nd_cq_get_results_ex(q->cq, e, want);

		if (got > 0)
			done += cq_fill(q, e, (uint32_t)got, &results[done], n - done);
		if (got < (int32_t)want)
			break;
	}
	return done;
}

static SIZE_T STDMETHODCALLTYPE
cq_results(INDCompletionQueue *self, ND_RESULT *results[], SIZE_T n)
{
	struct spi1_cq *q = (struct spi1_cq *)self;
	SIZE_T done;

	pthread_mutex_lock(&q->lock);
	done = cq_take(q, results, n);
	pthread_mutex_unlock(&q->lock);
	return done;
}

/* ---- the object ---------------------------------------------------------------------- */

static const INDCompletionQueueVtbl cq_slots = {
	SPI_OVERLAPPED_SLOTS(cq),
	.Resize = cq_resize,
	.Notify = cq_notify,
	.GetResults = cq_results,
};

static void
cq_close(struct spi_object *o)
{
	struct spi1_cq *q = (struct spi1_cq *)o;

	nd_cq_close(q->cq);
	spi1_windows_drop_late(&spi1_adapter_of(q)->windows, q);
	pthread_mutex_destroy(&q->lock);
}

const struct spi_class spi1_cq_class = {
	.iid = &IID_INDCompletionQueue,
	.base = &IID_INDOverlapped,
	.vtbl = &cq_slots,
	.close = cq_close,
};

HRESULT STDMETHODCALLTYPE
spi1_create_cq(INDAdapter *self, SIZE_T depth, INDCompletionQueue **out)
{
	const IID *iid = spi1_cq_class.iid;
	struct spi1_cq *q;
	HRESULT hr =
		spi_create_begin(self, &spi1_cq_class, sizeof(*q), iid, NULL, (void **)out, &q);

	if (hr != ND_SUCCESS)
		return hr;
	pthread_mutex_init(&q->lock, NULL);
	TAILQ_INIT(&q->late.windows);
	hr = nd_cq_create(q->object.adapter->adapter, spi1_narrow(depth), &q->cq);
	if (hr == ND_INVALID_PARAMETER_3)
		hr = ND_INVALID_PARAMETER_1;
	return spi_create_end(&q->object, hr, iid, (void **)out);
}
