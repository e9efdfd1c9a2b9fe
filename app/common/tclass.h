/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APP_TCLASS_H
#define APP_TCLASS_H

#include <stdbool.h>
#include <stdint.h>

/* Parse a traffic class as other tools take it: 0..255 with the DSCP in the upper six bits. The
 * lower two bits belong to ECN and must be 0, since the daemon decides about them. Returns false
 * after it has printed a complaint about option. */
bool app_parse_tclass(const char *option, const char *text, uint32_t *dscp);

#endif
