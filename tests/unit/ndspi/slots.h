/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of tables of functions have in common. */
#ifndef SLOTS_H
#define SLOTS_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include <ndsupport.h>

/* The slots behind IUnknown's, in NetworkDirect's order. */
#define SLOT(iface, number, method)                                                                \
	cr_expect(eq(sz, offsetof(iface##Vtbl, method), (number) * sizeof(void *)), "%s::%s",      \
		#iface, #method)
#define OVERLAPPED_SLOTS(iface)                                                                    \
	do {                                                                                       \
		UNKNOWN_SLOTS(iface);                                                              \
		SLOT(iface, 3, CancelOverlappedRequests);                                          \
		SLOT(iface, 4, GetOverlappedResult);                                               \
	} while (0)
#define UNKNOWN_SLOTS(iface)                                                                       \
	do {                                                                                       \
		SLOT(iface, 0, QueryInterface);                                                    \
		SLOT(iface, 1, AddRef);                                                            \
		SLOT(iface, 2, Release);                                                           \
	} while (0)
#define SLOTS(iface, number)                                                                       \
	cr_expect(eq(sz, sizeof(iface##Vtbl), (number) * sizeof(void *)), "%s", #iface)

static inline void
expect_id(const GUID *id, const char *wanted)
{
	char text[37];

	snprintf(text, sizeof(text), "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", id->Data1,
		id->Data2, id->Data3, id->Data4[0], id->Data4[1], id->Data4[2], id->Data4[3],
		id->Data4[4], id->Data4[5], id->Data4[6], id->Data4[7]);
	cr_expect(eq(str, text, (char *)wanted));
}

#endif
