/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/pcap.h"

#define PCAP_MAGIC_US 0xa1b2c3d4u

struct file_hdr {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snap_bytes, link_type;
};
struct frame_hdr {
	uint32_t sec, usec, captured_bytes, wire_bytes;
};

void
pcap_open(struct pcap_file *f, const char *path)
{
	char full[512];
	struct file_hdr h;
	FILE *in;
	long size;

	snprintf(full, sizeof(full), "%s/%s", TEST_DATA_DIR, path);
	in = fopen(full, "rb");
	cr_assert_not_null(in, "%s", full);
	fseek(in, 0, SEEK_END);
	size = ftell(in);
	rewind(in);
	cr_assert_geq(size, (long)sizeof(h));
	*f = (struct pcap_file){.data = malloc((size_t)size), .bytes = (size_t)size};
	cr_assert_eq(fread(f->data, 1, f->bytes, in), f->bytes);
	fclose(in);
	memcpy(&h, f->data, sizeof(h));
	cr_assert(h.magic == PCAP_MAGIC_US && h.link_type == 1, "%s: no Ethernet pcap", full);
	f->at = sizeof(h);
}

const uint8_t *
pcap_next(struct pcap_file *f, size_t *frame_bytes)
{
	struct frame_hdr h;
	const uint8_t *frame;

	if (f->at == f->bytes)
		return NULL;
	cr_assert_leq(f->at + sizeof(h), f->bytes);
	memcpy(&h, f->data + f->at, sizeof(h));
	cr_assert_eq(h.captured_bytes, h.wire_bytes);
	frame = f->data + f->at + sizeof(h);
	f->at += sizeof(h) + h.captured_bytes;
	cr_assert_leq(f->at, f->bytes);
	*frame_bytes = h.captured_bytes;
	return frame;
}

void
pcap_close(struct pcap_file *f)
{
	free(f->data);
}
