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

/* Its program's version, zero padded. Ends that are older than 5.70 (perftest 4.5) speak otherwise.
 */
#define PERFTEST_VERSION_BYTES 16u
#define PERFTEST_VERSION       "6.06"
#define PERFTEST_VERSION_MIN   5.70

/* A queue pair of one end. */
struct perftest_dest {
	uint32_t out_reads; /* reads and atomics that it may have outstanding at a time */
	uint32_t number, psn;
	uint32_t rkey; /* as a number: a token of ours in host byte order */
	uint64_t address;
	uint8_t gid[16];
};

/* Over TCP: text with colons in between, and the end of the string. */
#define PERFTEST_LINE_BYTES 108u
void perftest_dest_to_line(const struct perftest_dest *d, char line[PERFTEST_LINE_BYTES]);
/* false: not such a line. */
bool perftest_dest_of_line(const char line[PERFTEST_LINE_BYTES], struct perftest_dest *d);

/* By sends: a C structure of perftest's in network byte order. */
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
/* 0: no such digit. */
uint32_t perftest_mtu_of_digit(char digit);

#endif
