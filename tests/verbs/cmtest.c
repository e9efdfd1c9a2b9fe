/* SPDX-License-Identifier: BSD-3-Clause */
/* cmtest SCENARIO: rules of librdmacm that the programs of others do not look at. Linked against
 * the distribution's library, as any program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "choose.h"
#include "cm_rig.h"
#include "cm_scenarios.h"

#define LOOPBACK_OF_NO_DEVICE 0x7ffefefe /* 127.254.254.254 */

#define MANY 100

#define WANT_ERRNO(call, wanted) WANT((call) == -1 && errno == (wanted))

/* What each side says is what the other hears. */
static void
run_values(void)
{
	struct rdma_conn_param ask = {.private_data = "question",
		.private_data_len = 9,
		.responder_resources = 5,
		.initiator_depth = 3,
		.retry_count = 6,
		.rnr_retry_count = 5};
	struct rdma_conn_param answer = {.private_data = "answer",
		.private_data_len = 7,
		.responder_resources = 2,
		.initiator_depth = 4,
		.rnr_retry_count = 4};
	struct ibv_qp_init_attr init;
	struct rdma_cm_event *e;
	struct ibv_qp_attr a;
	struct cm_rig r;

	cm_rig_open(&r);
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &ask) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_CONNECT_REQUEST);
	r.there = e->id;
	WANT(e->listen_id == r.listener && e->id->context == &r);
	WANT(e->param.conn.private_data_len == 56);
	WANT(strcmp(e->param.conn.private_data, "question") == 0);
	WANT(e->param.conn.responder_resources == 3 && e->param.conn.initiator_depth == 5);
	WANT(e->param.conn.retry_count == 6 && e->param.conn.rnr_retry_count == 5);
	WANT(e->param.conn.qp_num == r.here->qp->qp_num);
	WANT(rdma_get_src_port(r.there) == rdma_get_dst_port(r.here));
	WANT(rdma_get_dst_port(r.there) == rdma_get_src_port(r.here));
	WANT(rdma_ack_cm_event(e) == 0);
	cm_rig_make_qp(r.there);
	WANT(rdma_accept(r.there, &answer) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_ESTABLISHED);
	WANT(e->id == r.here && e->param.conn.private_data_len == 196);
	WANT(strcmp(e->param.conn.private_data, "answer") == 0);
	WANT(e->param.conn.responder_resources == 4 && e->param.conn.initiator_depth == 2);
	WANT(e->param.conn.qp_num == r.there->qp->qp_num);
	WANT(rdma_ack_cm_event(e) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_ESTABLISHED);
	WANT(e->id == r.there && rdma_ack_cm_event(e) == 0);
	WANT(ibv_query_qp(r.here->qp, &a, IBV_QP_STATE, &init) == 0);
	WANT(a.qp_state == IBV_QPS_RTS && a.dest_qp_num == r.there->qp->qp_num);
	WANT(a.retry_cnt == 6 && a.rnr_retry == 4 && a.max_rd_atomic == 2);
	WANT(ibv_query_qp(r.there->qp, &a, IBV_QP_STATE, &init) == 0);
	WANT(a.qp_state == IBV_QPS_RTS && a.dest_qp_num == r.here->qp->qp_num);
	WANT(a.retry_cnt == 6 && a.rnr_retry == 5 && a.max_dest_rd_atomic == 2);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* The peer's disconnect is an event: its queue pair is the program's. */
static void
run_disconnect(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	struct cm_rig r;

	cm_rig_open(&r);
	cm_rig_connect(&r);
	WANT(rdma_disconnect(r.here) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_DISCONNECTED) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_DISCONNECTED) == 0);
	WANT(ibv_query_qp(r.there->qp, &a, IBV_QP_STATE, &init) == 0);
	WANT(a.qp_state == IBV_QPS_RTS);
	WANT(ibv_query_qp(r.here->qp, &a, IBV_QP_STATE, &init) == 0);
	WANT(a.qp_state == IBV_QPS_ERR);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

static void
run_reject(void)
{
	struct rdma_conn_param p = {.retry_count = 7};
	struct rdma_cm_event *e;
	struct cm_rig r;

	cm_rig_open(&r);
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &p) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_CONNECT_REQUEST);
	r.there = e->id;
	WANT(rdma_ack_cm_event(e) == 0);
	WANT(rdma_reject(r.there, "no", 3) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_REJECTED);
	WANT(e->status == 28 && e->param.conn.private_data_len == 148);
	WANT(strcmp(e->param.conn.private_data, "no") == 0);
	WANT(rdma_ack_cm_event(e) == 0);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* Nobody listens there: the peer's CM says so. */
static void
run_nobody(void)
{
	struct rdma_conn_param p = {.retry_count = 7};
	struct cm_rig r;

	cm_rig_open(&r);
	WANT(rdma_destroy_id(r.listener) == 0);
	r.listener = NULL;
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &p) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_REJECTED) == 8);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

static void
run_ports(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET}, strange = {.sin_family = AF_INET};
	struct rdma_cm_id *second;
	struct cm_rig r;
	int on = 1;

	cm_rig_open(&r);
	cm_rig_connect(&r);
	second = cm_rig_id(&r);
	WANT(rdma_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)) ==
		0);
	WANT_ERRNO(rdma_bind_addr(second, (struct sockaddr *)&r.address), EADDRINUSE);
	if (r.address.ss_family == AF_INET) {
		any.sin_port = rdma_get_src_port(r.listener);
		WANT_ERRNO(rdma_bind_addr(second, (struct sockaddr *)&any), EADDRINUSE);
	}
	strange.sin_addr.s_addr = htonl(0xc633644d);
	WANT_ERRNO(rdma_bind_addr(second, (struct sockaddr *)&strange), EADDRNOTAVAIL);
	WANT(rdma_destroy_id(r.listener) == 0);
	cm_rig_listen(&r, second); /* beside the connection that was accepted there */
	r.listener = second;
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_connect(&r);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* At the wildcard address, at all devices. */
static void
run_wildcard(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct cm_rig r;

	cm_rig_open(&r);
	WANT(rdma_destroy_id(r.listener) == 0);
	r.listener = cm_rig_id(&r);
	WANT(rdma_bind_addr(r.listener, (struct sockaddr *)&any) == 0);
	WANT(rdma_listen(r.listener, 0) == 0);
	WANT(rdma_get_src_port(r.listener) != 0 && r.listener->verbs == NULL);
	cm_rig_set_port(&r, rdma_get_src_port(r.listener));
	cm_rig_connect(&r);
	WANT(r.there->verbs != NULL);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* The host's loopback, in which no device has an address, means all devices to bind, and this host
 * to connect: as in the kernel. */
static void
run_loopback(void)
{
	struct sockaddr_in self = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(LOOPBACK_OF_NO_DEVICE)};
	struct cm_rig r;

	cm_rig_open(&r);
	rdma_destroy_id(r.listener);
	r.listener = cm_rig_id(&r);
	WANT(rdma_bind_addr(r.listener, (struct sockaddr *)&self) == 0);
	WANT(rdma_listen(r.listener, 0) == 0);
	memcpy(&r.address, &self, sizeof(self));
	cm_rig_set_port(&r, rdma_get_src_port(r.listener));
	cm_rig_connect(&r);
	WANT(r.here->verbs != NULL && r.there->verbs != NULL);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* Only queue pairs of this process can be named. */
static void
run_numbers(void)
{
	struct rdma_conn_param p = {.retry_count = 7};
	struct cm_rig r;

	cm_rig_open(&r);
	cm_rig_resolve(&r);
	rdma_destroy_qp(r.here);
	p.qp_num = 0xfffff0;
	WANT_ERRNO(rdma_connect(r.here, &p), EINVAL);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

struct destroying {
	struct rdma_cm_id *id;
	bool acknowledged; /* atomic */
};

static void *
destroy_id(void *arg)
{
	struct destroying *d = arg;

	WANT(rdma_destroy_id(d->id) == 0);
	WANT(__atomic_load_n(&d->acknowledged, __ATOMIC_ACQUIRE));
	return NULL;
}

/* Destroying waits for events that the program has, and takes back those that it has not. */
static void
run_destroy(void)
{
	struct rdma_cm_event *e;
	struct destroying d = {0};
	pthread_t thread;
	struct cm_rig r;

	cm_rig_open(&r);
	d.id = cm_rig_id(&r);
	WANT(rdma_resolve_addr(d.id, NULL, (struct sockaddr *)&r.address, 1000) == 0);
	e = cm_rig_event(&r, RDMA_CM_EVENT_ADDR_RESOLVED);
	WANT(rdma_resolve_route(d.id, 1000) == 0);
	WANT(pthread_create(&thread, NULL, destroy_id, &d) == 0);
	while (poll(&(struct pollfd){.fd = r.channel->fd, .events = POLLIN}, 1, 0) == 1)
		; /* until the thread has taken ROUTE_RESOLVED back, and waits */
	__atomic_store_n(&d.acknowledged, true, __ATOMIC_RELEASE);
	WANT(rdma_ack_cm_event(e) == 0);
	WANT(pthread_join(thread, NULL) == 0);
	cm_rig_close(&r);
}

/* The descriptor is a character device's, and readable while an event waits. */
static void
run_descriptor(void)
{
	struct rdma_cm_event *e;
	struct pollfd p = {.events = POLLIN};
	struct stat st;
	struct cm_rig r;

	cm_rig_open(&r);
	p.fd = r.channel->fd;
	WANT(fstat(p.fd, &st) == 0 && S_ISCHR(st.st_mode));
	WANT(fstat(STDERR_FILENO, &st) == 0 && write(STDERR_FILENO, "", 0) == 0);
	WANT(poll(&p, 1, 0) == 0);
	WANT(fcntl(p.fd, F_SETFL, fcntl(p.fd, F_GETFL) | O_NONBLOCK) == 0);
	WANT_ERRNO(rdma_get_cm_event(r.channel, &e), EAGAIN);
	r.here = cm_rig_id(&r);
	WANT(rdma_resolve_addr(r.here, NULL, (struct sockaddr *)&r.address, 1000) == 0);
	WANT(poll(&p, 1, 5000) == 1);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_ADDR_RESOLVED) == 0);
	WANT(poll(&p, 1, 0) == 0);
	WANT(write(p.fd, "x", 1) == -1 && errno == EINVAL);
	cm_rig_forget(&r);
	cm_rig_close(&r);
	WANT(fstat(p.fd, &st) == -1 && errno == EBADF);
}

/* A child closes what it has inherited, as daemons do; its parent goes on. */
static void
run_fork(void)
{
	struct cm_rig r;
	int status;
	pid_t child;

	cm_rig_open(&r);
	cm_rig_connect(&r);
	child = fork();
	WANT(child >= 0);
	if (child == 0) {
		WANT(write(r.channel->fd, "x", 1) == -1 && errno == EBADF);
		WANT(close(r.channel->fd) == 0);
		_exit(0);
	}
	WANT(waitpid(child, &status, 0) == child && status == 0);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

/* An identifier goes to another channel, with its events. */
static void
run_migrate(void)
{
	struct rdma_event_channel *before;
	struct cm_rig r;

	cm_rig_open(&r);
	r.here = cm_rig_id(&r);
	WANT(rdma_resolve_addr(r.here, NULL, (struct sockaddr *)&r.address, 1000) == 0);
	before = r.channel;
	r.channel = rdma_create_event_channel();
	WANT(r.channel != NULL && rdma_migrate_id(r.here, r.channel) == 0);
	WANT(poll(&(struct pollfd){.fd = before->fd, .events = POLLIN}, 1, 0) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_ADDR_RESOLVED) == 0);
	WANT(rdma_migrate_id(r.listener, r.channel) == 0);
	rdma_destroy_event_channel(before);
	cm_rig_forget(&r);
	cm_rig_connect(&r);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

static void
run_many(void)
{
	struct cm_rig r;

	cm_rig_open(&r);
	for (int i = 0; i < MANY; i++) {
		cm_rig_connect(&r);
		cm_rig_disconnect(&r);
		cm_rig_forget(&r);
	}
	cm_rig_close(&r);
}

/* In the midst of a connect, to be killed. */
static void
run_waits(void)
{
	struct rdma_conn_param p = {.retry_count = 7};
	struct cm_rig r;

	cm_rig_open(&r);
	cm_rig_resolve(&r);
	WANT(rdma_connect(r.here, &p) == 0);
	(void)cm_rig_event(&r, RDMA_CM_EVENT_CONNECT_REQUEST);
	puts("waiting");
	fflush(stdout);
	pause();
}

/* A request that the program has no number for is refused at once: its peer does not wait, and
 * nothing of it is left. */
static void
run_crowded(void)
{
	static struct rdma_cm_id *ids[1u << 16];
	struct rdma_conn_param p = {.retry_count = 7};
	unsigned count = 0;
	struct cm_rig r;

	cm_rig_open(&r);
	cm_rig_resolve(&r);
	while (rdma_create_id(r.channel, &ids[count], &r, RDMA_PS_TCP) == 0)
		count++;
	WANT(rdma_connect(r.here, &p) == 0);
	WANT(cm_rig_expect(&r, RDMA_CM_EVENT_REJECTED) == 28);
	while (count-- != 0)
		WANT(rdma_destroy_id(ids[count]) == 0);
	cm_rig_forget(&r);
	cm_rig_connect(&r);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	cm_rig_close(&r);
}

static const struct scenario scenarios[] = {
	{"values", run_values},
	{"disconnect", run_disconnect},
	{"reject", run_reject},
	{"nobody", run_nobody},
	{"ports", run_ports},
	{"wildcard", run_wildcard},
	{"families", run_families},
	{"ack-timeout", run_ack_timeout},
	{"loopback", run_loopback},
	{"numbers", run_numbers},
	{"destroy", run_destroy},
	{"descriptor", run_descriptor},
	{"fork", run_fork},
	{"migrate", run_migrate},
	{"many", run_many},
	{"timewait", run_timewait},
	{"waits", run_waits},
	{"crowded", run_crowded},
	{"service", run_service},
	{"service-reject", run_service_reject},
	{"service-nobody", run_service_nobody},
	{"service-nowhere", run_service_nowhere},
	{"service-spaces", run_service_spaces},
	{"service-limits", run_service_limits},
	{"service-waits", run_service_waits},
	{"multicast", run_multicast},
	{"multicast-refused", run_multicast_refused},
	{"multicast-limits", run_multicast_limits},
};

int
main(int argc, char **argv)
{
	return choose_scenario(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
