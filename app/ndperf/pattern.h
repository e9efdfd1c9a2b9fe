/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of messages with --verify. Queue pair, message number and offset determine each byte. */
#ifndef NDPERF_PATTERN_H
#define NDPERF_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Added to the queue pair's number for messages from the server to the client. */
#define PATTERN_BACK 0x10000u

void pattern_fill(void *buf, size_t bytes, uint32_t qp, uint64_t message);
/* Returns the offset of the first wrong byte, or bytes if there is none. */
size_t pattern_check(const void *buf, size_t bytes, uint32_t qp, uint64_t message);

#endif
