/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndkilled SOCKET PEER_SOCKET KIND [N]: a client that lives a whole life, with objects of all
 * kinds, and dies by SIGKILL somewhere in it. Its peer's session is that of the parent process, and
 * lives a little longer.
 *
 *   list          prints each step of that life, numbered, and dies at none
 *   step N        dies at step N
 *   random N      N lives, each of which ends within a random time
 *
 * Exit status 0: every life ended as it should; 1: one ended by itself too early.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "shm/ndsh_mover.h"

#define DEPTH	     64u
#define LIFE_S	     20
#define LIFE_US	     20000u /* about as long as one takes */
#define AFTERLIFE_US 2000
#define MIB	     (1u << 20)

static uint32_t step, last_step;
static bool listing;

static void
on_step(const char *name)
{
	step++;
	if (listing)
		printf("%u %s\n", step, name);
	if (step == last_step)
		raise(SIGKILL);
}

/* ---- a life ---- */

/* What goes on when it dies: requests of both sides that take many packets. */
static void
transfers(struct duo *d)
{
	struct ndsh_swr w = duo_request(d, NDSH_OP_WRITE, MIB),
			r = duo_request(d, NDSH_OP_READ, MIB),
			a = duo_request(d, NDSH_OP_FETCH_ADD, 8),
			s = duo_request(d, NDSH_OP_SEND, 4096),
			pr = duo_peer_request(d, NDSH_OP_READ, MIB),
			pw = duo_peer_request(d, NDSH_OP_WRITE, MIB),
			ps = duo_peer_request(d, NDSH_OP_SEND, 4096);
	const struct ndsh_swr *own[] = {&w, &r, &a, &s}, *peers[] = {&pr, &pw, &ps};

	raw_receive(&d->peer, &d->peer_qp, 4096, d->peer_key);
	raw_receive(&d->r, &d->qp, 4096, d->key);
	(void)ndsh_cq_arm(&d->cq.reader, NDSH_ARM_ANY, NULL);
	raw_step("completion queue armed");
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		raw_post(&d->r, &d->qp, own[i]);
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		raw_post(&d->peer, &d->peer_qp, peers[i]);
	usleep(500);
	raw_step("transfers under way");
	usleep(5000);
	raw_step("transfers further");
}

static void
half_a_descriptor(struct duo *d)
{
	struct ndsh_swr w = duo_request(d, NDSH_OP_WRITE, 64);

	memcpy(&d->qp.sq.ring[d->qp.sq.next & (DEPTH - 1)], &w, offsetof(struct ndsh_swr, ctrl));
	raw_step("descriptor half written");
	ndsh_sq_push(&d->qp.sq, &w, &w.sge0, NULL);
	raw_step("descriptor written, not rung");
	raw_ring(&d->r, &d->qp);
}

static void
window(struct duo *d)
{
	struct ndsh_mw_create m = {{.type = NDSH_MSG_MW_CREATE}, d->r.pd, 0};
	struct ndsh_mw_create_reply reply = {.mw = 0};
	struct ndsh_swr w = {.raddr = (uintptr_t)d->r.base, .imm = 1};

	if (raw_ask(&d->r, &m, &reply, NULL) != NDSH_OK)
		return;
	w.rkey = ndsh_window_token(reply.slot, reply.secret, 1);
	w.arg[0] = 4096;
	w.arg[1] = NDSH_ACCESS_REMOTE_READ | (uint64_t)d->key << 32;
	w.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, 0, 0);
	raw_post(&d->r, &d->qp, &w);
	usleep(500);
	raw_step("window bound");
	w.ctrl = NDSH_CTRL(NDSH_OP_INVALIDATE, 0, 0, 0);
	raw_post(&d->r, &d->qp, &w);
}

static void
other_memory(struct duo *d)
{
	struct raw *r = &d->r;
	struct ndsh_cq_resize resize = {{.type = NDSH_MSG_CQ_RESIZE}, d->cq.id, r->segment,
		raw_carve(r, ndsh_cq_ring_bytes(4 * DEPTH)), 4 * DEPTH, 4 * DEPTH};
	struct ndsh_srq_create srq = {{.type = NDSH_MSG_SRQ_CREATE}, r->pd, r->segment,
		raw_carve(r, ndsh_srq_bytes(DEPTH, 1)), DEPTH, 1};
	struct ndsh_frmr_create fast = {
		{.type = NDSH_MSG_FRMR_CREATE}, r->pd, r->segment, raw_carve(r, 4096), 64, 1};
	struct ndsh_mover_create mover = {{.type = NDSH_MSG_MOVER_CREATE}, r->segment, 1,
		raw_carve(r, ndsh_mover_bytes(true))};
	struct ndsh_id_msg made = {.id = 0};
	uint8_t *base;
	uint32_t segment;
	int file = -1;

	ndsh_cq_expect(&d->cq.reader, r->base + resize.offset, 4 * DEPTH);
	raw_step("new ring expected");
	(void)raw_ask(r, &resize, NULL, NULL);
	(void)ndsh_cq_settle(&d->cq.reader, 1);
	raw_step("new ring half settled");
	(void)raw_ask(r, &mover, NULL, &file);
	(void)raw_ask(r, &fast, NULL, NULL);
	if (raw_ask(r, &srq, &made, NULL) == NDSH_OK) {
		struct ndsh_srq_arm arm = {{.type = NDSH_MSG_SRQ_ARM}, made.id, 1};

		(void)raw_ask(r, &arm, NULL, NULL);
	}
	if (raw_segment(r, MIB, &base, &segment) == NDSH_OK)
		(void)raw_ask_id(r, NDSH_MSG_SEGMENT_DESTROY, segment, NULL);
}

static void
datagrams(struct raw *r, const struct raw_cq *cq)
{
	struct raw_qp qp;
	struct ndsh_ah_create ah = {.h.type = NDSH_MSG_AH_CREATE, .remote = r->addr, .look_up = 1};
	struct ndsh_ud_group group = {.h.type = NDSH_MSG_UD_ATTACH,
		.group.ip = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1}};
	struct ndsh_id_msg made = {.id = 0};

	if (raw_ud_qp(r, cq, DEPTH, &qp) != NDSH_OK)
		return;
	group.qp = qp.id;
	(void)raw_ask(r, &group, NULL, NULL);
	ah.remote.ip[15] ^= 3; /* the other daemon */
	ah.remote.port = 9;
	if (raw_ask(r, &ah, &made, NULL) == NDSH_OK) {
		(void)raw_event(r, NDSH_EV_AH, NULL, 1000);
		(void)raw_ask_id(r, NDSH_MSG_AH_DESTROY, made.id, NULL);
	}
}

static void
addresses(struct duo *d)
{
	struct ndsh_bind bind = {{.type = NDSH_MSG_BIND}, d->r.addr};
	struct raw_qp by_hand;
	struct ndsh_addr where;
	uint32_t listener, conn;

	(void)raw_ask_id(&d->r, NDSH_MSG_EVENTS, 1, NULL);
	bind.addr.port = 0;
	(void)raw_ask(&d->r, &bind, NULL, NULL);
	bind.h.type = NDSH_MSG_ENDPOINT_CREATE;
	(void)raw_ask(&d->r, &bind, NULL, NULL);
	if (raw_qp(&d->r, &d->cq, DEPTH, &by_hand) == NDSH_OK &&
		raw_by_hand(&d->r, &by_hand, &d->peer.addr, 7, 7) == NDSH_OK)
		(void)raw_state(&d->r, &by_hand, NDSH_QPS_RESET);
	/* The peer asks for a connection that this one does not answer any more. */
	if (raw_listen(&d->r, &listener, &where) == NDSH_OK &&
		raw_qp(&d->peer, &d->peer_cq, DEPTH, &by_hand) == NDSH_OK &&
		raw_connect(&d->peer, &by_hand, &where, &conn) == NDSH_OK)
		(void)raw_event(&d->r, NDSH_EV_CONN_REQUEST, NULL, 1000);
}

static bool
live(struct duo *d, const char *socket)
{
	raw_begin_with(&d->r, socket, RAW_LARGE_BYTES);
	d->key = raw_region(&d->r);
	if (raw_cq(&d->r, 2 * DEPTH, &d->cq) != NDSH_OK || !duo_join(d, DEPTH))
		return false;
	half_a_descriptor(d);
	window(d);
	transfers(d);
	other_memory(d);
	datagrams(&d->r, &d->cq);
	addresses(d);
	(void)raw_ask_id(&d->r, NDSH_MSG_QP_FLUSH, d->qp.id, NULL);
	for (uint32_t id = 0; id < 4; id++)
		(void)raw_ask_id(&d->r, NDSH_MSG_DISCONNECT, id, NULL);
	(void)raw_ask_id(&d->r, NDSH_MSG_QP_DESTROY, d->qp.id, NULL);
	raw_end(&d->r);
	raw_step("gone in peace");
	return true;
}

/* ---- and its end ---- */

/* True if it died as it should: at the step, or within us, or not at all. */
static bool
one_life(const char *socket, const char *peer_socket, uint32_t at, uint32_t us)
{
	struct duo d;
	int status;
	pid_t child;

	raw_on_step = NULL;
	raw_begin_with(&d.peer, peer_socket, RAW_LARGE_BYTES);
	d.peer_key = raw_region(&d.peer);
	if (raw_cq(&d.peer, 2 * DEPTH, &d.peer_cq) != NDSH_OK)
		return false;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		raw_on_step = on_step;
		last_step = at;
		if (!live(&d, socket))
			exit(1);
		exit(0);
	}
	if (us != 0) {
		usleep(us);
		kill(child, SIGKILL);
	}
	waitpid(child, &status, 0);
	usleep(AFTERLIFE_US);
	raw_end(&d.peer);
	return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL
				   : WEXITSTATUS(status) == 0 && at == UINT32_MAX;
}

static bool
random_lives(const char *socket, const char *peer_socket, uint32_t count)
{
	raw_seed((uint64_t)getpid()); /* not the same each time */
	for (; count > 0; count--) {
		alarm(LIFE_S);
		if (!one_life(socket, peer_socket, UINT32_MAX, 1 + raw_random(LIFE_US)))
			return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	uint32_t number = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 0;
	bool good;

	if (argc < 4) {
		fprintf(stderr, "usage: ndkilled SOCKET PEER_SOCKET list | step N | random N\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	alarm(LIFE_S);
	listing = strcmp(argv[3], "list") == 0;
	if (strcmp(argv[3], "random") == 0)
		good = random_lives(argv[1], argv[2], number);
	else
		good = one_life(argv[1], argv[2], listing ? UINT32_MAX : number, 0);
	if (!good)
		fprintf(stderr, "ndkilled: a life ended by itself\n");
	return good ? 0 : 1;
}
