/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "cm/check.h"
#include "cm/sidr.h"

static const struct roce_gid gids_v4[2] = {
	{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}},
	{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2}},
};
static const struct roce_gid gids_v6[2] = {
	{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
	{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}},
};

static void
host_start(struct cm_net_host *h)
{
	/* Exactly as large as it says, so that a sanitizer sees a byte too many. */
	h->mem = aligned_alloc(64, (roce_cm_bytes(&h->cfg) + 63) & ~(size_t)63);
	memset(h->mem, 0, roce_cm_bytes(&h->cfg));
	h->cm = roce_cm_init(h->mem, &h->cfg);
	cr_assert_not_null(h->cm);
	/* All is for one user, which shares with nobody. */
	cr_assert(roce_cm_reserve(h->cm, 0, h->cfg.max_active));
}

static void
host_check(const struct cm_net_host *h)
{
	const char *why = roce_cm_check(h->cm);

	cr_assert_null(why, "%s", why);
}

static void
host_listen(struct cm_net *net)
{
	const struct roce_cm_addr any = {.port = CM_NET_SERVICE};

	cr_assert_not_null(roce_cm_listen(net->host[CM_NET_P].cm, &any, CM_NET_PORT, 0, net, NULL));
}

struct cm_net *
cm_net_new(bool v6)
{
	struct cm_net *net = calloc(1, sizeof(*net));

	for (unsigned i = 0; i < 2; i++) {
		struct cm_net_host *h = &net->host[i];

		h->cfg = (struct roce_cm_cfg){
			.max_active = 64,
			.max_passive = 64,
			.max_listeners = 8,
			.secret = {0x1234567 + i, 0x89abcde + i},
			.ca_guid = 0x020000fffe000001 + i,
			.req_first_retry_ns = MS(200),
			.max_retries = 15,
		};
		h->gid = v6 ? gids_v6[i] : gids_v4[i];
		h->qpn = 0x1000 * (i + 1);
		host_start(h);
	}
	host_listen(net);
	return net;
}

void
cm_net_free(struct cm_net *net)
{
	free(net->host[0].mem);
	free(net->host[1].mem);
	free(net);
}

void
cm_net_restart(struct cm_net *net, unsigned host)
{
	struct cm_net_host *h = &net->host[host];

	free(h->mem);
	h->cfg.secret[0] ^= 0x5555; /* as a new boot would have another one */
	host_start(h);
	if (host == CM_NET_P)
		host_listen(net);
}

struct roce_cm_connect
cm_net_connect_params(const struct cm_net *net)
{
	const struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	return (struct roce_cm_connect){
		.local = {a->gid, 40000},
		.remote = {p->gid, CM_NET_SERVICE},
		.port = 3,
		.qp = {.qpn = a->qpn,
			.psn = 0x123456,
			.responder_resources = 16,
			.initiator_depth = 8,
			.retry_count = 7,
			.rnr_retry = 6},
		.mtu_code = 3,
		.ack_timeout = 17,
		.tos = 0x68,
		.hop_limit = 64,
		.flow_label = 0x54321,
		.owner = (void *)a,
	};
}

struct roce_cm_conn *
cm_net_connect(struct cm_net *net, const void *priv, uint32_t priv_bytes)
{
	struct roce_cm_connect p = cm_net_connect_params(net);
	struct cm_net_host *a = &net->host[CM_NET_A];

	p.priv = priv;
	p.priv_bytes = priv_bytes;
	a->conn = roce_cm_connect(a->cm, net->now_ns, &p);
	a->qpn++;
	return a->conn;
}

void
cm_net_accept(struct cm_net *net, struct roce_cm_conn *conn, const void *priv, uint32_t bytes)
{
	struct cm_net_host *p = &net->host[CM_NET_P];
	const struct roce_cm_qp_params qp = {.qpn = p->qpn++,
		.psn = 0xabcdef,
		.responder_resources = 4,
		.initiator_depth = 200,
		.rnr_retry = 5,
		.srq = true};

	cr_assert(roce_cm_accept(p->cm, net->now_ns, conn, &qp, priv, bytes, p));
}

/* ---- what a host does with its events ---- */

static void
host_handle_event(struct cm_net *net, struct cm_net_host *h, const struct roce_cm_event *ev)
{
	switch (ev->type) {
	case ROCE_CM_EV_REQUEST:
		h->conn = ev->conn;
		if (h->reject_reason != 0) {
			roce_cm_reject(h->cm, net->now_ns, ev->conn, h->reject_reason, "no", 2);
			roce_cm_destroy(h->cm, net->now_ns, ev->conn);
		} else if (!h->hold_requests) {
			cm_net_accept(net, ev->conn, "welcome", 7);
		}
		break;
	case ROCE_CM_EV_REPLY:
		if (!h->hold_replies)
			cr_assert(roce_cm_complete(h->cm, net->now_ns, ev->conn));
		break;
	case ROCE_CM_EV_REJECTED:
	case ROCE_CM_EV_UNREACHABLE:
	case ROCE_CM_EV_DISCONNECTED:
		if (!h->keep_ended)
			roce_cm_destroy(h->cm, net->now_ns, ev->conn);
		break;
	default:
		break;
	}
}

static void
host_events(struct cm_net *net, struct cm_net_host *h)
{
	struct roce_cm_event ev;

	while (roce_cm_event(h->cm, &ev)) {
		cr_assert_lt(h->n_log, CM_NET_LOG);
		h->log[h->n_log++] = ev;
		host_handle_event(net, h, &ev);
	}
}

/* ---- the network ---- */

static void
net_enqueue(struct cm_net *net, unsigned to, uint64_t at_ns, const uint8_t *frame, uint32_t bytes)
{
	struct cm_net_frame *f = &net->queue[net->n_queue];

	cr_assert_lt(net->n_queue, CM_NET_QUEUE);
	net->n_queue++;
	f->at_ns = at_ns;
	f->to = to;
	f->bytes = bytes;
	memcpy(f->frame, frame, bytes);
}

static uint32_t
frame_of(struct cm_net *net, uint8_t *frame, const struct roce_gid *sgid,
	const struct roce_gid *dgid, uint8_t tos, uint8_t ttl, const uint8_t *mad)
{
	const struct roce_path path = {.sgid = *sgid,
		.dgid = *dgid,
		.tos = tos,
		.ttl = ttl,
		.smac = {2, 0, 0, 0, 0, 1},
		.dmac = {2, 0, 0, 0, 0, 2}};

	return roce_gsi_build(frame, &path, net->psn++, mad);
}

static void
net_transmit(struct cm_net *net, unsigned from, const struct roce_cm_tx *tx)
{
	struct cm_net_host *h = &net->host[from];
	uint8_t frame[ROCE_GSI_FRAME_MAX];
	uint64_t at_ns = net->now_ns + CM_NET_DELAY_NS;
	unsigned attr, copies = 1;
	struct cm_mad mad;
	uint32_t bytes;

	cr_assert_eq(cm_mad_decode(&mad, tx->mad), CM_DECODE_OK);
	cr_assert_neq(tx->hop_limit, 0);
	cr_assert(roce_gid_equal(&tx->sgid, &h->gid));
	attr = ATTR(mad.attr);
	h->sent[attr]++;
	h->last_sent_ns[attr] = net->now_ns;
	h->last_tos[attr] = tx->tos;
	h->last[attr] = mad;
	if (net->tap != NULL && net->tap(net, from, &mad))
		return;
	if (h->drop[attr] > 0) {
		h->drop[attr]--;
		return;
	}
	if (h->duplicate[attr] > 0) {
		h->duplicate[attr]--;
		copies = 2;
	}
	at_ns += h->delay_ns[attr];
	h->delay_ns[attr] = 0;
	bytes = frame_of(net, frame, &tx->sgid, &tx->dgid, tx->tos, tx->hop_limit, tx->mad);
	for (unsigned i = 0; i < copies; i++)
		net_enqueue(net, !from, at_ns + i * CM_NET_DELAY_NS, frame, bytes);
}

static void
net_deliver(struct cm_net *net, unsigned to, const uint8_t *frame, uint32_t bytes)
{
	struct roce_pkt pkt;

	cr_assert_eq(roce_wire_parse(frame, bytes, &pkt), ROCE_WIRE_OK);
	cr_assert(roce_icrc_ok(&pkt));
	roce_cm_rx(net->host[to].cm, net->now_ns, &pkt, CM_NET_PORT);
	host_check(&net->host[to]);
}

static void
net_deliver_due(struct cm_net *net)
{
	for (unsigned i = 0; i < net->n_queue;) {
		struct cm_net_frame f = net->queue[i];

		if (f.at_ns > net->now_ns) {
			i++;
			continue;
		}
		net->n_queue--;
		memmove(&net->queue[i], &net->queue[i + 1],
			(net->n_queue - i) * sizeof(net->queue[0]));
		net_deliver(net, f.to, f.frame, f.bytes);
	}
}

static void
net_turn(struct cm_net *net)
{
	struct roce_cm_tx tx;

	net_deliver_due(net);
	for (unsigned i = 0; i < 2; i++) {
		roce_cm_tick(net->host[i].cm, net->now_ns);
		host_events(net, &net->host[i]);
		while (roce_cm_tx(net->host[i].cm, &tx))
			net_transmit(net, i, &tx);
		host_check(&net->host[i]);
	}
}

static uint64_t
net_next_ns(const struct cm_net *net)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < 2; i++) {
		const uint64_t deadline = roce_cm_next_deadline(net->host[i].cm);

		next = deadline < next ? deadline : next;
	}
	for (unsigned i = 0; i < net->n_queue; i++)
		next = net->queue[i].at_ns < next ? net->queue[i].at_ns : next;
	return next;
}

void
cm_net_run(struct cm_net *net, uint64_t ns)
{
	const uint64_t end = net->now_ns + ns;

	net_turn(net);
	while (net_next_ns(net) <= end) {
		net->now_ns = net_next_ns(net);
		net_turn(net);
	}
	net->now_ns = end;
}

void
cm_net_settle(struct cm_net *net)
{
	const uint64_t end = net->now_ns + MS(900 * 1000);

	net_turn(net);
	while (net_next_ns(net) != UINT64_MAX) {
		net->now_ns = net_next_ns(net);
		cr_assert_lt(net->now_ns, end, "the network never comes to rest");
		net_turn(net);
	}
}

struct cm_mad
cm_net_take_req(struct cm_net *net)
{
	cm_net_connect(net, NULL, 0);
	net->host[CM_NET_A].drop[ATTR(CM_ATTR_REQ)] = 1;
	cm_net_run(net, 0);
	return net->host[CM_NET_A].last[ATTR(CM_ATTR_REQ)];
}

struct roce_cm_conn *
cm_net_sidr_request(struct cm_net *net, uint16_t port)
{
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_addr at = {.port = port};

	cr_assert_not_null(roce_cm_sidr_listen(p->cm, &at, CM_NET_PORT, 0, p, NULL));
	cr_assert_not_null(roce_cm_sidr_query(a->cm, net->now_ns,
		&(struct roce_cm_sidr_query){.local = {a->gid, 40000}, .remote = {p->gid, port}}));
	cm_net_run(net, MS(10));
	return cm_net_only_event(p, ROCE_CM_EV_SIDR_REQUEST)->conn;
}

void
cm_net_mute(struct cm_net *net, unsigned host)
{
	for (unsigned i = 0; i < CM_NET_ATTRS; i++)
		net->host[host].drop[i] = UINT_MAX;
}

void
cm_net_inject_raw(struct cm_net *net, unsigned from, const uint8_t mad[ROCE_MAD_BYTES])
{
	uint8_t frame[ROCE_GSI_FRAME_MAX];
	const uint32_t bytes =
		frame_of(net, frame, &net->host[from].gid, &net->host[!from].gid, 0, 64, mad);

	net_deliver(net, !from, frame, bytes);
}

void
cm_net_inject(struct cm_net *net, unsigned from, const struct cm_mad *mad)
{
	uint8_t bytes[ROCE_MAD_BYTES];

	cm_mad_encode(bytes, mad);
	cm_net_inject_raw(net, from, bytes);
}

/* ---- what a test asks ---- */

const struct roce_cm_event *
cm_net_event(const struct cm_net_host *h, enum roce_cm_event_type type, unsigned nth)
{
	for (unsigned i = 0; i < h->n_log; i++) {
		if (h->log[i].type == type && nth-- == 0)
			return &h->log[i];
	}
	return NULL;
}

unsigned
cm_net_events(const struct cm_net_host *h, enum roce_cm_event_type type)
{
	unsigned n = 0;

	while (cm_net_event(h, type, n) != NULL)
		n++;
	return n;
}

void
cm_net_assert_empty(const struct cm_net *net)
{
	for (unsigned i = 0; i < 2; i++) {
		struct roce_cm_usage u;

		roce_cm_usage(net->host[i].cm, &u);
		cr_assert_eq(u.conns, 0, "host %u has %u connections", i, u.conns);
		cr_assert_eq(u.timewait, 0);
		cr_assert_eq(u.listeners, i == CM_NET_P);
		cr_assert_eq(roce_cm_next_deadline(net->host[i].cm), UINT64_MAX);
	}
}

const struct roce_cm_event *
cm_net_only_event(const struct cm_net_host *h, enum roce_cm_event_type type)
{
	cr_assert_eq(
		cm_net_events(h, type), 1, "event %d came %u times", type, cm_net_events(h, type));
	return cm_net_event(h, type, 0);
}

uint32_t
cm_net_next_attr(struct roce_cm *cm)
{
	struct roce_cm_tx tx;
	struct cm_mad m;

	if (!roce_cm_tx(cm, &tx))
		return 0;
	cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
	return m.attr;
}
