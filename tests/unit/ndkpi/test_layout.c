/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs are compiled against: slots, values, descriptor lists. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <ndkpi.h>

/* The members of a dispatch table, in NDK's order. */
#define SLOT(table, number, member)                                                                \
	cr_expect(eq(sz, offsetof(table, member), (number) * sizeof(void *)), "%s.%s", #table,     \
		#member)
#define SLOTS(table, number)                                                                       \
	cr_expect(eq(sz, sizeof(table), (number) * sizeof(void *)), "%s", #table)
/* An object: its header, and the pointer to its table behind it. */
#define OBJECT(type)                                                                               \
	do {                                                                                       \
		cr_expect(eq(sz, sizeof(type), 48), "%s", #type);                                  \
		cr_expect(eq(sz, offsetof(type, Dispatch), 40), "%s", #type);                      \
	} while (0)

Test(ndkpi_layout, adapters_and_domains)
{
	OBJECT(NDK_ADAPTER);
	SLOT(NDK_ADAPTER_DISPATCH, 0, NdkQueryExtension);
	SLOT(NDK_ADAPTER_DISPATCH, 1, NdkQueryAdapterInfo);
	SLOT(NDK_ADAPTER_DISPATCH, 2, NdkCreateCq);
	SLOT(NDK_ADAPTER_DISPATCH, 3, NdkCreatePd);
	SLOT(NDK_ADAPTER_DISPATCH, 4, NdkCreateSharedEndpoint);
	SLOT(NDK_ADAPTER_DISPATCH, 5, NdkCreateConnector);
	SLOT(NDK_ADAPTER_DISPATCH, 6, NdkCreateListener);
	SLOT(NDK_ADAPTER_DISPATCH, 7, NdkBuildLAM);
	SLOT(NDK_ADAPTER_DISPATCH, 8, NdkReleaseLAM);
	SLOTS(NDK_ADAPTER_DISPATCH, 9);
	OBJECT(NDK_PD);
	SLOT(NDK_PD_DISPATCH, 0, NdkClosePd);
	SLOT(NDK_PD_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_PD_DISPATCH, 2, NdkCreateMr);
	SLOT(NDK_PD_DISPATCH, 3, NdkCreateMw);
	SLOT(NDK_PD_DISPATCH, 4, NdkCreateSrq);
	SLOT(NDK_PD_DISPATCH, 5, NdkCreateQp);
	SLOT(NDK_PD_DISPATCH, 6, NdkCreateQpWithSrq);
	SLOT(NDK_PD_DISPATCH, 7, NdkGetPrivilegedMemoryRegionToken);
	SLOTS(NDK_PD_DISPATCH, 8);
}

Test(ndkpi_layout, queues)
{
	OBJECT(NDK_CQ);
	SLOT(NDK_CQ_DISPATCH, 0, NdkCloseCq);
	SLOT(NDK_CQ_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_CQ_DISPATCH, 2, NdkResizeCq);
	SLOT(NDK_CQ_DISPATCH, 3, NdkArmCq);
	SLOT(NDK_CQ_DISPATCH, 4, NdkGetCqResults);
	SLOT(NDK_CQ_DISPATCH, 5, NdkControlCqInterruptModeration);
	SLOT(NDK_CQ_DISPATCH, 6, NdkGetCqResultsEx);
	SLOTS(NDK_CQ_DISPATCH, 7);
	OBJECT(NDK_SRQ);
	SLOT(NDK_SRQ_DISPATCH, 0, NdkCloseSrq);
	SLOT(NDK_SRQ_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_SRQ_DISPATCH, 2, NdkModifySrq);
	SLOT(NDK_SRQ_DISPATCH, 3, NdkSrqReceive);
	SLOTS(NDK_SRQ_DISPATCH, 4);
	OBJECT(NDK_QP);
	SLOT(NDK_QP_DISPATCH, 0, NdkCloseQp);
	SLOT(NDK_QP_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_QP_DISPATCH, 2, NdkFlush);
	SLOT(NDK_QP_DISPATCH, 3, NdkSend);
	SLOT(NDK_QP_DISPATCH, 4, NdkReceive);
	SLOT(NDK_QP_DISPATCH, 5, NdkBind);
	SLOT(NDK_QP_DISPATCH, 6, NdkFastRegister);
	SLOT(NDK_QP_DISPATCH, 7, NdkInvalidate);
	SLOT(NDK_QP_DISPATCH, 8, NdkRead);
	SLOT(NDK_QP_DISPATCH, 9, NdkWrite);
	SLOT(NDK_QP_DISPATCH, 10, NdkSendAndInvalidate);
	SLOTS(NDK_QP_DISPATCH, 11);
}

Test(ndkpi_layout, memory)
{
	OBJECT(NDK_MR);
	SLOT(NDK_MR_DISPATCH, 0, NdkCloseMr);
	SLOT(NDK_MR_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_MR_DISPATCH, 2, NdkRegisterMr);
	SLOT(NDK_MR_DISPATCH, 3, NdkDeregisterMr);
	SLOT(NDK_MR_DISPATCH, 4, NdkInitializeFastRegisterMr);
	SLOT(NDK_MR_DISPATCH, 5, NdkGetRemoteTokenFromMr);
	SLOT(NDK_MR_DISPATCH, 6, NdkGetLocalTokenFromMr);
	SLOTS(NDK_MR_DISPATCH, 7);
	OBJECT(NDK_MW);
	SLOT(NDK_MW_DISPATCH, 0, NdkCloseMw);
	SLOT(NDK_MW_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_MW_DISPATCH, 2, NdkGetRemoteTokenFromMw);
	SLOTS(NDK_MW_DISPATCH, 3);
}

Test(ndkpi_layout, connections)
{
	OBJECT(NDK_SHARED_ENDPOINT);
	SLOT(NDK_SHARED_ENDPOINT_DISPATCH, 0, NdkCloseSharedEndpoint);
	SLOT(NDK_SHARED_ENDPOINT_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_SHARED_ENDPOINT_DISPATCH, 2, NdkGetLocalAddress);
	SLOTS(NDK_SHARED_ENDPOINT_DISPATCH, 3);
	OBJECT(NDK_CONNECTOR);
	SLOT(NDK_CONNECTOR_DISPATCH, 0, NdkCloseConnector);
	SLOT(NDK_CONNECTOR_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_CONNECTOR_DISPATCH, 2, NdkConnect);
	SLOT(NDK_CONNECTOR_DISPATCH, 3, NdkConnectWithSharedEndpoint);
	SLOT(NDK_CONNECTOR_DISPATCH, 4, NdkCompleteConnect);
	SLOT(NDK_CONNECTOR_DISPATCH, 5, NdkAccept);
	SLOT(NDK_CONNECTOR_DISPATCH, 6, NdkReject);
	SLOT(NDK_CONNECTOR_DISPATCH, 7, NdkGetConnectionData);
	SLOT(NDK_CONNECTOR_DISPATCH, 8, NdkGetLocalAddress);
	SLOT(NDK_CONNECTOR_DISPATCH, 9, NdkGetPeerAddress);
	SLOT(NDK_CONNECTOR_DISPATCH, 10, NdkDisconnect);
	SLOTS(NDK_CONNECTOR_DISPATCH, 11);
	OBJECT(NDK_LISTENER);
	SLOT(NDK_LISTENER_DISPATCH, 0, NdkCloseListener);
	SLOT(NDK_LISTENER_DISPATCH, 1, NdkQueryExtension);
	SLOT(NDK_LISTENER_DISPATCH, 2, NdkListen);
	SLOT(NDK_LISTENER_DISPATCH, 3, NdkGetLocalAddress);
	SLOT(NDK_LISTENER_DISPATCH, 4, NdkControlConnectEvents);
	SLOTS(NDK_LISTENER_DISPATCH, 5);
}

Test(ndkpi_layout, values)
{
	cr_expect(eq(i32, NdkObjectTypeAdapter, 1));
	cr_expect(eq(i32, NdkObjectTypeSrq, 10));
	cr_expect(eq(i32, NdkObjectTypeMax, 11));
	cr_expect(eq(i32, NdkOperationTypeReceive, 1));
	cr_expect(eq(i32, NdkOperationTypeReceiveAndInvalidate, 0x8001));
	cr_expect(eq(i32, NdkOperationTypeWrite, 64));
	cr_expect(eq(u32, NDK_OP_FLAG_ALLOW_REMOTE_WRITE, 0x30));
	cr_expect(eq(u32, NDK_OP_FLAG_DEFER, 0x200));
	cr_expect(eq(u32, NDK_MR_FLAG_ALLOW_REMOTE_WRITE, 5));
	cr_expect(eq(i32, STATUS_PENDING, 0x103));
	cr_expect(eq(int, NT_SUCCESS(STATUS_PENDING), 1));
	cr_expect(eq(int, NT_SUCCESS(STATUS_BUFFER_OVERFLOW), 0));
}

Test(ndkpi_layout, a_descriptor_list)
{
	MDL mdl;

	MmInitializeMdl(&mdl, (PVOID)0x12345, 100);
	cr_expect(eq(ptr, mdl.StartVa, (void *)0x12000));
	cr_expect(eq(u32, MmGetMdlByteOffset(&mdl), 0x345));
	cr_expect(eq(u32, MmGetMdlByteCount(&mdl), 100));
	cr_expect(eq(ptr, MmGetMdlVirtualAddress(&mdl), (void *)0x12345));
	cr_expect(zero(ptr, mdl.Next));
}
