/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/wait.h"

/* Depth of each queue. At most a send and a read or write are under way together. */
#define DEPTH	   8
#define INFO_ROOM  64 /* each direction has a cache line of its own */
#define BUFFER	   (PING_BYTES_MAX + 1u)
#define AREA_BYTES (2u * INFO_ROOM + 2u * BUFFER)

#define SLICE_MS     200  /* how often a wait checks whether the peer has disconnected */
#define GONE_WAIT_MS 1000 /* longest time from a flushed completion to the disconnect's event */

static const char *const request_names[] = {[ND_REQUEST_RECEIVE] = "receive",
	[ND_REQUEST_SEND] = "SEND",
	[ND_REQUEST_READ] = "RDMA READ",
	[ND_REQUEST_WRITE] = "RDMA WRITE"};

void
ping_link_debug(const struct ping_link *l, const char *what, ...)
{
	va_list args;

	if (!l->opt->debug)
		return;
	flockfile(stderr);
	fprintf(stderr, "%s: ", l->name);
	va_start(args, what);
	vfprintf(stderr, what, args);
	va_end(args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

static nd_status
link_make_region(struct ping_link *l, void *buf, size_t bytes, uint32_t flags, struct nd_mr **mr)
{
	nd_status st = nd_mr_create(l->pd, mr);

	return st == ND_SUCCESS ? nd_mr_register(*mr, buf, bytes, flags, NULL) : st;
}

static nd_status
link_register_buffers(struct ping_link *l, struct nd_adapter *adapter)
{
	nd_status st;
	uint8_t *p = nd_alloc(adapter, AREA_BYTES);

	if (p == NULL)
		return ND_NO_MEMORY;
	l->area = p;
	l->info_in = p;
	l->info_out = p + INFO_ROOM;
	l->source = (char *)p + 2 * INFO_ROOM;
	l->sink = l->source + BUFFER;
	/* Each region has only the access right that the protocol needs, so that a stray access
	 * fails. */
	st = link_make_region(l, p, 2 * INFO_ROOM, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &l->info_mr);
	if (st == ND_SUCCESS)
		st = link_make_region(
			l, l->source, BUFFER, ND_MR_FLAG_ALLOW_REMOTE_READ, &l->source_mr);
	if (st == ND_SUCCESS)
		st = link_make_region(l, l->sink, BUFFER,
			l->opt->server ? ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK
				       : ND_MR_FLAG_ALLOW_REMOTE_WRITE,
			&l->sink_mr);
	return st;
}

static nd_status
link_post_receive(struct ping_link *l)
{
	struct nd_sge sge = {l->info_in, INFO_ROOM, nd_mr_local_token(l->info_mr)};

	return nd_qp_receive(l->qp, NULL, &sge, 1);
}

nd_status
ping_link_create(struct ping_link *l, struct nd_adapter *adapter, struct nd_connector *connector,
	const struct ping_options *opt)
{
	struct nd_qp_options q = {.receive_depth = DEPTH,
		.initiator_depth = DEPTH,
		.max_receive_sge = 1,
		.max_initiator_sge = 1};
	nd_status st;

	memset(l, 0, sizeof(*l));
	l->opt = opt;
	l->adapter = adapter;
	l->connector = connector;
	snprintf(l->name, sizeof(l->name), "peer");
	st = nd_pd_create(adapter, &l->pd);
	if (st == ND_SUCCESS)
		st = link_register_buffers(l, adapter);
	if (st == ND_SUCCESS)
		st = nd_cq_create(adapter, 2 * DEPTH, &l->cq);
	if (st == ND_SUCCESS) {
		q.receive_cq = q.initiator_cq = l->cq;
		st = nd_qp_create(l->pd, &q, &l->qp);
	}
	if (st == ND_SUCCESS)
		st = link_post_receive(l);
	return st;
}

void
ping_link_destroy(struct ping_link *l)
{
	struct nd_mr *const mrs[] = {l->info_mr, l->source_mr, l->sink_mr};

	if (l->connector != NULL)
		nd_connector_close(l->connector);
	if (l->qp != NULL)
		nd_qp_close(l->qp);
	if (l->cq != NULL)
		nd_cq_close(l->cq);
	for (size_t i = 0; i < sizeof(mrs) / sizeof(mrs[0]); i++)
		if (mrs[i] != NULL)
			nd_mr_close(mrs[i]);
	if (l->area != NULL)
		nd_free(l->adapter, l->area);
	if (l->pd != NULL)
		nd_pd_close(l->pd);
}

void
ping_link_watch(struct ping_link *l)
{
	nd_status st = nd_connector_notify_disconnect(l->connector, &l->gone);

	l->watched = st == ND_PENDING || st == ND_SUCCESS;
}

/* Has the peer disconnected? A completion that a disconnect flushed may arrive before the event of
 * the disconnect: wait_ms is the time that the caller allows for the event. */
static bool
link_is_gone(struct ping_link *l, int wait_ms)
{
	return l->watched && nd_overlapped_wait(&l->gone, wait_ms) != ND_TIMEOUT;
}

/* Take a completion and count it in l->done. */
static enum ping_outcome
link_reap(struct ping_link *l, int timeout_ms)
{
	struct nd_result r;
	int32_t n = app_cq_wait(l->cq, &r, 1, timeout_ms);

	if (n < 0) {
		app_fail(n, "%s: completion queue", l->name);
		return PING_FAILED;
	}
	if (n == 0) {
		if (app_stopping())
			return PING_STOPPED;
		return link_is_gone(l, 0) ? PING_GONE : PING_OK;
	}
	if (r.status == ND_CANCELED && link_is_gone(l, GONE_WAIT_MS))
		return PING_GONE;
	if (r.status != ND_SUCCESS) {
		app_fail_result(&r, "%s: %s failed", l->name, request_names[r.request_type]);
		return PING_FAILED;
	}
	l->done[r.request_type]++;
	if (r.request_type == ND_REQUEST_RECEIVE)
		l->received_bytes = r.bytes_transferred;
	return PING_OK;
}

/* Wait for a completion of that type. Completions of other types that come first stay counted for
 * later calls. */
static enum ping_outcome
link_finish(struct ping_link *l, enum nd_request_type type, int timeout_ms)
{
	uint64_t start = app_now_ns();
	enum ping_outcome out;

	while (l->done[type] == 0) {
		out = link_reap(l, SLICE_MS);
		if (out != PING_OK)
			return out;
		if (l->done[type] == 0 && timeout_ms >= 0 &&
			app_now_ns() - start >= (uint64_t)timeout_ms * APP_NS_PER_MS) {
			app_complain("%s: no %s within %d s (-w)", l->name,
				type == ND_REQUEST_RECEIVE ? "message" : "acknowledgement",
				timeout_ms / 1000);
			return PING_FAILED;
		}
	}
	l->done[type]--;
	return PING_OK;
}

/* The outcome of a post that returned st; prints a failure. */
static enum ping_outcome
link_check_post(struct ping_link *l, nd_status st, const char *what)
{
	if (st == ND_SUCCESS)
		return PING_OK;
	if (st == ND_CONNECTION_INVALID && link_is_gone(l, GONE_WAIT_MS))
		return PING_GONE;
	app_fail(st, "%s: can't post a %s", l->name, what);
	return PING_FAILED;
}

enum ping_outcome
ping_link_send(struct ping_link *l, const void *buf, uint32_t token, uint32_t bytes)
{
	struct nd_sge sge = {l->info_out, PING_INFO_BYTES, nd_mr_local_token(l->info_mr)};
	struct ping_info info = {(uintptr_t)buf, token, bytes};
	enum ping_outcome out;

	if (l->sending) {
		out = link_finish(l, ND_REQUEST_SEND, l->opt->timeout_ms);
		if (out != PING_OK)
			return out;
	}
	ping_info_encode(&info, l->info_out);
	ping_link_debug(l, "send address 0x%llx token 0x%x bytes %u",
		(unsigned long long)info.address, ntohl(token), bytes);
	out = link_check_post(l, nd_qp_send(l->qp, NULL, &sge, 1, 0), "SEND");
	l->sending = out == PING_OK;
	return out;
}

enum ping_outcome
ping_link_receive(struct ping_link *l, struct ping_info *info, int timeout_ms)
{
	enum ping_outcome out = link_finish(l, ND_REQUEST_RECEIVE, timeout_ms);

	if (out != PING_OK)
		return out;
	if (l->received_bytes != PING_INFO_BYTES) {
		app_complain("%s: a message of %u bytes instead of %u: is the peer an rping?",
			l->name, l->received_bytes, PING_INFO_BYTES);
		return PING_FAILED;
	}
	ping_info_decode(l->info_in, info);
	ping_link_debug(l, "received address 0x%llx token 0x%x bytes %u",
		(unsigned long long)info->address, ntohl(info->token), info->bytes);
	return link_check_post(l, link_post_receive(l), "receive");
}

enum ping_outcome
ping_link_read(struct ping_link *l, const struct ping_info *from, uint32_t bytes)
{
	struct nd_sge sge = {l->sink, bytes, nd_mr_local_token(l->sink_mr)};
	enum ping_outcome out = link_check_post(
		l, nd_qp_read(l->qp, NULL, &sge, 1, from->address, from->token, 0), "RDMA READ");

	ping_link_debug(l, "RDMA READ of %u bytes", bytes);
	return out == PING_OK ? link_finish(l, ND_REQUEST_READ, l->opt->timeout_ms) : out;
}

enum ping_outcome
ping_link_write(struct ping_link *l, const struct ping_info *to, uint32_t bytes)
{
	struct nd_sge sge = {l->sink, bytes, nd_mr_local_token(l->sink_mr)};
	enum ping_outcome out = link_check_post(
		l, nd_qp_write(l->qp, NULL, &sge, 1, to->address, to->token, 0), "RDMA WRITE");

	ping_link_debug(l, "RDMA WRITE of %u bytes", bytes);
	return out == PING_OK ? link_finish(l, ND_REQUEST_WRITE, l->opt->timeout_ms) : out;
}
