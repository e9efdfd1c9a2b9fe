/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/compiler.h"
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

/* Results are where libndclient places them. */
_Static_assert(sizeof(ND_RESULT) == sizeof(struct nd_placed_result), "as large");
_Static_assert(offsetof(ND_RESULT, Status) == offsetof(struct nd_placed_result, status), "status");
_Static_assert(offsetof(ND_RESULT, BytesTransferred) ==
		       offsetof(struct nd_placed_result, bytes_transferred),
	"bytes");

/* A window's result goes right behind that of its receive, if there is room besides that for the
 * entries that follow. How many results this makes: 1, or 0. */
static __attribute__((noinline)) SIZE_T
window_result(struct spi1_cq *q, uint32_t token, ND_RESULT **result, bool room)
{
	ND_RESULT *told = spi1_windows_invalidated(&spi1_adapter_of(q)->windows, token, q, room);

	if (told == NULL)
		return 0;
	*result = told;
	return 1;
}

/* The results of so many entries; room: of results, at least as many. */
static SIZE_T
cq_fill(struct spi1_cq *q, const struct nd_result_ex *e, uint32_t n, ND_RESULT *results[],
	SIZE_T room)
{
	SIZE_T done = 0;

	for (uint32_t i = 0; i < n; i++) {
		nd_result_place(&e[i]);
		results[done++] = e[i].request_context;
		if (base_unlikely(e[i].request_type == ND_REQUEST_RECEIVE_AND_INVALIDATE))
			done += window_result(
				q, e[i].invalidated_token, &results[done], room - done > n - i - 1);
	}
	return done;
}

/*
 * How many entries to take for so many results: no more than could all bring a window's result with
 * them, and one. So all have room but the last one's, which is what the next call begins with.
 */
static uint32_t
cq_want(SIZE_T room)
{
	room = (room + 1) / 2;
	return room < BATCH ? (uint32_t)room : BATCH;
}

/* With the lock: one thread at a time, so that late results keep their place. When this returns
 * fewer than n, the queue is empty (R-CR-02). */
static SIZE_T
cq_take(struct spi1_cq *q, ND_RESULT *results[], SIZE_T n)
{
	struct nd_result_ex e[BATCH];
	ND_RESULT *late;
	SIZE_T done = 0;
	uint32_t want;
	int32_t got;

	while (done < n && (late = spi1_windows_late(&spi1_adapter_of(q)->windows, q)) != NULL)
		results[done++] = late;
	while (done < n) {
		want = cq_want(n - done);
		got = nd_cq_get_results_ex(q->cq, e, want);
		if (got > 0)
			done += cq_fill(q, e, (uint32_t)got, &results[done], n - done);
		if (got < (int32_t)want)
			break;
	}
	return done;
}

static __attribute__((noinline)) SIZE_T
cq_take_with_windows(struct spi1_cq *q, ND_RESULT *results[], SIZE_T n)
{
	SIZE_T done;

	pthread_mutex_lock(&q->lock);
	done = cq_take(q, results, n);
	pthread_mutex_unlock(&q->lock);
	return done;
}

/* Without windows that have a result none is late. Of a window that is made at this very moment the
 * first result may be at another place. */
static SIZE_T STDMETHODCALLTYPE
cq_results(INDCompletionQueue *self, ND_RESULT *results[], SIZE_T n)
{
	struct spi1_cq *q = (struct spi1_cq *)self;
	int32_t taken;

	if (base_unlikely(spi1_windows_have_results(&spi1_adapter_of(q)->windows)))
		return cq_take_with_windows(q, results, n);
	taken = nd_cq_get_placed_results(q->cq, (struct nd_placed_result **)results, n);
	return taken > 0 ? (SIZE_T)taken : 0;
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
