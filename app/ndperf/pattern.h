/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of messages under --verify: each byte follows from queue pair, message number and
 * offset. */
#ifndef NDPERF_PATTERN_H
#define NDPERF_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Added to the queue pair's number for messages from the server to the client. */
#define PATTERN_BACK 0x10000u

void pattern_fill(void *buf, size_t bytes, uint32_t qp, uint64_t message);
/* Offset of the first byte that is wrong, or bytes if none is. */
size_t pattern_check(const void *buf, size_t bytes, uint32_t qp, uint64_t message);

#endif
