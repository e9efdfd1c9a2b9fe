/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters: opening, closing. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/face/profile.h"
#include "ndclient/mem/admin.h"
#include "ndclient/mem/adopt.h"
#include "ndclient/mem/arena.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/segment.h"
#include "ndclient/mem/window.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/object.h"
#include "ndclient/session/port.h"
#include "ndclient/session/socket.h"
#include "ndclient/session/verify.h"

#define MAX_CALLEE_DATA                                                                            \
	NDSH_REJECT_DATA_MAX /* one number for Accept and Reject: the smaller room */
#define INLINE_THRESHOLD 128u
#define LARGE_THRESHOLD	 16384u

static void
adapter_fill_info(
	struct nd_adapter *a, const struct ndsh_open_reply *r, const struct ndsh_hello_reply *h)
{
	uint64_t transfer = r->max_transfer_bytes < 1ull << 31 ? r->max_transfer_bytes : 1ull << 31;

	a->info = (struct nd_adapter_info){
		.adapter_id = r->adapter_id,
		.max_registration_bytes = r->max_mr_bytes,
		.max_transfer_bytes = transfer,
		.max_initiator_sge = r->max_sge,
		.max_receive_sge = r->max_sge,
		.max_read_sge = r->max_sge,
		.max_inline_bytes = r->max_inline,
		.inline_request_threshold =
			r->max_inline < INLINE_THRESHOLD ? r->max_inline : INLINE_THRESHOLD,
		.large_request_threshold = LARGE_THRESHOLD,
		.max_inbound_reads = r->max_read_limit,
		.max_outbound_reads = r->max_read_limit,
		.max_receive_depth = r->max_depth,
		.max_initiator_depth = r->max_depth,
		.max_cq_depth = r->max_cq_depth,
		.max_srq_depth = r->max_srq_depth,
		.max_fast_register_pages =
			h->abi_minor >= NDSH_MINOR_FAST_REGISTER ? NDSH_FRMR_PAGES_MAX : 0,
		.max_caller_data = NDSH_CALLER_DATA_MAX,
		.max_callee_data = MAX_CALLEE_DATA,
		.path_mtu = r->path_mtu,
		.shard = r->shard,
		.numa_node = r->numa_node,
		.flags = ND_ADAPTER_FLAG_IN_ORDER_DMA | ND_ADAPTER_FLAG_CQ_MODERATION |
			 ND_ADAPTER_FLAG_LOOPBACK |
			 (h->abi_minor >= NDSH_MINOR_CQ_RESIZE ? ND_ADAPTER_FLAG_CQ_RESIZE : 0) |
			 (h->abi_minor >= NDSH_MINOR_LOCAL_INV
					 ? ND_ADAPTER_FLAG_READ_LOCAL_INVALIDATE
					 : 0),
	};
	memcpy(a->info.daemon_version, h->version, sizeof(a->info.daemon_version) - 1);
	a->max_transfer_bytes = transfer;
}

static nd_status
adapter_open_session(struct nd_adapter *a, const struct nd_open_options *opt)
{
	struct ndsh_open m = {.h.type = NDSH_MSG_OPEN, .addr = a->address};
	struct ndsh_hello_reply hello;
	struct ndsh_open_reply reply;
	nd_status st;

	m.placement = opt != NULL && opt->placement != 0 ? opt->placement - 1 : NDSH_PLACE_ANY;
	m.flags = nd_profile_open_flags(a->profile);
	st = nd_socket_open(opt, &a->socket, &hello);
	if (st != ND_SUCCESS)
		return st;
	if (m.flags != 0 && hello.abi_minor < NDSH_MINOR_OPEN_FLAGS) {
		close(a->socket);
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old for the doc profile");
	}
	st = nd_socket_exchange(a->socket, &m.h, &reply, &a->wake_fd);
	if (st == ND_SUCCESS && a->wake_fd < 0)
		st = nd_fail(ND_INTERNAL_ERROR, "the daemon's answer to OPEN brings no wake fd");
	if (st != ND_SUCCESS) {
		close(a->socket);
		return st;
	}
	adapter_fill_info(a, &reply, &hello);
	a->abi_minor = hello.abi_minor;
	return ND_SUCCESS;
}

/* Segment 0 begins with the session page. */
static nd_status
make_session_page(struct nd_adapter *a)
{
	uint32_t segment;
	uint64_t offset;

	a->page = nd_block_alloc(a, sizeof(*a->page), &segment, &offset);
	if (a->page != NULL && offset == 0)
		return ND_SUCCESS;
	return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
}

void
nd_adapter_init(struct nd_adapter *a)
{
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->arena.lock, NULL);
	pthread_mutex_init(&a->admin.open_lock, NULL);
	pthread_mutex_init(&a->admin.lock, NULL);
	STAILQ_INIT(&a->admin.waiting);
	STAILQ_INIT(&a->admin.asked);
	pthread_mutex_init(&a->mover_lock, NULL);
	nd_adopt_init(a);
	LIST_INIT(&a->calls);
	LIST_INIT(&a->objects);
	TAILQ_INIT(&a->cqs);
	TAILQ_INIT(&a->srqs);
	TAILQ_INIT(&a->connectors);
	TAILQ_INIT(&a->listeners);
	TAILQ_INIT(&a->ahs);
	TAILQ_INIT(&a->ud_listeners);
	TAILQ_INIT(&a->closed_qps);
	TAILQ_INIT(&a->events);
	for (uint32_t i = 0; i < ND_CONN_BUCKETS; i++)
		LIST_INIT(&a->conns[i]);
	for (uint32_t i = 0; i < ND_MW_BUCKETS; i++)
		LIST_INIT(&a->mw_by_slot[i]);
}

static void
free_arena(struct nd_arena *arena)
{
	struct nd_segment *seg;

	while ((seg = arena->first) != NULL) {
		arena->first = seg->next;
		munmap(seg->base, seg->extents.bytes);
		nd_extents_fini(&seg->extents);
		free(seg);
	}
}

/* The daemon takes everything down when the socket closes; here only memory has to go. */
static void
adapter_destroy(struct nd_adapter *a)
{
	nd_callbacks_stop(a); /* R-LIFE-10; they may call the daemon until then */
	nd_control_stop(a);
	__atomic_store_n(&a->gone, 1, __ATOMIC_RELEASE);
	nd_mover_stop(a);
	close(a->socket);
	close(a->wake_fd);
	(void)nd_adapter_cancel_events(a);
	nd_admin_end(a, ND_CANCELED);
	nd_mr_end_all(a);
	nd_objects_end(a);
	nd_admin_fini(a);
	nd_adopt_fini(a);
	free_arena(&a->arena);
	if (a->port != NULL)
		nd_port_release(a->port);
	pthread_mutex_destroy(&a->mover_lock);
	pthread_mutex_destroy(&a->arena.lock);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

nd_status
nd_adapter_open(const struct sockaddr *local, socklen_t local_bytes,
	const struct nd_open_options *opt, struct nd_adapter **adapter)
{
	struct nd_adapter *a;
	nd_status st;

	if (adapter == NULL)
		return ND_INVALID_PARAMETER_4;
	*adapter = NULL;
	if (opt != NULL && !nd_profile_is_known(opt->profile))
		return nd_fail(ND_INVALID_PARAMETER_3, "unknown profile %u", opt->profile);
	nd_verify_setup(opt);
	a = aligned_alloc(NDSH_CACHE_LINE, sizeof(*a));
	if (a == NULL)
		return ND_NO_MEMORY;
	memset(a, 0, sizeof(*a));
	nd_adapter_init(a);
	a->callbacks.end_fd = -1;
	a->handlers = &nd_handlers;
	a->profile = nd_profile_of(opt);
	if (!nd_address_from(&a->address, local, local_bytes)) {
		free(a);
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	}
	a->address.port = 0;
	st = adapter_open_session(a, opt);
	if (st != ND_SUCCESS) {
		free(a);
		return st;
	}
	st = nd_control_start(a);
	if (st != ND_SUCCESS) {
		close(a->wake_fd);
		close(a->socket);
		free(a);
		return st;
	}
	st = make_session_page(a);
	if (st != ND_SUCCESS) {
		adapter_destroy(a);
		return st;
	}
	*adapter = a;
	return ND_SUCCESS;
}

nd_status
nd_adapter_query(struct nd_adapter *a, struct nd_adapter_info *info)
{
	if (a == NULL || info == NULL)
		return ND_INVALID_PARAMETER;
	*info = a->info;
	return nd_gone(a) ? ND_DEVICE_REMOVED : ND_SUCCESS;
}

nd_status
nd_adapter_close(struct nd_adapter *a)
{
	if (a == NULL)
		return ND_SUCCESS;
	/* It would wait for its own return, or for a callback that waits for this thread. */
	if (nd_in_callback()) {
		if (nd_verifying())
			nd_breach("R-LIFE-10", "an adapter is closed in a callback");
		return nd_fail(ND_INVALID_DEVICE_STATE, "an adapter can't be closed in a callback");
	}
	adapter_destroy(a);
	return ND_SUCCESS;
}
