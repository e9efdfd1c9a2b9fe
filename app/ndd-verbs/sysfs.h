/* SPDX-License-Identifier: BSD-3-Clause */
/* What sysfs says of RDMA devices, for programs that look there instead of asking libibverbs. */
#ifndef VERBS_SYSFS_H
#define VERBS_SYSFS_H

#include <stdbool.h>

#include "devices.h"

/* The classes that are written. */
#define VERBS_CLASS_DEVICES "infiniband"
#define VERBS_CLASS_UVERBS  "infiniband_verbs"

/* Write both classes, as files and folders, into the folder class. false: complained. */
bool verbs_sysfs_write(int class, const struct verbs_devices *d);

#endif
