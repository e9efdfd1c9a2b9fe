/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs without a connection manager: two processes tell each other their numbers over a
 * socket, as programs do that have another way to talk, and bring them up.
 */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meeting.h"
#include "scenarios.h"
#include "still.h"

#define TIMEOUT_CODE 16 /* 0.27 s: others use this machine, too */
#define TRIES	     5
#define KEEPALIVE_MS 300
#define BYTES	     40000 /* some packets of any path MTU */

/* What one tells the other. */
struct numbers {
	uint32_t number, psn, token, path_mtu;
	uint64_t buf;
};

struct end {
	struct side *s;
	const struct side *peer; /* its address is known, nothing else of it is ours */
	int socket;
	struct numbers theirs;
};

static nd_status
modify(struct side *s, uint32_t state, const struct nd_qp_attributes *attr)
{
	struct nd_overlapped ov = {0};

	return finish(nd_qp_modify(s->qp, state, attr, &ov), &ov);
}

static uint32_t
state_of(struct side *s)
{
	struct nd_qp_info info;

	WANT(ND_SUCCESS, nd_qp_query(s->qp, &info));
	return info.state;
}

static void
exchange(int socket, const void *ours, void *theirs, size_t bytes)
{
	CHECK(write(socket, ours, bytes) == (ssize_t)bytes);
	CHECK(read(socket, theirs, bytes) == (ssize_t)bytes);
}

/* Both are as far. */
static void
meet(struct end *e)
{
	char other;

	exchange(e->socket, "+", &other, 1);
}

static struct nd_qp_attributes
attributes(const struct side *peer, const struct numbers *theirs, uint32_t own_psn)
{
	return (struct nd_qp_attributes){
		.mask = ND_QP_TO_RTR | ND_QP_TO_RTS | ND_QP_ATTRIBUTE_ACCESS,
		.access = ND_QP_ALLOW_REMOTE_READ | ND_QP_ALLOW_REMOTE_WRITE,
		.peer = peer->addr,
		.path_mtu = theirs->path_mtu,
		.peer_number = theirs->number,
		.rq_psn = theirs->psn,
		.sq_psn = own_psn,
		.inbound_reads = 4,
		.outbound_reads = 4,
		.timeout = TIMEOUT_CODE,
		.retries = TRIES,
		.rnr_retries = 7,
		.min_rnr_timer = 12,
	};
}

static void
bring_up(struct end *e)
{
	struct nd_adapter_info adapter;
	struct nd_qp_attributes attr;
	struct nd_qp_info info;
	struct numbers ours;

	side_open(e->s, 64);
	side_create_qp(e->s, 16);
	WANT(ND_SUCCESS, nd_adapter_query(e->s->adapter, &adapter));
	WANT(ND_SUCCESS, nd_qp_query(e->s->qp, &info));
	CHECK(info.state == ND_QP_STATE_INIT && info.number == nd_qp_number(e->s->qp));
	ours = (struct numbers){.number = info.number,
		.psn = info.first_psn,
		.token = nd_mr_remote_token(e->s->mr),
		.path_mtu = adapter.path_mtu,
		.buf = (uintptr_t)e->s->buf};
	exchange(e->socket, &ours, &e->theirs, sizeof(ours));
	attr = attributes(e->peer, &e->theirs, ours.psn);
	WANT(ND_SUCCESS, modify(e->s, ND_QP_STATE_RTS, &attr));
	WANT(ND_SUCCESS, nd_qp_query(e->s->qp, &info));
	CHECK(info.state == ND_QP_STATE_RTS && info.attributes.peer_number == e->theirs.number);
	CHECK(info.attributes.sq_psn == ours.psn && info.attributes.path_mtu == adapter.path_mtu);
	CHECK(info.attributes.retries == TRIES && info.attributes.timeout == TIMEOUT_CODE);
	CHECK(info.attributes.access == attr.access);
	CHECK(info.attributes.peer.ss_family == e->peer->addr.ss_family);
	meet(e);
}

static nd_status
reach(struct end *e, int write)
{
	return side_reach(e->s, write, (void *)(uintptr_t)e->theirs.buf, BYTES, e->theirs.token);
}

/* a writes, and b reads it back from there. */
static void
data_both_ways(struct end *e, int is_a, uint8_t byte)
{
	struct nd_result result;

	memset(e->s->buf, is_a ? byte : 0, BUFFER_BYTES);
	meet(e);
	if (is_a) {
		WANT(ND_SUCCESS, reach(e, 1));
		WANT(ND_SUCCESS, side_result(e->s, &result));
		meet(e);
	} else {
		WANT(ND_SUCCESS, side_receive(e->s, 100));
		meet(e);
		for (int i = 0; i < BUFFER_BYTES; i++)
			CHECK((uint8_t)e->s->buf[i] == (i < BYTES ? byte : 0));
		memset(e->s->buf, 0, BUFFER_BYTES);
		WANT(ND_SUCCESS, reach(e, 0));
		WANT(ND_SUCCESS, side_result(e->s, &result));
		CHECK((uint8_t)e->s->buf[BYTES - 1] == byte && e->s->buf[BYTES] == 0);
	}
	meet(e);
	if (is_a)
		WANT(ND_SUCCESS, side_send(e->s, 100));
	WANT(ND_SUCCESS, side_result(e->s, &result));
	CHECK(result.request_type == (is_a ? ND_REQUEST_SEND : ND_REQUEST_RECEIVE));
	meet(e);
}

static void
wait_drained(struct side *s)
{
	struct nd_qp_info info;

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		WANT(ND_SUCCESS, nd_qp_query(s->qp, &info));
		CHECK(info.state == ND_QP_STATE_SQD);
		if (!info.draining)
			return;
		sleep_ms(1);
	}
	CHECK(!"drained");
}

/* It rests, gets another path, and goes on. */
static void
rest(struct end *e)
{
	struct nd_qp_attributes attr = {
		.mask = ND_QP_ATTRIBUTE_PATH | ND_QP_ATTRIBUTE_OUTBOUND_READS,
		.peer = e->peer->addr,
		.flow_label = 0x54321,
		.hop_limit = 7,
		.outbound_reads = 1};
	struct nd_result result;
	struct nd_qp_info info;

	WANT(ND_SUCCESS, reach(e, 1));
	WANT(ND_SUCCESS, modify(e->s, ND_QP_STATE_SQD, NULL));
	wait_drained(e->s);
	WANT(ND_SUCCESS, reach(e, 0)); /* it waits, as the write may do */
	WANT(ND_SUCCESS, modify(e->s, ND_QP_STATE_SQD, &attr));
	WANT(ND_SUCCESS, nd_qp_query(e->s->qp, &info));
	CHECK(info.attributes.flow_label == 0x54321 && info.attributes.hop_limit == 7);
	CHECK(info.attributes.outbound_reads == 1);
	WANT(ND_SUCCESS, modify(e->s, ND_QP_STATE_RTS, NULL));
	WANT(ND_SUCCESS, side_result(e->s, &result));
	CHECK(result.request_type == ND_REQUEST_WRITE);
	WANT(ND_SUCCESS, side_result(e->s, &result));
	CHECK(result.request_type == ND_REQUEST_READ);
}

static _Noreturn void
be_b(struct end *e)
{
	bring_up(e);
	data_both_ways(e, 0, 0x5a);
	data_both_ways(e, 0, 0x77);
	meet(e);
	for (;;)
		pause();
}

static void
start(struct end *e, struct pair *p, pid_t *other)
{
	int sockets[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	*other = fork();
	CHECK(*other >= 0);
	if (*other == 0) {
		close(sockets[0]);
		*e = (struct end){.s = &p->b, .peer = &p->a, .socket = sockets[1]};
		be_b(e);
	}
	close(sockets[1]);
	*e = (struct end){.s = &p->a, .peer = &p->b, .socket = sockets[0]};
	bring_up(e);
	data_both_ways(e, 1, 0x5a);
	rest(e);
	data_both_ways(e, 1, 0x77);
	meet(e);
}

static void
end_of(struct end *e, pid_t other)
{
	int status = 0;

	CHECK(kill(other, SIGKILL) == 0 && waitpid(other, &status, 0) == other);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(e->socket);
}

/* checks W-QP-03[2,3]: and the peer's death shows as a request that is not acknowledged. */
void
scenario_numbers(struct pair *p)
{
	struct nd_result result;
	nd_status status;
	struct end e;
	pid_t other;

	start(&e, p, &other);
	end_of(&e, other);
	WANT(ND_SUCCESS, side_receive(e.s, 100));
	WANT(ND_SUCCESS, reach(&e, 1));
	WANT(ND_SUCCESS, reach(&e, 1));
	/* The other's daemon learns of its death in its own time, and acknowledges until then. */
	while ((status = side_result(e.s, &result)) == ND_SUCCESS)
		WANT(ND_SUCCESS, reach(&e, 1));
	WANT(ND_IO_TIMEOUT, status);
	WANT(ND_CANCELED, side_result(e.s, &result));
	WANT(ND_CANCELED, side_result(e.s, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE);
	CHECK(state_of(e.s) == ND_QP_STATE_ERROR);
	side_close(e.s);
}

/* The same without a request: only a client that asks for a keepalive notices. */
void
scenario_keepalive(struct pair *p)
{
	struct nd_qp_attributes attr = {
		.mask = ND_QP_ATTRIBUTE_KEEPALIVE, .keepalive_ms = KEEPALIVE_MS};
	struct nd_result result;
	struct end e;
	pid_t other;

	start(&e, p, &other);
	WANT(ND_SUCCESS, side_receive(e.s, 100));
	WANT(ND_SUCCESS, modify(e.s, ND_QP_STATE_RTS, &attr));
	CHECK(side_quiet(e.s, 5 * KEEPALIVE_MS));
	CHECK(state_of(e.s) == ND_QP_STATE_RTS);
	attr.keepalive_ms = 0;
	WANT(ND_SUCCESS, modify(e.s, ND_QP_STATE_RTS, &attr));
	end_of(&e, other);
	CHECK(side_quiet(e.s, 5 * KEEPALIVE_MS));
	attr.keepalive_ms = KEEPALIVE_MS;
	WANT(ND_SUCCESS, modify(e.s, ND_QP_STATE_RTS, &attr));
	WANT(ND_CANCELED, side_result(e.s, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE);
	CHECK(state_of(e.s) == ND_QP_STATE_ERROR);
	side_close(e.s);
}

/* A connection has one, too; its peer's daemon stands still, as if the cable were cut. */
void
scenario_keepalive_connection(struct pair *p)
{
	struct nd_qp_attributes attr = {
		.mask = ND_QP_ATTRIBUTE_KEEPALIVE, .keepalive_ms = KEEPALIVE_MS};
	struct nd_overlapped told = {0};
	struct meeting m;

	meet_open(&m, p);
	WANT(ND_SUCCESS, modify(&p->b, ND_QP_STATE_INIT, &attr));
	meet_connect(&m);
	pair_works(p);
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
	CHECK(side_quiet(&p->b, 3 * KEEPALIVE_MS));
	CHECK(process_stop(p->daemon_a));
	WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
	CHECK(state_of(&p->b) == ND_QP_STATE_ERROR);
	CHECK(kill(p->daemon_a, SIGCONT) == 0);
	meet_close(&m);
}

struct refusal {
	nd_status want;
	uint32_t state;
	struct nd_qp_attributes attr;
	const char *words; /* of nd_last_error() */
};

static void
try_refusals(struct side *s, const struct refusal *r, size_t n)
{
	uint32_t before = state_of(s);

	for (; n > 0; n--, r++) {
		struct nd_overlapped ov = {0};

		want_status(__FILE__, __LINE__, r->words,
			nd_qp_modify(s->qp, r->state, &r->attr, &ov), r->want);
		check(__FILE__, __LINE__, nd_last_error(),
			strstr(nd_last_error(), r->words) != NULL);
		CHECK(state_of(s) == before);
	}
}

/* What else may be wrong with what brings an INIT queue pair to RTS. */
static void
refused_values(struct side *s, const struct nd_qp_attributes *good)
{
	struct nd_qp_attributes a[12];

	for (int i = 0; i < 12; i++)
		a[i] = *good;
	a[0].mask &= ~ND_QP_ATTRIBUTE_RQ_PSN;
	a[1].mask |= 0x10000;
	a[2].path_mtu *= 2; /* W-QP-05 */
	a[3].peer_number = 1;
	a[4].sq_psn = 0x1000000;
	a[5].inbound_reads = 17;
	a[6].traffic_class = 3;
	memset(&a[7].peer, 0, sizeof(a[7].peer));
	a[7].peer.ss_family = good->peer.ss_family;
	a[8].peer.ss_family = AF_UNIX;
	a[9].access = 8;
	a[10].mask |= ND_QP_ATTRIBUTE_KEEPALIVE;
	a[10].keepalive_ms = 99;
	a[11].flow_label = 0x100000;
	{
		const struct refusal r[] = {
			{ND_INVALID_PARAMETER_MIX, ND_QP_STATE_RTS, a[0],
				"INIT to RTS also needs: receive PSN"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[1], "unknown attributes"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[2], "path MTU"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[3], "peer's QPN"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[4], "send PSN"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[5], "inbound reads"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[6], "ECN bits"},
			{ND_BAD_NETWORK_NAME, ND_QP_STATE_RTS, a[7], "no address"},
			{ND_INVALID_ADDRESS, ND_QP_STATE_RTS, a[8], "not an IPv4"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[9], "unknown rights"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[10], "keepalive"},
			{ND_INVALID_PARAMETER, ND_QP_STATE_RTS, a[11], "flow label"},
			{ND_INVALID_PARAMETER_MIX, ND_QP_STATE_INIT, *good, "does not take"},
			{ND_INVALID_DEVICE_STATE, ND_QP_STATE_SQD, {0}, "from INIT to SQD"},
			{ND_INVALID_DEVICE_STATE, 6, {0}, "no way"},
		};

		try_refusals(s, r, sizeof(r) / sizeof(r[0]));
	}
}

/* Where the next hop is asked for in vain, the queue pair is as before. */
static void
unreachable(struct side *s, const struct nd_qp_attributes *good)
{
	struct nd_qp_attributes attr = *good;
	struct nd_overlapped ov = {0}, other = {0};

	set_last_byte(&attr.peer, 177);
	WANT(ND_PENDING, nd_qp_modify(s->qp, ND_QP_STATE_RTS, &attr, &ov));
	WANT(ND_DEVICE_BUSY, nd_qp_modify(s->qp, ND_QP_STATE_RTS, good, &other));
	WANT(ND_HOST_UNREACHABLE, nd_overlapped_wait(&ov, PATIENCE_MS));
	CHECK(state_of(s) == ND_QP_STATE_INIT);
	/* Closed meanwhile. */
	set_last_byte(&attr.peer, 178);
	WANT(ND_PENDING, nd_qp_modify(s->qp, ND_QP_STATE_RTS, &attr, &ov));
	WANT(ND_SUCCESS, nd_qp_close(s->qp));
	WANT(ND_CANCELED, nd_overlapped_status(&ov));
	side_create_qp(s, 16);
}

/* As long as the peer has not agreed to the end there is a connection. */
static nd_status
reset_when_over(struct side *s)
{
	nd_status st = ND_CONNECTION_ACTIVE;

	for (int ms = 0; ms < PATIENCE_MS && st == ND_CONNECTION_ACTIVE; ms++) {
		st = modify(s, ND_QP_STATE_RESET, NULL);
		sleep_ms(1);
	}
	return st;
}

static struct nd_qp_attributes
to_b(struct pair *p)
{
	struct nd_adapter_info info;

	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	return attributes(&p->b,
		&(struct numbers){.number = nd_qp_number(p->b.qp), .path_mtu = info.path_mtu}, 1);
}

/*
 * What one client is connected to, no other can reach by its number: it would speak for the first.
 * A queue pair that was brought up by hand before is ended when the peer itself agrees to a
 * connection with another client.
 */
void
scenario_numbers_taken(struct pair *p)
{
	struct side stranger = p->a;
	struct nd_overlapped ov = {0};
	struct nd_qp_attributes attr;
	struct nd_event event;
	struct meeting m;

	meet_open(&m, p);
	side_open(&stranger, 64);
	side_create_qp(&stranger, 16);
	WANT(ND_NO_MORE_ENTRIES, nd_adapter_get_event(stranger.adapter, &event));
	attr = to_b(p);
	WANT(ND_SUCCESS, modify(&stranger, ND_QP_STATE_RTS, &attr));
	meet_connect(&m);
	CHECK(state_of(&stranger) == ND_QP_STATE_ERROR);
	WANT(ND_SUCCESS, finish(nd_adapter_notify_event(stranger.adapter, &ov), &ov));
	WANT(ND_SUCCESS, nd_adapter_get_event(stranger.adapter, &event));
	CHECK(event.type == ND_EVENT_QP_FATAL && event.qp == stranger.qp);
	pair_works(p);

	WANT(ND_SUCCESS, modify(&stranger, ND_QP_STATE_RESET, NULL));
	attr.mask = ND_QP_TO_INIT;
	WANT(ND_SUCCESS, modify(&stranger, ND_QP_STATE_INIT, &attr));
	attr = to_b(p);
	WANT(ND_ADDRESS_ALREADY_EXISTS, nd_qp_modify(stranger.qp, ND_QP_STATE_RTS, &attr, &ov));
	CHECK(strstr(nd_last_error(), "another client") != NULL);
	/* Nor by another address first, which it leaves in SQD. */
	attr.peer = p->a.addr;
	WANT(ND_SUCCESS, modify(&stranger, ND_QP_STATE_RTS, &attr));
	WANT(ND_SUCCESS, modify(&stranger, ND_QP_STATE_SQD, NULL));
	wait_drained(&stranger);
	attr = (struct nd_qp_attributes){.mask = ND_QP_ATTRIBUTE_PATH, .peer = p->b.addr};
	WANT(ND_ADDRESS_ALREADY_EXISTS, nd_qp_modify(stranger.qp, ND_QP_STATE_SQD, &attr, &ov));
	side_close(&stranger);
	meet_close(&m);
}

/* checks W-QP-05: each number that a client gives is judged, and what a connection is up to. */
void
scenario_numbers_refused(struct pair *p)
{
	struct nd_qp_attributes good;
	struct nd_overlapped ov = {0};
	struct nd_adapter_info info;
	struct sockaddr_storage nobody;
	struct meeting m;

	meet_open(&m, p);
	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	good = attributes(&p->b,
		&(struct numbers){.number = nd_qp_number(p->b.qp), .path_mtu = info.path_mtu}, 1);
	refused_values(&p->a, &good);
	unreachable(&p->a, &good);
	/* Without a connector, and back. */
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_RTS, &good));
	nobody = m.where;
	set_port(&nobody, SILENT_PORT);
	WANT(ND_CONNECTION_ACTIVE, side_connect(&p->a, &nobody));
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_ERROR, NULL));
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_RESET, NULL));
	WANT(ND_INVALID_DEVICE_STATE, side_connect(&p->a, &nobody));
	good.mask = ND_QP_TO_INIT;
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_INIT, &good));
	/* With one: attributes that are not the connection's, and its end. */
	meet_connect(&m);
	good.mask = ND_QP_ATTRIBUTE_PATH;
	WANT(ND_CONNECTION_ACTIVE, nd_qp_modify(p->a.qp, ND_QP_STATE_SQD, &good, &ov));
	WANT(ND_CONNECTION_ACTIVE, nd_qp_modify(p->a.qp, ND_QP_STATE_RESET, NULL, &ov));
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_SQD, NULL));
	wait_drained(&p->a);
	good.mask = ND_QP_ATTRIBUTE_TIMEOUT;
	good.timeout = 15;
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_SQD, &good));
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_RTS, NULL));
	pair_works(p);
	WANT(ND_SUCCESS, modify(&p->a, ND_QP_STATE_ERROR, NULL));
	ov = (struct nd_overlapped){0};
	WANT(ND_SUCCESS, finish(nd_connector_notify_disconnect(p->b.connector, &ov), &ov));
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(p->a.connector, &ov), &ov));
	WANT(ND_INVALID_DEVICE_STATE, reset_when_over(&p->a));
	meet_close(&m);
}
