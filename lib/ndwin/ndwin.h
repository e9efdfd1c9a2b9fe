/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndwin: the part of Win32 that programs written to NetworkDirect stand on, for Linux. C and
 * C++. It knows nothing of RDMA; a library that completes requests (ndwin_provider.h) does. A
 * program may bring a platform of its own instead.
 *
 * | what        | calls                                                                        |
 * |-------------|------------------------------------------------------------------------------|
 * | types       | HRESULT, GUID, OVERLAPPED and the like: ndwin_types.h                        |
 * | errors      | GetLastError, SetLastError                                                   |
 * | handles     | CloseHandle                                                                  |
 * | events      | CreateEvent, SetEvent, ResetEvent                                            |
 * | threads     | CreateThread                                                                 |
 * | waiting     | WaitForSingleObject, WaitForMultipleObjects: for events and threads          |
 * | ports       | CreateIoCompletionPort, GetQueuedCompletionStatus(Ex),                       |
 * |             | PostQueuedCompletionStatus                                                   |
 * | requests    | HasOverlappedIoCompleted, GetOverlappedResult                                |
 * | locks       | CRITICAL_SECTION and its calls, Interlocked...                               |
 * | memory      | GetProcessHeap, HeapAlloc, HeapFree                                          |
 * | time        | Sleep, GetTickCount(64), QueryPerformanceCounter, QueryPerformanceFrequency  |
 * | the machine | GetSystemInfo, GetSystemTimes                                                |
 * | addresses   | WSAStartup, WSACleanup, WSAGetLastError, WSAStringToAddress,                 |
 * |             | WSAAddressToString                                                           |
 * | wide text   | for programs that include <tchar.h>: ndwin_text.h                            |
 *
 * Not there: names and security of objects, semaphores, mutexes, timers, alertable waits, files
 * of the file system, sockets, processes, COM.
 *
 * Every call may be made by any thread at any time. A call that fails says so by its result, and
 * why by GetLastError(), which is of the thread; one that succeeds leaves that number as it is.
 * A handle that is closed, or of another kind than the call wants, is ERROR_INVALID_HANDLE: a
 * handle's value is not given again before 2^31 others of its place. The lowest two bits of a
 * handle are 0, and are ignored where a handle is taken, so an event whose lowest bit was set
 * can be closed as it is.
 */
#ifndef NDWIN_H
#define NDWIN_H

#include "ndwin_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors and handles -------------------------------------------------------------- */

/* The calling thread's last error; 0 if there was none. */
DWORD WINAPI GetLastError(void);
void WINAPI SetLastError(DWORD error);

/*
 * Close the handle of an event, a thread, a port or a file. What uses the object goes on:
 * requests with the event, waits for it, the thread itself. Only a port ends: threads that wait
 * for its packets return with ERROR_ABANDONED_WAIT_0, and its packets are dropped, those of
 * requests that end later too. FALSE: ERROR_INVALID_HANDLE.
 */
BOOL WINAPI CloseHandle(HANDLE handle);

/* ---- events, threads, waiting -------------------------------------------------------- */

/*
 * An event, which is set or not (initial). manual: it stays set until ResetEvent(), and lets all
 * waits through; else each wait that it lets through resets it. attributes and name are NULL:
 * events are of one process. NULL: ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI CreateEventA(
	LPSECURITY_ATTRIBUTES attributes, BOOL manual, BOOL initial, const void *name);
#define CreateEvent  CreateEventA
#define CreateEventW CreateEventA
/* FALSE: ERROR_INVALID_HANDLE. */
BOOL WINAPI SetEvent(HANDLE event);
BOOL WINAPI ResetEvent(HANDLE event);

/* stack is what the thread may use at most; without this flag it may use as much as any. */
#define STACK_SIZE_PARAM_IS_A_RESERVATION 0x00010000u
/*
 * Run start(argument) in a thread. stack: bytes, or 0 for the system's choice; flags: 0 or
 * STACK_SIZE_PARAM_IS_A_RESERVATION; id: a number of its own, if id is not NULL. The handle can be
 * waited for until the thread has ended, and closed at any time. NULL: ERROR_INVALID_PARAMETER,
 * ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES.
 */
HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES attributes, SIZE_T stack,
	LPTHREAD_START_ROUTINE start, LPVOID argument, DWORD flags, LPDWORD id);

/*
 * Wait until the event is set, or the thread has ended, for at most so many milliseconds (0: do
 * not wait; INFINITE). WAIT_OBJECT_0, WAIT_TIMEOUT, or WAIT_FAILED: ERROR_INVALID_HANDLE. An
 * event that is closed meanwhile can still be waited for to the end of this wait. Waits of one
 * event that resets itself are let through in the order in which they came.
 */
DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD milliseconds);
/*
 * The same for 1 to MAXIMUM_WAIT_OBJECTS handles: for one of them (the result is WAIT_OBJECT_0 +
 * its index; of several the lowest) or, with all, until all are set at the same time; before
 * that no event of them is reset. WAIT_FAILED: also ERROR_INVALID_PARAMETER, for their number,
 * or, with all, for a handle that stands there twice.
 */
DWORD WINAPI WaitForMultipleObjects(
	DWORD count, const HANDLE *handles, BOOL all, DWORD milliseconds);

/* ---- completion ports and requests --------------------------------------------------- */

/*
 * Create a port, associate a file with a port, or both. file: INVALID_HANDLE_VALUE to create a
 * port only; else packets of its requests come to the port, with this key, those of requests
 * under way too. port: NULL to create one. threads: ignored; as many run as take packets. The
 * port's handle, or NULL: ERROR_INVALID_HANDLE; ERROR_INVALID_PARAMETER: the file is associated
 * already, or there is a port but no file; ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI CreateIoCompletionPort(HANDLE file, HANDLE port, ULONG_PTR key, DWORD threads);

/*
 * Take a packet, the oldest first, and wait for one at most so many milliseconds (0, INFINITE).
 * - TRUE: a packet of a request that succeeded, or one that was posted.
 * - FALSE and *ov not NULL: a packet of a request that failed; why, in Win32's words, is the last
 *   error, and in the provider's words the outcome in *ov.
 * - FALSE and *ov NULL, *bytes and *key untouched: WAIT_TIMEOUT; ERROR_INVALID_HANDLE;
 *   ERROR_ABANDONED_WAIT_0: the port was closed meanwhile; ERROR_INVALID_PARAMETER: one of the
 *   pointers is NULL.
 */
BOOL WINAPI GetQueuedCompletionStatus(
	HANDLE port, LPDWORD bytes, PULONG_PTR key, LPOVERLAPPED *ov, DWORD milliseconds);
/*
 * Take 1 to count packets, and wait for the first of them as above. Each entry's Internal is the
 * outcome, of failed requests too. alertable changes nothing, as there is nothing that alerts.
 * FALSE: none was taken, *taken is 0, and the last error as above.
 */
BOOL WINAPI GetQueuedCompletionStatusEx(HANDLE port, LPOVERLAPPED_ENTRY entries, ULONG count,
	PULONG taken, DWORD milliseconds, BOOL alertable);
/* Put a packet of the application's own into the port: what is taken is what was given here, *ov is
 * not looked at and may be NULL. FALSE: ERROR_INVALID_HANDLE, ERROR_NOT_ENOUGH_MEMORY. */
BOOL WINAPI PostQueuedCompletionStatus(HANDLE port, DWORD bytes, ULONG_PTR key, LPOVERLAPPED ov);

/*
 * The outcome of a request: TRUE, or FALSE and the last error is that of the request, or
 * ERROR_IO_INCOMPLETE: it is still under way. *bytes is stored with an outcome only. wait: until
 * it has an outcome, whether or not there is an event; a wait takes nothing from the event,
 * which stays as the request has left it. The file matters to waits only (ERROR_INVALID_HANDLE).
 * Any number of threads may ask, and as often as they like.
 */
BOOL WINAPI GetOverlappedResult(HANDLE file, LPOVERLAPPED ov, LPDWORD bytes, BOOL wait);

/* ---- locks --------------------------------------------------------------------------- */

/* A lock that its holder may take again. It must not be moved or copied. */
void WINAPI InitializeCriticalSection(LPCRITICAL_SECTION section);
/* spins is ignored. TRUE. */
BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD spins);
void WINAPI EnterCriticalSection(LPCRITICAL_SECTION section);
/* FALSE: another thread holds it. */
BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION section);
void WINAPI LeaveCriticalSection(LPCRITICAL_SECTION section);
void WINAPI DeleteCriticalSection(LPCRITICAL_SECTION section);

/* ---- memory -------------------------------------------------------------------------- */

#define HEAP_ZERO_MEMORY 0x00000008u
/* The one heap, which is malloc()'s; not a handle to close. */
HANDLE WINAPI GetProcessHeap(void);
/* flags: 0 or HEAP_ZERO_MEMORY; others are ignored. NULL: no memory. Zero bytes are an allocation,
 * too. */
LPVOID WINAPI HeapAlloc(HANDLE heap, DWORD flags, SIZE_T bytes);
/* memory: of HeapAlloc(), or NULL. TRUE. */
BOOL WINAPI HeapFree(HANDLE heap, DWORD flags, LPVOID memory);

/* ---- time and the machine ------------------------------------------------------------ */

/* 0: let others run. INFINITE: for ever. */
void WINAPI Sleep(DWORD milliseconds);
/* Milliseconds since the machine was started; the 32-bit one wraps around after 49.7 days. */
DWORD WINAPI GetTickCount(void);
ULONGLONG WINAPI GetTickCount64(void);
/* A clock that never steps, in ticks, and the number of those in a second. TRUE. */
BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *count);
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *frequency);

/* Pages, and the processors that are there. */
void WINAPI GetSystemInfo(LPSYSTEM_INFO info);
/*
 * What all processors together have spent idle, in the kernel (idle counts as that) and in
 * programs, in units of 100 ns, since the machine was started; each pointer may be NULL. FALSE:
 * ERROR_NOT_SUPPORTED, there is no /proc/stat.
 */
BOOL WINAPI GetSystemTimes(LPFILETIME idle, LPFILETIME kernel, LPFILETIME user);

/* ---- addresses ----------------------------------------------------------------------- */

/* Nothing needs to be started. version is what data then tells; 0. */
int WINAPI WSAStartup(WORD version, LPWSADATA data);
int WINAPI WSACleanup(void);
/* GetLastError(), as on Windows. */
int WINAPI WSAGetLastError(void);
/*
 * Read "1.2.3.4", "1.2.3.4:5" (AF_INET), "fe80::1", "fe80::1%eth0", "[fe80::1]:5" (AF_INET6)
 * into *address, of which *length bytes are there; *length is then what it took. protocol is
 * NULL. 0, or SOCKET_ERROR: WSAEINVAL, it is no such address; WSAEFAULT: a pointer is NULL, or
 * there is not enough room, and *length is what it takes.
 */
INT WINAPI WSAStringToAddressA(
	LPCSTR string, INT family, const void *protocol, LPSOCKADDR address, LPINT length);
INT WINAPI WSAStringToAddressW(
	LPCWSTR string, INT family, const void *protocol, LPSOCKADDR address, LPINT length);
/*
 * Write an address as above, with its port if that is not 0, into string, which has room for
 * *length characters; *length is then what it took, the final zero included. 0, or SOCKET_ERROR:
 * WSAEINVAL; WSAEFAULT as above.
 */
INT WINAPI WSAAddressToStringA(LPSOCKADDR address, DWORD address_length, const void *protocol,
	LPSTR string, LPDWORD length);
INT WINAPI WSAAddressToStringW(LPSOCKADDR address, DWORD address_length, const void *protocol,
	LPWSTR string, LPDWORD length);
#ifdef UNICODE
#define WSAStringToAddress WSAStringToAddressW
#define WSAAddressToString WSAAddressToStringW
#else
#define WSAStringToAddress WSAStringToAddressA
#define WSAAddressToString WSAAddressToStringA
#endif

#ifdef __cplusplus
}
#endif

#endif
