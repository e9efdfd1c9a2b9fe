/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/addr.h"
#include "common/fail.h"

#define LIBRARY "libibverbs.so.1"

/* ---- the library --------------------------------------------------------------------- */

/* Is it in that folder, which is told from this program's own? */
static bool
library_is_in(const char *own, const char *way, char folder[VERBS_FOLDER_BYTES])
{
	char path[2 * VERBS_FOLDER_BYTES];
	char *real;
	bool there;

	snprintf(path, sizeof(path), "%s/%s", own, way);
	real = realpath(path, NULL);
	if (real == NULL)
		return false;
	there = snprintf(folder, VERBS_FOLDER_BYTES, "%s", real) < VERBS_FOLDER_BYTES;
	free(real);
	snprintf(path, sizeof(path), "%s/" LIBRARY, folder);
	return there && access(path, R_OK) == 0;
}

bool
verbs_find_library(char folder[VERBS_FOLDER_BYTES])
{
	char own[VERBS_FOLDER_BYTES];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	if (n > 0) {
		own[n] = 0;
		slash = strrchr(own, '/');
		*slash = 0;
		if (library_is_in(own, LIBRARY_INSTALLED, folder) ||
			library_is_in(own, LIBRARY_BUILT, folder))
			return true;
	}
	app_complain(LIBRARY " of dpdk-ndd is neither at %s/%s nor in the build: was it built "
			     "(libibverbs-dev)?",
		n > 0 ? own : "?", LIBRARY_INSTALLED);
	return false;
}

/* ---- the daemon ---------------------------------------------------------------------- */

#define DEVICES_MAX 256u

static const char *
socket_name(void)
{
	const char *path = getenv("NDD_SOCKET");

	return path != NULL ? path : "its usual socket";
}

static const char *
address_text(const struct sockaddr_storage *ss, char text[APP_ADDR_TEXT])
{
	struct app_addr a = {.ss = *ss, .bytes = sizeof(*ss)};

	return app_addr_text(&a, false, text);
}

/* Devices have the numbers of their addresses in the daemon's list. */
static bool
describe_device(unsigned number, const struct sockaddr_storage *address)
{
	struct nd_adapter_info info;
	struct nd_adapter *adapter;
	char text[APP_ADDR_TEXT];
	nd_status st;

	address_text(address, text);
	st = nd_adapter_open((const struct sockaddr *)address, sizeof(*address), NULL, &adapter);
	if (st != ND_SUCCESS) {
		app_fail(st, "ndd%u, %s", number, text);
		return false;
	}
	(void)nd_adapter_query(adapter, &info);
	fprintf(stderr, "ndd%u: %s, path MTU %u, dpdk-ndd %s\n", number, text, info.path_mtu,
		info.daemon_version);
	(void)nd_adapter_close(adapter);
	return true;
}

static void
print_devices(const struct sockaddr_storage *list, uint32_t count)
{
	char text[APP_ADDR_TEXT];

	fprintf(stderr, "ndd-verbs: dpdk-ndd at %s:", socket_name());
	for (uint32_t i = 0; i < count; i++)
		fprintf(stderr, "%s ndd%u %s", i == 0 ? "" : ",", i, address_text(&list[i], text));
	fputc('\n', stderr);
}

bool
verbs_check_daemon(bool closely, bool quiet)
{
	static struct sockaddr_storage list[DEVICES_MAX];
	uint32_t count = DEVICES_MAX;
	nd_status st = nd_query_addresses(NULL, list, &count);
	bool ok = true;

	if (st != ND_SUCCESS && st != ND_BUFFER_OVERFLOW) {
		app_fail(st, "no device");
		return false;
	}
	if (count == 0) {
		app_complain(
			"the daemon at %s has no address, so there is no device", socket_name());
		return false;
	}
	if (count > DEVICES_MAX)
		count = DEVICES_MAX;
	if (!quiet)
		print_devices(list, count);
	for (uint32_t i = 0; closely && i < count; i++)
		ok = describe_device(i, &list[i]) && ok;
	return ok;
}
