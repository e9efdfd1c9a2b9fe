/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/mdl.h"

PVOID
ndk_mdl_start(const MDL *mdl, SIZE_T bytes)
{
	char *start, *next;
	SIZE_T left = bytes;

	if (mdl == NULL || bytes == 0)
		return NULL;
	start = MmGetMdlVirtualAddress(mdl);
	next = start;
	while (mdl != NULL && left != 0 && (char *)MmGetMdlVirtualAddress(mdl) == next) {
		SIZE_T here = mdl->ByteCount < left ? mdl->ByteCount : left;

		next += here;
		left -= here;
		mdl = mdl->Next;
	}
	return left == 0 ? start : NULL;
}
