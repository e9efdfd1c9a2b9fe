/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iovatest -p PORT [HOST]: two programs, each on its daemon, with regions that have an iova. The
 * one with HOST does everything; the other one fills its memory, receives and compares as it is
 * told by TCP.
 */
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "places.h"

#define PLACES 2
#define WORD   64u

/* What a peer has to know of a region. */
struct told {
	uint64_t iova;
	uint32_t rkey, bytes;
};

struct hello {
	union ibv_gid gid;
	uint32_t number;
	struct told told[PLACES];
};

struct order {
	enum { FILL, COMPARE, RECEIVE, TAKE, END } what;
	uint32_t place, off, bytes, seed;
};

struct end {
	struct rig r;
	struct place place[PLACES];
	struct hello peers;
	int peer; /* TCP */
};

static const enum place_kind kinds[PLACES] = {PLACE_MAPPED, PLACE_HEAP};

static void
end_open(struct end *e, const char *port, const char *host)
{
	const uint64_t iova[PLACES] = {host == NULL ? 0 : 12345, 0xfffffff000000000};
	struct hello own = {0};

	rig_open(&e->r, false);
	for (int i = 0; i < PLACES; i++) {
		struct place *p = &e->place[i];

		p->at = place_memory(kinds[i], NULL, &p->bytes);
		place_register(&e->r, p, iova[i], RIG_ALL);
		own.told[i] = (struct told){p->iova, p->mr->rkey, p->bytes};
	}
	WANT(ibv_query_gid(e->r.context, 1, 0, &own.gid) == 0);
	own.number = e->r.qp[0]->qp_num;
	e->peer = peer_reach(port, host);
	peer_tell(e->peer, &own, sizeof(own));
	peer_hear(e->peer, &e->peers, sizeof(e->peers));
	rig_connect_to(e->r.qp[0], e->peers.number, &e->peers.gid);
	peer_tell(e->peer, "", 1); /* ready to receive */
	peer_hear(e->peer, &(char){0}, 1);
}

static void
end_close(struct end *e)
{
	for (int i = 0; i < PLACES; i++) {
		WANT(ibv_dereg_mr(e->place[i].mr) == 0);
		place_memory_free(kinds[i], &e->place[i]);
	}
	rig_close(&e->r);
	close(e->peer);
}

/* ---- the one that is told what to do ------------------------------------------------------ */

static void
post_receive(struct end *e, const struct order *o)
{
	struct ibv_sge sge = place_sge(&e->place[o->place], o->off, o->bytes);
	struct ibv_recv_wr receive = {.wr_id = 2, .sg_list = &sge, .num_sge = 1}, *bad;

	WANT(ibv_post_recv(e->r.qp[0], &receive, &bad) == 0);
}

static void
serve(struct end *e)
{
	struct order o;

	for (peer_hear(e->peer, &o, sizeof(o)); o.what != END; peer_hear(e->peer, &o, sizeof(o))) {
		const struct place *p = &e->place[o.place];

		if (o.what == FILL)
			place_fill(p, o.off, o.bytes, o.seed);
		else if (o.what == COMPARE)
			WANT(place_holds(p, o.off, o.bytes, o.seed));
		else if (o.what == RECEIVE)
			post_receive(e, &o);
		else
			rig_wait_for(&e->r, 2, IBV_WC_SUCCESS, IBV_WC_RECV);
		peer_tell(e->peer, "", 1);
	}
}

/* ---- the one that does everything --------------------------------------------------------- */

/* A piece of one of this side's places, and as much of one of the peer's. */
struct piece {
	uint32_t here, there;
	uint32_t off[2], bytes;
};

static void
order(struct end *e, int what, const struct piece *x, uint32_t seed)
{
	const struct order o = {what, x->there, x->off[1], x->bytes, seed};

	peer_tell(e->peer, &o, sizeof(o));
	peer_hear(e->peer, &(char){0}, 1);
}

static void
request(struct end *e, enum ibv_wr_opcode op, const struct piece *x, enum ibv_wc_status status,
	enum ibv_wc_opcode done)
{
	const struct told *told = &e->peers.told[x->there];
	struct ibv_mr mr = {.rkey = told->rkey};
	const struct place there = {.iova = told->iova, .mr = &mr};
	struct ibv_sge sge = place_sge(&e->place[x->here], x->off[0], x->bytes);
	struct ibv_send_wr wr = place_request(&there, op, &sge, x->off[1]);

	rig_post(&e->r, &wr);
	rig_wait_for(&e->r, 1, status, done);
}

static void
transfer(struct end *e, const struct piece *x)
{
	const struct place *here = &e->place[x->here];

	place_fill(here, x->off[0], x->bytes, 1);
	request(e, IBV_WR_RDMA_WRITE, x, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	order(e, COMPARE, x, 1);
	order(e, FILL, x, 2);
	request(e, IBV_WR_RDMA_READ, x, IBV_WC_SUCCESS, IBV_WC_RDMA_READ);
	WANT(place_holds(here, x->off[0], x->bytes, 2));
	order(e, RECEIVE, x, 0);
	place_fill(here, x->off[0], x->bytes, 3);
	request(e, IBV_WR_SEND, x, IBV_WC_SUCCESS, IBV_WC_SEND);
	order(e, TAKE, x, 0);
	order(e, COMPARE, x, 3);
}

/* The second finds what the first has left. */
static void
count(struct end *e, uint32_t here, uint32_t there)
{
	const struct piece x = {here, there, {5, WORD}, sizeof(uint64_t)};
	uint64_t found[2];

	order(e, FILL, &x, 4);
	for (int i = 0; i < 2; i++) {
		request(e, IBV_WR_ATOMIC_FETCH_AND_ADD, &x, IBV_WC_SUCCESS, IBV_WC_FETCH_ADD);
		memcpy(&found[i], e->place[here].at + 5, sizeof(found[i]));
		WANT(i > 0 || place_holds(&e->place[here], 5, sizeof(found[i]), 4));
	}
	WANT(found[1] == found[0] + 1);
}

static void
do_everything(struct end *e)
{
	const uint32_t sizes[] = {8, 300, 16385, PLACE_SMALL - 3};
	const struct piece beyond = {0, 1, {0, e->peers.told[1].bytes - 1}, 2};

	for (uint32_t pair = 0; pair < 4; pair++) {
		uint32_t here = pair & 1, there = pair >> 1;

		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			uint32_t n = sizes[i], last = e->peers.told[there].bytes - n;

			transfer(e, &(struct piece){here, there, {e->place[here].bytes - n, 0}, n});
			transfer(e, &(struct piece){here, there, {0, last}, n});
		}
		count(e, here, there);
	}
	request(e, IBV_WR_RDMA_WRITE, &beyond, IBV_WC_REM_ACCESS_ERR, 0);
	peer_tell(e->peer, &(struct order){.what = END}, sizeof(struct order));
}

int
main(int argc, char **argv)
{
	struct end e;

	if (argc < 3 || strcmp(argv[1], "-p") != 0) {
		fprintf(stderr, "usage: iovatest -p PORT [HOST]\n");
		return 2;
	}
	end_open(&e, argv[2], argv[3]);
	if (argc > 3)
		do_everything(&e);
	else
		serve(&e);
	end_close(&e);
	return 0;
}
