/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's devices: one for each address that it serves, numbered as its list has them. */
#ifndef VERBS_DEVICES_H
#define VERBS_DEVICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <ndclient.h>

#define VERBS_DEVICES_MAX 256u
#define VERBS_PATH_BYTES  4096

struct verbs_devices {
	struct sockaddr_storage address[VERBS_DEVICES_MAX];
	uint32_t count;
	char version[32]; /* the daemon's; empty until verbs_devices_ask_version() */
};

/* The daemon's control socket. false: complained. */
bool verbs_control_path(char path[VERBS_PATH_BYTES]);
/* Ask the daemon for its addresses, which may be none. */
nd_status verbs_devices_ask(struct verbs_devices *d);
/* Ask it for its version, by the first of them. */
nd_status verbs_devices_version(struct verbs_devices *d);
/* Ask the daemon. false: complained, as there is none, or it has no address. */
bool verbs_devices_find(struct verbs_devices *d);
/* false: complained. */
bool verbs_devices_ask_version(struct verbs_devices *d);
/* Name them on stderr, in one line. */
void verbs_devices_name(const struct verbs_devices *d);
/* Open each, and describe it on stderr. false: complained of one or more. */
bool verbs_devices_describe(const struct verbs_devices *d);

#endif
