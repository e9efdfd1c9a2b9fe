/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndwin: types, constants and macros of ndwin.h, which includes this. Sizes are those of
 * 64-bit Windows: LONG, ULONG and DWORD have 32 bits, pointers and SIZE_T 64. WCHAR is wchar_t,
 * which has 32 bits here; nothing of a wide string leaves the process.
 */
#ifndef NDWIN_TYPES_H
#define NDWIN_TYPES_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <wchar.h>

/* Calling conventions and qualifiers: there is one convention here. */
#ifndef WINAPI
#define WINAPI
#endif
#ifndef CALLBACK
#define CALLBACK
#endif
#ifndef APIENTRY
#define APIENTRY
#endif
#ifndef STDMETHODCALLTYPE
#define STDMETHODCALLTYPE
#endif
#ifndef __stdcall
#define __stdcall
#endif
#ifndef __cdecl
#define __cdecl
#endif
#ifndef FAR
#define FAR
#endif
#ifndef CONST
#define CONST const
#endif
#ifndef VOID
#define VOID void
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

typedef char CHAR, *LPSTR, *PCHAR;
typedef const char *LPCSTR, *PCSTR;
typedef wchar_t WCHAR, *LPWSTR, *PWSTR;
typedef const wchar_t *LPCWSTR, *PCWSTR;
typedef unsigned char UCHAR, BYTE, BOOLEAN, *PUCHAR, *PBYTE, *LPBYTE;
typedef short SHORT;
typedef unsigned short USHORT, WORD, *PUSHORT;
typedef int INT, BOOL, *PINT, *LPINT, *PBOOL, *LPBOOL;
typedef unsigned int UINT, *PUINT;
typedef int32_t LONG, INT32, *PLONG, *LPLONG;
typedef uint32_t ULONG, DWORD, UINT32, *PULONG, *PDWORD, *LPDWORD, *PUINT32;
typedef int8_t INT8;
typedef uint8_t UINT8;
typedef int16_t INT16;
typedef uint16_t UINT16, *PUINT16;
/* As Windows has them: not uint64_t, which is another type where that is unsigned long. */
typedef long long LONGLONG, LONG64, INT64;
typedef unsigned long long ULONGLONG, ULONG64, DWORD64, UINT64, *PULONGLONG, *PUINT64;
typedef size_t SIZE_T, *PSIZE_T;
typedef ptrdiff_t SSIZE_T;
typedef intptr_t INT_PTR, LONG_PTR;
typedef uintptr_t UINT_PTR, ULONG_PTR, DWORD_PTR, KAFFINITY, *PULONG_PTR, *PDWORD_PTR;
typedef void *PVOID, *LPVOID, *HANDLE, **PHANDLE, **LPHANDLE;
typedef const void *LPCVOID;

/* A kind of handle of its own. */
#define DECLARE_HANDLE(name)                                                                       \
	struct name##__;                                                                           \
	typedef struct name##__ *name

typedef struct _GUID {
	uint32_t Data1;
	uint16_t Data2, Data3;
	uint8_t Data4[8];
} GUID, IID, CLSID;

#ifdef __cplusplus
typedef const GUID &REFGUID;
typedef const IID &REFIID;
typedef const CLSID &REFCLSID;
inline bool
operator==(REFGUID a, REFGUID b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}
inline bool
operator!=(REFGUID a, REFGUID b)
{
	return !(a == b);
}
inline BOOL
IsEqualGUID(REFGUID a, REFGUID b)
{
	return a == b;
}
#define NDWIN_ASSERT(condition) static_assert(condition, #condition)
#else
typedef const GUID *REFGUID;
typedef const IID *REFIID;
typedef const CLSID *REFCLSID;
#define IsEqualGUID(a, b)	(memcmp((a), (b), sizeof(GUID)) == 0)
#define NDWIN_ASSERT(condition) _Static_assert(condition, #condition)
#endif
#define IsEqualIID(a, b)   IsEqualGUID(a, b)
#define IsEqualCLSID(a, b) IsEqualGUID(a, b)

/* ---- outcomes ------------------------------------------------------------------------ */

typedef LONG HRESULT, NTSTATUS;

#define SUCCEEDED(hr) ((HRESULT)(hr) >= 0)
#define FAILED(hr)    ((HRESULT)(hr) < 0)
#define HRESULT_FROM_WIN32(e)                                                                      \
	((HRESULT)((HRESULT)(e) <= 0 ? (ULONG)(e) : (((ULONG)(e)&0xFFFFu) | 0x80070000u)))

#define S_OK	       ((HRESULT)0)
#define S_FALSE	       ((HRESULT)1)
#define E_NOTIMPL      ((HRESULT)0x80004001u)
#define E_NOINTERFACE  ((HRESULT)0x80004002u)
#define E_POINTER      ((HRESULT)0x80004003u)
#define E_ABORT	       ((HRESULT)0x80004004u)
#define E_FAIL	       ((HRESULT)0x80004005u)
#define E_UNEXPECTED   ((HRESULT)0x8000FFFFu)
#define E_ACCESSDENIED ((HRESULT)0x80070005u)
#define E_HANDLE       ((HRESULT)0x80070006u)
#define E_OUTOFMEMORY  ((HRESULT)0x8007000Eu)
#define E_INVALIDARG   ((HRESULT)0x80070057u)

#ifndef STATUS_PENDING
#define STATUS_PENDING ((DWORD)0x00000103)
#endif

/* What GetLastError() tells: of calls of this library, and of requests that failed. */
#define ERROR_SUCCESS			 0u
#define NO_ERROR			 0u
#define ERROR_INVALID_FUNCTION		 1u
#define ERROR_INVALID_HANDLE		 6u
#define ERROR_NOT_ENOUGH_MEMORY		 8u
#define ERROR_NOT_READY			 21u
#define ERROR_BAD_COMMAND		 22u
#define ERROR_CRC			 23u
#define ERROR_GEN_FAILURE		 31u
#define ERROR_SHARING_VIOLATION		 32u
#define ERROR_NOT_SUPPORTED		 50u
#define ERROR_REM_NOT_LIST		 51u
#define ERROR_DUP_NAME			 52u
#define ERROR_UNEXP_NET_ERR		 59u
#define ERROR_NETNAME_DELETED		 64u
#define ERROR_BAD_NET_NAME		 67u
#define ERROR_TOO_MANY_NAMES		 68u
#define ERROR_INVALID_PARAMETER		 87u
#define ERROR_SEM_TIMEOUT		 121u
#define ERROR_INSUFFICIENT_BUFFER	 122u
#define ERROR_BUSY			 170u
#define ERROR_MORE_DATA			 234u
#define ERROR_NO_MORE_ITEMS		 259u
#define ERROR_MR_MID_NOT_FOUND		 317u
#define ERROR_ABANDONED_WAIT_0		 735u
#define ERROR_OPERATION_ABORTED		 995u
#define ERROR_IO_INCOMPLETE		 996u
#define ERROR_IO_PENDING		 997u
#define ERROR_NOACCESS			 998u
#define ERROR_IO_DEVICE			 1117u
#define ERROR_CONNECTION_REFUSED	 1225u
#define ERROR_ADDRESS_ALREADY_ASSOCIATED 1227u
#define ERROR_ADDRESS_NOT_ASSOCIATED	 1228u
#define ERROR_CONNECTION_INVALID	 1229u
#define ERROR_CONNECTION_ACTIVE		 1230u
#define ERROR_NETWORK_UNREACHABLE	 1231u
#define ERROR_HOST_UNREACHABLE		 1232u
#define ERROR_REQUEST_ABORTED		 1235u
#define ERROR_CONNECTION_ABORTED	 1236u
#define ERROR_IMPLEMENTATION_LIMIT	 1292u
#define ERROR_INTERNAL_ERROR		 1359u
#define ERROR_NO_SYSTEM_RESOURCES	 1450u
#define ERROR_DEVICE_REMOVED		 1617u
#define ERROR_INVALID_USER_BUFFER	 1784u

/* ---- waiting, requests --------------------------------------------------------------- */

#define INFINITE	     0xFFFFFFFFu
#define WAIT_OBJECT_0	     0u
#define WAIT_ABANDONED_0     0x80u
#define WAIT_TIMEOUT	     258u
#define WAIT_FAILED	     0xFFFFFFFFu
#define MAXIMUM_WAIT_OBJECTS 64

#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)

typedef struct _OVERLAPPED {
	ULONG_PTR Internal; /* STATUS_PENDING, or the outcome: an NTSTATUS in the lower 32 bits */
	ULONG_PTR InternalHigh; /* bytes */
	__extension__ union {
		__extension__ struct {
			DWORD Offset;
			DWORD OffsetHigh;
		};
		PVOID Pointer;
	};
	HANDLE hEvent; /* or NULL; its lowest bit set: no packet comes to the port */
} OVERLAPPED, *LPOVERLAPPED, *POVERLAPPED;
NDWIN_ASSERT(sizeof(OVERLAPPED) == 32);
NDWIN_ASSERT(offsetof(OVERLAPPED, Internal) == 0);
NDWIN_ASSERT(offsetof(OVERLAPPED, InternalHigh) == 8);
NDWIN_ASSERT(offsetof(OVERLAPPED, Offset) == 16);
NDWIN_ASSERT(offsetof(OVERLAPPED, OffsetHigh) == 20);
NDWIN_ASSERT(offsetof(OVERLAPPED, Pointer) == 16);
NDWIN_ASSERT(offsetof(OVERLAPPED, hEvent) == 24);

typedef struct _OVERLAPPED_ENTRY {
	ULONG_PTR lpCompletionKey;
	LPOVERLAPPED lpOverlapped;
	ULONG_PTR Internal; /* the outcome */
	DWORD dwNumberOfBytesTransferred;
} OVERLAPPED_ENTRY, *LPOVERLAPPED_ENTRY;
NDWIN_ASSERT(sizeof(OVERLAPPED_ENTRY) == 32);

/* Once it says true, the OVERLAPPED and the event are the application's: it may free the one and
 * close the other. */
#define HasOverlappedIoCompleted(ov)                                                               \
	((DWORD)__atomic_load_n(&(ov)->Internal, __ATOMIC_ACQUIRE) != (DWORD)STATUS_PENDING)

typedef struct _SECURITY_ATTRIBUTES {
	DWORD nLength;
	LPVOID lpSecurityDescriptor;
	BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

typedef DWORD(WINAPI *LPTHREAD_START_ROUTINE)(LPVOID argument);

typedef union _LARGE_INTEGER {
	__extension__ struct {
		DWORD LowPart;
		LONG HighPart;
	};
	LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;
NDWIN_ASSERT(sizeof(LARGE_INTEGER) == 8);

typedef struct _FILETIME {
	DWORD dwLowDateTime;
	DWORD dwHighDateTime;
} FILETIME, *LPFILETIME;

typedef struct _SYSTEM_INFO {
	DWORD dwPageSize;
	LPVOID lpMinimumApplicationAddress;
	LPVOID lpMaximumApplicationAddress;
	DWORD_PTR dwActiveProcessorMask;
	DWORD dwNumberOfProcessors;
	DWORD dwAllocationGranularity;
} SYSTEM_INFO, *LPSYSTEM_INFO;

typedef struct _CRITICAL_SECTION {
	uint64_t lock[8]; /* the library's */
} CRITICAL_SECTION, *LPCRITICAL_SECTION;

/* ---- addresses ----------------------------------------------------------------------- */

typedef struct sockaddr SOCKADDR, *LPSOCKADDR, *PSOCKADDR;
typedef struct sockaddr_in SOCKADDR_IN, *PSOCKADDR_IN;
typedef struct sockaddr_in6 SOCKADDR_IN6, *PSOCKADDR_IN6;
typedef struct sockaddr_storage SOCKADDR_STORAGE, *PSOCKADDR_STORAGE;
typedef sa_family_t ADDRESS_FAMILY;

typedef union _SOCKADDR_INET {
	SOCKADDR_IN Ipv4;
	SOCKADDR_IN6 Ipv6;
	ADDRESS_FAMILY si_family;
} SOCKADDR_INET, *PSOCKADDR_INET;

typedef struct _SOCKET_ADDRESS {
	LPSOCKADDR lpSockaddr;
	INT iSockaddrLength;
} SOCKET_ADDRESS, *LPSOCKET_ADDRESS;

typedef struct _SOCKET_ADDRESS_LIST {
	INT iAddressCount;
	SOCKET_ADDRESS Address[1];
} SOCKET_ADDRESS_LIST, *LPSOCKET_ADDRESS_LIST;
NDWIN_ASSERT(sizeof(SOCKET_ADDRESS) == 16);
NDWIN_ASSERT(offsetof(SOCKET_ADDRESS_LIST, Address) == 8);

typedef struct WSAData {
	WORD wVersion;
	WORD wHighVersion;
} WSADATA, *LPWSADATA;

#define SOCKET_ERROR (-1)
#define WSAEFAULT    10014
#define WSAEINVAL    10022

/* ---- small helpers ------------------------------------------------------------------- */

#define CONTAINING_RECORD(address, type, field) ((type *)((char *)(address)-offsetof(type, field)))
#define MAKEWORD(low, high)			((WORD)(((low)&0xFF) | (((high)&0xFF) << 8)))
#define UNREFERENCED_PARAMETER(argument)	((void)(argument))
#define ZeroMemory(to, bytes)			memset((to), 0, (bytes))
#define RtlZeroMemory(to, bytes)		memset((to), 0, (bytes))
#define CopyMemory(to, from, bytes)		memcpy((to), (from), (bytes))
#define RtlCopyMemory(to, from, bytes)		memcpy((to), (from), (bytes))
#ifndef _countof
#define _countof(array) (sizeof(array) / sizeof((array)[0]))
#endif

/* Sequentially consistent, of LONG, ULONG and the like; those ending in 64 of 64-bit numbers. */
#define InterlockedIncrement(at)		   __atomic_add_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedDecrement(at)		   __atomic_sub_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedExchange(at, to)		   __atomic_exchange_n((at), (to), __ATOMIC_SEQ_CST)
#define InterlockedExchangeAdd(at, n)		   __atomic_fetch_add((at), (n), __ATOMIC_SEQ_CST)
#define InterlockedCompareExchange(at, to, from)   __sync_val_compare_and_swap((at), (from), (to))
#define InterlockedIncrement64(at)		   InterlockedIncrement(at)
#define InterlockedDecrement64(at)		   InterlockedDecrement(at)
#define InterlockedExchange64(at, to)		   InterlockedExchange((at), (to))
#define InterlockedExchangeAdd64(at, n)		   InterlockedExchangeAdd((at), (n))
#define InterlockedCompareExchange64(at, to, from) InterlockedCompareExchange((at), (to), (from))
#define InterlockedExchangePointer(at, to)	   InterlockedExchange((at), (to))
#define InterlockedCompareExchangePointer(at, to, from)                                            \
	InterlockedCompareExchange((at), (to), (from))

#endif
