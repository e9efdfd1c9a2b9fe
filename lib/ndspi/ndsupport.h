/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndspi: the helper functions that programs find providers and adapters by. There is one
 * provider, the daemon (IND2Provider, INDProvider). Any thread may call them at any time.
 */
#ifndef NDSUPPORT_H
#define NDSUPPORT_H

#include "ndspi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ND_HELPER_API __stdcall

/* Flags of NdQueryAddressList(): which addresses are left out. */
#define ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES 0x00000001
#define ND_QUERY_EXCLUDE_NDv1_ADDRESSES	    0x00000002
#define ND_QUERY_EXCLUDE_NDv2_ADDRESSES	    0x00000004

/* Calls of both may nest; nothing is held between them. ND_SUCCESS. */
HRESULT ND_HELPER_API NdStartup(void);
HRESULT ND_HELPER_API NdCleanup(void);
/* Nothing is remembered of providers: does nothing. */
void ND_HELPER_API NdFlushProviders(void);

/*
 * The local addresses that the daemon serves, which follow the list in the same buffer.
 * *pcbAddressList: in, the bytes of pAddressList; out, those of the list, 0 if there is no address
 * (or no daemon). ND_BUFFER_OVERFLOW: it is larger, pAddressList is untouched, also for the size
 * query with NULL. flags: each address serves both versions, so with both left out the list is
 * empty; ND_INVALID_PARAMETER_1: unknown ones.
 */
HRESULT ND_HELPER_API NdQueryAddressList(
	DWORD flags, SOCKET_ADDRESS_LIST *pAddressList, SIZE_T *pcbAddressList);
/*
 * The local address that a remote one is reached from (nd_resolve_address()). *pcbLocalAddress: in,
 * the bytes of pLocalAddress; out, those of the address. ND_BUFFER_OVERFLOW: it is larger;
 * ND_INVALID_ADDRESS; ND_NETWORK_UNREACHABLE.
 */
HRESULT ND_HELPER_API NdResolveAddress(const struct sockaddr *pRemoteAddress,
	SIZE_T cbRemoteAddress, struct sockaddr *pLocalAddress, SIZE_T *pcbLocalAddress);
/* ND_SUCCESS: it is an address of an adapter; ND_INVALID_ADDRESS: it is not. */
HRESULT ND_HELPER_API NdCheckAddress(const struct sockaddr *pAddress, SIZE_T cbAddress);
/* IND2Provider::ResolveAddress and OpenAdapter together. ND_INVALID_ADDRESS: of no adapter. With
 * IID_INDAdapter it is NdOpenV1Adapter(). */
HRESULT ND_HELPER_API NdOpenAdapter(
	REFIID iid, const struct sockaddr *pAddress, SIZE_T cbAddress, VOID **ppIAdapter);
/* INDProvider::OpenAdapter. */
HRESULT ND_HELPER_API NdOpenV1Adapter(
	const struct sockaddr *pAddress, SIZE_T cbAddress, INDAdapter **ppIAdapter);
/*
 * The provider itself, as a provider's library on Windows gives it (DllGetClassObject). iid:
 * IID_IND2Provider or IID_IUnknown, or for version 1 IID_INDProvider, else E_NOINTERFACE. Each call
 * gives another object; what was opened through one lives on when it is released.
 */
HRESULT ND_HELPER_API NdOpenProvider(REFIID iid, VOID **ppIProvider);

#ifdef __cplusplus
}
#endif
#endif
