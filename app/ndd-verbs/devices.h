/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's devices: one for each address that it serves, numbered as its list has them. */
#ifndef VERBS_DEVICES_H
#define VERBS_DEVICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define VERBS_DEVICES_MAX 256u

struct verbs_devices {
	struct sockaddr_storage address[VERBS_DEVICES_MAX];
	uint32_t count;
	char version[32]; /* the daemon's; empty until verbs_devices_ask_version() */
};

/* Ask the daemon. false: complained, as there is none, or it has no address. */
bool verbs_devices_find(struct verbs_devices *d);
/* false: complained. */
bool verbs_devices_ask_version(struct verbs_devices *d);
/* Name them on stderr, in one line. */
void verbs_devices_name(const struct verbs_devices *d);
/* Open each, and describe it on stderr. false: complained of one or more. */
bool verbs_devices_describe(const struct verbs_devices *d);

#endif
