/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that librdmacm writes: a header, the command's structure, and in it the address of
 * the response. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/session/address.h"
#include "ndverbs/cm/cm.h"
#include "ndverbs/counter.h"

struct command {
	struct cm_file *file;
	const void *in;	  /* the structure: at least as long as the table says */
	uint16_t out;	  /* room for the response */
	struct cm_id *id; /* of commands that name one, for this command */
};

/* As much of the response as there is room for, least of all so much. */
static int
command_respond(
	const struct command *c, uint64_t where, const void *response, size_t bytes, size_t least)
{
	if (c->out < least)
		return ENOSPC;
	memcpy((void *)(uintptr_t)where, response, c->out < bytes ? c->out : bytes);
	return 0;
}

#define RESPOND(c, m, r) command_respond(c, (m)->response, &(r), sizeof(r), sizeof(r))

/* ---- addresses ---------------------------------------------------------------------------- */

/* EAFNOSUPPORT also tells librdmacm that there is no AF_IB. */
static int
take_address(struct ndsh_addr *to, const void *from)
{
	struct sockaddr_storage ss = {0};

	memcpy(&ss, from, sizeof(struct sockaddr_in6));
	return nd_address_from(to, (const struct sockaddr *)&ss, sizeof(ss)) ? 0 : EAFNOSUPPORT;
}

static int
do_bind_ip(struct command *c)
{
	const struct rdma_ucm_bind_ip *m = c->in;
	struct ndsh_addr at;
	int err = take_address(&at, &m->addr);

	return err == 0 ? cm_bind(c->id, &at) : err;
}

static int
do_bind(struct command *c)
{
	const struct rdma_ucm_bind *m = c->in;
	struct ndsh_addr at;
	int err = take_address(&at, &m->addr);

	return err == 0 ? cm_bind(c->id, &at) : err;
}

static int
do_resolve_ip(struct command *c)
{
	const struct rdma_ucm_resolve_ip *m = c->in;
	struct ndsh_addr from, to;
	int err = take_address(&to, &m->dst_addr);

	if (err == 0 && m->src_addr.sin6_family != 0)
		err = take_address(&from, &m->src_addr);
	if (err != 0)
		return err;
	return cm_resolve(c->id, m->src_addr.sin6_family != 0 ? &from : NULL, &to);
}

static int
do_resolve_route(struct command *c)
{
	int err = EINVAL;

	pthread_mutex_lock(&cm_lock);
	if (cm_state(c->id) == CM_ADDRESS) {
		cm_set_state(c->id, CM_ROUTE);
		cm_event_raise(c->id, CM_EV_ROUTE_RESOLVED, 0, NULL);
		err = 0;
	}
	pthread_mutex_unlock(&cm_lock);
	return err;
}

static int
do_query_route(struct command *c)
{
	const struct rdma_ucm_query *m = c->in;
	struct rdma_ucm_query_route_resp r = {.ibdev_index = UINT32_MAX}; /* none */

	pthread_mutex_lock(&cm_lock);
	cm_query_route(c->id, &r);
	pthread_mutex_unlock(&cm_lock);
	return command_respond(c, m->response, &r, sizeof(r),
		offsetof(struct rdma_ucm_query_route_resp, ibdev_index));
}

static int
do_listen(struct command *c)
{
	return cm_listen(c->id, (int)((const struct rdma_ucm_listen *)c->in)->backlog);
}

/* ---- connections -------------------------------------------------------------------------- */

static int
do_connect(struct command *c)
{
	return cm_connect(c->id, &((const struct rdma_ucm_connect *)c->in)->conn_param);
}

static int
do_accept(struct command *c)
{
	const struct rdma_ucm_accept *m = c->in;

	return cm_accept(c->id, &m->conn_param, m->uid);
}

static int
do_reject(struct command *c)
{
	return cm_reject(c->id, c->in);
}

static int
do_disconnect(struct command *c)
{
	return cm_disconnect(c->id);
}

/* That the first message has come is known here already. */
static int
do_notify(struct command *c)
{
	(void)c;
	return 0;
}

static int
do_init_qp_attr(struct command *c)
{
	const struct rdma_ucm_init_qp_attr *m = c->in;
	struct ib_uverbs_qp_attr a = {0};
	int err;

	pthread_mutex_lock(&cm_lock);
	err = cm_init_qp_attr(c->id, m->qp_state, &a);
	pthread_mutex_unlock(&cm_lock);
	return err == 0 ? RESPOND(c, m, a) : err;
}

/* ---- identifiers and events --------------------------------------------------------------- */

static int
do_create_id(struct command *c)
{
	const struct rdma_ucm_create_id *m = c->in;
	struct rdma_ucm_create_id_resp r = {0};
	struct cm_id *id;

	if (m->ps != RDMA_PS_TCP && m->ps != RDMA_PS_UDP)
		return EOPNOTSUPP;
	pthread_mutex_lock(&cm_lock);
	id = cm_id_new(c->file);
	if (id != NULL) {
		id->uid = m->uid;
		id->datagrams = m->ps == RDMA_PS_UDP;
		r.id = id->handle;
	}
	pthread_mutex_unlock(&cm_lock);
	return id != NULL ? RESPOND(c, m, r) : ENOMEM;
}

static int
do_destroy_id(struct command *c)
{
	const struct rdma_ucm_destroy_id *m = c->in;
	struct rdma_ucm_destroy_id_resp r = {.events_reported = cm_id_destroy(c->id)};

	return RESPOND(c, m, r);
}

/* Another thread may have taken the event, or a destroy; then this waits again. */
static int
do_get_event(struct command *c)
{
	const struct rdma_ucm_get_event *m = c->in;
	struct cm_event *e;
	int err;

	if (c->out < offsetof(struct rdma_ucm_event_resp, reserved))
		return ENOSPC;
	do {
		if (!ndv_counter_down(c->file->fd))
			return errno;
		pthread_mutex_lock(&cm_lock);
		e = TAILQ_FIRST(&c->file->events);
		if (e != NULL) {
			TAILQ_REMOVE(&c->file->events, e, next);
			e->id->reported++;
			if (e->join != NULL)
				cm_join_reported(e->join);
		}
		pthread_mutex_unlock(&cm_lock);
	} while (e == NULL);
	err = command_respond(c, m->response, &e->resp, sizeof(e->resp),
		offsetof(struct rdma_ucm_event_resp, reserved));
	free(e);
	return err;
}

static int
do_set_option(struct command *c)
{
	const struct rdma_ucm_set_option *m = c->in;
	const void *value = (const void *)(uintptr_t)m->optval;
	int on;

	if (m->level != RDMA_OPTION_ID)
		return ENOSYS;
	switch (m->optname) {
	case RDMA_OPTION_ID_TOS:
		if (m->optlen != sizeof(uint8_t))
			return EINVAL;
		c->id->tos = *(const uint8_t *)value;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (m->optlen != sizeof(uint8_t) || c->id->datagrams)
			return EINVAL;
		c->id->ack_timeout = *(const uint8_t *)value;
		c->id->has_ack_timeout = true;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR: /* ports are free with their identifiers anyway */
		return m->optlen == sizeof(int) ? 0 : EINVAL;
	case RDMA_OPTION_ID_AFONLY:
		if (m->optlen != sizeof(int) || cm_state(c->id) != CM_IDLE)
			return EINVAL;
		memcpy(&on, value, sizeof(on));
		c->id->family_only = on != 0;
		return 0;
	default:
		return ENOSYS;
	}
}

/* The identifier is one of another file, which the command names. */
static int
do_migrate_id(struct command *c)
{
	const struct rdma_ucm_migrate_id *m = c->in;
	struct cm_file *from = cm_file_get((int)m->fd);
	struct rdma_ucm_migrate_resp r = {0};
	struct cm_id *id;

	if (from == NULL)
		return EINVAL;
	id = cm_id_begin(from, m->id);
	if (id == NULL) {
		cm_file_put(from);
		return ENOENT;
	}
	pthread_mutex_lock(&cm_lock);
	cm_id_move(id, c->file);
	r.events_reported = id->reported;
	pthread_mutex_unlock(&cm_lock);
	cm_id_end(id);
	cm_file_put(from);
	return RESPOND(c, m, r);
}

/* ---- multicast groups --------------------------------------------------------------------- */

static int
join_group(struct command *c, const void *address, uint64_t uid, uint64_t response)
{
	struct rdma_ucm_create_id_resp r = {0};
	struct ndsh_addr group;
	int err = take_address(&group, address);

	if (err == 0 && c->out < sizeof(r))
		err = ENOSPC;
	if (err == 0)
		err = cm_join(c->id, &group, uid, &r.id);
	return err == 0 ? command_respond(c, response, &r, sizeof(r), sizeof(r)) : err;
}

static int
do_join_ip(struct command *c)
{
	const struct rdma_ucm_join_ip_mcast *m = c->in;

	return join_group(c, &m->addr, m->uid, m->response);
}

/* A member that only sends is one whose queue pair is not attached, which is librdmacm's part. */
static int
do_join(struct command *c)
{
	const struct rdma_ucm_join_mcast *m = c->in;

	if (m->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return EINVAL;
	if (m->addr_size != (m->addr.ss_family == AF_INET ? sizeof(struct sockaddr_in)
							  : sizeof(struct sockaddr_in6)))
		return EINVAL;
	return join_group(c, &m->addr, m->uid, m->response);
}

/* The number is that of the join. */
static int
do_leave(struct command *c)
{
	const struct rdma_ucm_destroy_id *m = c->in;
	struct rdma_ucm_destroy_id_resp r = {0};
	int err = c->out < sizeof(r) ? ENOSPC : cm_leave(c->file, m->id, &r.events_reported);

	return err == 0 ? RESPOND(c, m, r) : err;
}

/* ---- the table ---------------------------------------------------------------------------- */

#define NAMES_NONE UINT16_MAX
/* A command with that structure; the field of it that has the identifier's number. */
#define ON(s, run)                                                                                 \
	{                                                                                          \
		sizeof(struct s), offsetof(struct s, id), run                                      \
	}
#define WITHOUT(s, run)                                                                            \
	{                                                                                          \
		sizeof(struct s), NAMES_NONE, run                                                  \
	}

static const struct {
	uint16_t bytes, id_at;
	int (*run)(struct command *c);
} commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = WITHOUT(rdma_ucm_create_id, do_create_id),
	[RDMA_USER_CM_CMD_DESTROY_ID] = ON(rdma_ucm_destroy_id, do_destroy_id),
	[RDMA_USER_CM_CMD_BIND_IP] = ON(rdma_ucm_bind_ip, do_bind_ip),
	[RDMA_USER_CM_CMD_BIND] = ON(rdma_ucm_bind, do_bind),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = ON(rdma_ucm_resolve_ip, do_resolve_ip),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = ON(rdma_ucm_resolve_route, do_resolve_route),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = ON(rdma_ucm_query, do_query_route),
	[RDMA_USER_CM_CMD_CONNECT] = {offsetof(struct rdma_ucm_connect, ece),
		offsetof(struct rdma_ucm_connect, id), do_connect},
	[RDMA_USER_CM_CMD_LISTEN] = ON(rdma_ucm_listen, do_listen),
	[RDMA_USER_CM_CMD_ACCEPT] = {offsetof(struct rdma_ucm_accept, ece),
		offsetof(struct rdma_ucm_accept, id), do_accept},
	[RDMA_USER_CM_CMD_REJECT] = ON(rdma_ucm_reject, do_reject),
	[RDMA_USER_CM_CMD_DISCONNECT] = ON(rdma_ucm_disconnect, do_disconnect),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = ON(rdma_ucm_init_qp_attr, do_init_qp_attr),
	[RDMA_USER_CM_CMD_GET_EVENT] = WITHOUT(rdma_ucm_get_event, do_get_event),
	[RDMA_USER_CM_CMD_SET_OPTION] = ON(rdma_ucm_set_option, do_set_option),
	[RDMA_USER_CM_CMD_NOTIFY] = ON(rdma_ucm_notify, do_notify),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = WITHOUT(rdma_ucm_migrate_id, do_migrate_id),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = ON(rdma_ucm_join_ip_mcast, do_join_ip),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = ON(rdma_ucm_join_mcast, do_join),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = WITHOUT(rdma_ucm_destroy_id, do_leave),
};

static int
run_on_id(struct command *c, uint32_t cmd)
{
	uint32_t handle;
	int err;

	memcpy(&handle, (const char *)c->in + commands[cmd].id_at, sizeof(handle));
	c->id = cm_id_begin(c->file, handle);
	if (c->id == NULL)
		return ENOENT;
	err = commands[cmd].run(c);
	cm_id_end(c->id);
	return err;
}

long
cm_command(struct cm_file *f, const void *buf, size_t bytes)
{
	struct rdma_ucm_cmd_hdr h;
	struct command c = {.file = f};
	int err;

	if (bytes >= sizeof(h))
		memcpy(&h, buf, sizeof(h));
	if (bytes < sizeof(h) || h.cmd >= sizeof(commands) / sizeof(commands[0]) ||
		h.in + sizeof(h) > bytes) {
		errno = EINVAL;
		return -1;
	}
	c.in = (const char *)buf + sizeof(h);
	c.out = h.out;
	if (commands[h.cmd].run == NULL)
		err = ENOSYS;
	else if (h.in < commands[h.cmd].bytes)
		err = EINVAL;
	else
		err = commands[h.cmd].id_at == NAMES_NONE ? commands[h.cmd].run(&c)
							  : run_on_id(&c, h.cmd);
	if (err == 0)
		return (long)bytes;
	errno = err;
	return -1;
}
