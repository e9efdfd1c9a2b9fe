/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an interface costs: a write and a receive are posted and their results taken, by
 * libndclient's calls and by the interfaces above them, on rings whose daemon's half is here. For
 * check-instructions, which counts what ..._posts() and ..._takes() do: the application and the
 * libraries, linked into one program.
 *
 *   face_bench MESSAGES     of each case
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/cq/cq.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndkpi/cq.h"
#include "ndkpi/qp.h"
#include "ndspi/cq.h"
#include "ndspi/qp.h"
#include "ndspi/v1/adapter.h"
#include "ndspi/v1/cq.h"
#include "ndspi/v1/endpoint.h"
#include "rigs/zeroed.h"

#define DEPTH  64u
#define HANDLE 1u

struct world {
	struct nd_adapter *a;
	struct nd_qp *qp;
	struct nd_cq *cq;
	struct spi_qp spi_qp;
	struct spi_cq spi_cq;
	struct spi1_adapter spi1_adapter;
	struct spi1_endpoint spi1_endpoint;
	struct spi1_cq spi1_cq;
	struct spi1_region spi1_region;
	struct ndk_object ndk_qp, ndk_cq;
	ND_RESULT results[2 * DEPTH];
	ND_MW_DESCRIPTOR there; /* of version 1: the peer's */
	uint32_t posted;
	struct ndsh_cq entries; /* the daemon's half, as the two below */
	struct ndsh_sq sends;
	struct ndsh_rq receives;
	uint32_t sent, received;
};

static void
world_queue_pair(struct world *w)
{
	const struct ndsh_qp_dims d = {
		.sq_depth = DEPTH, .rq_depth = DEPTH, .sq_sge = 2, .rq_sge = 2, .inline_bytes = 32};
	struct ndsh_qp_layout l;

	if (!ndsh_qp_layout(&d, &l))
		abort();
	w->qp = zeroed(sizeof(*w->qp));
	w->qp->adapter = w->a;
	w->qp->page = zeroed(l.total_bytes);
	w->qp->state = ND_QP_CONNECTED;
	w->qp->sq_sge = w->qp->rq_sge = 2;
	w->qp->inline_bytes = 32;
	ndsh_sq_view(&w->qp->sq, w->qp->page, &d);
	ndsh_rq_view(&w->qp->rq, w->qp->page, &d);
	ndsh_sq_view(&w->sends, w->qp->page, &d);
	ndsh_rq_view(&w->receives, w->qp->page, &d);
	w->a->qps->by_handle[HANDLE] = w->qp;
	w->spi_qp = (struct spi_qp){.object.vtbl = spi_qp_class.vtbl, .qp = w->qp};
}

/* Version 1's. */
static void
world_first(struct world *w)
{
	struct spi_adapter *a = &w->spi1_adapter.base;

	pthread_mutex_init(&w->spi1_adapter.windows.lock, NULL);
	w->spi1_region.token = 5;
	w->there.Token = 7;
	w->spi1_endpoint = (struct spi1_endpoint){
		.object = {.vtbl = spi1_endpoint_class.vtbl, .adapter = a},
		.qp = w->qp,
	};
	w->spi1_cq.object.vtbl = spi1_cq_class.vtbl;
	w->spi1_cq.object.adapter = a;
	w->spi1_cq.cq = w->cq;
	pthread_mutex_init(&w->spi1_cq.lock, NULL);
	TAILQ_INIT(&w->spi1_cq.late.windows);
}

static void
world_start(struct world *w)
{
	void *block = zeroed(ndsh_cq_bytes(2 * DEPTH));

	w->a = zeroed(sizeof(*w->a));
	w->a->qps = zeroed(sizeof(*w->a->qps));
	w->a->page = zeroed(sizeof(*w->a->page));
	w->a->wake_fd = -1;
	w->a->max_transfer_bytes = 1u << 20;
	w->cq = zeroed(sizeof(*w->cq));
	w->cq->adapter = w->a;
	ndsh_cq_reader_view(&w->cq->reader, block, 2 * DEPTH);
	ndsh_cq_view(&w->entries, block, 2 * DEPTH);
	w->spi_cq = (struct spi_cq){.object.vtbl = spi_cq_class.vtbl, .cq = w->cq};
	world_queue_pair(w);
	w->ndk_qp = (struct ndk_object){.dispatch = &ndk_qp_dispatch, .nd = w->qp};
	w->ndk_cq = (struct ndk_object){.dispatch = &ndk_cq_dispatch, .nd = w->cq};
	world_first(w);
}

/* The daemon has done all that was posted, so many requests of each kind. */
static void
daemon_completes(struct world *w, uint32_t batch)
{
	struct ndsh_send s;
	struct ndsh_recv r;

	for (uint32_t i = 0; i < batch; i++) {
		struct ndsh_cqe e = {.qp = HANDLE, .op = NDSH_OP_WRITE, .slot_count = ++w->sent};

		if (ndsh_sq_fetch(&w->sends, &s) != NDSH_FETCH_OK ||
			ndsh_rq_fetch(&w->receives, &r) != NDSH_FETCH_OK)
			abort();
		e.context = s.context;
		ndsh_cq_push(&w->entries, &e);
		e = (struct ndsh_cqe){
			.context = r.context,
			.qp = HANDLE,
			.op = NDSH_OP_RECV,
			.slot_count = ++w->received,
		};
		ndsh_cq_push(&w->entries, &e);
	}
	ndsh_cq_publish(&w->entries);
}

/* ---- the faces: what is counted ---- */

__attribute__((noinline)) static void
nd_posts(struct world *w)
{
	const struct nd_sge sge = {w, 8, 5};

	if (nd_qp_receive(w->qp, w, &sge, 1) != ND_SUCCESS ||
		nd_qp_write(w->qp, w, &sge, 1, 4096, 7, 0) != ND_SUCCESS)
		abort();
}

__attribute__((noinline)) static void
nd_takes(struct world *w, uint32_t n)
{
	struct nd_result r[2 * DEPTH];

	if (nd_cq_get_results(w->cq, r, n) != (int32_t)n)
		abort();
}

__attribute__((noinline)) static void
nd_ex_takes(struct world *w, uint32_t n)
{
	struct nd_result_ex r[2 * DEPTH];

	if (nd_cq_get_results_ex(w->cq, r, n) != (int32_t)n)
		abort();
}

__attribute__((noinline)) static void
spi_posts(struct world *w)
{
	const ND2_SGE sge = {w, 8, 5};
	IND2QueuePair *qp = (IND2QueuePair *)&w->spi_qp;

	if (qp->lpVtbl->Receive(qp, w, &sge, 1) != ND_SUCCESS ||
		qp->lpVtbl->Write(qp, w, &sge, 1, 4096, 7, 0) != ND_SUCCESS)
		abort();
}

__attribute__((noinline)) static void
spi_takes(struct world *w, uint32_t n)
{
	ND2_RESULT r[2 * DEPTH];
	IND2CompletionQueue *cq = (IND2CompletionQueue *)&w->spi_cq;

	if (cq->lpVtbl->GetResults(cq, r, n) != n)
		abort();
}

__attribute__((noinline)) static void
spi1_posts(struct world *w)
{
	const ND_SGE sge = {w, 8, (ND_MR_HANDLE)&w->spi1_region};
	INDEndpoint *e = (INDEndpoint *)&w->spi1_endpoint;
	ND_RESULT *r = &w->results[2 * (w->posted++ % DEPTH)];

	if (e->lpVtbl->Receive(e, &r[0], &sge, 1) != ND_SUCCESS ||
		e->lpVtbl->Write(e, &r[1], &sge, 1, &w->there, 4096, 0) != ND_SUCCESS)
		abort();
}

__attribute__((noinline)) static void
spi1_takes(struct world *w, uint32_t n)
{
	ND_RESULT *r[2 * DEPTH];
	INDCompletionQueue *cq = (INDCompletionQueue *)&w->spi1_cq;

	if (cq->lpVtbl->GetResults(cq, r, n) != n)
		abort();
}

__attribute__((noinline)) static void
ndk_posts(struct world *w)
{
	const NDK_SGE sge = {.VirtualAddress = w, .Length = 8, .MemoryRegionToken = 5};
	NDK_QP *qp = (NDK_QP *)&w->ndk_qp;

	if (qp->Dispatch->NdkReceive(qp, w, &sge, 1) != STATUS_SUCCESS ||
		qp->Dispatch->NdkWrite(qp, w, &sge, 1, 4096, 7, 0) != STATUS_SUCCESS)
		abort();
}

__attribute__((noinline)) static void
ndk_takes(struct world *w, uint32_t n)
{
	NDK_RESULT r[2 * DEPTH];
	NDK_CQ *cq = (NDK_CQ *)&w->ndk_cq;

	if (cq->Dispatch->NdkGetCqResults(cq, r, n) != n)
		abort();
}

__attribute__((noinline)) static void
ndk_ex_takes(struct world *w, uint32_t n)
{
	NDK_RESULT_EX r[2 * DEPTH];
	NDK_CQ *cq = (NDK_CQ *)&w->ndk_cq;

	if (cq->Dispatch->NdkGetCqResultsEx(cq, r, n) != n)
		abort();
}

static const struct face {
	const char *name;
	void (*posts)(struct world *w);
	void (*takes)(struct world *w, uint32_t n);
	uint32_t batch; /* messages that are posted before their results are taken */
} faces[] = {
	{"nd", nd_posts, nd_takes, 1},
	{"ndspi", spi_posts, spi_takes, 1},
	{"ndspi-v1", spi1_posts, spi1_takes, 1},
	{"ndkpi", ndk_posts, ndk_takes, 1},
	{"nd-ex", nd_posts, nd_ex_takes, 1},
	{"ndkpi-ex", ndk_posts, ndk_ex_takes, 1},
	{"nd-16", nd_posts, nd_takes, 16},
	{"ndspi-16", spi_posts, spi_takes, 16},
	{"ndspi-v1-16", spi1_posts, spi1_takes, 16},
	{"ndkpi-16", ndk_posts, ndk_takes, 16},
	{"nd-ex-16", nd_posts, nd_ex_takes, 16},
	{"ndkpi-ex-16", ndk_posts, ndk_ex_takes, 16},
};

static uint64_t
face_run(const struct face *f, struct world *w, uint64_t messages)
{
	uint64_t done = 0;

	for (; done < messages; done += f->batch) {
		for (uint32_t i = 0; i < f->batch; i++)
			f->posts(w);
		daemon_completes(w, f->batch);
		f->takes(w, 2 * f->batch);
	}
	return done;
}

/* Behind it the counts of a case are complete. */
__attribute__((noinline)) static void
case_ends(const struct face *f, uint64_t done, bool first)
{
	printf("%s{\"name\": \"%s\", \"messages\": %" PRIu64 "}", first ? "" : ", ", f->name, done);
}

int
main(int argc, char **argv)
{
	const uint64_t messages = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;

	if (messages == 0) {
		fprintf(stderr, "usage: face_bench MESSAGES\n");
		return 2;
	}
	printf("{\"cases\": [");
	for (size_t i = 0; i < sizeof(faces) / sizeof(faces[0]); i++) {
		struct world *w = zeroed(sizeof(*w));

		world_start(w);
		case_ends(&faces[i], face_run(&faces[i], w, messages), i == 0);
	}
	printf("]}\n");
	return 0;
}
