/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, remote memory, results, and what an arm brings. */
#include "kpi.h"

/* Each request that moves data. */
void
talk(void)
{
	const ULONG silent = NDK_OP_FLAG_SILENT_SUCCESS;
	char inline_data[] = "inline";
	struct sockaddr_in of;
	struct side a, b;
	NDK_SGE sge;
	UINT32 token;
	ULONG bytes = sizeof(of);

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	WANT(STATUS_SUCCESS,
		a.connector->Dispatch->NdkGetPeerAddress(a.connector, (SOCKADDR *)&of, &bytes));
	CHECK(of.sin_addr.s_addr == place_b.address.sin_addr.s_addr && bytes == sizeof(of));
	bytes = 3;
	WANT(STATUS_BUFFER_TOO_SMALL,
		a.connector->Dispatch->NdkGetLocalAddress(a.connector, (SOCKADDR *)&of, &bytes));
	WANT(STATUS_SUCCESS,
		a.connector->Dispatch->NdkGetLocalAddress(a.connector, (SOCKADDR *)&of, &bytes));
	CHECK(of.sin_addr.s_addr == place_a.address.sin_addr.s_addr);

	memcpy(a.buffer, "message", 8);
	side_receive(&b, &b, 0, 100);
	side_receive(&b, &a, 200, 100);
	sge = side_sge(&a, 0, 8);
	WANT(STATUS_SUCCESS, a.qp->Dispatch->NdkSend(a.qp, NULL, &sge, 1, silent));
	CHECK(side_result(&b, &b, NdkOperationTypeReceive).BytesTransferred == 8);
	CHECK(memcmp(b.buffer, "message", 8) == 0);
	sge = (NDK_SGE){.VirtualAddress = inline_data, .Length = sizeof(inline_data)};
	WANT(STATUS_SUCCESS, a.qp->Dispatch->NdkSend(a.qp, &sge, &sge, 1,
				     NDK_OP_FLAG_INLINE | NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	side_result(&a, &sge, NdkOperationTypeSend); /* and none of the silent one */
	side_result(&b, &a, NdkOperationTypeReceive);
	CHECK(strcmp(b.buffer + 200, "inline") == 0);

	token = b.mr->Dispatch->NdkGetRemoteTokenFromMr(b.mr);
	memcpy(a.buffer + 4096, "written", 8);
	sge = side_sge(&a, 4096, 8);
	WANT(STATUS_SUCCESS, a.qp->Dispatch->NdkWrite(
				     a.qp, &token, &sge, 1, (uintptr_t)b.buffer + 4096, token, 0));
	side_result(&a, &token, NdkOperationTypeWrite);
	CHECK(strcmp(b.buffer + 4096, "written") == 0);
	memcpy(b.buffer + 8192, "read", 5);
	sge = side_sge(&a, 8192, 5);
	WANT(STATUS_SUCCESS, a.qp->Dispatch->NdkRead(a.qp, &of, &sge, 1, (uintptr_t)b.buffer + 8192,
				     token, NDK_OP_FLAG_READ_FENCE));
	side_result(&a, &of, NdkOperationTypeRead);
	CHECK(strcmp(a.buffer + 8192, "read") == 0);
	side_close(&a);
	side_close(&b);
}

/* checks R-CONN-08[6]: sizes and statuses of NDK's call, of data shorter than their field. */
void
private_data(void)
{
	ULONG inbound = 0, outbound = 0, bytes = 0, need;
	struct told asked = TOLD_INIT, connected = TOLD_INIT;
	struct sockaddr_in at;
	char data[256];
	struct side a, b;
	NDK_LISTENER *l;
	NDK_CONNECTOR *c;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	l = side_listen(&b, &asked, &at);
	WANT(STATUS_CONNECTION_INVALID, a.connector->Dispatch->NdkGetConnectionData(
						a.connector, &inbound, &outbound, NULL, &bytes));
	WANT(STATUS_PENDING,
		a.connector->Dispatch->NdkConnect(a.connector, a.qp,
			(const SOCKADDR *)&place_a.address, sizeof(at), (SOCKADDR *)&at, sizeof(at),
			3, 2, "hello", 6, told_done, &connected));
	told_wait(&asked, 1);
	c = (NDK_CONNECTOR *)asked.object;
	need = 0;
	WANT(STATUS_SUCCESS,
		c->Dispatch->NdkGetConnectionData(c, &inbound, &outbound, NULL, &need));
	CHECK(need >= 6 && need <= sizeof(data) && inbound == 2 && outbound == 3);
	memset(data, 0x5a, sizeof(data));
	bytes = 3;
	WANT(STATUS_BUFFER_TOO_SMALL,
		c->Dispatch->NdkGetConnectionData(c, NULL, NULL, data, &bytes));
	CHECK(bytes == need && memcmp(data, "hel\x5a", 4) == 0);
	WANT(STATUS_SUCCESS, c->Dispatch->NdkGetConnectionData(c, NULL, NULL, data, &bytes));
	CHECK(bytes == need && strcmp(data, "hello") == 0);
	bytes = 1;
	WANT(STATUS_INVALID_PARAMETER,
		c->Dispatch->NdkGetConnectionData(c, NULL, NULL, NULL, &bytes));
	CLOSE(c, NdkCloseConnector);
	WANT(STATUS_CONNECTION_REFUSED, told_wait(&connected, 1));
	CLOSE(l, NdkCloseListener);
	side_close(&a);
	side_close(&b);
}

/* ---- completion queues ------------------------------------------------------------------ */

static void
send_one(struct side *a, ULONG flags)
{
	NDK_SGE sge = side_sge(a, 0, 4);

	WANT(STATUS_SUCCESS,
		a->qp->Dispatch->NdkSend(a->qp, a, &sge, 1, flags | NDK_OP_FLAG_SILENT_SUCCESS));
}

/* checks R-CQ-29[1]: an arm is for one callback, and a solicited one waits for what asks for it. */
static void
arms(struct side *a, struct side *b)
{
	const NDK_CQ_DISPATCH *d = b->cq->Dispatch;
	NDK_RESULT plain[4];
	unsigned before = told_count(&b->notified);

	d->NdkArmCq(b->cq, NDK_CQ_NOTIFY_SOLICITED);
	for (ULONG i = 0; i < 3; i++)
		side_receive(b, b, 0, 4);
	send_one(a, 0);
	while (d->NdkGetCqResults(b->cq, plain, 1) == 0)
		;
	CHECK(told_count(&b->notified) == before);
	send_one(a, NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	WANT(STATUS_SUCCESS, told_wait(&b->notified, before + 1));
	send_one(a, NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	for (ULONG got = 0; got < 2;)
		got += d->NdkGetCqResults(b->cq, plain + got, 4 - got);
	CHECK(plain[0].RequestContext == b && plain[0].QPContext == b);
	CHECK(plain[1].BytesTransferred == 4 && plain[1].Status == STATUS_SUCCESS);
	CHECK(told_count(&b->notified) == before + 1);
	d->NdkArmCq(b->cq, NDK_CQ_NOTIFY_ERRORS);
	d->NdkArmCq(b->cq, 4711); /* does nothing */
	CHECK(d->NdkGetCqResults(b->cq, plain, 4) == 0);
}

/* More results than this library takes at a time. */
static void
many(struct side *a, struct side *b)
{
	NDK_RESULT_EX ex[DEPTH];
	NDK_RESULT plain[DEPTH];
	ULONG got = 0;

	for (ULONG i = 0; i < DEPTH; i++)
		side_receive(b, b, 0, 4);
	for (ULONG i = 0; i < DEPTH / 2; i++)
		send_one(a, 0);
	while (got < DEPTH / 2)
		got += b->cq->Dispatch->NdkGetCqResultsEx(b->cq, ex + got, DEPTH - got);
	for (ULONG i = 0; i < got; i++)
		CHECK(ex[i].Type == NdkOperationTypeReceive && ex[i].RequestContext == b &&
			ex[i].TypeSpecificCompletionOutput == 0);
	for (ULONG i = 0; i < DEPTH / 2; i++)
		send_one(a, 0);
	for (got = 0; got < DEPTH / 2;)
		got += b->cq->Dispatch->NdkGetCqResults(b->cq, plain + got, DEPTH - got);
	CHECK(got == DEPTH / 2);
}

/* Arms, results, another depth, moderation, a flush. */
void
queues(void)
{
	struct side a, b;
	NDK_RESULT_EX r;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	arms(&a, &b);
	many(&a, &b);
	WANT(STATUS_INVALID_PARAMETER, b.cq->Dispatch->NdkResizeCq(b.cq, 8, NULL, NULL));
	WANT(STATUS_INVALID_PARAMETER,
		OUTCOME(b.cq->Dispatch->NdkResizeCq(b.cq, 0, told_done, &t)));
	WANT(STATUS_SUCCESS, OUTCOME(b.cq->Dispatch->NdkResizeCq(b.cq, 8 * DEPTH, told_done, &t)));
	WANT(STATUS_SUCCESS, b.cq->Dispatch->NdkControlCqInterruptModeration(b.cq, 100, 4));
	WANT(STATUS_INVALID_PARAMETER_MIX,
		b.cq->Dispatch->NdkControlCqInterruptModeration(b.cq, UINT32_MAX, UINT32_MAX));
	WANT(STATUS_SUCCESS, b.cq->Dispatch->NdkControlCqInterruptModeration(b.cq, 0, 0));
	side_receive(&b, &a, 0, 4);
	b.qp->Dispatch->NdkFlush(b.qp);
	r = side_next(&b);
	CHECK(r.Status == STATUS_CANCELLED && r.RequestContext == &a && r.BytesTransferred == 0);
	side_close(&a);
	side_close(&b);
}
