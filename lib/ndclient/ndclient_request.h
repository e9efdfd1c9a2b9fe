/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient: asynchronous requests and completion ports. Part of ndclient.h. */
#ifndef NDCLIENT_REQUEST_H
#define NDCLIENT_REQUEST_H

#include "ndclient_status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nd_adapter;
struct nd_port;

/*
 * One request under way. Zero it before its first use. From the call that returned ND_PENDING until
 * the request completed it belongs to the library and must stay in place; a new call may use it
 * again afterwards, without zeroing. Before, a call that is given it returns ND_INVALID_PARAMETER
 * and leaves it alone (R-OV-02). Closing the object of a pending request completes it
 * (ND_CANCELED).
 *
 * Zeroed, it tells its outcome by its status alone, or to the port of its adapter
 * (nd_adapter_bind_port()). flags, event, port and key are the application's, to be set before the
 * call; the library reads them only. All three ways may be used together. Once
 * nd_overlapped_status() or the port has told the outcome, structure and event are the
 * application's, to be used again, freed, or closed (R-OV-06); a thread that the event woke asks
 * for the status first, or uses the structure again. A call that returns an error uses none of
 * them, but the status may say it too.
 *
 * Each completion puts a packet of its own into the port, with the status of that completion. It
 * comes also if the structure was used again, or freed, meanwhile, and names it.
 */
#define ND_REQUEST_EVENT       0x1u /* event is valid */
#define ND_REQUEST_NOT_TO_PORT 0x2u /* complete to no port (R-OV-06) */
#define ND_REQUEST_CALLBACK    0x4u /* call done instead of all else */
struct nd_overlapped;
/*
 * For libraries that build requests of their own on these, and complete them their own way. Called
 * once for a request that was pending, in a thread of the library or one whose call completes the
 * request (cancel, close), while locks are held: it must neither wait nor call this library, and
 * must not touch the object. When it is called, ov is the application's again.
 */
typedef void (*nd_request_callback)(struct nd_overlapped *ov, nd_status status);
struct nd_overlapped {
	nd_status status; /* ND_PENDING while under way, then the outcome (R-OV-02) */
	uint32_t flags;	  /* ND_REQUEST_*, others 0 */
	/* An eventfd with EFD_NONBLOCK, for poll(), select() or epoll: read when the request
	 * begins, written when it completes. */
	int event;
	uint32_t ending; /* the library's: 0 */
	union {
		struct nd_port *port; /* of this request; NULL: the adapter's, if there is one */
		nd_request_callback done; /* with ND_REQUEST_CALLBACK */
	};
	void *key; /* what a port of its own gives along with it */
	void *internal_ptr[2];
};
/* The status now. Waits for nothing but a thread that is just completing the request. What the
 * request wrote is visible if it is not ND_PENDING. */
nd_status nd_overlapped_status(const struct nd_overlapped *ov);
/* Wait until it completed, at most timeout_ms milliseconds (-1: for ever, 0: just look). Returns
 * its status, or ND_TIMEOUT if it is still pending. Several threads may wait for one request. */
nd_status nd_overlapped_wait(struct nd_overlapped *ov, int timeout_ms);

/*
 * Completion ports: a queue of completed requests, in the order they completed in, which any number
 * of threads may take from; each request is given to one of them, once. Those of one object that
 * one event completes, cancelled ones too, stand in order of issue (R-CQ-20), and are there when
 * the cancelling call returns (R-OV-10). A port takes requests of any number of adapters.
 */
nd_status nd_port_create(struct nd_port **port);
/* Always ND_SUCCESS, NULL does nothing. What was not taken is dropped, and so is what comes later,
 * of requests under way and of adapters that are bound to it: these requests complete all the same.
 * Threads that wait in nd_port_get() return with ND_CANCELED; other calls on it are not legal any
 * more. */
nd_status nd_port_close(struct nd_port *port);
/* From now on requests of the adapter's objects go there, with this key, if they have no port of
 * their own. Once for an adapter, until it is closed: ND_INVALID_DEVICE_STATE. */
nd_status nd_adapter_bind_port(struct nd_adapter *adapter, struct nd_port *port, void *key);
/* Queue something of the application's own, as ND_SUCCESS. ov may be NULL, and is not touched. */
nd_status nd_port_post(struct nd_port *port, void *key, struct nd_overlapped *ov);
/*
 * Take the oldest; wait for one at most timeout_ms milliseconds (-1: for ever, 0: don't). Returns
 * the status of the request, also if it failed, with its key and itself; with two NULLs ND_TIMEOUT
 * if there was none (R-OV-12), and ND_CANCELED if the port was closed. key and ov must not be NULL.
 */
nd_status nd_port_get(struct nd_port *port, int timeout_ms, void **key, struct nd_overlapped **ov);

#ifdef __cplusplus
}
#endif
#endif
