/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rping (rdma-core) and nddping say to each other. One ping:
 *
 *	client  SEND   where its source is (struct ping_info)
 *	server  READ   the source
 *	server  SEND   go ahead (the same 16 bytes, zeros)
 *	client  SEND   where its sink is
 *	server  WRITE  what it read into the sink
 *	server  SEND   go ahead
 *
 * and the client compares sink and source. The client disconnects when it is done.
 */
#ifndef NDDPING_PING_PROTO_H
#define NDDPING_PING_PROTO_H

#include <stddef.h>
#include <stdint.h>

#define PING_PORT	7174
#define PING_INFO_BYTES 16
#define PING_BYTES_MIN	26    /* the text in front, with the longest number, and the end */
#define PING_BYTES_MAX	65535 /* rping's largest */
#define PING_BYTES	64    /* rping's default */

struct ping_info {
	uint64_t address;
	uint32_t token; /* as nd_mr_remote_token() gave it: rping wants that order, too */
	uint32_t bytes;
};

/* Big-endian: address, token, size. */
void ping_info_encode(const struct ping_info *info, uint8_t wire[PING_INFO_BYTES]);
void ping_info_decode(const uint8_t wire[PING_INFO_BYTES], struct ping_info *info);

/*
 * rping's contents of ping number n: "rdma-ping-<n>: ", then 'A'..'z' round and round beginning
 * n characters further on, then a zero byte. bytes >= PING_BYTES_MIN, n < 2^31.
 */
void ping_fill(char *buf, size_t bytes, uint32_t n);
/* Offset of the first difference, or bytes if there is none. */
size_t ping_differ(const char *a, const char *b, size_t bytes);

#endif
