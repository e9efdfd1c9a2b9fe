/* SPDX-License-Identifier: BSD-3-Clause */
#include "devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/addr.h"
#include "common/fail.h"
#include "shm/ndsh_msg_hdr.h"

static const char *
socket_name(void)
{
	const char *path = getenv("NDD_SOCKET");

	return path != NULL ? path : "its usual socket";
}

/* As libndclient finds it. */
bool
verbs_control_path(char path[VERBS_PATH_BYTES])
{
	const char *named = getenv("NDD_SOCKET"), *folder = getenv("XDG_RUNTIME_DIR");
	int n;

	if (named == NULL && folder != NULL) {
		n = snprintf(path, VERBS_PATH_BYTES, "%s/" NDSH_SOCKET_OF_USER, folder);
		if (n < VERBS_PATH_BYTES && access(path, F_OK) == 0)
			return true;
	}
	if (named == NULL)
		named = NDSH_SOCKET_DEFAULT;
	if (snprintf(path, VERBS_PATH_BYTES, "%s", named) < VERBS_PATH_BYTES)
		return true;
	app_complain("%s: path too long for a socket", named);
	return false;
}

static const char *
address_text(const struct sockaddr_storage *ss, char text[APP_ADDR_TEXT])
{
	struct app_addr a = {.ss = *ss, .bytes = sizeof(*ss)};

	return app_addr_text(&a, false, text);
}

static nd_status
open_device(const struct verbs_devices *d, uint32_t number, struct nd_adapter_info *info)
{
	const struct sockaddr_storage *address = &d->address[number];
	struct nd_adapter *adapter;
	nd_status st;

	st = nd_adapter_open((const struct sockaddr *)address, sizeof(*address), NULL, &adapter);
	if (st != ND_SUCCESS)
		return st;
	(void)nd_adapter_query(adapter, info);
	(void)nd_adapter_close(adapter);
	return ND_SUCCESS;
}

static bool
device_failed(const struct verbs_devices *d, uint32_t number, nd_status st)
{
	char text[APP_ADDR_TEXT];

	app_fail(st, "ndd%u, %s", number, address_text(&d->address[number], text));
	return false;
}

nd_status
verbs_devices_ask(struct verbs_devices *d)
{
	uint32_t count = VERBS_DEVICES_MAX;
	nd_status st = nd_query_addresses(NULL, d->address, &count);

	if (st != ND_SUCCESS && st != ND_BUFFER_OVERFLOW)
		return st;
	d->count = count < VERBS_DEVICES_MAX ? count : VERBS_DEVICES_MAX;
	return ND_SUCCESS;
}

bool
verbs_devices_find(struct verbs_devices *d)
{
	nd_status st = verbs_devices_ask(d);

	if (st != ND_SUCCESS) {
		app_fail(st, "no device");
		return false;
	}
	if (d->count == 0) {
		app_complain(
			"the daemon at %s has no address, so there is no device", socket_name());
		return false;
	}
	return true;
}

nd_status
verbs_devices_version(struct verbs_devices *d)
{
	struct nd_adapter_info info;
	nd_status st = open_device(d, 0, &info);

	if (st == ND_SUCCESS)
		snprintf(d->version, sizeof(d->version), "%s", info.daemon_version);
	return st;
}

bool
verbs_devices_ask_version(struct verbs_devices *d)
{
	nd_status st = verbs_devices_version(d);

	return st == ND_SUCCESS || device_failed(d, 0, st);
}

void
verbs_devices_name(const struct verbs_devices *d)
{
	char text[APP_ADDR_TEXT];

	fprintf(stderr, "ndd-verbs: dpdk-ndd at %s:", socket_name());
	for (uint32_t i = 0; i < d->count; i++)
		fprintf(stderr, "%s ndd%u %s", i == 0 ? "" : ",", i,
			address_text(&d->address[i], text));
	fputc('\n', stderr);
}

bool
verbs_devices_describe(const struct verbs_devices *d)
{
	struct nd_adapter_info info;
	char text[APP_ADDR_TEXT];
	bool ok = true;

	for (uint32_t i = 0; i < d->count; i++) {
		nd_status st = open_device(d, i, &info);

		if (st != ND_SUCCESS) {
			ok = device_failed(d, i, st);
			continue;
		}
		fprintf(stderr, "ndd%u: %s, path MTU %u, dpdk-ndd %s\n", i,
			address_text(&d->address[i], text), info.path_mtu, info.daemon_version);
	}
	return ok;
}
