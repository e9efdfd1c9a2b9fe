/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon gives up once it has started: ports are open, sockets are bound, lcores run. From
 * then on it serves strangers, and needs little of the kernel.
 */
#ifndef NDD_PRIVILEGE_H
#define NDD_PRIVILEGE_H

#include <stdbool.h>

#include "config/config.h"

/* Before anything is opened: can it be done as configured? False after a log line. */
bool ndd_privilege_prepare(const struct config *cfg);
/* On all threads, for good. False after a log line: the process must end. */
bool ndd_privilege_drop(const struct config *cfg);

#endif
