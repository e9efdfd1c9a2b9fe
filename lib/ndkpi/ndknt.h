/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndkpi: what NDK's interface needs of the kernel it comes from: addresses, memory descriptor
 * lists, affinities, statuses. Layouts are those of 64-bit Windows, with pages of 4,096 bytes.
 */
#ifndef NDKNT_H
#define NDKNT_H

#include <ntstatus.h>

#ifndef NT_SUCCESS
#define NT_SUCCESS(status) ((NTSTATUS)(status) >= 0)
#endif
/* NDIS' word for a version of the interface that the provider does not have. */
#ifndef NDIS_STATUS_BAD_VERSION
#define NDIS_STATUS_BAD_VERSION ((NTSTATUS)0xC0010004)
#endif

#ifndef PAGE_SIZE
#define PAGE_SIZE 4096u
#endif
#define NDK_PAGE_OFFSET(address) ((ULONG)((ULONG_PTR)(address)&4095u))

typedef LARGE_INTEGER PHYSICAL_ADDRESS;

/* A wish for CPUs: those of Mask, of the group of 64. */
typedef struct _GROUP_AFFINITY {
	KAFFINITY Mask;
	USHORT Group;
	USHORT Reserved[3];
} GROUP_AFFINITY;
NDWIN_ASSERT(sizeof(GROUP_AFFINITY) == 16);
NDWIN_ASSERT(offsetof(GROUP_AFFINITY, Group) == 8);

/*
 * A piece of memory, or by Next a chain of pieces. Here a list has no pages of its own: the memory
 * is at its virtual address. MdlFlags, Process and MappedSystemVa are not looked at.
 */
typedef struct _MDL {
	struct _MDL *Next;
	SHORT Size;
	SHORT MdlFlags;
	PVOID Process;
	PVOID MappedSystemVa;
	PVOID StartVa; /* of the page in which the piece begins */
	ULONG ByteCount;
	ULONG ByteOffset; /* in that page */
} MDL, *PMDL;
NDWIN_ASSERT(sizeof(MDL) == 48);
NDWIN_ASSERT(offsetof(MDL, StartVa) == 32);
NDWIN_ASSERT(offsetof(MDL, ByteCount) == 40);
NDWIN_ASSERT(offsetof(MDL, ByteOffset) == 44);

#define MmGetMdlVirtualAddress(mdl) ((PVOID)((char *)(mdl)->StartVa + (mdl)->ByteOffset))
#define MmGetMdlByteCount(mdl)	    ((mdl)->ByteCount)
#define MmGetMdlByteOffset(mdl)	    ((mdl)->ByteOffset)

/* A list of one piece, which may be chained by Next afterwards. */
static inline __attribute__((unused)) void
MmInitializeMdl(PMDL mdl, PVOID address, SIZE_T bytes)
{
	memset(mdl, 0, sizeof(*mdl));
	mdl->Size = (SHORT)sizeof(*mdl);
	mdl->ByteOffset = NDK_PAGE_OFFSET(address);
	mdl->StartVa = (char *)address - mdl->ByteOffset;
	mdl->ByteCount = (ULONG)bytes;
}

#endif
