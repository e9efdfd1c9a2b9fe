/* SPDX-License-Identifier: BSD-3-Clause */
/* A reader of classic pcap files, Ethernet, this machine's byte order. */
#ifndef TEST_PCAP_H
#define TEST_PCAP_H

#include <stddef.h>
#include <stdint.h>

struct pcap_file {
	uint8_t *data;
	size_t bytes, at;
};

/* path is relative to tests/data; fails the test if it is no such file. */
void pcap_open(struct pcap_file *f, const char *path);
/* The next frame, whole; NULL at the end. */
const uint8_t *pcap_next(struct pcap_file *f, size_t *frame_bytes);
void pcap_close(struct pcap_file *f);

#endif
