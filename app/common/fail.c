/* SPDX-License-Identifier: BSD-3-Clause */
#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
	nd_status status;
	const char *hint;
} hints[] = {
	{ND_DEVICE_NOT_READY, "Is dpdk-ndd running, and may this user open its socket? "
			      "--socket or the environment's NDD_SOCKET says where it is."},
	{ND_DEVICE_REMOVED, "The daemon ended, or ended this session; its log says why."},
	{ND_NOT_SUPPORTED, "Daemon and library don't fit each other: install both from one build."},
	{ND_INVALID_ADDRESS, "The local address must be one that the daemon serves."},
	{ND_NETWORK_UNREACHABLE, "There is no route: the daemon has no address of that family, or "
				 "none whose network or gateway leads there."},
	{ND_HOST_UNREACHABLE,
		"No neighbour answered for that address (ARP or neighbour discovery): "
		"is the peer up, on this link, and the address right?"},
	{ND_CONNECTION_REFUSED, /* by no peer: a reject has a reason, which is told instead */
		"That host takes no RoCEv2 (UDP port 4791) at this address: does its daemon run?"},
	{ND_IO_TIMEOUT, "The peer gave no answer in time. Is it up, does it speak RoCEv2 there, "
			"and does UDP port 4791 get through?"},
	{ND_SHARING_VIOLATION, "That port is in use: choose another with -p."},
	{ND_INSUFFICIENT_RESOURCES,
		"Ask for less (queue pairs, depth, size), or raise the daemon's "
		"limits."},
	{ND_NO_MEMORY, "Ask for less: smaller messages, fewer queue pairs, less depth."},
	{ND_ACCESS_VIOLATION, "The peer's (or our own) key, address or access right was refused."},
	{ND_DATA_OVERRUN, "A message was longer than the receive that met it."},
	{ND_BUFFER_OVERFLOW,
		"A message was longer than the receive that met it, or a queue overran."},
	{ND_REMOTE_ERROR, "The peer refused the request or could not carry it out."},
	{ND_CANCELED, "The connection ended before the request was done."},
	{ND_CONNECTION_ABORTED, "The peer went away while the connection was made."},
	{ND_CONNECTION_INVALID, "The connection has ended."},
};

static const struct {
	uint32_t reason;
	const char *text;
} rejects[] = {
	{1, "the peer has no queue pair left"},
	{3, "the peer has no resources left"},
	{4, "the peer gave up waiting"},
	{5, "the peer does not support what was asked for"},
	{6, "the peer does not know this exchange (any more)"},
	{8, "nobody listens at that port of the peer"},
	{9, "the peer does not take this transport type"},
	{10, "the peer still has a stale connection of ours; try again"},
	{12, "the peer does not have that address (GID)"},
	{28, "the program at the peer refused"},
	{29, "the peer refused this MTU"},
	{32, "the peer's private data version differs"},
};

const char *
app_status_hint(nd_status status)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].status == status)
			return hints[i].hint;
	return NULL;
}

const char *
app_reject_text(uint32_t reason)
{
	for (size_t i = 0; i < sizeof(rejects) / sizeof(rejects[0]); i++)
		if (rejects[i].reason == reason)
			return rejects[i].text;
	return "the peer refused";
}

/* The lines about one failure stay together: stderr is locked from fail_begin() to fail_end(), so
 * that threads that fail at the same time do not mix their lines. */
static void
fail_begin(const char *what, va_list args)
{
	fflush(stdout);
	flockfile(stderr);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, what, args);
}

static void
fail_end(nd_status status)
{
	const char *hint = app_status_hint(status);

	fputc('\n', stderr);
	if (hint != NULL)
		fprintf(stderr, "  %s\n", hint);
	funlockfile(stderr);
}

void
app_fail(nd_status status, const char *what, ...)
{
	const char *words = nd_last_error();
	va_list args;

	va_start(args, what);
	fail_begin(what, args);
	va_end(args);
	fprintf(stderr, words[0] != '\0' ? ": %s (%s)" : ": %s", nd_status_name(status), words);
	fail_end(status);
}

const char *
app_result_text(const struct nd_result *result, char text[APP_RESULT_TEXT])
{
	const char *name = nd_status_name(result->status);

	if (result->detail != 0)
		snprintf(text, APP_RESULT_TEXT, "%s (%s)", name, nd_detail_name(result->detail));
	else
		snprintf(text, APP_RESULT_TEXT, "%s", name);
	return text;
}

void
app_fail_result(const struct nd_result *result, const char *what, ...)
{
	char text[APP_RESULT_TEXT];
	va_list args;

	va_start(args, what);
	fail_begin(what, args);
	va_end(args);
	fprintf(stderr, ": %s", app_result_text(result, text));
	fail_end(result->status);
}

void
app_complain(const char *what, ...)
{
	va_list args;

	va_start(args, what);
	fail_begin(what, args);
	va_end(args);
	fputc('\n', stderr);
	funlockfile(stderr);
}
