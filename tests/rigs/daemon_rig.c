/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rigs/daemon_rig.h"
#include "rigs/send_file.h"
#include "shm/ndsh_status.h"

/* Types of objects that no message destroys. */
#define REGION	 NDSH_MSG_TYPE_COUNT
#define ADMIN_CQ NDSH_MSG_ADMIN_CREATE /* lives and ends with the session: not counted */

#define ADDRESS "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1"

/* ---- objects; lock held -------------------------------------------------------------- */

static uint32_t
add(struct daemon_rig *r, uint16_t destroy_type, const uint32_t *on, int count)
{
	uint32_t id = 0;

	while (r->object[id].type != 0)
		cr_assert(lt(u32, ++id, RIG_OBJECTS));
	r->object[id] = (struct rig_object){.type = destroy_type, .fd = -1};
	for (int i = 0; i < count; i++) {
		r->object[id].on[i] = on[i] + 1;
		r->object[on[i]].users++;
	}
	r->live++;
	return id;
}

static void
forget(struct daemon_rig *r, uint32_t id)
{
	struct rig_object *o = &r->object[id];

	for (int i = 0; i < RIG_RESTS; i++)
		if (o->on[i] != 0)
			r->object[o->on[i] - 1].users--;
	if (o->fd >= 0)
		close(o->fd);
	if (o->type != ADMIN_CQ)
		r->live--;
	o->type = 0;
}

/* A connection does not keep its queue pair, as in the daemon. */
static enum ndsh_status
destroy(struct daemon_rig *r, uint16_t type, uint32_t id)
{
	bool there = id < RIG_OBJECTS && r->object[id].type == type;

	if (!there || r->object[id].users != 0) {
		r->refused++;
		return there ? NDSH_ERR_BUSY : NDSH_ERR_INVALID_ID;
	}
	forget(r, id);
	return NDSH_OK;
}

static void
end_session(struct daemon_rig *r)
{
	for (uint32_t i = 0; i < RIG_OBJECTS; i++)
		if (r->object[i].type != 0)
			forget(r, i);
	for (uint32_t i = 0; i < RIG_SEGMENTS; i++)
		if (r->segment[i].fd >= 0) {
			munmap(r->segment[i].base, r->segment[i].bytes);
			close(r->segment[i].fd);
			r->segment[i].fd = -1;
		}
	if (r->socket >= 0)
		close(r->socket);
	r->admin.ring = NULL;
	if (r->wake >= 0)
		close(r->wake);
	r->socket = r->wake = -1;
}

/* ---- messages; lock held ------------------------------------------------------------- */

/* fd goes along and is closed here, or -1. */
static void
put(struct daemon_rig *r, const void *msg, size_t bytes, int fd)
{
	(void)send_file(r->socket, msg, bytes, MSG_NOSIGNAL, fd);
	if (fd >= 0)
		close(fd);
}

static void
tell(struct daemon_rig *r, uint16_t type, uint32_t conn, uint32_t listener)
{
	struct ndsh_ev_conn ev = {.h.type = type, .conn = conn, .listener = listener};

	memcpy(ev.local.ip, ADDRESS, sizeof(ev.local.ip));
	ev.remote = ev.local;
	put(r, &ev, sizeof(ev), -1);
}

static int
make_segment(struct daemon_rig *r, uint64_t bytes, uint32_t *id)
{
	for (*id = 0; *id < RIG_SEGMENTS && r->segment[*id].fd >= 0;)
		++*id;
	cr_assert(lt(u32, *id, RIG_SEGMENTS));
	r->segment[*id].fd = memfd_create("segment", MFD_CLOEXEC);
	cr_assert(zero(int, ftruncate(r->segment[*id].fd, (off_t)bytes)));
	r->segment[*id].bytes = bytes;
	r->segment[*id].base =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->segment[*id].fd, 0);
	cr_assert(ne(ptr, r->segment[*id].base, MAP_FAILED));
	return dup(r->segment[*id].fd);
}

static int
make_cq(struct daemon_rig *r, const struct ndsh_cq_create *m, uint32_t *id)
{
	int fd[2];

	cr_assert(zero(int, pipe(fd)));
	*id = add(r, NDSH_MSG_CQ_DESTROY, NULL, 0);
	r->object[*id].fd = fd[1];
	ndsh_cq_view(&r->object[*id].cq, r->segment[m->segment].base + m->offset, m->depth);
	return fd[0];
}

/* From now on doorbells come by the wake eventfd. */
static void
make_admin(struct daemon_rig *r, const struct ndsh_admin_create *m)
{
	struct ndsh_session_page *page = (void *)r->segment[0].base;

	cr_assert(eq(int, r->object[m->cq].type, NDSH_MSG_CQ_DESTROY));
	r->object[m->cq].type = ADMIN_CQ;
	r->live--;
	r->admin_cq = m->cq;
	ndsh_admin_view(&r->admin, r->segment[m->segment].base + m->offset, m->depth);
	__atomic_store_n(&page->asleep, 1, __ATOMIC_SEQ_CST);
}

static uint32_t
make_qp(struct daemon_rig *r, const struct ndsh_qp_create *m)
{
	const uint32_t on[RIG_RESTS] = {m->pd, m->send_cq, m->recv_cq, m->srq};

	return add(r, NDSH_MSG_QP_DESTROY, on, m->has_srq ? 4 : 3);
}

static void
fill_open(struct ndsh_open_reply *o)
{
	o->max_mr_bytes = o->max_transfer_bytes = 1 << 20;
	o->max_sge = 4;
	o->max_inline = 64;
	o->max_depth = o->max_cq_depth = o->max_srq_depth = 64;
	o->max_read_limit = 16;
	o->max_qps = o->max_cqs = o->max_mrs = RIG_OBJECTS;
	o->path_mtu = 1024;
}

/* It has adapters 1 and 2. */
static void
find_adapter(const struct ndsh_adapter *m, struct ndsh_adapter_reply *reply)
{
	if (m->adapter_id > 2)
		reply->h.status = NDSH_ERR_INVALID_ID;
	reply->adapter_id = m->adapter_id != 0 ? m->adapter_id : 1;
	reply->max_window_bytes = 1 << 19;
	reply->vendor_id = 0x15b3;
	reply->device_id = 0x1017;
	memcpy(reply->addr.ip, ADDRESS, sizeof(reply->addr.ip));
	reply->addr.ip[15] = (uint8_t)reply->adapter_id;
}

/* The reply's body; returns the fd that goes along, or -1. */
static int
make_object(struct daemon_rig *r, const struct ndsh_msg_hdr *h, void *reply)
{
	struct ndsh_id_msg *id = reply;

	switch (h->type) {
	case NDSH_MSG_HELLO:
		((struct ndsh_hello_reply *)reply)->abi_major = NDSH_ABI_MAJOR;
		((struct ndsh_hello_reply *)reply)->abi_minor = NDSH_ABI_MINOR;
		return -1;
	case NDSH_MSG_ADAPTER:
		find_adapter((const struct ndsh_adapter *)h, reply);
		return -1;
	case NDSH_MSG_OPEN:
		fill_open(reply);
		r->opened = ((const struct ndsh_open *)h)->addr;
		r->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		cr_assert(ge(int, r->wake, 0));
		return dup(r->wake);
	case NDSH_MSG_SEGMENT_CREATE:
		((struct ndsh_segment_create_reply *)reply)->bytes =
			((const struct ndsh_segment_create *)h)->bytes;
		return make_segment(r, ((const struct ndsh_segment_create *)h)->bytes,
			&((struct ndsh_segment_create_reply *)reply)->segment);
	case NDSH_MSG_CQ_CREATE:
		return make_cq(r, (const struct ndsh_cq_create *)h, &id->id);
	case NDSH_MSG_PD_CREATE:
		id->id = add(r, NDSH_MSG_PD_DESTROY, NULL, 0);
		return -1;
	case NDSH_MSG_ADMIN_CREATE:
		make_admin(r, (const struct ndsh_admin_create *)h);
		return -1;
	case NDSH_MSG_MW_CREATE:
		((struct ndsh_mw_create_reply *)reply)->mw =
			add(r, NDSH_MSG_MW_DESTROY, &((const struct ndsh_mw_create *)h)->pd, 1);
		return -1;
	case NDSH_MSG_SRQ_CREATE:
		id->id = add(r, NDSH_MSG_SRQ_DESTROY, &((const struct ndsh_srq_create *)h)->pd, 1);
		return -1;
	case NDSH_MSG_QP_CREATE:
		((struct ndsh_qp_create_reply *)reply)->qp =
			make_qp(r, (const struct ndsh_qp_create *)h);
		return -1;
	case NDSH_MSG_LISTENER_CREATE:
		((struct ndsh_listener_create_reply *)reply)->listener =
			add(r, NDSH_MSG_LISTENER_DESTROY, NULL, 0);
		return -1;
	case NDSH_MSG_LISTENER_BIND:
		((struct ndsh_bind_reply *)reply)->id = add(r, NDSH_MSG_LISTENER_DESTROY, NULL, 0);
		return -1;
	case NDSH_MSG_CONNECT:
		id->id = add(r, NDSH_MSG_CONN_DESTROY, NULL, 0);
		return -1;
	default:
		id->id = ((const struct ndsh_id_msg *)h)->id;
		return -1;
	}
}

/* Before the reply to the arm, which is as legal as behind it. */
static void
tell_limit(struct daemon_rig *r, uint32_t srq)
{
	const struct ndsh_ev_srq ev = {.h.type = NDSH_EV_SRQ_LIMIT, .srq = srq};

	put(r, &ev, sizeof(ev), -1);
}

static void
serve(struct daemon_rig *r, const struct ndsh_msg_hdr *h)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES] = {0};
	struct ndsh_msg_hdr *reply = (void *)buf;
	const struct ndsh_id_msg *m = (const void *)h;
	int fd;

	reply->type = h->type | NDSH_REPLY;
	reply->cookie = h->cookie;
	fd = make_object(r, h, buf);
	switch (h->type) {
	case NDSH_MSG_PD_DESTROY:
	case NDSH_MSG_CQ_DESTROY:
	case NDSH_MSG_MW_DESTROY:
	case NDSH_MSG_SRQ_DESTROY:
	case NDSH_MSG_QP_DESTROY:
	case NDSH_MSG_LISTENER_DESTROY:
	case NDSH_MSG_CONN_DESTROY:
		reply->status = destroy(r, h->type, m->id);
		break;
	default:
		break;
	}
	if (h->type == r->refuses)
		reply->status = NDSH_ERR_NO_RESOURCES;
	if (h->type == NDSH_MSG_SRQ_ARM && r->limits)
		tell_limit(r, ((const struct ndsh_srq_arm *)h)->srq);
	put(r, buf, ndsh_msg_table[h->type].reply_bytes, fd);
	if (h->type == NDSH_MSG_CONNECT)
		tell(r, NDSH_EV_CONN_REPLY, ((struct ndsh_id_msg *)buf)->id, 0);
	if (h->type == NDSH_MSG_ACCEPT)
		tell(r, NDSH_EV_CONN_ESTABLISHED, ((const struct ndsh_accept *)h)->conn, 0);
}

/* ---- registrations; lock held -------------------------------------------------------- */

static void
answer(struct daemon_rig *r, uint32_t cq, const struct ndsh_cqe *e)
{
	struct rig_object *o = &r->object[cq];

	(void)ndsh_cq_push(&o->cq, e);
	ndsh_cq_publish(&o->cq);
	ndsh_full_barrier();
	if (ndsh_cq_fire(&o->cq))
		(void)!write(o->fd, "", 1);
}

/* A region's token is its number here and one. */
static void
serve_admin(struct daemon_rig *r)
{
	struct ndsh_admin_request q;

	while (r->admin.ring != NULL && ndsh_admin_fetch(&r->admin, &q)) {
		struct ndsh_cqe e = {.slot_count = r->admin.next};

		if ((q.ctrl & ~NDSH_CTRL_PHASE) == NDSH_ADMIN_REGISTER)
			e.data = add(r, REGION, &q.pd, 1) + 1;
		else if (destroy(r, REGION, q.token - 1) != NDSH_OK)
			e.status = NDSH_ADMIN_BAD;
		answer(r, r->admin_cq, &e);
	}
}

/* ---- the thread ---------------------------------------------------------------------- */

static void
readable(struct daemon_rig *r)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
	ssize_t n;

	pthread_mutex_lock(&r->lock);
	if (r->socket >= 0) {
		n = recv(r->socket, buf, sizeof(buf), MSG_DONTWAIT);
		if (n == 0)
			end_session(r);
		if (n >= (ssize_t)sizeof(struct ndsh_msg_hdr))
			serve(r, (const void *)buf);
	}
	pthread_mutex_unlock(&r->lock);
}

static void
rung(struct daemon_rig *r)
{
	eventfd_t sink;

	pthread_mutex_lock(&r->lock);
	if (r->wake >= 0)
		(void)eventfd_read(r->wake, &sink);
	serve_admin(r);
	pthread_mutex_unlock(&r->lock);
}

/* One client at a time: the next one's greeting waits until the last one's session is over. */
static void *
rig_main(void *arg)
{
	struct daemon_rig *r = arg;

	for (;;) {
		struct pollfd p[3] = {
			{.fd = r->stop, .events = POLLIN}, {.events = POLLIN}, {.events = POLLIN}};

		pthread_mutex_lock(&r->lock);
		p[1].fd = r->socket >= 0 ? r->socket : r->listener;
		p[2].fd = r->wake;
		pthread_mutex_unlock(&r->lock);
		(void)poll(p, 3, -1);
		if (p[0].revents != 0)
			return NULL;
		if (p[2].revents & POLLIN)
			rung(r);
		if (p[1].fd != r->listener) {
			readable(r);
			continue;
		}
		pthread_mutex_lock(&r->lock);
		r->socket = accept(r->listener, NULL, NULL);
		pthread_mutex_unlock(&r->lock);
	}
}

void
daemon_rig_start(struct daemon_rig *r)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/daemon-rig-XXXXXX";

	*r = (struct daemon_rig){.socket = -1, .wake = -1};
	for (uint32_t i = 0; i < RIG_SEGMENTS; i++)
		r->segment[i].fd = -1;
	cr_assert(ne(ptr, mkdtemp(dir), NULL));
	snprintf(r->path, sizeof(r->path), "%s/socket", dir);
	memcpy(sun.sun_path, r->path, sizeof(r->path));
	pthread_mutex_init(&r->lock, NULL);
	r->stop = eventfd(0, 0);
	r->listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	cr_assert(zero(int, bind(r->listener, (const void *)&sun, sizeof(sun))));
	cr_assert(zero(int, listen(r->listener, 4)));
	cr_assert(zero(int, pthread_create(&r->thread, NULL, rig_main, r)));
}

void
daemon_rig_stop(struct daemon_rig *r)
{
	(void)!write(r->stop, &(uint64_t){1}, sizeof(uint64_t));
	pthread_join(r->thread, NULL);
	end_session(r);
	close(r->listener);
	close(r->stop);
	unlink(r->path);
	*strrchr(r->path, '/') = 0;
	rmdir(r->path);
	pthread_mutex_destroy(&r->lock);
}

/* ---- for the tests ------------------------------------------------------------------- */

struct nd_adapter *
daemon_rig_open(struct daemon_rig *r)
{
	const struct nd_open_options opt = {.socket_path = r->path};
	struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001)};
	struct nd_adapter *a;

	cr_assert(eq(
		i32, nd_adapter_open((const void *)&local, sizeof(local), &opt, &a), ND_SUCCESS));
	return a;
}

uint32_t
daemon_rig_live(struct daemon_rig *r)
{
	uint32_t live;

	pthread_mutex_lock(&r->lock);
	live = r->live;
	pthread_mutex_unlock(&r->lock);
	return live;
}

uint16_t
daemon_rig_type(struct daemon_rig *r, uint32_t id)
{
	uint16_t type;

	pthread_mutex_lock(&r->lock);
	type = r->object[id].type;
	pthread_mutex_unlock(&r->lock);
	return type;
}

void
daemon_rig_request(struct daemon_rig *r, uint32_t listener)
{
	pthread_mutex_lock(&r->lock);
	tell(r, NDSH_EV_CONN_REQUEST, add(r, NDSH_MSG_CONN_DESTROY, NULL, 0), listener);
	pthread_mutex_unlock(&r->lock);
}

void
daemon_rig_hang_up(struct daemon_rig *r)
{
	pthread_mutex_lock(&r->lock);
	(void)shutdown(r->socket, SHUT_RDWR); /* the thread sees it */
	pthread_mutex_unlock(&r->lock);
}

void
daemon_rig_push(struct daemon_rig *r, uint32_t cq, const struct ndsh_cqe *e)
{
	pthread_mutex_lock(&r->lock);
	cr_assert(eq(u32, r->object[cq].type, NDSH_MSG_CQ_DESTROY));
	answer(r, cq, e);
	pthread_mutex_unlock(&r->lock);
}
