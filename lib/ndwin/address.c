/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as strings. Windows' numbers of failures; the numbers of families are the system's. */
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndwin/error.h"

/* "[addresses' longest%interface]:65535" */
#define ADDRESS_MAX (INET6_ADDRSTRLEN + IF_NAMESIZE + 10)

int WINAPI
WSAStartup(WORD version, LPWSADATA data)
{
	if (data == NULL)
		return WSAEFAULT;
	*data = (WSADATA){version, version};
	return 0;
}

int WINAPI
WSACleanup(void)
{
	return 0;
}

int WINAPI
WSAGetLastError(void)
{
	return (int)GetLastError();
}

static INT
address_fail(DWORD error)
{
	SetLastError(error);
	return SOCKET_ERROR;
}

/* ---- from strings -------------------------------------------------------------------- */

/* ":5" or nothing. False: something else. */
static bool
port_parse(const char *s, in_port_t *port)
{
	unsigned long n = 0;
	char *end;

	if (*s != '\0') {
		if (s[0] != ':' || !isdigit((unsigned char)s[1]))
			return false;
		n = strtoul(s + 1, &end, 10);
		if (*end != '\0' || n > UINT16_MAX)
			return false;
	}
	*port = htons((uint16_t)n);
	return true;
}

static bool
ipv4_parse(char *s, struct sockaddr_in *to)
{
	char *colon = strchr(s, ':');

	*to = (struct sockaddr_in){.sin_family = AF_INET};
	if (!port_parse(colon != NULL ? colon : "", &to->sin_port))
		return false;
	if (colon != NULL)
		*colon = '\0';
	return inet_pton(AF_INET, s, &to->sin_addr) == 1;
}

/* "%eth0" or "%2" */
static bool
scope_parse(const char *s, uint32_t *scope)
{
	char *end;

	*scope = if_nametoindex(s);
	if (*scope == 0 && isdigit((unsigned char)*s)) {
		*scope = (uint32_t)strtoul(s, &end, 10);
		return *end == '\0';
	}
	return *scope != 0;
}

static bool
ipv6_parse(char *s, struct sockaddr_in6 *to)
{
	char *scope;

	*to = (struct sockaddr_in6){.sin6_family = AF_INET6};
	if (*s == '[') {
		char *close = strchr(++s, ']');

		if (close == NULL || !port_parse(close + 1, &to->sin6_port))
			return false;
		*close = '\0';
	}
	scope = strchr(s, '%');
	if (scope != NULL) {
		*scope = '\0';
		if (!scope_parse(scope + 1, &to->sin6_scope_id))
			return false;
	}
	return inet_pton(AF_INET6, s, &to->sin6_addr) == 1;
}

static INT
address_store(const void *from, INT size, LPSOCKADDR address, LPINT length)
{
	const INT room = *length;

	*length = size;
	if (room < size)
		return address_fail(WSAEFAULT);
	memcpy(address, from, (size_t)size);
	return 0;
}

INT WINAPI
WSAStringToAddressA(
	LPCSTR string, INT family, const void *protocol, LPSOCKADDR address, LPINT length)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;
	char s[ADDRESS_MAX];

	if (string == NULL || address == NULL || length == NULL)
		return address_fail(WSAEFAULT);
	if (protocol != NULL || strlen(string) >= sizeof(s))
		return address_fail(WSAEINVAL);
	strcpy(s, string);
	if (family == AF_INET && ipv4_parse(s, &v4))
		return address_store(&v4, sizeof(v4), address, length);
	if (family == AF_INET6 && ipv6_parse(s, &v6))
		return address_store(&v6, sizeof(v6), address, length);
	return address_fail(WSAEINVAL);
}

/* An address has ASCII characters only. */
INT WINAPI
WSAStringToAddressW(
	LPCWSTR string, INT family, const void *protocol, LPSOCKADDR address, LPINT length)
{
	char s[ADDRESS_MAX];
	size_t n = 0;

	if (string == NULL)
		return address_fail(WSAEFAULT);
	for (; string[n] != L'\0'; n++) {
		if (n == sizeof(s) - 1 || string[n] < 0 || string[n] > 127)
			return address_fail(WSAEINVAL);
		s[n] = (char)string[n];
	}
	s[n] = '\0';
	return WSAStringToAddressA(s, family, protocol, address, length);
}

/* ---- to strings ---------------------------------------------------------------------- */

static void
ipv6_print(const struct sockaddr_in6 *from, char *s)
{
	const int port = ntohs(from->sin6_port);
	char scope[16] = "", host[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &from->sin6_addr, host, sizeof(host));
	if (from->sin6_scope_id != 0)
		snprintf(scope, sizeof(scope), "%%%u", from->sin6_scope_id);
	if (port != 0)
		snprintf(s, ADDRESS_MAX, "[%s%s]:%d", host, scope, port);
	else
		snprintf(s, ADDRESS_MAX, "%s%s", host, scope);
}

static void
ipv4_print(const struct sockaddr_in *from, char *s)
{
	const int port = ntohs(from->sin_port);
	char host[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &from->sin_addr, host, sizeof(host));
	if (port != 0)
		snprintf(s, ADDRESS_MAX, "%s:%d", host, port);
	else
		snprintf(s, ADDRESS_MAX, "%s", host);
}

/* False, and the last error is set. */
static bool
address_print(LPSOCKADDR address, DWORD address_length, const void *protocol, char *s)
{
	if (address == NULL)
		return ndwin_fail(WSAEFAULT);
	if (protocol == NULL && address_length >= sizeof(struct sockaddr_in) &&
		address->sa_family == AF_INET)
		ipv4_print((const void *)address, s);
	else if (protocol == NULL && address_length >= sizeof(struct sockaddr_in6) &&
		 address->sa_family == AF_INET6)
		ipv6_print((const void *)address, s);
	else
		return ndwin_fail(WSAEINVAL);
	return true;
}

/* As text, and how many characters that takes; false: *length says how many, or what is wrong is
 * told. */
static bool
address_text(LPSOCKADDR address, DWORD address_length, const void *protocol, bool has_string,
	LPDWORD length, char s[ADDRESS_MAX])
{
	DWORD room;

	if (length == NULL) {
		(void)address_fail(WSAEFAULT);
		return false;
	}
	if (!address_print(address, address_length, protocol, s))
		return false;
	room = *length;
	*length = (DWORD)strlen(s) + 1;
	if (has_string && room >= *length)
		return true;
	(void)address_fail(WSAEFAULT);
	return false;
}

INT WINAPI
WSAAddressToStringW(LPSOCKADDR address, DWORD address_length, const void *protocol, LPWSTR string,
	LPDWORD length)
{
	char s[ADDRESS_MAX];

	if (!address_text(address, address_length, protocol, string != NULL, length, s))
		return SOCKET_ERROR;
	for (DWORD i = 0; i < *length; i++)
		string[i] = (unsigned char)s[i];
	return 0;
}

INT WINAPI
WSAAddressToStringA(LPSOCKADDR address, DWORD address_length, const void *protocol, LPSTR string,
	LPDWORD length)
{
	char s[ADDRESS_MAX];

	if (!address_text(address, address_length, protocol, string != NULL, length, s))
		return SOCKET_ERROR;
	memcpy(string, s, *length);
	return 0;
}
