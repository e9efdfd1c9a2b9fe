/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windowtest -p PORT [HOST]: two programs, each on its daemon. The one without HOST has a region
 * and windows, and says by TCP what the other one may try; that one comes through them.
 */
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "rig.h"

#define PAIRS  5
#define AT     5000u
#define BYTES  100000u
#define RIGHTS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

struct end {
	struct rig r;
	struct ibv_qp *qp[PAIRS];
	struct ibv_mr *mr; /* of memory[0], for windows */
	int peer;	   /* TCP */
};

struct hello {
	union ibv_gid gid;
	uint32_t number[PAIRS];
};

/* What the one with windows says, and what the other one answers. */
struct
try {
	enum { WRITE, READ, INVALIDATE, END } what;
	uint32_t pair, key;
	uint8_t pattern; /* that is in all of the bytes, wherever they come from */
	uint8_t denied;
	uint64_t address;
};

static void
end_open(struct end *e, const char *port, const char *host)
{
	struct hello own, peers;

	rig_open(&e->r, false);
	e->mr = ibv_reg_mr(
		e->r.pd, e->r.memory[0], RIG_BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	WANT(e->mr != NULL && ibv_query_gid(e->r.context, 1, 0, &own.gid) == 0);
	for (int i = 0; i < PAIRS; i++) {
		e->qp[i] = rig_make_qp(&e->r, 0);
		own.number[i] = e->qp[i]->qp_num;
	}
	e->peer = peer_reach(port, host);
	peer_tell(e->peer, &own, sizeof(own));
	peer_hear(e->peer, &peers, sizeof(peers));
	for (int i = 0; i < PAIRS; i++)
		rig_connect_to(e->qp[i], peers.number[i], &peers.gid);
	peer_tell(e->peer, "", 1); /* ready to receive */
	peer_hear(e->peer, &own, 1);
}

static void
end_close(struct end *e)
{
	for (int i = 0; i < PAIRS; i++)
		WANT(ibv_destroy_qp(e->qp[i]) == 0);
	WANT(ibv_dereg_mr(e->mr) == 0);
	rig_close(&e->r);
	close(e->peer);
}

static bool
all_are(const uint8_t *p, uint8_t pattern)
{
	for (uint32_t i = 0; i < BYTES; i++)
		if (p[i] != pattern)
			return false;
	return true;
}

/* ---- the one that comes through them ------------------------------------------------------ */

static void
try_it(struct end *e, const struct try *t)
{
	const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND_WITH_INV};
	const enum ibv_wc_opcode done[] = {IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ, IBV_WC_SEND};
	struct ibv_sge sge = rig_sge(&e->r, 0, AT, t->what == INVALIDATE ? 8 : BYTES);
	struct ibv_send_wr wr = rig_request(&e->r, ops[t->what], &sge, 1), *bad;

	if (t->what == INVALIDATE) {
		wr.invalidate_rkey = t->key;
	} else {
		wr.wr.rdma.remote_addr = t->address;
		wr.wr.rdma.rkey = t->key;
	}
	memset(e->r.memory[0] + AT, t->what == WRITE ? t->pattern : (uint8_t)~t->pattern, BYTES);
	WANT(ibv_post_send(e->qp[t->pair], &wr, &bad) == 0);
	rig_wait_for(&e->r, 1, t->denied ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS, done[t->what]);
	if (t->what == READ && !t->denied)
		WANT(all_are(e->r.memory[0] + AT, t->pattern));
}

static void
come_through(struct end *e)
{
	struct try t;

	for (peer_hear(e->peer, &t, sizeof(t)); t.what != END; peer_hear(e->peer, &t, sizeof(t))) {
		try_it(e, &t);
		peer_tell(e->peer, "", 1);
	}
}

/* ---- the one that has windows ------------------------------------------------------------- */

static void
peer_tries(struct end *e, struct try t)
{
	uint8_t *p = e->r.memory[0] + AT, before = (uint8_t)~t.pattern, done;

	t.address = (uintptr_t)p;
	memset(p, t.what == READ ? t.pattern : before, BYTES);
	peer_tell(e->peer, &t, sizeof(t));
	peer_hear(e->peer, &done, 1);
	if (t.what == WRITE)
		WANT(all_are(p, t.denied ? before : t.pattern));
}

static void
bind_window(struct end *e, int pair, struct ibv_mw *mw, uint32_t key)
{
	struct ibv_send_wr *bad,
		wr = {.wr_id = 1,
			.opcode = IBV_WR_BIND_MW,
			.send_flags = IBV_SEND_SIGNALED,
			.bind_mw = {
				mw, key, {e->mr, (uintptr_t)e->r.memory[0] + AT, BYTES, RIGHTS}}};

	WANT(ibv_post_send(e->qp[pair], &wr, &bad) == 0);
	rig_wait_for(&e->r, 1, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
}

static void
peer_invalidates(struct end *e, uint32_t pair, uint32_t key)
{
	struct ibv_sge sge = rig_sge(&e->r, 1, 0, 64);
	struct ibv_recv_wr receive = {.wr_id = 2, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_wc wc;

	WANT(ibv_post_recv(e->qp[pair], &receive, &bad) == 0);
	peer_tries(e, (struct try){.what = INVALIDATE, .pair = pair, .key = key});
	wc = rig_wait(&e->r);
	WANT(wc.status == IBV_WC_SUCCESS && (wc.wc_flags & IBV_WC_WITH_INV) &&
		wc.invalidated_rkey == key);
}

/* For the peer of queue pair 0, until that peer gives it back. */
static void
type_2(struct end *e)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->r.pd, IBV_MW_TYPE_2);
	uint32_t key;

	WANT(mw != NULL);
	key = mw->rkey;
	bind_window(e, 0, mw, key);
	peer_tries(e, (struct try){WRITE, 0, key, .pattern = 0x11});
	peer_tries(e, (struct try){READ, 0, key, .pattern = 0x22});
	peer_tries(e, (struct try){WRITE, 1, key, .pattern = 0x33, .denied = 1});
	WANT(ibv_dereg_mr(e->mr) != 0);
	peer_invalidates(e, 0, key);
	key = ibv_inc_rkey(key);
	bind_window(e, 0, mw, key);
	peer_tries(e, (struct try){WRITE, 0, key, .pattern = 0x44});
	peer_invalidates(e, 0, key);
	peer_tries(e, (struct try){WRITE, 0, key, .pattern = 0x55, .denied = 1});
	WANT(ibv_dealloc_mw(mw) == 0);
}

static void
call_bind(struct end *e, int pair, struct ibv_mw *mw, uint64_t bytes)
{
	struct ibv_mw_bind b = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED};

	if (bytes > 0)
		b.bind_info = (struct ibv_mw_bind_info){
			e->mr, (uintptr_t)e->r.memory[0] + AT, bytes, RIGHTS};
	WANT(ibv_bind_mw(e->qp[pair], mw, &b) == 0);
	rig_wait_for(&e->r, 1, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
}

/* For the peers of all queue pairs, until it is bound anew or to nothing. */
static void
type_1(struct end *e)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->r.pd, IBV_MW_TYPE_1);
	uint32_t key;

	WANT(mw != NULL);
	call_bind(e, 2, mw, BYTES);
	key = mw->rkey;
	peer_tries(e, (struct try){WRITE, 2, key, .pattern = 0x66});
	peer_tries(e, (struct try){WRITE, 3, key, .pattern = 0x77});
	peer_tries(e, (struct try){READ, 4, key, .pattern = 0x88});
	call_bind(e, 3, mw, BYTES);
	peer_tries(e, (struct try){WRITE, 2, mw->rkey, .pattern = 0x99});
	peer_tries(e, (struct try){WRITE, 3, key, .pattern = 0xaa, .denied = 1});
	WANT(ibv_dereg_mr(e->mr) != 0);
	key = mw->rkey;
	call_bind(e, 2, mw, 0);
	peer_tries(e, (struct try){WRITE, 4, key, .pattern = 0xbb, .denied = 1});
	peer_tries(e, (struct try){WRITE, 2, mw->rkey, .pattern = 0xcc, .denied = 1});
	WANT(ibv_dealloc_mw(mw) == 0);
}

int
main(int argc, char **argv)
{
	struct end e;

	if (argc < 3 || strcmp(argv[1], "-p") != 0) {
		fprintf(stderr, "usage: windowtest -p PORT [HOST]\n");
		return 2;
	}
	end_open(&e, argv[2], argv[3]);
	if (argc > 3) {
		come_through(&e);
	} else {
		type_2(&e);
		type_1(&e);
		peer_tell(e.peer, &(struct try){.what = END}, sizeof(struct try));
	}
	end_close(&e);
	return 0;
}
