/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APP_TCLASS_H
#define APP_TCLASS_H

#include <stdbool.h>
#include <stdint.h>

/* A traffic class as other tools take it, 0..255, the DSCP in its upper six bits. False: a
 * complaint was printed. The two bits that are ECN's must be 0: each end decides about its own. */
bool app_parse_tclass(const char *option, const char *text, uint32_t *dscp);

#endif
