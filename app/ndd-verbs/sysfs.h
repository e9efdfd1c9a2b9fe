/* SPDX-License-Identifier: BSD-3-Clause */
/* What sysfs says of RDMA devices, for programs that look there instead of asking libibverbs. */
#ifndef VERBS_SYSFS_H
#define VERBS_SYSFS_H

#include <stdbool.h>

#include "devices.h"
#include "tree.h"

/* The classes that are written. */
#define VERBS_CLASS_DEVICES "infiniband"
#define VERBS_CLASS_UVERBS  "infiniband_verbs"

/* Lines of the port's files "state" and "phys_state". */
#define VERBS_PORT_ACTIVE  "4: ACTIVE"
#define VERBS_PORT_DOWN	   "1: DOWN"
#define VERBS_PHYS_LINK_UP "5: LinkUp"
#define VERBS_PHYS_DOWN	   "3: Disabled"

/* Write what is said of the device with that address, of a daemon of that version, into t, the
 * device's own folder: all but counters; its port is active. false: complained. */
bool verbs_sysfs_device(
	struct verbs_tree *t, const struct sockaddr_storage *address, const char *version);
/* Write both classes, as files and folders, into the folder class. false: complained. */
bool verbs_sysfs_write(int class, const struct verbs_devices *d);

#endif
