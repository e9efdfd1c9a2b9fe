/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient: arena, protection domains, memory regions and windows. Part of ndclient.h. */
#ifndef NDCLIENT_MEMORY_H
#define NDCLIENT_MEMORY_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arena: memory that the daemon can reach without a copy -------------------------- */

/* bytes of zeroed memory, aligned to 64 bytes (from 4 KiB on to that, from 2 MiB on to that); NULL
 * if there is none left or bytes is 0. A region of the whole block is always possible, up to
 * max_registration_bytes. */
void *nd_alloc(struct nd_adapter *a, size_t bytes);
/* Give it back; NULL does nothing. Deregister its regions first; what is fast-registered there may
 * become unusable. Aborts if p is no block of a. */
void nd_free(struct nd_adapter *a, void *p);

/* ---- protection domain, memory region ------------------------------------------------ */

/* Regions can be used by queue pairs of the same domain. */
nd_status nd_pd_create(struct nd_adapter *a, struct nd_pd **pd);
/* ND_PENDING: regions, windows, queue pairs or shared receive queues of it are left. */
nd_status nd_pd_close(struct nd_pd *pd);

#define ND_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001u
#define ND_MR_FLAG_ALLOW_REMOTE_READ  0x00000002u
#define ND_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005u /* local write too (R-MR-03) */
#define ND_MR_FLAG_RDMA_READ_SINK     0x00000008u /* accepted, needs nothing here (R-MR-10) */
/* Pages of memory that is not of nd_alloc() are made when used first, not now (R-MR-11). */
#define ND_MR_FLAG_DO_NOT_SECURE_VM 0x80000000u
/*
 * A region: memory that requests and peers may name by a token. It has one buffer at a time, from
 * nd_mr_register() to nd_mr_deregister(), and can be used again then, any number of times; the same
 * memory may be in any number of regions (R-MR-01). Before it is registered its tokens are 0.
 *
 * Any memory of the process will do. That of nd_alloc() the daemon reaches by itself. Other memory
 * (heap, stack, maps of files) this library moves, in a thread of its own and in the calls that
 * take results: it costs a copy, and a process that is stopped can't be read or written then. Don't
 * unmap what is registered: the copy would be a fault of this process. Large blocks can be adopted
 * instead (ndclient_adopt.h).
 */
nd_status nd_mr_create(struct nd_pd *pd, struct nd_mr **mr);
/*
 * Register memory [buf, buf+bytes) with ND_MR_FLAG_* rights; local read is always granted.
 * With ov always ND_PENDING if it succeeds, and the outcome comes there; with NULL the call returns
 * it. The tokens are there when it completed. ND_INVALID_PARAMETER: buf is NULL, or more than
 * max_registration_bytes; ND_INVALID_BUFFER_SIZE: 0 bytes; ND_INVALID_PARAMETER_3: unknown flags;
 * ND_ACCESS_VIOLATION: memory that is not there, or can't be written and flags want it (R-MR-04,
 * R-MR-05); ND_NOT_SUPPORTED: memory that is not of nd_alloc() of this adapter, and the daemon is
 * too old for it, or for atomics there; ND_INVALID_DEVICE_STATE: the region is registered,
 * or being (de)registered; ND_INSUFFICIENT_RESOURCES. Outcome: ND_SUCCESS or that.
 */
nd_status nd_mr_register(
	struct nd_mr *mr, void *buf, size_t bytes, uint32_t flags, struct nd_overlapped *ov);
/*
 * When it completes, no request reaches the memory through this region any more; those that still
 * try fail. ov as above. ND_DEVICE_BUSY, at once: a window is bound to it, nothing happened
 * (R-MR-06); ND_INVALID_DEVICE_STATE: not registered.
 */
nd_status nd_mr_deregister(struct nd_mr *mr, struct nd_overlapped *ov);
/*
 * End a registration or deregistration that is under way: when this returns, it is complete. With
 * ND_CANCELED, and the region is as it was before, if it could still be taken back; else with its
 * own outcome, for which this call waits (R-OV-10, R-OV-11). Also of one that another thread made
 * without ov. ND_SUCCESS. Any thread, also in a callback.
 */
nd_status nd_mr_cancel(struct nd_mr *mr);
/*
 * Close it; one that is registered is deregistered first, and requests that still use it fail.
 * ND_PENDING: a window is bound to it. Peers reach the memory through that window as before; the
 * region goes, and its memory is free, when the last binding has ended and the library knows, from
 * a result or because window or queue pair were closed (R-MR-07). nd_close() can tell when.
 */
nd_status nd_mr_close(struct nd_mr *mr);
/* For nd_sge.token. */
uint32_t nd_mr_local_token(const struct nd_mr *mr);
/*
 * For the peer's read and write. The four bytes are in the order of the wire: send them as they lie
 * in memory, whatever the byte order of the two machines (R-MR-09). All remote tokens are so, here
 * and of windows; addresses are numbers.
 */
uint32_t nd_mr_remote_token(const struct nd_mr *mr);

/* ---- memory window ------------------------------------------------------------------- */

/*
 * A window gives the peer of one connection, and no other, a part of a region, and takes it back
 * when it is invalidated: by nd_qp_invalidate(), by the peer's send with the token, or by the end
 * of the queue pair. All of these are much cheaper than registering. The application tells the peer
 * address, length and token in a message of its own, and whether the peer may invalidate
 * (R-INV-10).
 *
 * It counts as bound from nd_qp_bind() on until the application could know better: it took the
 * result of nd_qp_invalidate(), of the receive that came with the token, or a failed one of the
 * queue pair; or an invalidate with SILENT_SUCCESS was done; or the queue pair is dead or closed.
 */
/* ND_NOT_SUPPORTED: the daemon is older than windows. */
nd_status nd_mw_create(struct nd_pd *pd, struct nd_mw **mw);
/* A bound window is invalidated silently (R-MW-09). Not between nd_qp_bind() or nd_qp_invalidate()
 * and the end of that request: it would fail. */
nd_status nd_mw_close(struct nd_mw *mw);
/* For the peer's read and write: valid as soon as nd_qp_bind() has returned, another one after each
 * (R-MW-06); 0 before the first. In the order of the wire, as a region's. */
uint32_t nd_mw_remote_token(const struct nd_mw *mw);

#ifdef __cplusplus
}
#endif

#endif
