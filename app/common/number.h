/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and sizes as users write them. All functions return false if text is malformed or out of
 * range. */
#ifndef APP_NUMBER_H
#define APP_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* A decimal or 0x... number that fills the whole text, min <= value <= max. */
bool app_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);
/* The same; K, M or G (powers of 1024) may follow the number. */
bool app_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes);
/* Seconds with or without a fraction: "2", "0.5". */
bool app_parse_seconds(const char *text, double min, double max, double *seconds);

#endif
