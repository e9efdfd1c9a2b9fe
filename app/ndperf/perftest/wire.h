/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What perftest's two ends send each other before and after a test, in the layout of version 4.5:
 * the same as text over TCP, or in binary by sends of a connection of its own (-R).
 */
#ifndef NDPERF_PERFTEST_WIRE_H
#define NDPERF_PERFTEST_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/addr.h"

/* The version that the programs exchange, padded with zeros. Programs of versions below 5.70
 * (before perftest 4.5) use another protocol. */
#define PERFTEST_VERSION_BYTES 16u
#define PERFTEST_VERSION       "6.06"
#define PERFTEST_VERSION_MIN   5.70

/* A queue pair of one end. */
struct perftest_dest {
	uint32_t out_reads; /* reads and atomics that it may have outstanding at a time */
	uint32_t number, psn;
	uint32_t rkey; /* the remote token, converted to host byte order */
	uint64_t address;
	uint8_t gid[16];
};

/* Over TCP: a string of hexadecimal fields, each of which ends with a colon. */
#define PERFTEST_LINE_BYTES 108u
void perftest_dest_to_line(const struct perftest_dest *d, char line[PERFTEST_LINE_BYTES]);
/* Returns false if line is malformed. */
bool perftest_dest_of_line(const char line[PERFTEST_LINE_BYTES], struct perftest_dest *d);

/* By sends: perftest's struct pingpong_dest in network byte order. */
#define PERFTEST_BLOB_BYTES 56u
void perftest_dest_to_blob(const struct perftest_dest *d, uint8_t blob[PERFTEST_BLOB_BYTES]);
void perftest_dest_of_blob(const uint8_t blob[PERFTEST_BLOB_BYTES], struct perftest_dest *d);

void perftest_gid(const struct app_addr *addr, uint8_t gid[16]);
/* The address that a GID stands for; port 0. */
void perftest_address(const uint8_t gid[16], struct app_addr *addr);

/* What an end has measured, number by number. MiB per second, millions of messages. */
#define PERFTEST_REPORT_WORDS 5u
struct perftest_bw {
	uint64_t bytes, iterations;
	double peak, average, rate;
};
void perftest_bw_to_words(const struct perftest_bw *b, uint64_t words[PERFTEST_REPORT_WORDS]);
void perftest_bw_of_words(const uint64_t words[PERFTEST_REPORT_WORDS], struct perftest_bw *b);

/* A path MTU of 256 to 4096, a power of two, is sent as the digit '1' to '5'. */
char perftest_mtu_digit(uint32_t mtu);
/* Returns 0 if digit is another character. */
uint32_t perftest_mtu_of_digit(char digit);

#endif
