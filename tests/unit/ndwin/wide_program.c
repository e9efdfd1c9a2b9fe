/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program in the idiom of those that are written to NetworkDirect: it includes Windows'
 * headers by their names, has wide arguments, starts threads that take packets of a port until
 * one is NULL, and prints by both calls. wide_program.cpp is the same in C++. Its exit status
 * says what it found.
 */
#define UNICODE
#define _UNICODE

#include <winsock2.h>
#include <ws2tcpip.h>
#include <ws2spi.h>
#include <guiddef.h>
#include <process.h>
#include <sal.h>
#include <stdio.h>
#include <tchar.h>

#include <ntstatus.h>

#define THREADS 3

struct test {
	HANDLE port;
	volatile LONG taken;
	volatile LONGLONG bytes;
};

/* As the SDK declares NdQueryAddressList(). */
HRESULT test_list(_In_ DWORD flags,
	_Out_opt_bytecap_post_bytecount_(*bytes, *bytes) SOCKET_ADDRESS_LIST *list,
	_Inout_ SIZE_T *bytes);

static DWORD CALLBACK
test_routine(_In_ LPVOID arg)
{
	struct test *t = (struct test *)arg;
	OVERLAPPED *ov;
	ULONG_PTR key;
	DWORD bytes;

	for (;;) {
		BOOL ok = GetQueuedCompletionStatus(t->port, &bytes, &key, &ov, INFINITE);

		if (ov == NULL)
			return 0;
		if (!ok || key != 0)
			exit(__LINE__);
		InterlockedIncrement(&t->taken);
		InterlockedExchangeAdd64(&t->bytes, (LONGLONG)bytes);
	}
}

static void
test_run(struct test *t)
{
	HANDLE threads[THREADS];
	OVERLAPPED ov;

	RtlZeroMemory(&ov, sizeof(ov));
	for (int i = 0; i < THREADS; i++) {
		threads[i] = CreateThread(NULL, 0, test_routine, t, 0, NULL);
		if (threads[i] == NULL)
			exit(__LINE__);
	}
	for (DWORD i = 1; i <= 100; i++)
		PostQueuedCompletionStatus(t->port, i, 0, &ov);
	for (int i = 0; i < THREADS; i++)
		PostQueuedCompletionStatus(t->port, 0, 0, NULL);
	if (WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE) != WAIT_OBJECT_0)
		exit(__LINE__);
	for (int i = 0; i < THREADS; i++)
		CloseHandle(threads[i]);
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	struct test t = {NULL, 0, 0};
	struct sockaddr_in v4;
	INT length = sizeof(v4);
	WSADATA data;

	wprintf(L"Beginning: %s, %d arguments\n", argv[0], argc);
	printf("and %s\n", "narrow");
	if (WSAStartup(MAKEWORD(2, 2), &data) != 0 || argc != 4)
		return __LINE__;
	if (_tcsicmp(argv[1], _T("-T")) != 0 || _ttol(argv[2]) != min(THREADS, 4))
		return __LINE__;
	if (WSAStringToAddress(argv[3], AF_INET, NULL, (struct sockaddr *)&v4, &length) != 0)
		return __LINE__;
	if (v4.sin_port != htons(54321) || (NTSTATUS)STATUS_CANCELLED >= 0)
		return __LINE__;
	t.port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	test_run(&t);
	CloseHandle(t.port);
	WSACleanup();
	return t.taken == 100 && t.bytes == 5050 ? 0 : __LINE__;
}
