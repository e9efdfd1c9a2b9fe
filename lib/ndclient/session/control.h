/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread of an adapter, and calls to the daemon through it. */
#ifndef ND_CONTROL_H
#define ND_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct nd_call;
LIST_HEAD(nd_call_list, nd_call);

/* Runs once per call with nd_adapter.lock held: in the control thread before it reads any later
 * message, or in the caller if nothing was sent. reply is NULL with ND_DEVICE_REMOVED. The status
 * it returns becomes the call's. */
typedef nd_status nd_reply_hook(void *arg, nd_status st, const void *reply);

struct nd_request {
	struct ndsh_msg_hdr *h; /* of the request, type set */
	void *reply;		/* room of reply_bytes, or NULL */
	int *fd;		/* room for a file descriptor, or NULL */
	nd_reply_hook *hook;	/* or NULL */
	void *arg;
};

/* Send and wait. Not with a lock held, not from the control thread. */
nd_status nd_control_call(struct nd_adapter *a, const struct nd_request *r);
/* The same for requests that only name an object. */
nd_status nd_control_id(struct nd_adapter *a, enum ndsh_msg_type type, uint32_t id);

/* Send a request and do not wait for its reply. It never blocks, so the control thread may call it,
 * and locks may be held. False: the daemon has too much to read, and will not hear of it. */
bool nd_control_tell(const struct nd_adapter *a, const struct ndsh_msg_hdr *h);

nd_status nd_control_start(struct nd_adapter *a);
/* Stop the thread; then nothing completes any more. */
void nd_control_stop(struct nd_adapter *a);
/* Let the control thread read the queue's wake-ups, or leave it to nd_cq_fd(). */
nd_status nd_control_watch(struct nd_adapter *a, struct nd_cq *cq, bool on);

#endif
