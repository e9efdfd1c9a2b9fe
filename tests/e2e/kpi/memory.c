/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions, descriptor lists, logical addresses. */
#include <sys/mman.h>

#include "kpi.h"

/* checks R-MR-13[2,3]: lists that do not name one piece of memory, and one at address 0. */
static void
refused_lists(NDK_MR *mr, char *buffer)
{
	struct told told = TOLD_INIT;
	MDL first, second;

	MmInitializeMdl(&first, buffer + 100, 1000);
	MmInitializeMdl(&second, buffer + 1100, 50);
	first.Next = &second;
	WANT(STATUS_INVALID_PARAMETER,
		mr->Dispatch->NdkRegisterMr(mr, &first, 1051, 0, told_done, &told));
	WANT(STATUS_INVALID_BUFFER_SIZE,
		mr->Dispatch->NdkRegisterMr(mr, &first, 0, 0, told_done, &told));
	WANT(STATUS_INVALID_PARAMETER,
		mr->Dispatch->NdkRegisterMr(mr, &first, 1050, 0x20000, told_done, &told));
	WANT(STATUS_INVALID_PARAMETER,
		mr->Dispatch->NdkRegisterMr(mr, &first, 1050, 0, NULL, &told));
	WANT(STATUS_INVALID_PARAMETER,
		mr->Dispatch->NdkRegisterMr(mr, NULL, 1, 0, told_done, &told));
	second.ByteOffset++;
	WANT(STATUS_INVALID_PARAMETER,
		mr->Dispatch->NdkRegisterMr(mr, &first, 1050, 0, told_done, &told));
	MmInitializeMdl(&first, NULL, 4096);
	WANT(STATUS_INVALID_PARAMETER,
		mr->Dispatch->NdkRegisterMr(mr, &first, 4096, 0, told_done, &told));
	CHECK(told.count == 0);
}

/* A chain, registered and taken back; tokens. */
static void
a_chain(NDK_MR *mr, char *buffer)
{
	MDL first, second;

	MmInitializeMdl(&first, buffer + 100, 1000);
	MmInitializeMdl(&second, buffer + 1100, 50);
	first.Next = &second;
	CHECK(mr->Dispatch->NdkGetLocalTokenFromMr(mr) == 0);
	WANT(STATUS_SUCCESS, OUTCOME(mr->Dispatch->NdkRegisterMr(mr, &first, 1050,
				     NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_RDMA_READ_SINK,
				     told_done, &t)));
	CHECK(mr->Dispatch->NdkGetLocalTokenFromMr(mr) != 0);
	CHECK(mr->Dispatch->NdkGetRemoteTokenFromMr(mr) != 0);
	WANT(STATUS_INVALID_DEVICE_STATE,
		OUTCOME(mr->Dispatch->NdkRegisterMr(mr, &first, 1050, 0, told_done, &t)));
	WANT(STATUS_SUCCESS, OUTCOME(mr->Dispatch->NdkDeregisterMr(mr, told_done, &t)));
	WANT(STATUS_INVALID_DEVICE_STATE,
		OUTCOME(mr->Dispatch->NdkDeregisterMr(mr, told_done, &t)));
}

/* A region for fast registration has other calls, and may begin anew. */
static void
a_fast_one(const struct side *s)
{
	NDK_MR *mr = side_new_mr(s, TRUE);

	WANT(STATUS_INVALID_DEVICE_REQUEST, side_register(mr, s->buffer, 4096, 0));
	WANT(STATUS_INVALID_PARAMETER,
		mr->Dispatch->NdkInitializeFastRegisterMr(mr, 4, TRUE, NULL, NULL));
	WANT(STATUS_IMPLEMENTATION_LIMIT, OUTCOME(mr->Dispatch->NdkInitializeFastRegisterMr(
						  mr, UINT32_MAX, TRUE, told_done, &t)));
	for (int i = 0; i < 2; i++) {
		CHECK(mr->Dispatch->NdkGetLocalTokenFromMr(mr) == 0);
		WANT(STATUS_SUCCESS, OUTCOME(mr->Dispatch->NdkInitializeFastRegisterMr(
					     mr, 4, TRUE, told_done, &t)));
		CHECK(mr->Dispatch->NdkGetLocalTokenFromMr(mr) != 0);
		CHECK(mr->Dispatch->NdkGetRemoteTokenFromMr(mr) == 0);
		WANT(STATUS_INVALID_DEVICE_STATE, OUTCOME(mr->Dispatch->NdkInitializeFastRegisterMr(
							  mr, 4, TRUE, told_done, &t)));
		WANT(STATUS_SUCCESS, OUTCOME(mr->Dispatch->NdkDeregisterMr(mr, told_done, &t)));
	}
	CLOSE(mr, NdkCloseMr);
}

/*
 * checks R-MR-13[1]: memory that this process may not touch is registered, written by the peer, and
 * deregistered: its address is only where the region begins.
 */
static void
an_untouched_one(struct side *a, struct side *b)
{
	const size_t page = 65536;
	char *memory = b->buffer + page; /* whole pages */
	NDK_MR *mr = side_new_mr(b, FALSE);
	NDK_SGE sge = side_sge(a, 0, 5);

	memcpy(a->buffer, "bytes", 5);
	CHECK(mprotect(memory, page, PROT_NONE) == 0);
	WANT(STATUS_SUCCESS, side_register(mr, memory, page, NDK_MR_FLAG_ALLOW_REMOTE_WRITE));
	WANT(STATUS_SUCCESS, a->qp->Dispatch->NdkWrite(a->qp, &sge, &sge, 1, (uintptr_t)memory + 9,
				     mr->Dispatch->NdkGetRemoteTokenFromMr(mr), 0));
	side_result(a, &sge, NdkOperationTypeWrite);
	CLOSE(mr, NdkCloseMr);
	CHECK(mprotect(memory, page, PROT_READ | PROT_WRITE) == 0);
	CHECK(memcmp(memory + 9, "bytes", 5) == 0);
}

void
regions(void)
{
	struct side a, b;
	NDK_MR *mr;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	mr = side_new_mr(&a, FALSE);
	refused_lists(mr, a.buffer);
	a_chain(mr, a.buffer);
	WANT(STATUS_INVALID_DEVICE_REQUEST,
		mr->Dispatch->NdkInitializeFastRegisterMr(mr, 1, TRUE, told_done, NULL));
	CLOSE(mr, NdkCloseMr);
	a_fast_one(&a);
	side_meet(&a, &b);
	an_untouched_one(&a, &b);
	side_close(&a);
	side_close(&b);
}

/* checks R-INV-01[3]: to invalidate an ordinary region is a request that fails, and ends the
 * connection; the region is as it was. */
void
ordinary_region(void)
{
	struct side a, b;
	UINT32 token;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	token = b.mr->Dispatch->NdkGetLocalTokenFromMr(b.mr);
	WANT(STATUS_SUCCESS, b.qp->Dispatch->NdkInvalidate(b.qp, &b, &b.mr->Header, 0));
	WANT(STATUS_INVALID_DEVICE_REQUEST, side_next(&b).Status);
	told_wait(&a.gone, 1);
	CHECK(b.mr->Dispatch->NdkGetLocalTokenFromMr(b.mr) == token);
	WANT(STATUS_INVALID_DEVICE_STATE, side_register(b.mr, b.buffer, 4096, 0));
	side_close(&a);
	side_close(&b);
}

/* ---- logical addresses ------------------------------------------------------------------ */

struct mapping {
	NDK_LOGICAL_ADDRESS_MAPPING lam;
	NDK_LOGICAL_ADDRESS more[7];
};

static NTSTATUS
map(const struct side *s, char *start, SIZE_T bytes, struct mapping *m, ULONG *room, ULONG *fbo)
{
	MDL mdl;

	MmInitializeMdl(&mdl, start, bytes);
	return s->adapter->Dispatch->NdkBuildLAM(
		s->adapter, &mdl, bytes, NULL, NULL, m != NULL ? &m->lam : NULL, room, fbo);
}

/*
 * checks R-FR-09[2,3]: pages and offset of memory, the size that a mapping needs, and what fails
 * and leaves nothing.
 */
void
mappings(void)
{
	struct mapping m, before;
	struct side s;
	ULONG room = 0, fbo = 4711;
	MDL first, second;

	memset(&m, 0x5a, sizeof(m));
	before = m;
	side_open(&s, &place_a);
	WANT(STATUS_BUFFER_TOO_SMALL, map(&s, s.buffer + 100, 8192, NULL, &room, &fbo));
	CHECK(room == offsetof(struct mapping, more) + 2 * sizeof(m.more[0])); /* three pages */
	room--;
	WANT(STATUS_BUFFER_TOO_SMALL, map(&s, s.buffer + 100, 8192, &m, &room, &fbo));
	WANT(STATUS_NOT_SUPPORTED, map(&s, s.buffer + BYTES - 1, 2, &m, &room, &fbo));
	MmInitializeMdl(&first, s.buffer, 100);
	MmInitializeMdl(&second, s.buffer + 101, 100);
	first.Next = &second;
	WANT(STATUS_INVALID_PARAMETER, s.adapter->Dispatch->NdkBuildLAM(s.adapter, &first, 200,
					       NULL, NULL, &m.lam, &room, &fbo));
	CHECK(memcmp(&m, &before, sizeof(m)) == 0 && fbo == 4711);
	room = sizeof(m);
	WANT(STATUS_SUCCESS, map(&s, s.buffer + 100, 8192, &m, &room, &fbo));
	CHECK(m.lam.AdapterPageCount == 3 && fbo == 100);
	CHECK(room == offsetof(struct mapping, more) + 2 * sizeof(m.more[0]));
	CHECK(m.lam.AdapterPageArray[0].QuadPart == (LONGLONG)(uintptr_t)s.buffer);
	CHECK(m.more[1].QuadPart == (LONGLONG)(uintptr_t)s.buffer + 2 * 4096);
	CHECK(m.more[2].QuadPart == before.more[2].QuadPart);
	s.adapter->Dispatch->NdkReleaseLAM(s.adapter, &m.lam);
	CHECK(NdkAllocateMemory(s.adapter, SIZE_MAX) == NULL);
	side_close(&s);
}
