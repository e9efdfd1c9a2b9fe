/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration of a daemon that was given none: of --udp. */
#ifndef NDD_LONE_H
#define NDD_LONE_H

#include <stdbool.h>
#include <stddef.h>

struct config;

/* The kernel's sockets at all addresses, one lcore on a CPU that the process may use, no huge
 * pages, and the control socket in the user's own run-time directory. False: err says why. */
bool ndd_lone_config(struct config *c, char *err, size_t err_bytes);

#endif
