/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memif 2.0, as DPDK, libmemif and VPP speak it: messages over a socket of packets, and rings in
 * shared memory. The client has the memory, and gives the server its files. Both rings have the
 * client's buffers: at the head it hands over slots, with a frame in the ring to the server and
 * empty in the other; behind the tail the server hands them back.
 */
#ifndef NDD_MEMIF_PROTO_H
#define NDD_MEMIF_PROTO_H

#include <assert.h>
#include <stdint.h>

#define MEMIF_COOKIE	     0x3E31F20u
#define MEMIF_VERSION	     0x0200u
#define MEMIF_TEXT_BYTES     32u
#define MEMIF_SECRET_BYTES   24u
#define MEMIF_REASON_BYTES   96u
#define MEMIF_MESSAGE_BYTES  128u
#define MEMIF_LOG2_RING_MAX  14u
#define MEMIF_MODE_ETHERNET  0u
#define MEMIF_RING_TO_SERVER 1u /* flag of MEMIF_ADD_RING */
#define MEMIF_DESC_NEXT	     1u /* the frame goes on in the next slot */
#define MEMIF_MASK_INT	     1u /* the ring's reader polls */

enum memif_type {
	MEMIF_NONE,
	MEMIF_ACK,
	MEMIF_HELLO,
	MEMIF_INIT,
	MEMIF_ADD_REGION,
	MEMIF_ADD_RING,
	MEMIF_CONNECT,
	MEMIF_CONNECTED,
	MEMIF_DISCONNECT,
};

struct memif_hello {
	char name[MEMIF_TEXT_BYTES];
	uint16_t min_version, max_version;
	uint16_t max_region, max_ring_to_client, max_ring_to_server; /* the highest index */
	uint8_t max_log2_ring;
} __attribute__((packed));

struct memif_init {
	uint16_t version;
	uint32_t id;
	uint8_t mode;
	char secret[MEMIF_SECRET_BYTES];
	char name[MEMIF_TEXT_BYTES];
} __attribute__((packed));

struct memif_add_region {
	uint16_t index;
	uint64_t bytes;
} __attribute__((packed));

struct memif_add_ring {
	uint16_t flags, index, region;
	uint32_t offset; /* in the region */
	uint8_t log2_ring;
	uint16_t private_hdr_size;
} __attribute__((packed));

struct memif_disconnect {
	uint32_t code;
	char reason[MEMIF_REASON_BYTES];
} __attribute__((packed));

struct memif_message {
	uint16_t type;
	union {
		struct memif_hello hello;
		struct memif_init init;
		struct memif_add_region add_region;
		struct memif_add_ring add_ring;
		struct memif_disconnect disconnect;
		char name[MEMIF_TEXT_BYTES]; /* of MEMIF_CONNECT and MEMIF_CONNECTED */
		uint8_t pad[MEMIF_MESSAGE_BYTES - 2];
	};
} __attribute__((packed));
static_assert(sizeof(struct memif_message) == MEMIF_MESSAGE_BYTES, "as it is sent");

struct memif_desc {
	uint16_t flags, region;
	uint32_t length; /* of the data; of an empty buffer, its room */
	uint32_t offset; /* of the buffer in its region */
	uint32_t metadata;
};
static_assert(sizeof(struct memif_desc) == 16, "as it is shared");

struct memif_shared_ring {
	_Alignas(64) uint32_t cookie;
	uint16_t flags, head;
	_Alignas(64) uint16_t tail;
	_Alignas(64) struct memif_desc desc[];
};
static_assert(sizeof(struct memif_shared_ring) == 128, "as it is shared");

#endif
