/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ibv_rc_pingpong and ibv_srq_pingpong: queue pairs from numbers exchanged over TCP, and messages
 * that go back and forth. The second has several, and a shared receive queue.
 *
 * The programs send what they received last, from one buffer. So what comes back must be what we
 * sent, and what a client of theirs sends is known: it fills its buffer once and gets it back.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define SRQ_WORDS   256u /* srq_pingpong tells so many, whatever it has */
#define PAGE	    4096u
#define RC_FILLING  0x7b
#define SRQ_FILLING 0
#define BYTES_MAX   (1u << 20)

#define SEND_PENDING 1u
#define RECV_PENDING 2u

struct pingpong {
	const char *own, *server;
	uint16_t port;
	uint32_t bytes, mtu, iterations, qps;
	int shared, events, check;
	struct side s;
	struct nd_srq *srq;
	struct nd_qp *qp[SRQ_WORDS];
	uint32_t psn[SRQ_WORDS], pending[SRQ_WORDS];
	struct words theirs[SRQ_WORDS];
	uint8_t *out, *in; /* in: 2 * qps receives */
	struct nd_mr *mr;
	uint32_t sent, received;
};

/* What every message is made of: with -c the programs want a zero where a page begins. */
static uint8_t
content(const struct pingpong *p, uint32_t i)
{
	if (i % PAGE == 0 && (p->check || p->server != NULL))
		return 0;
	if (p->server != NULL)
		return (uint8_t)(i * 7 + i / PAGE);
	return p->shared ? SRQ_FILLING : RC_FILLING;
}

static void
receive(struct pingpong *p, uint8_t *at, uint32_t qp)
{
	struct nd_sge sge = {at, p->bytes, nd_mr_local_token(p->mr)};

	memset(at, 0xee, p->bytes); /* what was there must not pass for what comes */
	WANT(ND_SUCCESS, p->shared ? nd_srq_receive(p->srq, at, &sge, 1)
				   : nd_qp_receive(p->qp[qp], at, &sge, 1));
}

static void
send_one(struct pingpong *p, uint32_t qp)
{
	struct nd_sge sge = {p->out, p->bytes, nd_mr_local_token(p->mr)};

	WANT(ND_SUCCESS, nd_qp_send(p->qp[qp], NULL, &sge, 1, 0));
	p->pending[qp] = SEND_PENDING | RECV_PENDING;
}

static void
create_qp(struct pingpong *p, uint32_t i)
{
	struct nd_qp_options options = {
		.receive_cq = p->s.cq,
		.initiator_cq = p->s.cq,
		.context = (void *)(uintptr_t)i,
		.receive_depth = 2,
		.initiator_depth = 2,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
		.srq = p->srq,
	};
	struct nd_qp_info info;

	WANT(ND_SUCCESS, nd_qp_create(p->s.pd, &options, &p->qp[i]));
	WANT(ND_SUCCESS, nd_qp_query(p->qp[i], &info));
	p->psn[i] = info.first_psn;
}

static void
create(struct pingpong *p)
{
	size_t area = (size_t)(2 * p->qps + 1) * p->bytes;

	peer_open(&p->s, p->own, 8 * p->qps);
	p->out = nd_alloc(p->s.adapter, area);
	CHECK(p->out != NULL);
	p->in = p->out + p->bytes;
	WANT(ND_SUCCESS, region_new(p->s.pd, p->out, area, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &p->mr));
	for (uint32_t i = 0; i < p->bytes; i++)
		p->out[i] = content(p, i);
	if (p->shared)
		WANT(ND_SUCCESS, nd_srq_create(p->s.pd, 2 * p->qps, 1, 0, &p->srq));
	for (uint32_t i = 0; i < p->qps; i++)
		create_qp(p, i);
	for (uint32_t i = 0; i < 2 * p->qps; i++)
		receive(p, p->in + (size_t)i * p->bytes, i % p->qps);
}

static void
bring_up(struct pingpong *p, uint32_t i)
{
	const struct nd_qp_attributes attr = {
		.mask = ND_QP_TO_RTR | ND_QP_TO_RTS,
		.peer = p->theirs[i].addr,
		.path_mtu = p->mtu,
		.peer_number = p->theirs[i].number,
		.rq_psn = p->theirs[i].psn,
		.sq_psn = p->psn[i],
		.inbound_reads = 1,
		.outbound_reads = 1,
		.timeout = 17, /* half a second: others use this machine, too */
		.retries = 7,
		.rnr_retries = 7,
		.min_rnr_timer = 12,
	};
	struct nd_overlapped ov = {0};

	WANT(ND_SUCCESS, finish(nd_qp_modify(p->qp[i], ND_QP_STATE_RTS, &attr, &ov), &ov));
}

static void
tell_numbers(const struct pingpong *p, int fd)
{
	for (uint32_t i = 0; i < (p->shared ? SRQ_WORDS : 1); i++) {
		struct words w = {0};

		if (i < p->qps)
			w = (struct words){nd_qp_number(p->qp[i]), p->psn[i], p->s.addr};
		words_say(fd, &w);
	}
}

static void
hear_numbers(struct pingpong *p, int fd)
{
	for (uint32_t i = 0; i < (p->shared ? SRQ_WORDS : 1); i++)
		p->theirs[i] = words_hear(fd);
	/* The program tells how many it has only by this. */
	for (uint32_t i = 0; i < p->qps; i++)
		CHECK(p->theirs[i].number != 0);
	CHECK(p->qps == SRQ_WORDS || p->theirs[p->qps].number == 0);
}

/* The server is ready before it tells its numbers: then the first message may come. */
static void
meet(struct pingpong *p)
{
	int fd = words_socket(p->server, p->port);

	if (p->server != NULL)
		tell_numbers(p, fd);
	hear_numbers(p, fd);
	for (uint32_t i = 0; i < p->qps; i++)
		bring_up(p, i);
	if (p->server == NULL) {
		tell_numbers(p, fd);
		words_hear_done(fd);
	} else {
		words_say_done(fd);
	}
	close(fd);
}

/* -e: results are taken when the queue's descriptor says so. */
static struct nd_result
next_result(struct pingpong *p)
{
	struct pollfd fd = {.fd = nd_cq_fd(p->s.cq), .events = POLLIN};
	struct nd_result r;
	int32_t n;

	if (!p->events)
		return peer_result(p->s.cq);
	for (;;) {
		n = nd_cq_get_results(p->s.cq, &r, 1);
		if (n != 0)
			break;
		WANT(ND_SUCCESS, nd_cq_arm(p->s.cq, ND_CQ_NOTIFY_ANY));
		CHECK(poll(&fd, 1, PATIENCE_MS) == 1);
		nd_cq_ack(p->s.cq);
	}
	WANT(ND_SUCCESS, n < 0 ? n : r.status);
	return r;
}

static void
take(struct pingpong *p, const struct nd_result *r)
{
	uint32_t qp = (uint32_t)(uintptr_t)r->qp_context;
	const uint8_t *in = r->request_context;

	if (r->request_type == ND_REQUEST_SEND) {
		p->sent++;
		p->pending[qp] &= ~SEND_PENDING;
	} else {
		CHECK(r->request_type == ND_REQUEST_RECEIVE && r->bytes_transferred == p->bytes);
		for (uint32_t i = 0; i < p->bytes; i++)
			CHECK(in[i] == content(p, i));
		receive(p, r->request_context, qp);
		p->received++;
		p->pending[qp] &= ~RECV_PENDING;
	}
	/* The programs count what was acknowledged, and so send some more at the end. */
	if (p->pending[qp] == 0 && p->sent < p->iterations)
		send_one(p, qp);
}

static void
play(struct pingpong *p)
{
	double begin = now_us(), us;

	for (uint32_t i = 0; i < p->qps; i++) {
		p->pending[i] = RECV_PENDING;
		if (p->server != NULL)
			send_one(p, i);
	}
	while (p->received < p->iterations || p->sent < p->iterations) {
		struct nd_result r = next_result(p);

		take(p, &r);
	}
	us = now_us() - begin;
	printf("%u messages of %u bytes each way, %.1f us an exchange\n", p->iterations, p->bytes,
		us / p->iterations);
}

static int
usage(const char *name)
{
	fprintf(stderr,
		"usage: %s -b OUR_ADDRESS [-p PORT] [-s BYTES] [-m MTU] [-n ITERATIONS] [-q QPS]\n"
		"       [-e] [-c] [SERVER]: as ibv_%s has it; -q: srq_pingpong's alone\n",
		name, name);
	return 2;
}

static int
run(struct pingpong *p, int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "b:p:s:m:n:q:ec")) != -1) {
		if (o == 'b')
			p->own = optarg;
		else if (o == 'p')
			p->port = (uint16_t)peer_number("-p", optarg, 1, 65535);
		else if (o == 's')
			p->bytes = peer_number("-s", optarg, 1, BYTES_MAX);
		else if (o == 'm')
			p->mtu = peer_number("-m", optarg, 256, 4096);
		else if (o == 'n')
			p->iterations = peer_number("-n", optarg, 1, UINT32_MAX);
		else if (o == 'q' && p->shared)
			p->qps = peer_number("-q", optarg, 1, SRQ_WORDS - 1);
		else if (o == 'e')
			p->events = 1;
		else if (o == 'c')
			p->check = 1;
		else
			return usage(argv[0]);
	}
	if (argc - optind > 1)
		return usage(argv[0]);
	p->server = argv[optind];
	create(p);
	meet(p);
	play(p);
	side_close(&p->s);
	return 0;
}

int
peer_rc_pingpong(int argc, char **argv)
{
	static struct pingpong p = {
		.port = WORDS_PORT, .bytes = 4096, .mtu = 1024, .iterations = 1000, .qps = 1};

	return run(&p, argc, argv);
}

int
peer_srq_pingpong(int argc, char **argv)
{
	static struct pingpong p = {.port = WORDS_PORT,
		.bytes = 4096,
		.mtu = 1024,
		.iterations = 1000,
		.qps = 16,
		.shared = 1};

	return run(&p, argc, argv);
}
