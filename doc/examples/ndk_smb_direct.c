/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NDK in the idiom of SMB Direct: a client writes a file of the server's and reads it back. For
 * each request it registers pages for the server by a fast registration, deferred so that it goes
 * out with the message that names it; the server moves the data by itself, and its answer takes
 * the registration back (NdkSendAndInvalidate).
 *
 *   ndk_smb_direct -s ADDRESS PORT               serve one client
 *   ndk_smb_direct -c LOCAL ADDRESS PORT COUNT   write and read COUNT times, and compare
 *
 * It is built with libndkpi, and NDD_SOCKET names the daemon.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <ndkpi.h>

#define DEPTH	   16u
#define FILE_BYTES (1u << 20)
#define IO_BYTES   (16u * PAGE_SIZE)
#define READS	   4u

enum operation { OPERATION_WRITE, OPERATION_READ };

struct request {
	UINT32 operation, offset, bytes;
	UINT32 token; /* of the client's registration, for which it has this address */
	UINT64 address;
};

/* ---- a callback that a thread waits for ------------------------------------------------- */

struct event {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	BOOLEAN set;
	NTSTATUS status;
	PVOID what;
};
#define EVENT_INIT                                                                                 \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, FALSE, STATUS_SUCCESS, NULL   \
	}

static void
event_set(struct event *e, NTSTATUS status, PVOID what)
{
	pthread_mutex_lock(&e->lock);
	e->set = TRUE;
	e->status = status;
	e->what = what;
	pthread_cond_signal(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

static NTSTATUS
event_wait(struct event *e)
{
	pthread_mutex_lock(&e->lock);
	while (!e->set)
		pthread_cond_wait(&e->changed, &e->lock);
	e->set = FALSE;
	pthread_mutex_unlock(&e->lock);
	return e->status;
}

static VOID
on_done(PVOID event, NTSTATUS status)
{
	event_set(event, status, NULL);
}

static VOID
on_created(PVOID event, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	event_set(event, status, object);
}

/* Of closes, and of the peer's disconnect. */
static VOID
on_event(PVOID event)
{
	event_set(event, STATUS_SUCCESS, NULL);
}

static VOID
on_connect(PVOID event, NDK_CONNECTOR *connector)
{
	event_set(event, STATUS_SUCCESS, connector);
}

static void
must(NTSTATUS status, const char *what)
{
	if (NT_SUCCESS(status))
		return;
	fprintf(stderr, "%s: 0x%08x\n", what, (unsigned)status);
	exit(1);
}

/* What a request came to: its call says so, or the event that it was given. */
static void
must_end(NTSTATUS status, struct event *e, const char *what)
{
	must(status == STATUS_PENDING ? event_wait(e) : status, what);
}

/* The same of a create: the object that the call returned, or the event. */
static PVOID
must_make(NTSTATUS status, struct event *e, PVOID object, const char *what)
{
	must_end(status, e, what);
	return status == STATUS_PENDING ? e->what : object;
}

/* ---- one end ---------------------------------------------------------------------------- */

struct peer {
	NDK_ADAPTER *adapter;
	NDK_PD *pd;
	NDK_CQ *cq;
	NDK_QP *qp;
	NDK_CONNECTOR *connector;
	NDK_MR *mr; /* of memory: messages first, then the file or what is compared */
	char *memory;
	struct event replied, gone;
	UINT32 invalidated; /* by the last reply */
};

#define MESSAGES (DEPTH * sizeof(struct request)) /* received; one more is sent from */
#define DATA	 PAGE_SIZE

static NDK_SGE
sge_of(const struct peer *p, SIZE_T offset, ULONG bytes)
{
	return (NDK_SGE){.VirtualAddress = p->memory + offset,
		.Length = bytes,
		.MemoryRegionToken = p->mr->Dispatch->NdkGetLocalTokenFromMr(p->mr)};
}

static void
post_receive(struct peer *p, ULONG slot)
{
	NDK_SGE sge = sge_of(p, slot * sizeof(struct request), sizeof(struct request));

	must(p->qp->Dispatch->NdkReceive(p->qp, (PVOID)(ULONG_PTR)slot, &sge, 1), "NdkReceive");
}

/* The server: move the data, and answer behind them. */
static void
serve(struct peer *p, const struct request *r)
{
	const NDK_QP_DISPATCH *qp = p->qp->Dispatch;
	NDK_SGE data = sge_of(p, DATA + r->offset, r->bytes);
	NDK_SGE answer = {.VirtualAddress = (PVOID)r, .Length = sizeof(r->operation)};
	const ULONG first = NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER;

	if (r->bytes > IO_BYTES || r->offset > FILE_BYTES - IO_BYTES)
		must(STATUS_INVALID_PARAMETER, "a request");
	if (r->operation == OPERATION_READ)
		must(qp->NdkWrite(p->qp, NULL, &data, 1, r->address, r->token, first), "NdkWrite");
	else
		must(qp->NdkRead(p->qp, NULL, &data, 1, r->address, r->token, first), "NdkRead");
	must(qp->NdkSendAndInvalidate(p->qp, NULL, &answer, 1,
		     NDK_OP_FLAG_INLINE | NDK_OP_FLAG_READ_FENCE | NDK_OP_FLAG_SILENT_SUCCESS |
			     NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT,
		     r->token),
		"NdkSendAndInvalidate");
}

static void
handle(struct peer *p, const NDK_RESULT_EX *r)
{
	const ULONG slot = (ULONG)(ULONG_PTR)r->RequestContext;
	struct request request;

	if (r->Status == STATUS_CANCELLED) /* the end */
		return;
	must(r->Status, "a request's outcome");
	memcpy(&request, p->memory + slot * sizeof(request), sizeof(request));
	post_receive(p, slot);
	if (r->Type == NdkOperationTypeReceive) {
		serve(p, &request);
	} else if (r->Type == NdkOperationTypeReceiveAndInvalidate) {
		p->invalidated = (UINT32)r->TypeSpecificCompletionOutput;
		event_set(&p->replied, STATUS_SUCCESS, NULL);
	}
}

/* Take what is there, arm, and take what came meanwhile by the next callback. */
static VOID
on_results(PVOID context, NTSTATUS status)
{
	struct peer *p = context;
	NDK_RESULT_EX results[DEPTH];
	ULONG n;

	must(status, "the completion queue");
	do {
		n = p->cq->Dispatch->NdkGetCqResultsEx(p->cq, results, DEPTH);
		for (ULONG i = 0; i < n; i++)
			handle(p, &results[i]);
	} while (n == DEPTH);
	p->cq->Dispatch->NdkArmCq(p->cq, NDK_CQ_NOTIFY_ANY);
}

static void
peer_open(struct peer *p, const struct sockaddr_in *local)
{
	struct event e = EVENT_INIT;
	MDL mdl;

	must(NdkOpenAdapter(
		     (const SOCKADDR *)local, sizeof(*local), (NDK_VERSION){1, 2}, &p->adapter),
		"NdkOpenAdapter");
	p->pd = must_make(p->adapter->Dispatch->NdkCreatePd(p->adapter, on_created, &e, &p->pd), &e,
		p->pd, "NdkCreatePd");
	p->cq = must_make(p->adapter->Dispatch->NdkCreateCq(p->adapter, 4 * DEPTH, on_results, p,
				  NULL, on_created, &e, &p->cq),
		&e, p->cq, "NdkCreateCq");
	p->qp = must_make(p->pd->Dispatch->NdkCreateQp(p->pd, p->cq, p->cq, p, DEPTH, 2 * DEPTH, 1,
				  1, sizeof(struct request), on_created, &e, &p->qp),
		&e, p->qp, "NdkCreateQp");
	p->memory = NdkAllocateMemory(p->adapter, DATA + FILE_BYTES);
	must(p->memory != NULL ? STATUS_SUCCESS : STATUS_NO_MEMORY, "NdkAllocateMemory");
	must(p->pd->Dispatch->NdkCreateMr(p->pd, FALSE, on_created, &e, &p->mr), "NdkCreateMr");
	MmInitializeMdl(&mdl, p->memory, DATA + FILE_BYTES);
	must_end(p->mr->Dispatch->NdkRegisterMr(p->mr, &mdl, DATA + FILE_BYTES,
			 NDK_MR_FLAG_ALLOW_LOCAL_WRITE, on_done, &e),
		&e, "NdkRegisterMr");
	for (ULONG slot = 0; slot < DEPTH; slot++)
		post_receive(p, slot);
}

/* The connection is made. A message may have come before, and could not have been answered. */
static void
peer_start(const struct peer *p)
{
	p->cq->Dispatch->NdkArmCq(p->cq, NDK_CQ_NOTIFY_ANY);
}

/* Objects may be closed in any order; the adapter's close waits for all of them. */
static void
peer_close(struct peer *p)
{
	struct event e = EVENT_INIT;

	must_end(p->connector->Dispatch->NdkDisconnect(p->connector, on_done, &e), &e,
		"NdkDisconnect");
	p->connector->Dispatch->NdkCloseConnector(&p->connector->Header, NULL, NULL);
	p->qp->Dispatch->NdkCloseQp(&p->qp->Header, NULL, NULL);
	p->cq->Dispatch->NdkCloseCq(&p->cq->Header, NULL, NULL);
	p->mr->Dispatch->NdkCloseMr(&p->mr->Header, NULL, NULL);
	p->pd->Dispatch->NdkClosePd(&p->pd->Header, NULL, NULL);
	must(NdkCloseAdapter(p->adapter), "NdkCloseAdapter");
}

/* ---- the server ------------------------------------------------------------------------- */

static void
server(const struct sockaddr_in *local)
{
	struct peer p = {.replied = EVENT_INIT, .gone = EVENT_INIT};
	struct event e = EVENT_INIT, asked = EVENT_INIT;
	NDK_LISTENER *l = NULL;

	peer_open(&p, local);
	l = must_make(p.adapter->Dispatch->NdkCreateListener(
			      p.adapter, on_connect, &asked, on_created, &e, &l),
		&e, l, "NdkCreateListener");
	must_end(l->Dispatch->NdkListen(l, (const SOCKADDR *)local, sizeof(*local), on_done, &e),
		&e, "NdkListen");
	printf("listening\n");
	fflush(stdout);
	event_wait(&asked);
	p.connector = asked.what;
	must_end(p.connector->Dispatch->NdkAccept(
			 p.connector, p.qp, READS, READS, NULL, 0, on_event, &p.gone, on_done, &e),
		&e, "NdkAccept");
	peer_start(&p);
	event_wait(&p.gone);
	l->Dispatch->NdkCloseListener(&l->Header, NULL, NULL);
	peer_close(&p);
}

/* ---- the client ------------------------------------------------------------------------- */

/* Register the first pages of the data for the server, tell it of them, and wait for its answer. */
static void
transfer(struct peer *p, NDK_MR *pages, enum operation operation, ULONG offset)
{
	struct {
		NDK_LOGICAL_ADDRESS_MAPPING lam;
		NDK_LOGICAL_ADDRESS more[IO_BYTES / PAGE_SIZE];
	} m;
	struct request request = {.operation = operation, .offset = offset, .bytes = IO_BYTES};
	NDK_SGE sge = {.VirtualAddress = &request, .Length = sizeof(request)};
	ULONG room = sizeof(m), fbo;
	MDL mdl;

	MmInitializeMdl(&mdl, p->memory + DATA, IO_BYTES);
	must(p->adapter->Dispatch->NdkBuildLAM(
		     p->adapter, &mdl, IO_BYTES, NULL, NULL, &m.lam, &room, &fbo),
		"NdkBuildLAM");
	must(p->qp->Dispatch->NdkFastRegister(p->qp, NULL, pages, m.lam.AdapterPageCount,
		     m.lam.AdapterPageArray, fbo, IO_BYTES, MmGetMdlVirtualAddress(&mdl),
		     (operation == OPERATION_READ ? NDK_OP_FLAG_ALLOW_REMOTE_WRITE
						  : NDK_OP_FLAG_ALLOW_REMOTE_READ) |
			     NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER),
		"NdkFastRegister");
	request.token = pages->Dispatch->NdkGetRemoteTokenFromMr(pages);
	request.address = (ULONG_PTR)MmGetMdlVirtualAddress(&mdl);
	must(p->qp->Dispatch->NdkSend(
		     p->qp, NULL, &sge, 1, NDK_OP_FLAG_INLINE | NDK_OP_FLAG_SILENT_SUCCESS),
		"NdkSend");
	event_wait(&p->replied);
	if (p->invalidated != request.token)
		must(STATUS_DATA_ERROR, "the token that the answer invalidated");
	p->adapter->Dispatch->NdkReleaseLAM(p->adapter, &m.lam);
}

static void
client(const struct sockaddr_in *local, const struct sockaddr_in *remote, ULONG count)
{
	struct peer p = {.replied = EVENT_INIT, .gone = EVENT_INIT};
	struct event e = EVENT_INIT;
	NDK_MR *pages;

	peer_open(&p, local);
	must(p.adapter->Dispatch->NdkCreateConnector(p.adapter, on_created, &e, &p.connector),
		"NdkCreateConnector");
	must(p.pd->Dispatch->NdkCreateMr(p.pd, TRUE, on_created, &e, &pages), "NdkCreateMr");
	must_end(pages->Dispatch->NdkInitializeFastRegisterMr(
			 pages, IO_BYTES / PAGE_SIZE + 1, TRUE, on_done, &e),
		&e, "NdkInitializeFastRegisterMr");
	must_end(p.connector->Dispatch->NdkConnect(p.connector, p.qp, (const SOCKADDR *)local,
			 sizeof(*local), (const SOCKADDR *)remote, sizeof(*remote), READS, READS,
			 NULL, 0, on_done, &e),
		&e, "NdkConnect");
	must_end(p.connector->Dispatch->NdkCompleteConnect(
			 p.connector, on_event, &p.gone, on_done, &e),
		&e, "NdkCompleteConnect");
	peer_start(&p);
	for (ULONG i = 0; i < count; i++) {
		ULONG offset = i * IO_BYTES % (FILE_BYTES - IO_BYTES);

		memset(p.memory + DATA, (int)(i % 251 + 1), IO_BYTES);
		transfer(&p, pages, OPERATION_WRITE, offset);
		memset(p.memory + DATA, 0, IO_BYTES);
		transfer(&p, pages, OPERATION_READ, offset);
		for (ULONG at = 0; at < IO_BYTES; at++)
			if (p.memory[DATA + at] != (char)(i % 251 + 1))
				must(STATUS_DATA_ERROR, "what was read");
	}
	printf("%u times %u bytes, written and read\n", count, IO_BYTES);
	pages->Dispatch->NdkCloseMr(&pages->Header, NULL, NULL);
	peer_close(&p);
}

static struct sockaddr_in
address_of(const char *text, const char *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((USHORT)atoi(port))};

	must(inet_pton(AF_INET, text, &at.sin_addr) == 1 ? STATUS_SUCCESS : STATUS_INVALID_ADDRESS,
		text);
	return at;
}

int
main(int argc, char **argv)
{
	struct sockaddr_in local, remote;

	if (argc == 4 && strcmp(argv[1], "-s") == 0) {
		local = address_of(argv[2], argv[3]);
		server(&local);
		return 0;
	}
	if (argc == 6 && strcmp(argv[1], "-c") == 0) {
		local = address_of(argv[2], "0");
		remote = address_of(argv[3], argv[4]);
		client(&local, &remote, (ULONG)strtoul(argv[5], NULL, 10));
		return 0;
	}
	fprintf(stderr, "usage: ndk_smb_direct -s ADDRESS PORT | -c LOCAL ADDRESS PORT COUNT\n");
	return 2;
}
