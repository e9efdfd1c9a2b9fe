/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses from and to strings. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "ndwin/ndwin.h"

static INT
read_v4(const char *s, struct sockaddr_in *to)
{
	INT length = sizeof(*to);

	memset(to, 0xFF, sizeof(*to));
	return WSAStringToAddressA(s, AF_INET, NULL, (struct sockaddr *)to, &length);
}

static INT
read_v6(const char *s, struct sockaddr_in6 *to)
{
	INT length = sizeof(*to);

	memset(to, 0xFF, sizeof(*to));
	return WSAStringToAddressA(s, AF_INET6, NULL, (struct sockaddr *)to, &length);
}

Test(ndwin_address, of_version_4)
{
	struct sockaddr_in a;

	cr_expect(zero(int, read_v4("10.1.2.3", &a)));
	cr_expect(eq(u16, a.sin_family, AF_INET));
	cr_expect(zero(u16, a.sin_port));
	cr_expect(eq(u32, ntohl(a.sin_addr.s_addr), 0x0A010203));
	cr_expect(zero(int, read_v4("10.1.2.3:54321", &a)));
	cr_expect(eq(u16, ntohs(a.sin_port), 54321));
}

Test(ndwin_address, of_version_6)
{
	struct sockaddr_in6 a;

	cr_expect(zero(int, read_v6("fd00::1", &a)));
	cr_expect(eq(u16, a.sin6_family, AF_INET6));
	cr_expect(eq(u8, a.sin6_addr.s6_addr[15], 1));
	cr_expect(zero(u16, a.sin6_port));
	cr_expect(zero(u32, a.sin6_scope_id));
	cr_expect(zero(int, read_v6("[fd00::2]:80", &a)));
	cr_expect(eq(u16, ntohs(a.sin6_port), 80));
	cr_expect(zero(int, read_v6("[fe80::2%7]", &a)));
	cr_expect(eq(u32, a.sin6_scope_id, 7));
	cr_expect(zero(int, read_v6("fe80::2%lo", &a)));
	cr_expect(ne(u32, a.sin6_scope_id, 0));
}

Test(ndwin_address, wide_ones)
{
	struct sockaddr_in a;
	INT length = sizeof(a);

	cr_expect(zero(int,
		WSAStringToAddressW(L"1.2.3.4:5", AF_INET, NULL, (struct sockaddr *)&a, &length)));
	cr_expect(eq(u16, ntohs(a.sin_port), 5));
	cr_expect(eq(int,
		WSAStringToAddressW(L"1.2.3.\x663", AF_INET, NULL, (struct sockaddr *)&a, &length),
		SOCKET_ERROR));
	cr_expect(eq(int, WSAGetLastError(), WSAEINVAL));
}

Test(ndwin_address, what_is_none)
{
	static const char *const wrong[] = {"", "host", "1.2.3", "1.2.3.4.5",
		"1.2.3.4:", "1.2.3.4:x", "1.2.3.4:65536", "1.2.3.4:-1", "fd00::1",
		"1.2.3.4:99999999999999999999",
		("11111111111111111111111111111111111111111111111111111111111111111111111111111111"
		 "1")};
	static const char *const wrong6[] = {"", "1.2.3.4", "[fd00::1", "fd00::1]:5", "[fd00::1]5",
		"[fd00::1]:65536", "fe80::1%", "fe80::1%no-such-port", "fe80::1%1x", "fd00:::1"};
	struct sockaddr_in6 b;
	struct sockaddr_in a;
	INT length = sizeof(a);

	for (size_t i = 0; i < _countof(wrong); i++) {
		cr_expect(eq(int, read_v4(wrong[i], &a), SOCKET_ERROR), "%s", wrong[i]);
		cr_expect(eq(int, WSAGetLastError(), WSAEINVAL));
	}
	for (size_t i = 0; i < _countof(wrong6); i++)
		cr_expect(eq(int, read_v6(wrong6[i], &b), SOCKET_ERROR), "%s", wrong6[i]);
	cr_expect(eq(int,
		WSAStringToAddressA("1.2.3.4", AF_UNIX, NULL, (struct sockaddr *)&a, &length),
		SOCKET_ERROR));
	cr_expect(eq(int, WSAGetLastError(), WSAEINVAL));
}

Test(ndwin_address, room_is_asked_for)
{
	struct sockaddr_in a;
	INT length = 15;
	char s[10];
	DWORD room = sizeof(s);

	cr_expect(eq(int,
		WSAStringToAddressA("1.2.3.4", AF_INET, NULL, (struct sockaddr *)&a, &length),
		SOCKET_ERROR));
	cr_expect(eq(int, WSAGetLastError(), WSAEFAULT));
	cr_expect(eq(int, length, sizeof(a)));
	cr_assert(zero(int, read_v4("255.255.255.255", &a)));
	cr_expect(eq(int, WSAAddressToStringA((struct sockaddr *)&a, sizeof(a), NULL, s, &room),
		SOCKET_ERROR));
	cr_expect(eq(int, WSAGetLastError(), WSAEFAULT));
	cr_expect(eq(u32, room, 16));
	cr_expect(eq(int, WSAAddressToStringA(NULL, sizeof(a), NULL, s, &room), SOCKET_ERROR));
	cr_expect(eq(int, WSAGetLastError(), WSAEFAULT));
	cr_expect(eq(
		int, WSAAddressToStringA((struct sockaddr *)&a, 4, NULL, s, &room), SOCKET_ERROR));
	cr_expect(eq(int, WSAGetLastError(), WSAEINVAL));
}

Test(ndwin_address, what_is_written_can_be_read)
{
	static const char *const v4[] = {"0.0.0.0", "10.1.2.3", "255.255.255.255:65535"};
	static const char *const v6[] = {"::", "fd00::1", "[fd00::1]:80", "fe80::1%7",
		"[1111:2222:3333:4444:5555:6666:7777:8888%4294967295]:65535"};
	struct sockaddr_in6 b;
	struct sockaddr_in a;
	wchar_t wide[80];
	char s[80];
	DWORD room;

	for (size_t i = 0; i < _countof(v4); i++) {
		cr_assert(zero(int, read_v4(v4[i], &a)));
		room = sizeof(s);
		cr_expect(zero(int,
			WSAAddressToStringA((struct sockaddr *)&a, sizeof(a), NULL, s, &room)));
		cr_expect(eq(str, s, (char *)v4[i]));
		cr_expect(eq(u32, room, (DWORD)strlen(s) + 1));
	}
	for (size_t i = 0; i < _countof(v6); i++) {
		cr_assert(zero(int, read_v6(v6[i], &b)));
		room = _countof(wide);
		cr_expect(zero(int,
			WSAAddressToStringW((struct sockaddr *)&b, sizeof(b), NULL, wide, &room)));
		cr_assert(ne(sz, wcstombs(s, wide, sizeof(s)), (size_t)-1));
		cr_expect(eq(str, s, (char *)v6[i]));
		cr_expect(eq(u32, room, (DWORD)strlen(s) + 1));
	}
}

Test(ndwin_address, nothing_needs_to_be_started)
{
	WSADATA data;

	cr_expect(zero(int, WSAStartup(MAKEWORD(2, 2), &data)));
	cr_expect(eq(u16, data.wVersion, 0x0202));
	cr_expect(zero(int, WSACleanup()));
	cr_expect(eq(int, WSAStartup(MAKEWORD(2, 2), NULL), WSAEFAULT));
}
