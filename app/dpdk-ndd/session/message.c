/* SPDX-License-Identifier: BSD-3-Clause */
/* From a datagram to its handler and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/log.h"
#include "session/session.h"
#include "version.h"

#define MAX_TRANSFER_BYTES ROCE_MSG_MAX

static enum ndsh_status
session_hello(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_hello *m = msg;
	const char *why = ndsh_hello_check(m);

	r->hello.abi_major = NDSH_ABI_MAJOR;
	r->hello.abi_minor = NDSH_ABI_MINOR;
	r->hello.daemon_pid = (uint32_t)getpid();
	snprintf(r->hello.version, sizeof(r->hello.version), "%s", NDD_VERSION);
	if (why != NULL) {
		snprintf(r->hello.reason, sizeof(r->hello.reason), "%s", why);
		return NDSH_ERR_NOT_SUPPORTED;
	}
	if (s->refused) {
		snprintf(r->hello.reason, sizeof(r->hello.reason),
			"all %u sessions of the daemon are in use (control.max_sessions)",
			s->daemon->cfg->max_sessions);
		return NDSH_ERR_NO_RESOURCES;
	}
	s->state = NDSH_ST_HELLO;
	return NDSH_OK;
}

/* The least loaded shard, or the one that the client asked for. */
static struct ndd_shard *
shard_for(struct ndd *d, uint32_t wanted)
{
	uint32_t load[NDD_SHARDS_MAX] = {0}, best = 0;
	struct ndd_session *s;

	if (wanted != NDSH_PLACE_ANY && wanted < d->plane.shards)
		return d->plane.shard[wanted];
	TAILQ_FOREACH (s, &d->sessions, next)
		if (s->shard != NULL)
			load[s->shard->id]++;
	for (uint32_t i = 1; i < d->plane.shards; i++)
		if (load[i] < load[best])
			best = i;
	return d->plane.shard[best];
}

uint32_t
ndd_path_mtu(uint32_t ip_mtu)
{
	uint32_t mtu = ROCE_MTU_MAX;

	while (mtu > 256 && mtu > ip_mtu - 96)
		mtu /= 2;
	return mtu;
}

static enum ndsh_status
open_adapter(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_open *m = msg;
	const struct config *cfg = s->daemon->cfg;
	struct net_ip ip;
	int port, wake[2];

	if ((m->flags & ~NDSH_OPEN_NO_FLUSH) != 0)
		return NDSH_ERR_NOT_SUPPORTED;
	ip = ndd_ip(m->addr.ip);
	port = net_local_port(s->daemon->net, &ip);
	if (port < 0)
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, wake) != 0)
		return NDSH_ERR_NO_RESOURCES;
	s->lcore = calloc(1, sizeof(*s->lcore));
	if (s->lcore == NULL) {
		close(wake[0]);
		close(wake[1]);
		return NDSH_ERR_NO_RESOURCES;
	}
	roce_admin_init(&s->lcore->admin, cfg->max_mrs);
	s->wake_fd = s->lcore->wake_fd = wake[0];
	s->shard = shard_for(s->daemon, m->placement);
	s->port = (uint32_t)port;
	s->no_flush = (m->flags & NDSH_OPEN_NO_FLUSH) != 0;
	s->path_mtu = ndd_path_mtu(s->daemon->plane.port[port].mtu);
	memcpy(s->ip, ip.b, 16);
	s->state = NDSH_ST_OPEN;
	r->fd = wake[1];
	r->open = (struct ndsh_open_reply){
		.h = r->h,
		.adapter_id = (uint64_t)port + 1,
		.max_mr_bytes = cfg->max_memory_bytes,
		.max_transfer_bytes = MAX_TRANSFER_BYTES,
		.shard = s->shard->id,
		.numa_node = s->shard->numa_node < 0 ? 0 : (uint32_t)s->shard->numa_node,
		.max_sge = NDSH_SGE_MAX,
		.max_inline = NDSH_INLINE_MAX,
		.max_depth = NDSH_DEPTH_MAX,
		.max_cq_depth = NDSH_CQ_DEPTH_MAX,
		.max_read_limit = ROCE_RD_ATOMIC_MAX,
		.max_qps = cfg->max_qps,
		.max_cqs = cfg->max_cqs,
		.max_mrs = cfg->max_mrs,
		.path_mtu = s->path_mtu,
		.max_srq_depth = NDSH_DEPTH_MAX,
	};
	return NDSH_OK;
}

static ndd_handler *const handlers[NDSH_MSG_TYPE_COUNT] = {
	[NDSH_MSG_HELLO] = session_hello,
	[NDSH_MSG_ADDRESS_LIST] = ndd_address_list,
	[NDSH_MSG_ADDRESS_PAGE] = ndd_address_page,
	[NDSH_MSG_ROUTE] = ndd_address_route,
	[NDSH_MSG_OPEN] = open_adapter,
	[NDSH_MSG_SEGMENT_CREATE] = ndd_segment_create,
	[NDSH_MSG_SEGMENT_MAPPED] = ndd_segment_mapped,
	[NDSH_MSG_SEGMENT_DESTROY] = ndd_segment_destroy,
	[NDSH_MSG_PD_CREATE] = ndd_pd_create,
	[NDSH_MSG_PD_DESTROY] = ndd_pd_destroy,
	[NDSH_MSG_CQ_CREATE] = ndd_cq_create,
	[NDSH_MSG_CQ_DESTROY] = ndd_cq_destroy,
	[NDSH_MSG_CQ_RESIZE] = ndd_cq_resize,
	[NDSH_MSG_CQ_AFFINITY] = ndd_cq_affinity,
	[NDSH_MSG_ADMIN_CREATE] = ndd_admin_create,
	[NDSH_MSG_MW_CREATE] = ndd_mw_create,
	[NDSH_MSG_MW_DESTROY] = ndd_mw_destroy,
	[NDSH_MSG_QP_CREATE] = ndd_qp_create,
	[NDSH_MSG_QP_DESTROY] = ndd_qp_destroy,
	[NDSH_MSG_QP_FLUSH] = ndd_qp_flush,
	[NDSH_MSG_QP_MODIFY] = ndd_qp_modify,
	[NDSH_MSG_QP_QUERY] = ndd_qp_query,
	[NDSH_MSG_EVENTS] = ndd_async_on,
	[NDSH_MSG_SRQ_CREATE] = ndd_srq_create,
	[NDSH_MSG_SRQ_ARM] = ndd_srq_arm,
	[NDSH_MSG_SRQ_DESTROY] = ndd_srq_destroy,
	[NDSH_MSG_FR_CREATE] = ndd_fr_create,
	[NDSH_MSG_FR_DESTROY] = ndd_fr_destroy,
	[NDSH_MSG_PD_TOKEN] = ndd_pd_token,
	[NDSH_MSG_MOVER_CREATE] = ndd_mover_create,
	[NDSH_MSG_UD_QP_CREATE] = ndd_ud_qp_create,
	[NDSH_MSG_UD_QP_MODIFY] = ndd_ud_qp_modify,
	[NDSH_MSG_AH_CREATE] = ndd_ah_create,
	[NDSH_MSG_AH_DESTROY] = ndd_ah_destroy,
	[NDSH_MSG_UD_LISTENER_CREATE] = ndd_ud_listener_create,
	[NDSH_MSG_UD_ANSWER] = ndd_ud_answer,
	[NDSH_MSG_LISTENER_CREATE] = ndd_listener_create,
	[NDSH_MSG_LISTENER_PAUSE] = ndd_listener_pause,
	[NDSH_MSG_LISTENER_DESTROY] = ndd_listener_destroy,
	[NDSH_MSG_ENDPOINT_CREATE] = ndd_endpoint_create,
	[NDSH_MSG_ENDPOINT_DESTROY] = ndd_endpoint_destroy,
	[NDSH_MSG_BIND] = ndd_conn_bind,
	[NDSH_MSG_CONNECT] = ndd_conn_connect,
	[NDSH_MSG_COMPLETE_CONNECT] = ndd_conn_complete,
	[NDSH_MSG_ACCEPT] = ndd_conn_accept,
	[NDSH_MSG_REJECT] = ndd_conn_reject,
	[NDSH_MSG_DISCONNECT] = ndd_conn_disconnect,
	[NDSH_MSG_CONN_DESTROY] = ndd_conn_destroy,
};

void
ndd_session_message(struct ndd_session *s, const void *msg, size_t bytes)
{
	const char *wrong = ndsh_msg_check(msg, bytes, s->state);
	const struct ndsh_msg_hdr *h = msg;
	struct ndd_reply r;

	if (wrong != NULL) {
		ndd_session_end(s, "broken control message: %s", wrong);
		return;
	}
	memset(&r, 0, sizeof(r));
	r.fd = r.keep_fd = -1;
	r.h.type = (uint16_t)(h->type | NDSH_REPLY);
	r.h.cookie = h->cookie;
	if (ndsh_msg_table[h->type].reply_bytes == sizeof(struct ndsh_id_msg) &&
		bytes == sizeof(struct ndsh_id_msg))
		r.id.id = ((const struct ndsh_id_msg *)msg)->id;
	r.h.status = handlers[h->type](s, msg, &r);
	ndd_session_send(s, &r, ndsh_msg_table[h->type].reply_bytes, r.fd >= 0 ? r.fd : r.keep_fd);
	if (r.fd >= 0)
		close(r.fd);
}
