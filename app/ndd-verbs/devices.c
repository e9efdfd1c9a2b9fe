/* SPDX-License-Identifier: BSD-3-Clause */
#include "devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/addr.h"
#include "common/fail.h"

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

static bool
open_device(const struct verbs_devices *d, uint32_t number, struct nd_adapter_info *info)
{
	const struct sockaddr_storage *address = &d->address[number];
	struct nd_adapter *adapter;
	char text[APP_ADDR_TEXT];
	nd_status st;

	st = nd_adapter_open((const struct sockaddr *)address, sizeof(*address), NULL, &adapter);
	if (st != ND_SUCCESS) {
		app_fail(st, "ndd%u, %s", number, address_text(address, text));
		return false;
	}
	(void)nd_adapter_query(adapter, info);
	(void)nd_adapter_close(adapter);
	return true;
}

bool
verbs_devices_find(struct verbs_devices *d)
{
	uint32_t count = VERBS_DEVICES_MAX;
	nd_status st = nd_query_addresses(NULL, d->address, &count);

	if (st != ND_SUCCESS && st != ND_BUFFER_OVERFLOW) {
		app_fail(st, "no device");
		return false;
	}
	if (count == 0) {
		app_complain(
			"the daemon at %s has no address, so there is no device", socket_name());
		return false;
	}
	d->count = count < VERBS_DEVICES_MAX ? count : VERBS_DEVICES_MAX;
	return true;
}

bool
verbs_devices_ask_version(struct verbs_devices *d)
{
	struct nd_adapter_info info;

	if (!open_device(d, 0, &info))
		return false;
	snprintf(d->version, sizeof(d->version), "%s", info.daemon_version);
	return true;
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
		if (!open_device(d, i, &info)) {
			ok = false;
			continue;
		}
		fprintf(stderr, "ndd%u: %s, path MTU %u, dpdk-ndd %s\n", i,
			address_text(&d->address[i], text), info.path_mtu, info.daemon_version);
	}
	return ok;
}
