/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndkpi: the dispatch tables of NDK, versions 1.1 and 1.2, in user space, over libndclient.
 * Types, tables and statuses are NDK's; a consumer opens an adapter by NdkOpenAdapter() and goes on
 * as in the kernel. What a call does is ruled in libndclient's headers, whose call is named at
 * each; what differs stands here.
 *
 * Requests. A call that takes a completion callback returns STATUS_PENDING, and the callback comes
 * once, with the outcome, perhaps before the call has returned; or it returns something else, which
 * is the outcome, and no callback comes. Creates: by STATUS_SUCCESS the object is in the out
 * pointer; by STATUS_PENDING it comes through the callback alone, and the out pointer is not
 * written (R-LIFE-06). A callback that is not marked as optional must be given:
 * STATUS_INVALID_PARAMETER. STATUS_INSUFFICIENT_RESOURCES: no memory; nothing is under way then.
 *
 * Closes never fail (R-LIFE-07): they pend, and the callback comes when all requests of the object
 * have completed, with STATUS_CANCELLED if they were under way, all its event callbacks have
 * returned, and all that rests on it is closed (R-LIFE-08, R-LIFE-09). No call on the object is
 * legal from the close on.
 *
 * Levels. What NDK says of IRQL means here:
 *
 * - "any level": may be called in any callback and with any lock of the consumer's held. It waits
 *   for no callback, no peer and not for the daemon.
 * - "a round trip": as that, but it waits for the daemon's answer, some microseconds.
 * - "passive": may wait for callbacks, so it is refused in a callback: STATUS_INVALID_DEVICE_STATE.
 *
 * Callbacks must not wait for other callbacks, and one that takes long delays others. Those of
 * completion queues, shared receive queues and listeners of one adapter run one at a time in a
 * thread of libndclient; completions of requests and closes, and disconnect events, one at a time
 * in a thread of this library, which also waits for the running callback of an object that is
 * closed. Both have all signals blocked. A callback may close the object that it is of, and any
 * other.
 *
 * Objects of one adapter only can be used together; another one's, or one of another type, is
 * STATUS_INVALID_PARAMETER. Pointers to objects must be valid. Posts to one queue of a queue pair,
 * and polling and arming one completion queue, are for one thread at a time.
 */
#ifndef NDKPI_H
#define NDKPI_H

#include "ndkpi_object.h"

#include "ndkpi_memory.h"

#include "ndkpi_queue.h"

#include "ndkpi_qp.h"

#include "ndkpi_connection.h"

#include "ndkpi_adapter.h"

#endif
