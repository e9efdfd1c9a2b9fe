/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol of rping (rdma-core) and nddping. One ping:
 *
 *	client  SEND   where its source is (struct ping_info)
 *	server  READ   the source
 *	server  SEND   go ahead (16 bytes as well, zeros)
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
#define PING_BYTES_MIN	26    /* the leading text with the longest number, and the final zero */
#define PING_BYTES_MAX	65535 /* rping's largest */
#define PING_BYTES	64    /* rping's default */

struct ping_info {
	uint64_t address;
	uint32_t token; /* in the byte order of nd_mr_remote_token(), which is rping's, too */
	uint32_t bytes;
};

/* On the wire: address, token and size, big-endian. */
void ping_info_encode(const struct ping_info *info, uint8_t wire[PING_INFO_BYTES]);
void ping_info_decode(const uint8_t wire[PING_INFO_BYTES], struct ping_info *info);

/*
 * Fill buf with rping's contents of ping number n: "rdma-ping-<n>: ", then the characters 'A' to
 * 'z' over and over, beginning n characters after 'A', then a zero byte. Requires
 * bytes >= PING_BYTES_MIN and n < 2^31.
 */
void ping_fill(char *buf, size_t bytes, uint32_t n);
/* Returns the offset of the first difference, or bytes if there is none. */
size_t ping_differ(const char *a, const char *b, size_t bytes);

#endif
