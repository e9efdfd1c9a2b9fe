/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages of several clients to a daemon with objects alive (rigs/ndd_rig.h), and the
 * peer's MADs in between (cm_peer.h). A message begins as one that makes sense: the table below
 * says which field is an id of what, an offset, a size; then the input changes words of it.
 * Clients end abruptly, attach files, and do not read.
 *
 * After each input all clients have gone, and nothing of theirs may be left.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm_peer.h"
#include "control/control.h"
#include "control/events.h"
#include "hostnet/host.h"
#include "left.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "rigs/lone_shard.h"
#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"
#include "rigs/send_file.h"
#include "session/closer.h"
#include "session/send.h"

#define ACTIONS_MAX 150u
#define CLIENTS	    3u
#define IDS	    8u /* of a kind, that are remembered */
#define TURNS_MAX   64u

enum kind { /* of values; up to KINDS they are ids */
	SEGMENT,
	PD,
	CQ,
	QP,
	MW,
	FRMR,
	SRQ,
	LISTENER,
	ENDPOINT,
	CONN,
	AH,
	QUESTION,
	KINDS,
	POWER, /* of two */
	PAGES, /* bytes of whole pages */
	SIZE,  /* of a segment: of more of them */
	SMALL,
	IP,
	PORT,
	STATE,
	MASK,
	PRIVATE, /* bytes of private data */
};

struct field {
	uint16_t at, bytes;
	enum kind kind;
};
#define F(message, field, kind)                                                                    \
	{                                                                                          \
		offsetof(struct message, field), sizeof(((struct message *)0)->field), kind        \
	}
#define FIELDS 12u

#define QP_FIELDS                                                                                  \
	{                                                                                          \
		F(ndsh_qp_create, pd, PD), F(ndsh_qp_create, recv_cq, CQ),                         \
			F(ndsh_qp_create, send_cq, CQ), F(ndsh_qp_create, segment, SEGMENT),       \
			F(ndsh_qp_create, has_srq, SMALL), F(ndsh_qp_create, offset, PAGES),       \
			F(ndsh_qp_create, sq_depth, POWER), F(ndsh_qp_create, rq_depth, POWER),    \
			F(ndsh_qp_create, sq_sge, SMALL), F(ndsh_qp_create, rq_sge, SMALL),        \
			F(ndsh_qp_create, inline_bytes, SMALL), F(ndsh_qp_create, srq, SRQ)        \
	}

static const struct template
{
	enum kind makes; /* KINDS: nothing */
	struct field field[FIELDS];
}
templates[NDSH_MSG_TYPE_COUNT] = {
	[NDSH_MSG_ADDRESS_PAGE] = {KINDS,
		{F(ndsh_address_page, first, SMALL), F(ndsh_address_page, own, SMALL)}},
	[NDSH_MSG_ADAPTER] = {KINDS,
		{F(ndsh_adapter, adapter_id, SMALL), F(ndsh_adapter, addr.ip, IP)}},
	[NDSH_MSG_ROUTE] = {KINDS, {F(ndsh_route, addr.ip, IP)}},
	[NDSH_MSG_SEGMENT_CREATE] = {SEGMENT, {F(ndsh_segment_create, bytes, SIZE)}},
	[NDSH_MSG_SEGMENT_MAPPED] = {KINDS, {F(ndsh_segment_mapped, segment, SEGMENT),
						    F(ndsh_segment_mapped, client_va, PAGES)}},
	[NDSH_MSG_SEGMENT_DESTROY] = {KINDS, {F(ndsh_id_msg, id, SEGMENT)}},
	[NDSH_MSG_PD_CREATE] = {PD, {{0}}},
	[NDSH_MSG_PD_DESTROY] = {KINDS, {F(ndsh_id_msg, id, PD)}},
	[NDSH_MSG_PD_TOKEN] = {KINDS, {F(ndsh_id_msg, id, PD)}},
	[NDSH_MSG_CQ_CREATE] = {CQ,
		{F(ndsh_cq_create, segment, SEGMENT), F(ndsh_cq_create, depth, POWER),
			F(ndsh_cq_create, offset, PAGES)}},
	[NDSH_MSG_CQ_DESTROY] = {KINDS, {F(ndsh_id_msg, id, CQ)}},
	[NDSH_MSG_CQ_AFFINITY] = {KINDS, {F(ndsh_id_msg, id, CQ)}},
	[NDSH_MSG_CQ_RESIZE] = {KINDS,
		{F(ndsh_cq_resize, cq, CQ), F(ndsh_cq_resize, segment, SEGMENT),
			F(ndsh_cq_resize, offset, PAGES), F(ndsh_cq_resize, depth, POWER),
			F(ndsh_cq_resize, entries, SMALL)}},
	[NDSH_MSG_ADMIN_CREATE] = {KINDS,
		{F(ndsh_admin_create, segment, SEGMENT), F(ndsh_admin_create, depth, POWER),
			F(ndsh_admin_create, offset, PAGES), F(ndsh_admin_create, cq, CQ)}},
	[NDSH_MSG_MOVER_CREATE] = {KINDS,
		{F(ndsh_mover_create, segment, SEGMENT), F(ndsh_mover_create, tells, SMALL),
			F(ndsh_mover_create, offset, PAGES)}},
	[NDSH_MSG_QP_CREATE] = {QP, QP_FIELDS},
	[NDSH_MSG_UC_QP_CREATE] = {QP, QP_FIELDS},
	[NDSH_MSG_UD_QP_CREATE] = {QP,
		{F(ndsh_ud_qp_create, q.pd, PD), F(ndsh_ud_qp_create, q.recv_cq, CQ),
			F(ndsh_ud_qp_create, q.send_cq, CQ),
			F(ndsh_ud_qp_create, q.segment, SEGMENT),
			F(ndsh_ud_qp_create, q.offset, PAGES),
			F(ndsh_ud_qp_create, q.sq_depth, POWER),
			F(ndsh_ud_qp_create, q.rq_depth, POWER),
			F(ndsh_ud_qp_create, q.sq_sge, SMALL),
			F(ndsh_ud_qp_create, q.rq_sge, SMALL), F(ndsh_ud_qp_create, q_key, SMALL)}},
	[NDSH_MSG_QP_DESTROY] = {KINDS, {F(ndsh_id_msg, id, QP)}},
	[NDSH_MSG_QP_FLUSH] = {KINDS, {F(ndsh_id_msg, id, QP)}},
	[NDSH_MSG_QP_QUERY] = {KINDS, {F(ndsh_id_msg, id, QP)}},
	[NDSH_MSG_UD_QP_MODIFY] = {KINDS,
		{F(ndsh_ud_qp_modify, qp, QP), F(ndsh_ud_qp_modify, q_key, SMALL)}},
	[NDSH_MSG_QP_MODIFY] = {KINDS,
		{F(ndsh_qp_modify, qp, QP), F(ndsh_qp_modify, state, STATE),
			F(ndsh_qp_modify, attr.mask, MASK), F(ndsh_qp_modify, attr.access, SMALL),
			F(ndsh_qp_modify, attr.ip, IP), F(ndsh_qp_modify, attr.hop_limit, SMALL),
			F(ndsh_qp_modify, attr.mtu_bytes, POWER),
			F(ndsh_qp_modify, attr.max_rd, SMALL),
			F(ndsh_qp_modify, attr.timeout_code, SMALL),
			F(ndsh_qp_modify, attr.dest_qpn, SMALL)}},
	[NDSH_MSG_LISTENER_CREATE] = {LISTENER,
		{F(ndsh_listener_create, addr.ip, IP), F(ndsh_listener_create, addr.port, PORT),
			F(ndsh_listener_create, backlog, SMALL)}},
	[NDSH_MSG_UD_LISTENER_CREATE] = {LISTENER,
		{F(ndsh_listener_create, addr.ip, IP), F(ndsh_listener_create, addr.port, PORT),
			F(ndsh_listener_create, backlog, SMALL)}},
	[NDSH_MSG_LISTENER_BIND] = {LISTENER,
		{F(ndsh_bind, addr.ip, IP), F(ndsh_bind, addr.port, PORT)}},
	[NDSH_MSG_LISTENER_LISTEN] = {KINDS, {F(ndsh_listener_listen, listener, LISTENER),
						     F(ndsh_listener_listen, backlog, SMALL)}},
	[NDSH_MSG_LISTENER_PAUSE] = {KINDS,
		{F(ndsh_listener_pause, listener, LISTENER), F(ndsh_listener_pause, pause, SMALL)}},
	[NDSH_MSG_LISTENER_DESTROY] = {KINDS, {F(ndsh_id_msg, id, LISTENER)}},
	[NDSH_MSG_BIND] = {CONN, {F(ndsh_bind, addr.ip, IP), F(ndsh_bind, addr.port, PORT)}},
	[NDSH_MSG_ENDPOINT_CREATE] = {ENDPOINT,
		{F(ndsh_bind, addr.ip, IP), F(ndsh_bind, addr.port, PORT)}},
	[NDSH_MSG_ENDPOINT_DESTROY] = {KINDS, {F(ndsh_id_msg, id, ENDPOINT)}},
	[NDSH_MSG_CONNECT] = {CONN,
		{F(ndsh_connect, qp, QP), F(ndsh_connect, priv_bytes, PRIVATE),
			F(ndsh_connect, local.ip, IP), F(ndsh_connect, remote.ip, IP),
			F(ndsh_connect, remote.port, PORT), F(ndsh_connect, inbound_reads, SMALL),
			F(ndsh_connect, tos, SMALL), F(ndsh_connect, local_kind, SMALL),
			F(ndsh_connect, local_id, CONN)}},
	[NDSH_MSG_COMPLETE_CONNECT] = {KINDS, {F(ndsh_id_msg, id, CONN)}},
	[NDSH_MSG_ACCEPT] = {KINDS,
		{F(ndsh_accept, conn, CONN), F(ndsh_accept, qp, QP),
			F(ndsh_accept, priv_bytes, PRIVATE), F(ndsh_accept, ecn, SMALL)}},
	[NDSH_MSG_REJECT] = {KINDS,
		{F(ndsh_reject, conn, CONN), F(ndsh_reject, priv_bytes, PRIVATE)}},
	[NDSH_MSG_CM_PERMIT] = {KINDS, {F(ndsh_id_msg, id, QP)}},
	[NDSH_MSG_CM_LISTEN] = {KINDS, {F(ndsh_listener_listen, listener, LISTENER),
					       F(ndsh_listener_listen, backlog, SMALL)}},
	[NDSH_MSG_CM_CONNECT] = {CONN,
		{F(ndsh_cm_connect, permit.session, SMALL), F(ndsh_cm_connect, permit.qp, QP),
			F(ndsh_cm_connect, listener, LISTENER),
			F(ndsh_cm_connect, priv_bytes, PRIVATE), F(ndsh_cm_connect, remote.ip, IP),
			F(ndsh_cm_connect, remote.port, PORT),
			F(ndsh_cm_connect, own.inbound_reads, SMALL),
			F(ndsh_cm_connect, own.retries, SMALL), F(ndsh_cm_connect, tos, SMALL)}},
	[NDSH_MSG_CM_ACCEPT] = {KINDS,
		{F(ndsh_cm_accept, permit.session, SMALL), F(ndsh_cm_accept, permit.qp, QP),
			F(ndsh_cm_accept, conn, CONN), F(ndsh_cm_accept, priv_bytes, PRIVATE)}},
	[NDSH_MSG_CM_UD_BIND] = {LISTENER,
		{F(ndsh_bind, addr.ip, IP), F(ndsh_bind, addr.port, PORT)}},
	[NDSH_MSG_CM_LOOK_UP] = {CONN,
		{F(ndsh_cm_look_up, listener, LISTENER), F(ndsh_cm_look_up, remote.ip, IP),
			F(ndsh_cm_look_up, remote.port, PORT),
			F(ndsh_cm_look_up, priv_bytes, PRIVATE), F(ndsh_cm_look_up, tos, SMALL)}},
	[NDSH_MSG_DISCONNECT] = {KINDS, {F(ndsh_id_msg, id, CONN)}},
	[NDSH_MSG_CONN_DESTROY] = {KINDS, {F(ndsh_id_msg, id, CONN)}},
	[NDSH_MSG_MW_CREATE] = {MW, {F(ndsh_mw_create, pd, PD), F(ndsh_mw_create, type, SMALL)}},
	[NDSH_MSG_MW_DESTROY] = {KINDS, {F(ndsh_id_msg, id, MW)}},
	[NDSH_MSG_SRQ_CREATE] = {SRQ,
		{F(ndsh_srq_create, pd, PD), F(ndsh_srq_create, segment, SEGMENT),
			F(ndsh_srq_create, offset, PAGES), F(ndsh_srq_create, depth, POWER),
			F(ndsh_srq_create, sge, SMALL)}},
	[NDSH_MSG_SRQ_ARM] = {KINDS, {F(ndsh_srq_arm, srq, SRQ), F(ndsh_srq_arm, limit, SMALL)}},
	[NDSH_MSG_SRQ_AFFINITY] = {KINDS, {F(ndsh_id_msg, id, SRQ)}},
	[NDSH_MSG_SRQ_RESIZE] = {KINDS,
		{F(ndsh_srq_resize, srq, SRQ), F(ndsh_srq_resize, segment, SEGMENT),
			F(ndsh_srq_resize, offset, PAGES), F(ndsh_srq_resize, depth, POWER)}},
	[NDSH_MSG_SRQ_DESTROY] = {KINDS, {F(ndsh_id_msg, id, SRQ)}},
	[NDSH_MSG_FRMR_CREATE] = {FRMR,
		{F(ndsh_frmr_create, pd, PD), F(ndsh_frmr_create, segment, SEGMENT),
			F(ndsh_frmr_create, offset, PAGES), F(ndsh_frmr_create, max_pages, SMALL),
			F(ndsh_frmr_create, remote, SMALL)}},
	[NDSH_MSG_FRMR_DESTROY] = {KINDS, {F(ndsh_id_msg, id, FRMR)}},
	[NDSH_MSG_EVENTS] = {KINDS, {F(ndsh_id_msg, id, SMALL)}},
	[NDSH_MSG_AH_CREATE] = {AH,
		{F(ndsh_ah_create, remote.ip, IP), F(ndsh_ah_create, remote.port, PORT),
			F(ndsh_ah_create, look_up, SMALL), F(ndsh_ah_create, priv_bytes, PRIVATE)}},
	[NDSH_MSG_AH_DESTROY] = {KINDS, {F(ndsh_id_msg, id, AH)}},
	[NDSH_MSG_UD_ANSWER] = {KINDS,
		{F(ndsh_ud_answer, question, QUESTION), F(ndsh_ud_answer, accept, SMALL),
			F(ndsh_ud_answer, qp, QP), F(ndsh_ud_answer, priv_bytes, PRIVATE)}},
	[NDSH_MSG_UD_ATTACH] = {KINDS, {F(ndsh_ud_group, qp, QP), F(ndsh_ud_group, flags, SMALL),
					       F(ndsh_ud_group, group.ip, IP)}},
	[NDSH_MSG_UD_DETACH] = {KINDS, {F(ndsh_ud_group, qp, QP), F(ndsh_ud_group, group.ip, IP)}},
};

struct client {
	int socket; /* -1: not there */
	uint32_t id[KINDS][IDS];
	unsigned ids[KINDS]; /* ever */
};

static struct fuzz_world {
	struct ndd_rig *r;
	struct fuzz_in in;
	struct cm_peer peer;
	struct client client[CLIENTS];
	unsigned files; /* that are open before the input */
} w;

static const char *const addresses[] = {
	NDD_RIG_IP, "10.77.0.2", "fd77::1", "fd77::2", "10.99.0.1", "239.1.2.3", "ff15::1", "::"};

/* ---- messages -------------------------------------------------------------------------------- */

static uint32_t
some_id(const struct client *c, enum kind kind)
{
	unsigned n = c->ids[kind], which = fuzz_below(&w.in, 2 * IDS);

	if (n == 0)
		return which;
	return c->id[kind][which < IDS ? (n - 1) % IDS : which % IDS];
}

static void
field_fill(const struct client *c, const struct field *f, uint8_t *msg)
{
	struct net_ip ip;
	uint64_t v = 0;

	switch (f->kind) {
	case POWER:
		v = 1u << fuzz_below(&w.in, 10);
		break;
	case PAGES:
		v = (uint64_t)fuzz_below(&w.in, 64) * NDSH_PAGE_BYTES;
		break;
	case SIZE:
		v = (uint64_t)fuzz_below(&w.in, 64) * 8 * NDSH_PAGE_BYTES;
		break;
	case SMALL:
		v = fuzz_below(&w.in, 8);
		break;
	case IP:
		ip = net_rig_ip(addresses[fuzz_below(&w.in, 8)]);
		memcpy(msg + f->at, ip.b, sizeof(ip.b));
		return;
	case PORT:
		v = (uint64_t)CM_PEER_SERVICE * (fuzz_below(&w.in, 4) != 0);
		break;
	case STATE:
		v = fuzz_below(&w.in, 6);
		break;
	case MASK:
		v = fuzz_take(&w.in, 2);
		break;
	case PRIVATE:
		v = fuzz_take(&w.in, 1);
		break;
	default:
		v = some_id(c, f->kind);
	}
	memcpy(msg + f->at, &v, f->bytes);
}

/* Whole words of it, behind the header most of the time. */
static size_t
message_damage(uint8_t *msg, size_t bytes)
{
	unsigned n = fuzz_below(&w.in, 16);

	for (; n > 12; n--) {
		size_t at = fuzz_below(&w.in, 256) * 4u % bytes;
		uint32_t v = (uint32_t)fuzz_take(&w.in, 4);

		if (at + 4 <= bytes && (at >= sizeof(struct ndsh_msg_hdr) || n == 13))
			memcpy(msg + at, &v, 4);
	}
	if (n == 12 && fuzz_below(&w.in, 8) == 0) /* neither shorter nor longer is its size */
		bytes = fuzz_take(&w.in, 2) % (NDSH_MSG_BYTES + 64);
	return bytes;
}

static void
file_send(int socket)
{
	const struct ndsh_msg_hdr msg = {.type = NDSH_MSG_HELLO};
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)send_file(socket, &msg, sizeof(msg), MSG_DONTWAIT | MSG_NOSIGNAL, file);
	close(file);
}

static void
client_asks(struct client *c)
{
	_Alignas(8) uint8_t msg[NDSH_MSG_BYTES + 64] = {0};
	unsigned type = 1 + fuzz_below(&w.in, NDSH_MSG_TYPE_COUNT - 1);
	const struct template *t = &templates[type];
	const struct ndsh_msg_hdr h = {.type = (uint16_t)type, .cookie = 1};
	size_t bytes = ndsh_msg_table[type].bytes;

	if (type == NDSH_MSG_HELLO)
		ndsh_hello_fill((struct ndsh_hello *)msg);
	memcpy(msg, &h, sizeof(h));
	for (unsigned i = 0; i < FIELDS && t->field[i].bytes != 0; i++)
		field_fill(c, &t->field[i], msg);
	bytes = message_damage(msg, bytes);
	(void)send(c->socket, msg, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
id_note(struct client *c, enum kind kind, const uint8_t *at)
{
	memcpy(&c->id[kind][c->ids[kind]++ % IDS], at, 4);
}

/* What the client reads is what the ABI says; ids are remembered. */
static void
client_reads(struct client *c)
{
	_Alignas(8) uint8_t msg[NDSH_MSG_BYTES];
	const uint8_t *body = msg + sizeof(struct ndsh_msg_hdr);
	struct ndsh_msg_hdr h;
	long n;

	while ((n = ndd_rig_take(c->socket, msg, NULL)) > 0) {
		const char *why = ndsh_msg_check_reply(msg, (size_t)n);

		fuzz_need(why == NULL, "the daemon's message: %s", why);
		memcpy(&h, msg, sizeof(h));
		if (h.type == NDSH_EV_CONN_REQUEST)
			id_note(c, CONN, body);
		else if (h.type == NDSH_EV_UD_QUESTION)
			id_note(c, QUESTION, body + 4);
		else if ((h.type & NDSH_REPLY) && h.status == NDSH_OK &&
			 templates[h.type & ~NDSH_REPLY].makes != KINDS)
			id_note(c, templates[h.type & ~NDSH_REPLY].makes, body);
	}
	if (n >= 0)
		return;
	close(c->socket);
	*c = (struct client){.socket = -1};
}

/* ---- the daemon ------------------------------------------------------------------------------ */

/*
 * The daemon reads its clock where it likes, and that is the CPU's counter times a factor. So time
 * hardly passes by itself here, and jumps when the factor grows.
 */
static void
clock_set(uint64_t ns)
{
	ndd_clock_mult = (uint64_t)(((unsigned __int128)ns << 32) / rte_rdtsc()) + 1;
}

static void
clock_step(uint64_t ns)
{
	ndd_clock_mult += (uint64_t)(((unsigned __int128)ns << 32) / rte_rdtsc()) + 1;
}

static void
frame_arrives(const char *hex)
{
	uint8_t f[128];

	net_rx(w.r->d.net, ndd_now_ns(), 0, f, net_rig_bytes(hex, f, sizeof(f)));
}

/* In place of the daemon's function of this name, which has no ports here: what it sends reaches
 * the peer, whose host answers for its addresses. */
void __wrap_ndd_host_tx(struct ndd *d, uint64_t now_ns);
void
__wrap_ndd_host_tx(struct ndd *d, uint64_t now_ns)
{
	struct net_tx tx;
	bool asks = false;

	(void)now_ns;
	cm_peer_hears(&w.peer, d->cm);
	while (net_tx(d->net, &tx))
		asks = true;
	if (asks)
		frame_arrives(ARP_PEER_ANSWERS);
}

/* The clock goes by leaps here: what a request takes of the daemon's time is not judged. */
static void
time_costs_nothing(void)
{
	struct ndd_principal *p;

	TAILQ_FOREACH (p, &w.r->d.accounts.principals, next)
		p->credit_ns = NDD_TURN_NS;
}

static void
daemon_turns(void)
{
	time_costs_nothing();
	ndd_rig_turn(w.r);
	ndd_control_receive(&w.r->d, ndd_now_ns());
	ndd_session_check_stalled(&w.r->d, ndd_now_ns());
	ndd_listening_again(&w.r->d, ndd_now_ns());
	ndd_control_proceed(&w.r->d, ndd_now_ns());
}

/* It has a thread of its own; what it does counts as done at once. */
static void
closer_rests(void)
{
	while (ndd_closer_busy(w.r->d.closer) > 0)
		usleep(10);
}

/* Tables that remember do not keep for the next input what one has left there. */
static void
daemon_begins_anew(void)
{
	struct roce_shard_cfg shard = lone_config();
	const struct roce_cm_cfg cm = {.max_active = 64,
		.max_passive = 64,
		.max_listeners = 64,
		.ca_guid = 77,
		.secret = {11, 22},
		.max_retries = 15};
	struct ndd *d = &w.r->d;
	struct net_rig net;

	shard.shard_id = 0;
	shard.max_cqs = shard.max_pds = 64;
	shard.max_srqs = 16;
	shard.max_mrs = 256;
	free(w.r->shard.engine);
	w.r->shard.engine = lone_shard_new(&shard);
	free(d->cm);
	d->cm = roce_cm_init(fuzz_zeroed(roce_cm_bytes(&cm)), &cm);
	free(d->net);
	net_rig_init(&net, 16);
	d->net = net.n;
	d->mads = (struct ndd_mads){0};
	d->followers.deadline_ns = UINT64_MAX;
	d->serial = 0;
	clock_set(2 * NDD_S); /* the network has seen one second */
}

static void
world_ends(void)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (w.client[i].socket >= 0)
			close(w.client[i].socket);
		w.client[i] = (struct client){.socket = -1};
	}
	for (unsigned i = 0; i < TURNS_MAX && w.r->d.session_count > 0; i++)
		daemon_turns();
	while (ndd_rig_works(w.r)) /* workers are threads */
		daemon_turns();
	closer_rests();
	left_nothing(&w.r->d, &w.r->shard, w.files);
}

/* ---- an input -------------------------------------------------------------------------------- */

/* The seat of a client that has gone is free in the turn after its socket is closed. */
static bool
seats_are_held(void)
{
	return w.r->d.accounts.pool[0][CONFIG_SHARE_sessions].promised > w.r->d.session_count;
}

static void
client_comes(struct client *c)
{
	struct ndd_session *s;

	do {
		daemon_turns();
		closer_rests();
	} while (seats_are_held());
	memset(c, 0, sizeof(*c));
	c->socket = fuzz_below(&w.in, 4) ? ndd_rig_open(w.r, &s) : ndd_rig_connect(w.r, &s);
}

static void
time_passes(void)
{
	clock_step(fuzz_time(&w.in, 16, 18));
}

static void
act(void)
{
	const struct roce_gid peer = net_rig_gid("10.77.0.2");
	struct client *c = &w.client[fuzz_below(&w.in, CLIENTS)];
	unsigned which = fuzz_below(&w.in, 32);

	if (which == 0)
		time_passes();
	else if (which < 4)
		cm_peer_speaks(&w.peer, &w.in, w.r->d.cm, ndd_now_ns(), &peer, 0);
	else if (c->socket < 0)
		client_comes(c);
	else if (which == 4) {
		close(c->socket);
		c->socket = -1;
	} else if (which == 5)
		file_send(c->socket);
	else
		client_asks(c);
	if (which & 1) /* else several messages at once */
		daemon_turns();
	if (c->socket >= 0 && (which & 2))
		client_reads(c);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	w.r = ndd_rig_new();
	ndd_log_set_level(NDD_LOG_ERROR);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	w.in = (struct fuzz_in){bytes, bytes + n};
	w.peer = (struct cm_peer){.me = net_rig_gid(NDD_RIG_IP), .me6 = net_rig_gid("fd77::1")};
	for (unsigned i = 0; i < CLIENTS; i++)
		w.client[i] = (struct client){.socket = -1};
	daemon_begins_anew();
	w.files = left_files();
	for (unsigned i = 0; i < ACTIONS_MAX && fuzz_left(&w.in) > 0; i++)
		act();
	world_ends();
	return 0;
}
