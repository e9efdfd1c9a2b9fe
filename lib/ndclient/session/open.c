/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters: opening one, by an address or by its id. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndclient/face/profile.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/socket.h"
#include "ndclient/session/verify.h"

#define MAX_CALLEE_DATA                                                                            \
	NDSH_REJECT_DATA_MAX /* one number for Accept and Reject: the smaller room */
#define INLINE_THRESHOLD 128u
#define LARGE_THRESHOLD	 16384u

static void
adapter_fill_info(struct nd_adapter *a, const struct ndsh_open_reply *r,
	const struct ndsh_adapter_reply *about, const struct ndsh_hello_reply *h)
{
	uint64_t transfer = r->max_transfer_bytes < 1ull << 31 ? r->max_transfer_bytes : 1ull << 31;

	a->info = (struct nd_adapter_info){
		.adapter_id = r->adapter_id,
		.max_registration_bytes = r->max_mr_bytes,
		.max_window_bytes = about->max_window_bytes,
		.vendor_id = about->vendor_id,
		.device_id = about->device_id,
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
	a->max_qps = r->max_qps;
	a->max_cqs = r->max_cqs;
	a->max_mrs = r->max_mrs;
}

/* An older daemon says nothing of its adapters: a window is as long as a region. */
static nd_status
adapter_find(struct nd_adapter *a, uint64_t id, const struct ndsh_hello_reply *hello,
	struct ndsh_adapter_reply *about)
{
	struct ndsh_adapter m = {.h.type = NDSH_MSG_ADAPTER, .adapter_id = id, .addr = a->address};
	nd_status st;

	memset(about, 0, sizeof(*about));
	if (hello->abi_minor < NDSH_MINOR_ADAPTER)
		return id == 0 ? ND_SUCCESS
			       : nd_fail(ND_NOT_SUPPORTED,
					 "this daemon is too old to find adapters by their ids");
	st = nd_socket_exchange(a->socket, &m.h, about, NULL);
	if (st == ND_INVALID_HANDLE)
		return nd_fail(ND_INVALID_PARAMETER, "the daemon has no adapter of this id");
	if (st == ND_SUCCESS && id != 0)
		a->address = about->addr;
	return st;
}

static nd_status
adapter_open_by(struct nd_adapter *a, const struct nd_open_options *opt, uint64_t id,
	const struct ndsh_hello_reply *hello)
{
	struct ndsh_open m = {.h.type = NDSH_MSG_OPEN};
	struct ndsh_adapter_reply about;
	struct ndsh_open_reply reply;
	nd_status st;

	m.placement = opt != NULL && opt->placement != 0 ? opt->placement - 1 : NDSH_PLACE_ANY;
	m.flags = nd_profile_open_flags(a->profile);
	if (m.flags != 0 && hello->abi_minor < NDSH_MINOR_OPEN_FLAGS)
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old for the doc profile");
	st = adapter_find(a, id, hello, &about);
	if (st != ND_SUCCESS)
		return st;
	m.addr = a->address;
	st = nd_socket_exchange(a->socket, &m.h, &reply, &a->wake_fd);
	if (st == ND_SUCCESS && a->wake_fd < 0)
		st = nd_fail(ND_INTERNAL_ERROR, "the daemon's answer to OPEN brings no wake fd");
	if (st != ND_SUCCESS)
		return st;
	if (hello->abi_minor < NDSH_MINOR_ADAPTER)
		about.max_window_bytes = reply.max_mr_bytes;
	adapter_fill_info(a, &reply, &about, hello);
	a->abi_minor = hello->abi_minor;
	return ND_SUCCESS;
}

/* By its id, or by a->address if that is 0. */
static nd_status
adapter_open_session(struct nd_adapter *a, const struct nd_open_options *opt, uint64_t id)
{
	struct ndsh_hello_reply hello;
	nd_status st = nd_socket_open(opt, &a->socket, &hello);

	if (st != ND_SUCCESS)
		return st;
	st = adapter_open_by(a, opt, id, &hello);
	if (st != ND_SUCCESS)
		close(a->socket);
	return st;
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

static nd_status
adapter_open(struct nd_adapter *a, const struct nd_open_options *opt, uint64_t id)
{
	nd_status st = adapter_open_session(a, opt, id);

	if (st != ND_SUCCESS) {
		nd_adapter_free(a);
		return st;
	}
	st = nd_control_start(a);
	if (st != ND_SUCCESS) {
		close(a->wake_fd);
		close(a->socket);
		nd_adapter_free(a);
		return st;
	}
	st = make_session_page(a);
	if (st != ND_SUCCESS)
		nd_adapter_destroy(a);
	return st;
}

static struct nd_adapter *
adapter_new(const struct nd_open_options *opt)
{
	struct nd_adapter *a = nd_adapter_new();

	if (a == NULL)
		return NULL;
	a->callbacks.end_fd = -1;
	a->handlers = &nd_handlers;
	a->profile = nd_profile_of(opt);
	return a;
}

/* By the id, or by the address if that is 0. */
static nd_status
open_at(const struct ndsh_addr *at, uint64_t id, const struct nd_open_options *opt,
	struct nd_adapter **adapter)
{
	struct nd_adapter *a;
	nd_status st;

	if (opt != NULL && !nd_profile_is_known(opt->profile))
		return nd_fail(ND_INVALID_PARAMETER_3, "unknown profile %u", opt->profile);
	nd_verify_setup(opt);
	a = adapter_new(opt);
	if (a == NULL)
		return ND_NO_MEMORY;
	a->address = *at;
	st = adapter_open(a, opt, id);
	if (st == ND_SUCCESS)
		*adapter = a;
	return st;
}

nd_status
nd_adapter_open(const struct sockaddr *local, socklen_t local_bytes,
	const struct nd_open_options *opt, struct nd_adapter **adapter)
{
	struct ndsh_addr at;

	if (adapter == NULL)
		return ND_INVALID_PARAMETER_4;
	*adapter = NULL;
	if (!nd_address_from(&at, local, local_bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	at.port = 0;
	return open_at(&at, 0, opt, adapter);
}

nd_status
nd_adapter_open_id(
	uint64_t adapter_id, const struct nd_open_options *opt, struct nd_adapter **adapter)
{
	if (adapter == NULL)
		return ND_INVALID_PARAMETER_3;
	*adapter = NULL;
	if (adapter_id == 0)
		return nd_fail(ND_INVALID_PARAMETER, "no adapter has the id 0");
	return open_at(&(struct ndsh_addr){0}, adapter_id, opt, adapter);
}
