/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and sizes as people write them. */
#ifndef APP_NUMBER_H
#define APP_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal or 0x..., the whole text, min <= value <= max. */
bool app_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);
/* The same with K, M or G (powers of 1024) behind the number. */
bool app_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes);
/* Seconds, with a fraction if wanted: "2", "0.5". */
bool app_parse_seconds(const char *text, double min, double max, double *seconds);

#endif
