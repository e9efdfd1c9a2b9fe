/* SPDX-License-Identifier: BSD-3-Clause */
#include "addr.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

#define HOST_TEXT 256

static struct sockaddr_in *
addr_in4(const struct app_addr *a)
{
	return (struct sockaddr_in *)&a->ss;
}

static struct sockaddr_in6 *
addr_in6(const struct app_addr *a)
{
	return (struct sockaddr_in6 *)&a->ss;
}

void
app_addr_set_port(struct app_addr *a, uint16_t port)
{
	if (a->ss.ss_family == AF_INET6)
		addr_in6(a)->sin6_port = htons(port);
	else
		addr_in4(a)->sin_port = htons(port);
}

uint16_t
app_addr_port(const struct app_addr *a)
{
	return ntohs(a->ss.ss_family == AF_INET6 ? addr_in6(a)->sin6_port : addr_in4(a)->sin_port);
}

bool
app_addr_is_any(const struct app_addr *a)
{
	if (a->ss.ss_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&addr_in6(a)->sin6_addr);
	return addr_in4(a)->sin_addr.s_addr == htonl(INADDR_ANY);
}

void
app_addr_any(int family, uint16_t port, struct app_addr *out)
{
	memset(out, 0, sizeof(*out));
	out->ss.ss_family = (sa_family_t)family;
	out->bytes = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	app_addr_set_port(out, port);
}

/* Cut text into host and port; *port is NULL if text has none. Returns NULL, or what is wrong. */
static const char *
addr_split(const char *text, char host[HOST_TEXT], const char **port)
{
	const char *start = text, *end = text + strlen(text), *colon = strrchr(text, ':');

	*port = NULL;
	if (*text == '[') {
		start = text + 1;
		end = strchr(start, ']');
		if (end == NULL)
			return "has '[' without ']'";
		if (end[1] == ':')
			*port = end + 2;
		else if (end[1] != '\0')
			return "has something other than ':PORT' after ']'";
	} else if (colon != NULL && strchr(text, ':') == colon) {
		/* One colon separates a port; more than one belong to an IPv6 address without
		 * brackets. */
		end = colon;
		*port = colon + 1;
	}
	if (end == start)
		return "has no address";
	if ((size_t)(end - start) >= HOST_TEXT)
		return "is too long";
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = '\0';
	return NULL;
}

const char *
app_addr_parse(const char *text, uint16_t default_port, struct app_addr *out)
{
	char host[HOST_TEXT];
	const char *port_text, *wrong;
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found;
	uint64_t port = default_port;
	int rc;

	wrong = addr_split(text, host, &port_text);
	if (wrong != NULL)
		return wrong;
	if (port_text != NULL && !app_parse_u64(port_text, 1, 65535, &port))
		return "has a port that is not 1..65535";
	rc = getaddrinfo(host, NULL, &hints, &found);
	if (rc != 0)
		return gai_strerror(rc);
	memset(out, 0, sizeof(*out));
	memcpy(&out->ss, found->ai_addr, found->ai_addrlen);
	out->bytes = found->ai_addrlen;
	freeaddrinfo(found);
	app_addr_set_port(out, (uint16_t)port);
	return NULL;
}

const char *
app_addr_text(const struct app_addr *a, bool with_port, char text[APP_ADDR_TEXT])
{
	char host[INET6_ADDRSTRLEN] = "?";
	bool v6 = a->ss.ss_family == AF_INET6;

	if (v6)
		inet_ntop(AF_INET6, &addr_in6(a)->sin6_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET, &addr_in4(a)->sin_addr, host, sizeof(host));
	if (with_port)
		snprintf(text, APP_ADDR_TEXT, v6 ? "[%s]:%u" : "%s:%u", host, app_addr_port(a));
	else
		snprintf(text, APP_ADDR_TEXT, "%s", host);
	return text;
}
