/* SPDX-License-Identifier: BSD-3-Clause */
/* libndkpi: what all objects have. Part of ndkpi.h. */
#ifndef NDKPI_OBJECT_H
#define NDKPI_OBJECT_H

#include "ndkinfo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _NDK_OBJECT_TYPE {
	NdkObjectTypeUndefined = 0,
	NdkObjectTypeAdapter = 1,
	NdkObjectTypeQp = 2,
	NdkObjectTypeCq = 3,
	NdkObjectTypeMr = 4,
	NdkObjectTypeMw = 5,
	NdkObjectTypePd = 6,
	NdkObjectTypeSharedEndpoint = 7,
	NdkObjectTypeConnector = 8,
	NdkObjectTypeListener = 9,
	NdkObjectTypeSrq = 10,
	NdkObjectTypeMax = 11
} NDK_OBJECT_TYPE;

/* The consumer's from the creation on: zeroed then, and not looked at any more. */
typedef struct _NDK_OBJECT_HEADER_RESERVED_BLOCK {
	PVOID rf[4];
} NDK_OBJECT_HEADER_RESERVED_BLOCK;

/* What each object begins with; behind it stands the pointer to its dispatch table, which the
 * consumer may replace. */
typedef struct _NDK_OBJECT_HEADER {
	NDK_VERSION Version;
	NDK_OBJECT_TYPE ObjectType;
	NDK_OBJECT_HEADER_RESERVED_BLOCK NdkReserved;
} NDK_OBJECT_HEADER;
NDWIN_ASSERT(sizeof(NDK_OBJECT_HEADER) == 40);
NDWIN_ASSERT(offsetof(NDK_OBJECT_HEADER, ObjectType) == 4);

/* ---- callbacks that all objects share --------------------------------------------------- */

typedef VOID (*NDK_FN_CLOSE_COMPLETION)(PVOID Context);
typedef VOID (*NDK_FN_REQUEST_COMPLETION)(PVOID Context, NTSTATUS Status);
/* pNdkObject is NULL unless Status is STATUS_SUCCESS. */
typedef VOID (*NDK_FN_CREATE_COMPLETION)(
	PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *pNdkObject);

/* ---- calls that all objects have -------------------------------------------------------- */

/* Always STATUS_PENDING; CloseCompletion may be NULL, for those who need not know. Any level. */
typedef NTSTATUS (*NDK_FN_CLOSE_OBJECT)(NDK_OBJECT_HEADER *pNdkObject,
	NDK_FN_CLOSE_COMPLETION CloseCompletion, PVOID RequestContext);

typedef struct _NDK_EXTENSION_INTERFACE {
	CONST VOID *Dispatch;
} NDK_EXTENSION_INTERFACE;
/* Always STATUS_NOT_SUPPORTED: there are no extensions. Any level. */
typedef NTSTATUS (*NDK_FN_QUERY_EXTENSION_INTERFACE)(NDK_OBJECT_HEADER *pNdkObject,
	GUID *ExtensionInterfaceID, NDK_VERSION ExtensionInterfaceVersion,
	NDK_EXTENSION_INTERFACE *pExtensionInterface);

typedef struct _NDK_ADAPTER NDK_ADAPTER;
typedef struct _NDK_PD NDK_PD;
typedef struct _NDK_CQ NDK_CQ;
typedef struct _NDK_SRQ NDK_SRQ;
typedef struct _NDK_QP NDK_QP;
typedef struct _NDK_MR NDK_MR;
typedef struct _NDK_MW NDK_MW;
typedef struct _NDK_SHARED_ENDPOINT NDK_SHARED_ENDPOINT;
typedef struct _NDK_CONNECTOR NDK_CONNECTOR;
typedef struct _NDK_LISTENER NDK_LISTENER;

typedef PHYSICAL_ADDRESS NDK_LOGICAL_ADDRESS;

#ifdef __cplusplus
}
#endif
#endif
