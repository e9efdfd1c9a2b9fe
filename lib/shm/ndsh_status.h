/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI, part 5: statuses of replies and events: ndsh_msg_hdr.status.
 *
 * The names are the daemon's; each library translates them to what its own callers know. The
 * numbers are frozen: libraries and daemons of other versions send and compare them. Nothing but
 * equality has a meaning: neither the sign nor a single bit says whether it is a failure. Only OK
 * means that a reply has a body; after PENDING an event brings the outcome.
 */
#ifndef NDSH_STATUS_H
#define NDSH_STATUS_H

#include <assert.h>
#include <stdint.h>

/* X(name, number): each status once, in the order of the numbers. */
#define NDSH_STATUS_LIST(X)                                                                        \
	X(OK, 0x00000000)                                                                          \
	/* Own DISCONNECT: done, though the peer never answered. */                                \
	X(UNANSWERED, 0x00000102)                                                                  \
	X(PENDING, 0x00000103)                                                                     \
	/* More lies in a queue than its new ring takes. */                                        \
	X(ERR_OVERFLOW, 0x80000005)                                                                \
	/* In use by other objects, or by a change that is under way. */                           \
	X(ERR_BUSY, 0x80000011)                                                                    \
	X(ERR_ACCESS, 0xC0000005)                                                                  \
	/* An id in the request names no object of the session. */                                 \
	X(ERR_INVALID_ID, 0xC0000008)                                                              \
	X(ERR_INVALID_PARAMETER, 0xC000000D)                                                       \
	/* Never possible with an object of that kind. */                                          \
	X(ERR_INVALID_REQUEST, 0xC0000010)                                                         \
	/* Attributes that this change of state needs are missing, or it takes none such. */       \
	X(ERR_ATTRIBUTE_MASK, 0xC0000030)                                                          \
	/* The port is a listener's or another connector's. */                                     \
	X(ERR_PORT_IN_USE, 0xC0000043)                                                             \
	X(ERR_NO_RESOURCES, 0xC000009A)                                                            \
	X(ERR_TIMEOUT, 0xC00000B5)                                                                 \
	X(ERR_NOT_SUPPORTED, 0xC00000BB)                                                           \
	/* The destination is no address that a peer can have. */                                  \
	X(ERR_BAD_DESTINATION, 0xC00000CC)                                                         \
	X(ERR_INTERNAL, 0xC00000E5)                                                                \
	/* The local address is none of the daemon's, or none of the session's adapter. */         \
	X(ERR_ADDRESS_NOT_LOCAL, 0xC0000141)                                                       \
	/* Not possible in the object's present state. */                                          \
	X(ERR_INVALID_STATE, 0xC0000184)                                                           \
	/* More private data than the message has room for. */                                     \
	X(ERR_PRIVATE_DATA_SIZE, 0xC0000206)                                                       \
	X(ERR_NO_FREE_PORT, 0xC0000209)                                                            \
	/* Connections still have this address and port, or this pair of them. */                  \
	X(ERR_ADDRESS_IN_USE, 0xC000020A)                                                          \
	X(ERR_REFUSED, 0xC0000236)                                                                 \
	X(ERR_NOT_CONNECTED, 0xC000023A)                                                           \
	X(ERR_CONNECTED, 0xC000023B)                                                               \
	X(ERR_NETWORK_UNREACHABLE, 0xC000023C)                                                     \
	X(ERR_HOST_UNREACHABLE, 0xC000023D)                                                        \
	X(ERR_ABORTED, 0xC0000241)                                                                 \
	X(ERR_SESSION_ENDED, 0xC00002B6)

#define NDSH_STATUS_ENUMERATOR(name, number) NDSH_##name = (int32_t)(number),
enum ndsh_status { NDSH_STATUS_LIST(NDSH_STATUS_ENUMERATOR) };
#undef NDSH_STATUS_ENUMERATOR
static_assert(sizeof(enum ndsh_status) == sizeof(int32_t), "ABI");

/* The name, "ERR_TIMEOUT" and the like; NULL: none of them, so from a daemon of another version. */
const char *ndsh_status_name(int32_t status);

#endif
