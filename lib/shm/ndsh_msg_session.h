/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages about sessions and their memory. */
#ifndef NDSH_MSG_SESSION_H
#define NDSH_MSG_SESSION_H

#include "ndsh_msg_hdr.h"

struct ndsh_hello { /* request */
	struct ndsh_msg_hdr h;
	uint32_t magic;
	uint16_t abi_major, abi_minor;
	uint64_t features; /* bits that the sender knows; the answer holds those of both */
	uint16_t swr_bytes, rwr_bytes, cqe_bytes, sge_bytes, qp_page_bytes, cq_page_bytes,
		session_page_bytes, reserved;
};
struct ndsh_hello_reply { /* NDSH_ERR_NOT_SUPPORTED: reason says which value and what to do */
	struct ndsh_msg_hdr h;
	uint16_t abi_major, abi_minor;
	uint32_t daemon_pid;
	uint64_t features;
	char version[32];
	char reason[160];
};
struct ndsh_address_list {
	struct ndsh_msg_hdr h;
};
struct ndsh_address_page { /* the addresses from the first-th on */
	struct ndsh_msg_hdr h;
	uint32_t first;
	uint32_t own; /* from minor version 13 on, 1: of those of the session's adapter */
};
#define NDSH_ADDRESS_LIST_MAX 32u
struct ndsh_address_list_reply { /* to ADDRESS_LIST, the first ones; to ADDRESS_PAGE: if it is full
				  * there may be more */
	struct ndsh_msg_hdr h;
	uint32_t count, reserved;
	struct ndsh_addr addr[NDSH_ADDRESS_LIST_MAX];
};
struct ndsh_route { /* request: a destination; reply: the local address that it is reached from */
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* port: 0 */
};
/*
 * ADAPTER, from minor version 13 on: an adapter by its id, or by an address if the id is 0. The
 * reply has the address that was named, or the first one that the client may use; OPEN takes it.
 * NDSH_ERR_INVALID_ID: there is no such adapter; NDSH_ERR_ADDRESS_NOT_LOCAL: none has this address,
 * or it has none for this client.
 */
struct ndsh_adapter {
	struct ndsh_msg_hdr h;
	uint64_t adapter_id;
	struct ndsh_addr addr; /* port: ignored */
};
struct ndsh_adapter_reply {
	struct ndsh_msg_hdr h;
	uint64_t adapter_id; /* of a port of the daemon, the same as long as that lives; never 0 */
	uint64_t max_window_bytes;
	uint16_t vendor_id, device_id; /* PCI's, of the device behind the port; 0: it is none */
	uint32_t reserved;
	struct ndsh_addr addr; /* port: 0 */
};
#define NDSH_PLACE_ANY	   0xffffffffu
#define NDSH_OPEN_NO_FLUSH 0x1u /* the peer's disconnect is an event, and cancels nothing */
struct ndsh_open {
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* a local address of the daemon; port ignored */
	uint32_t placement;    /* shard wanted, or NDSH_PLACE_ANY */
	uint32_t flags;	       /* NDSH_OPEN_*; 0 before minor version 3 */
};
/* fd: wake fd, an eventfd, which the client only adds to and the daemon never reads. */
struct ndsh_open_reply {
	struct ndsh_msg_hdr h;
	uint64_t adapter_id;
	uint64_t max_mr_bytes, max_transfer_bytes;
	uint32_t shard, numa_node;
	/* max_depth: of either queue; depths are powers of two. */
	uint32_t max_sge, max_inline, max_depth, max_cq_depth, max_read_limit, max_qps, max_cqs,
		max_mrs;
	uint32_t path_mtu;	/* bytes */
	uint32_t max_srq_depth; /* 0: no shared receive queues */
};
struct ndsh_ev_session_end {
	struct ndsh_msg_hdr h;
	char reason[160];
};
struct ndsh_ev_refusal { /* h.cookie is the request's, h.status what the reply will say */
	struct ndsh_msg_hdr h;
	char reason[160];
};

/* ---- memory: daemon creates and seals SHRINK|GROW (CREATE, fd in the reply); client maps and
 * writes to each page, then MAPPED; daemon maps, seals FUTURE_WRITE|SEAL, refuses it if a page is
 * missing (INVALID_STATE), populates; only then is it live. MAPPED and DESTROY are answered when
 * that is done, and answers to later requests may come first.
 * Segment 0 is the first created; its first bytes are the session page. ---- */
struct ndsh_segment_create {
	struct ndsh_msg_hdr h;
	uint64_t bytes; /* multiple of NDSH_PAGE_BYTES; before minor 7 of NDSH_SEGMENT_UNIT */
};
struct ndsh_segment_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t segment, reserved;
	uint64_t bytes;
};
struct ndsh_segment_mapped {
	struct ndsh_msg_hdr h;
	uint32_t segment, reserved;
	/* Where the client has it mapped, or will, before it names an address there: those in SGEs
	 * are relative to this. */
	uint64_t client_va;
};

#endif
