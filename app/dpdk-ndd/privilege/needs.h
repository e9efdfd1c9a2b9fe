/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon's ports need of the kernel while it runs; doc/security.md has the table. */
#ifndef NDD_NEEDS_H
#define NDD_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

/* Capabilities, a bit for each number, that the running daemon needs for its ports. */
uint64_t ndd_needs_caps(const struct config *cfg);
/* Is a program to be taken off an interface? */
bool ndd_needs_bpf(const struct config *cfg);
/* Is there a port whose driver could not be tried? */
bool ndd_needs_unknown(const struct config *cfg);

#endif
