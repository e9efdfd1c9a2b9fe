/* SPDX-License-Identifier: BSD-3-Clause */
/* A view of /sys and /dev that shows the daemon's devices as it would the kernel's. */
#ifndef VERBS_VIEW_H
#define VERBS_VIEW_H

#include <stdbool.h>

#include "devices.h"

/* May this process have it? Tries it in another one, as there is no way back. false: complained,
 * unless quiet. */
bool verbs_view_possible(const struct verbs_devices *d, bool quiet);
/*
 * From now on this process and its children see /sys/class/infiniband, /sys/class/infiniband_verbs
 * and /dev/infiniband of the daemon's devices, and nobody else does: a mount namespace, and where
 * the process may not have one for itself, a user namespace around it in which it keeps its user
 * and group. false: complained, and the process is of no use any more.
 */
bool verbs_view_enter(const struct verbs_devices *d);

#endif
