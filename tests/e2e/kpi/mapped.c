/* SPDX-License-Identifier: BSD-3-Clause */
/* Logical address mappings of memory that is not of NdkAllocateMemory(). */
#include <sys/mman.h>

#include "kpi.h"

#define PAGES 8u
#define BASE  0x7000000000ull /* of no memory */

struct mapping {
	NDK_LOGICAL_ADDRESS_MAPPING lam;
	NDK_LOGICAL_ADDRESS more[PAGES - 1];
};

static NTSTATUS
map(const struct side *s, char *start, SIZE_T bytes, struct mapping *m, ULONG *fbo)
{
	ULONG room = sizeof(*m);
	MDL mdl;

	MmInitializeMdl(&mdl, start, bytes);
	return s->adapter->Dispatch->NdkBuildLAM(
		s->adapter, &mdl, bytes, NULL, NULL, &m->lam, &room, fbo);
}

static void
unmap(const struct side *s, struct mapping *m)
{
	s->adapter->Dispatch->NdkReleaseLAM(s->adapter, &m->lam);
}

static char *
new_pages(int rights, int flags)
{
	char *at = mmap(NULL, PAGES * PAGE_SIZE, rights, flags | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

/* The side registers these bytes; the peer writes them, and takes the registration back. */
static void
receive_there(struct side *a, struct side *b, NDK_MR *mr, const struct mapping *m, ULONG fbo,
	SIZE_T bytes, const char *text)
{
	NDK_SGE sge = side_sge(a, 0, (ULONG)bytes);
	UINT32 token;

	WANT(STATUS_SUCCESS,
		b->qp->Dispatch->NdkFastRegister(b->qp, mr, mr, m->lam.AdapterPageCount,
			m->lam.AdapterPageArray, fbo, bytes, (PVOID)(uintptr_t)(BASE + fbo),
			NDK_OP_FLAG_ALLOW_REMOTE_WRITE));
	side_result(b, mr, NdkOperationTypeFastRegister);
	token = mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
	for (SIZE_T i = 0; i < bytes; i++)
		a->buffer[i] = text[i % strlen(text)];
	WANT(STATUS_SUCCESS, a->qp->Dispatch->NdkWrite(a->qp, a, &sge, 1, BASE + fbo, token, 0));
	side_result(a, a, NdkOperationTypeWrite);
	WANT(STATUS_SUCCESS, b->qp->Dispatch->NdkInvalidate(b->qp, b, &mr->Header, 0));
	side_result(b, b, NdkOperationTypeInvalidate);
}

static bool
is_all(const char *at, const char *text, SIZE_T bytes)
{
	const SIZE_T period = text[0] != 0 ? strlen(text) : 1;

	for (SIZE_T i = 0; i < bytes; i++)
		if (at[i] != text[i % period])
			return false;
	return true;
}

/* An allocator counts on dropped pages being zero: these are not the arena's any more. */
static void
is_private(char *at, SIZE_T pages)
{
	CHECK(madvise(at, pages * PAGE_SIZE, MADV_DONTNEED) == 0);
	CHECK(is_all(at, "\0", pages * PAGE_SIZE));
}

/* What two buffers have that lie side by side, and a third where the first was. */
static void
neighbours(struct side *a, struct side *b, NDK_MR *mr, char *memory)
{
	const SIZE_T bytes = 3 * PAGE_SIZE;
	char *first = memory + 100, *second = first + bytes, *third = memory + 2 * PAGE_SIZE;
	struct mapping m[3];
	ULONG fbo;

	memset(memory, '.', PAGES * PAGE_SIZE);
	WANT(STATUS_SUCCESS, map(b, first, bytes, &m[0], &fbo));
	CHECK(fbo == 100 && m[0].lam.AdapterPageCount == 4);
	WANT(STATUS_SUCCESS, map(b, second, bytes, &m[1], &fbo));
	CHECK(fbo == 100 && m[1].lam.AdapterPageCount == 4);
	CHECK(is_all(memory, ".", PAGES * PAGE_SIZE));
	receive_there(a, b, mr, &m[0], 100, bytes, "one");
	receive_there(a, b, mr, &m[1], 100, bytes, "two ");
	CHECK(is_all(first, "one", bytes) && is_all(second, "two ", bytes));
	CHECK(is_all(memory, ".", 100));
	unmap(b, &m[0]);
	CHECK(is_all(first, "one", bytes));
	is_private(memory, 3); /* but for the page that the neighbour has, too */
	memset(memory, '.', 100);
	for (SIZE_T i = 0; i < 3 * PAGE_SIZE - 100; i++)
		first[i] = "one"[i % 3];
	receive_there(a, b, mr, &m[1], 100, bytes, "three");
	CHECK(is_all(second, "three", bytes) && is_all(first, "one", bytes));
	WANT(STATUS_SUCCESS, map(b, third, 4 * PAGE_SIZE, &m[2], &fbo));
	receive_there(a, b, mr, &m[2], 0, 4 * PAGE_SIZE, "four");
	unmap(b, &m[1]);
	receive_there(a, b, mr, &m[2], 0, 4 * PAGE_SIZE, "fifth");
	CHECK(is_all(third, "fifth", 4 * PAGE_SIZE));
	unmap(b, &m[2]);
	CHECK(is_all(third, "fifth", 4 * PAGE_SIZE) && is_all(first, "one", 2 * PAGE_SIZE - 100));
	is_private(memory, PAGES);
}

/* A buffer that holds another one. */
static void
around(struct side *a, struct side *b, NDK_MR *mr, char *memory)
{
	struct mapping inner, outer;
	ULONG fbo;

	WANT(STATUS_SUCCESS, map(b, memory + 3 * PAGE_SIZE, 2 * PAGE_SIZE, &inner, &fbo));
	WANT(STATUS_SUCCESS, map(b, memory + PAGE_SIZE, 6 * PAGE_SIZE, &outer, &fbo));
	unmap(b, &inner);
	receive_there(a, b, mr, &outer, 0, 6 * PAGE_SIZE, "around");
	unmap(b, &outer);
	CHECK(is_all(memory + PAGE_SIZE, "around", 6 * PAGE_SIZE));
}

/* checks R-FR-09[3]: what can't be adopted, as a whole or at its end, and that nothing is left. */
static void
refused(const struct side *s, char *memory)
{
	char *shared = new_pages(PROT_READ | PROT_WRITE, MAP_SHARED);
	char *constant = new_pages(PROT_READ, MAP_PRIVATE);
	struct mapping m, before;
	ULONG fbo = 4711;

	memset(&m, 0x5a, sizeof(m));
	before = m;
	WANT(STATUS_NOT_SUPPORTED, map(s, shared, PAGE_SIZE, &m, &fbo));
	WANT(STATUS_NOT_SUPPORTED, map(s, constant, PAGE_SIZE, &m, &fbo));
	CHECK(mprotect(memory + 3 * PAGE_SIZE, PAGE_SIZE, PROT_NONE) == 0);
	WANT(STATUS_NOT_SUPPORTED, map(s, memory, 4 * PAGE_SIZE, &m, &fbo));
	CHECK(memcmp(&m, &before, sizeof(m)) == 0 && fbo == 4711);
	CHECK(mprotect(memory + 3 * PAGE_SIZE, PAGE_SIZE, PROT_READ | PROT_WRITE) == 0);
	WANT(STATUS_SUCCESS, map(s, memory + PAGE_SIZE, 4 * PAGE_SIZE, &m, &fbo));
	unmap(s, &m);
	CHECK(m.lam.AdapterContext == NULL);
	munmap(shared, PAGES * PAGE_SIZE);
	munmap(constant, PAGES * PAGE_SIZE);
}

/* A page of no mapping any more is of no memory that the daemon has. */
static void
no_more(struct side *b, NDK_MR *mr, char *memory)
{
	struct mapping m;
	ULONG fbo;

	WANT(STATUS_SUCCESS, map(b, memory, PAGE_SIZE, &m, &fbo));
	unmap(b, &m);
	WANT(STATUS_SUCCESS,
		b->qp->Dispatch->NdkFastRegister(b->qp, mr, mr, 1, m.lam.AdapterPageArray, 0,
			PAGE_SIZE, (PVOID)(uintptr_t)BASE, NDK_OP_FLAG_ALLOW_REMOTE_WRITE));
	WANT(STATUS_ACCESS_VIOLATION, side_next(b).Status);
}

/* Mappings that are not released end with the adapter, and their memory is as it was. */
static void
left_behind(void)
{
	char *memory = new_pages(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	struct mapping m;
	struct side s = {0};
	ULONG fbo;

	memset(memory, 'x', PAGES * PAGE_SIZE);
	side_open(&s, &place_b);
	WANT(STATUS_SUCCESS, map(&s, memory, PAGES * PAGE_SIZE, &m, &fbo));
	side_close(&s);
	CHECK(is_all(memory, "x", PAGES * PAGE_SIZE));
	munmap(memory, PAGES * PAGE_SIZE);
}

void
mapped(void)
{
	char *memory = new_pages(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	struct side a, b;
	NDK_MR *mr;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	mr = side_new_fast(&b, PAGES, TRUE);
	neighbours(&a, &b, mr, memory);
	around(&a, &b, mr, memory);
	refused(&b, memory);
	neighbours(&a, &b, mr, memory);
	no_more(&b, mr, memory);
	CLOSE(mr, NdkCloseMr);
	side_close(&a);
	side_close(&b);
	munmap(memory, PAGES * PAGE_SIZE);
	left_behind();
}
