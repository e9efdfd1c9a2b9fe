/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/ndd_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/control.h"
#include "object/qp_work.h"
#include "object/segment.h"
#include "platform/log.h"
#include "platform/sigbus.h"
#include "rigs/lone_shard.h"
#include "rigs/net_rig.h"
#include "rigs/zeroed.h"
#include "session/arrival.h"
#include "session/closer.h"
#include "session/incoming.h"
#include "session/membership.h"
#include "session/session.h"
#include "session/worker.h"

static const struct config rig_config = {
	.max_sessions = NDD_RIG_SESSIONS,
	.max_memory_bytes = 16 << 20,
	.total_memory_bytes = 32 << 20,
	.max_qps = 16,
	.max_cqs = 16,
	.max_mrs = 64,
	.shard_qps = LONE_QPS,
	.shard_mrs = 256,
	.shard_wqes = 4096,
	.port_groups = 64,
	.lcores = 1,
	.ports = 1,
};

static void
start_cm(struct ndd *d)
{
	const struct roce_cm_cfg cfg = {.max_active = 64,
		.max_passive = 64,
		.max_listeners = 64,
		.ca_guid = 77,
		.secret = {11, 22},
		.req_first_retry_ns = 200000000,
		.max_retries = 15};

	d->cm = roce_cm_init(zeroed(roce_cm_bytes(&cfg)), &cfg);
	cr_assert_not_null(d->cm);
}

static void
start_shard(struct ndd_rig *r)
{
	struct roce_shard_cfg cfg = lone_config();

	cfg.shard_id = 0;
	cfg.max_cqs = 64;
	cfg.max_pds = 64;
	cfg.max_srqs = 16;
	cfg.max_mrs = r->cfg.shard_mrs;
	cfg.max_wqes = r->cfg.shard_wqes;
	r->shard.plane = &r->d.plane;
	r->shard.engine = lone_shard_new(&cfg);
	r->shard.numa_node = -1;
	r->shard.regions.total = cfg.max_mrs;
	r->shard.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_assert_not_null(r->shard.engine);
	cr_assert(ndd_wakeup_init(&r->shard.wakeup));
	r->shard.knocks.lcore = &r->shard.wakeup;
	r->d.plane.shard[0] = &r->shard;
	r->d.plane.shards = 1;
	r->d.plane.ports = 1;
	r->d.plane.port[0].mtu = 1500;
	roce_qpn_key_init(&r->d.plane.qpn_key, cfg.secret);
}

/* An abstract address that the kernel chooses: tests run side by side. */
static void
start_listening(struct ndd *d, const char *label)
{
	const struct sockaddr_un any = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_eq(bind(fd, (const struct sockaddr *)&any, sizeof(sa_family_t)), 0);
	cr_assert_eq(listen(fd, 16), 0);
	cr_assert(ndd_listening_add(d, fd, "", label));
}

void
ndd_rig_principals(struct ndd_rig *r)
{
	char why[NDD_WHY_BYTES];

	cr_assert(TAILQ_EMPTY(&r->d.accounts.principals));
	for (uint32_t i = 0; i < r->cfg.principals; i++) /* no other thread has a part in it */
		r->cfg.principal[i].direct_wakeups = true;
	ndd_incoming_stop(&r->d);
	cr_assert(ndd_accounts_init(&r->d.accounts, &r->cfg, NDD_RIG_DESCRIPTORS, why), "%s", why);
	cr_assert(ndd_incoming_start(&r->d));
	cr_assert(ndd_principals_join(&r->d));
}

void
ndd_rig_connect_by(struct ndd_rig *r, const char *label)
{
	for (r->by = 0; r->by < r->d.listenings; r->by++)
		if (strcmp(r->d.listening[r->by].label, label) == 0)
			return;
	start_listening(&r->d, label);
}

/* A rig is there until its process ends; leak checkers find it whatever the test's frame holds. */
static struct ndd_rig *newest;

struct ndd_rig *
ndd_rig_new(void)
{
	struct ndd_rig *r = zeroed(sizeof(*r));
	struct ndd *d = &r->d;
	struct net_rig net;

	r->older = newest;
	newest = r;
	r->cfg = rig_config;
	d->cfg = &r->cfg;
	ndd_lists_init(d);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->closer = ndd_closer_start();
	cr_assert_not_null(d->closer);
	ndd_rig_principals(r);
	cr_assert(ndd_wakeup_init(&d->wakeup));
	d->workers = ndd_workers_start(&d->wakeup, &d->plane.crowd);
	cr_assert_not_null(d->workers);
	net_rig_init(&net, 16);
	d->net = net.n;
	start_cm(d);
	start_shard(r);
	start_listening(d, "");
	cr_assert(ndd_sigbus_install());
	ndd_log_set_level(NDD_LOG_ERROR);
	return r;
}

struct ndd_rig *
ndd_rig_red_and_blue(
	const struct config_principal *red, const struct config_principal *blue, bool allow)
{
	static const char *const names[] = {"red", "blue"};
	struct ndd_rig *r = ndd_rig_new();

	r->cfg.principals = 2;
	r->cfg.principal[0] = *red;
	r->cfg.principal[1] = *blue;
	for (int i = 0; i < 2; i++) {
		strcpy(r->cfg.principal[i].name, names[i]);
		strcpy(r->cfg.principal[i].label, names[i]);
		r->cfg.principal[i].weight = 1;
		r->cfg.principal[i].allow = allow;
	}
	ndd_rig_principals(r);
	return r;
}

void
ndd_rig_receive(struct ndd_rig *r)
{
	struct epoll_event ev[16];
	int n;

	ndd_accounts_turn(&r->d.accounts);
	ndd_listening_admit(&r->d);
	ndd_arrivals_begin(&r->d);
	n = epoll_wait(r->d.epoll_fd, ev, 16, 0);
	for (int i = 0; i < n; i++) {
		struct ndd_watch *w = ev[i].data.ptr;

		w->ready(&r->d, w, ev[i].events);
	}
	ndd_incoming_serve(&r->d);
	ndd_listening_accept(&r->d);
}

bool
ndd_rig_is_quiet(const struct ndd_rig *r)
{
	struct epoll_event ev;

	return ndd_incoming_is_quiet(&r->d) && epoll_wait(r->d.epoll_fd, &ev, 1, 0) == 0;
}

/* They are threads; what was asked of them counts as done at once. */
static void
couriers_rest(struct ndd_rig *r)
{
	while (r->d.accounts.couriers.ending != 0) {
		ndd_couriers_collect(&r->d.accounts.couriers);
		usleep(10);
	}
}

void
ndd_rig_turn(struct ndd_rig *r)
{
	ndd_rig_receive(r);
	ndd_workers_finish(r->d.workers);
	ndd_session_reap(&r->d);
	couriers_rest(r);
	ndd_qp_work_tick(&r->d, r->d.work_look_ns);
}

int
ndd_rig_dial(struct ndd_rig *r)
{
	struct sockaddr_un addr;
	socklen_t bytes = sizeof(addr);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_eq(
		getsockname(r->d.listening[r->by].watch.fd, (struct sockaddr *)&addr, &bytes), 0);
	cr_assert_eq(connect(fd, (const struct sockaddr *)&addr, bytes), 0);
	return fd;
}

int
ndd_rig_connect(struct ndd_rig *r, struct ndd_session **s)
{
	int fd = ndd_rig_dial(r);

	ndd_rig_turn(r); /* it is accepted, */
	ndd_rig_turn(r); /* and has its session */
	*s = TAILQ_LAST(&r->d.sessions, ndd_session_list);
	return fd;
}

bool
ndd_rig_works(struct ndd_rig *r)
{
	struct ndd_session *s;
	struct ndd_segment *seg;

	if (ndd_workers_left(r->d.workers) > 0 || !TAILQ_EMPTY(&r->d.ended) ||
		!TAILQ_EMPTY(&r->d.working_qps))
		return true;
	TAILQ_FOREACH (s, &r->d.sessions, next)
		for (uint32_t pos = 0; (seg = ndd_slots_next(&s->segments, &pos)) != NULL;)
			if (seg->state == NDD_SEGMENT_MAPPING || seg->state == NDD_SEGMENT_GOING)
				return true;
	return false;
}

void
ndd_rig_settle(struct ndd_rig *r)
{
	do
		ndd_rig_turn(r);
	while (ndd_rig_works(r));
}

long
ndd_rig_take(int client, void *msg, int *fd)
{
	struct iovec iov = {.iov_base = msg, .iov_len = NDSH_MSG_BYTES};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(client, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&mh) : NULL;
	int got = -1;

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (c != NULL)
		memcpy(&got, CMSG_DATA(c), sizeof(got));
	if (fd != NULL)
		*fd = got;
	else if (got >= 0)
		close(got);
	return n == 0 ? -1 : n;
}

/* On a slow machine, or by a clock that leaps, one request can use up a turn's time; the next is
 * read when turns have paid for it. */
static bool
rig_owes_time(const struct ndd_rig *r)
{
	const struct ndd_principal *p;

	TAILQ_FOREACH (p, &r->d.accounts.principals, next)
		if (!ndd_principal_has_time(p))
			return true;
	return false;
}

/* The reply, before and behind which nothing comes. */
static enum ndsh_status
rig_ask(struct ndd_rig *r, int client, const void *msg, void *reply, int *fd)
{
	static uint64_t cookies;
	uint8_t request[NDSH_MSG_BYTES], nothing[NDSH_MSG_BYTES];
	struct ndsh_msg_hdr h;
	size_t bytes;
	long n;

	memcpy(&h, msg, sizeof(h));
	bytes = ndsh_msg_table[h.type].bytes;
	memcpy(request, msg, bytes);
	h.cookie = ++cookies;
	memcpy(request, &h, sizeof(h));
	cr_assert_eq(send(client, request, bytes, 0), (ssize_t)bytes);
	do {
		ndd_rig_turn(r);
		n = ndd_rig_take(client, reply, fd);
	} while (n == 0 && (rig_owes_time(r) || ndd_rig_works(r)));
	if (n > 0 && ((struct ndsh_msg_hdr *)reply)->type == NDSH_EV_REFUSAL)
		n = ndd_rig_take(client, reply, fd);
	cr_assert_gt(n, 0, "%s has no reply", ndsh_msg_table[h.type].name);
	cr_assert_null(ndsh_msg_check_reply(reply, (size_t)n), "%s", ndsh_msg_table[h.type].name);
	cr_assert_eq(((struct ndsh_msg_hdr *)reply)->type, h.type | NDSH_REPLY);
	cr_assert_eq(((struct ndsh_msg_hdr *)reply)->cookie, h.cookie);
	cr_assert_eq(ndd_rig_take(client, nothing, NULL), 0);
	return ((struct ndsh_msg_hdr *)reply)->status;
}

enum ndsh_status
ndd_rig_ask(struct ndd_rig *r, int client, const void *msg, void *reply)
{
	return rig_ask(r, client, msg, reply, NULL);
}

void
ndd_rig_second_port(struct ndd_rig *r, const char *text)
{
	const struct net_link link = {.port = 1, .mac = {2, 0, 0, 0, 0x78, 1}, .mtu = 1500};
	const struct net_ip ip = net_rig_ip(text);
	const char *why;
	const int at = net_link_add(r->d.net, &link);

	cr_assert_geq(at, 0);
	cr_assert(net_address_add(r->d.net, (uint32_t)at, &ip, 24, &why), "%s", why);
	r->cfg.ports = r->d.plane.ports = 2;
	r->d.plane.port[1].mtu = 1500;
}

int
ndd_rig_open(struct ndd_rig *r, struct ndd_session **s)
{
	return ndd_rig_open_at(r, NDD_RIG_IP, s);
}

int
ndd_rig_open_at(struct ndd_rig *r, const char *text, struct ndd_session **s)
{
	const struct net_ip ip = net_rig_ip(text);
	struct ndsh_open open = {.h.type = NDSH_MSG_OPEN, .placement = NDSH_PLACE_ANY};
	uint8_t reply[NDSH_MSG_BYTES];
	struct ndsh_hello hello;
	int client = ndd_rig_connect(r, s);

	ndsh_hello_fill(&hello);
	cr_assert_eq(ndd_rig_ask(r, client, &hello, reply), NDSH_OK);
	memcpy(open.addr.ip, ip.b, 16);
	cr_assert_eq(ndd_rig_ask(r, client, &open, reply), NDSH_OK);
	return client;
}

void *
ndd_rig_segment(struct ndd_rig *r, int client, uint64_t bytes, uint32_t *id)
{
	const struct ndsh_segment_create create = {
		.h.type = NDSH_MSG_SEGMENT_CREATE, .bytes = bytes};
	struct ndsh_segment_mapped mapped = {.h.type = NDSH_MSG_SEGMENT_MAPPED};
	union {
		struct ndsh_segment_create_reply segment;
		uint8_t bytes[NDSH_MSG_BYTES];
	} reply;
	void *mem;
	int fd;

	cr_assert_eq(rig_ask(r, client, &create, &reply, &fd), NDSH_OK);
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(mem, MAP_FAILED);
	memset(mem, 0, bytes);
	close(fd);
	*id = mapped.segment = reply.segment.segment;
	mapped.client_va = (uintptr_t)mem;
	cr_assert_eq(ndd_rig_ask(r, client, &mapped, &reply), NDSH_OK);
	return mem;
}
