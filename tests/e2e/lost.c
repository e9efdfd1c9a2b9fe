/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is unmapped while it is registered: what needs it fails, and nothing else does. */
#include <string.h>
#include <sys/mman.h>

#include "scenarios.h"

#define RIGHTS                                                                                     \
	(ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |                            \
		ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK |                         \
		ND_MR_FLAG_DO_NOT_ADOPT)
#define BYTES 20000u /* five packets */

/* Registered memory of s that has gone, as its buffer; *mr is for nd_mr_close() */
static char *
lost_buffer(struct side *s, struct nd_mr **mr)
{
	char *at = map_anonymous(BUFFER_BYTES, MAP_PRIVATE);

	WANT(ND_SUCCESS, region_new(s->pd, at, BUFFER_BYTES, RIGHTS, mr));
	CHECK(munmap(at + 8192, BUFFER_BYTES - 8192) == 0);
	return at;
}

/* The peer's WRITE or READ. */
static void
peer_reaches(struct pair *p, int write)
{
	struct nd_result result;
	struct nd_mr *mr;
	char *at = lost_buffer(&p->b, &mr);

	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_SUCCESS, side_reach(&p->a, write, at, BYTES, nd_mr_remote_token(mr)));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	WANT(ND_CANCELED, side_result(&p->b, &result));
	WANT(ND_SUCCESS, side_send(&p->a, 100));
	WANT(ND_CANCELED, side_result(&p->a, &result));
	munmap(at, 8192);
}

/* The peer's SEND, into receives of which the second has gone: the first is whole, and the results
 * behind the failed one are cancelled, whatever was received. */
static void
peer_sends(struct pair *p)
{
	static const nd_status sent[] = {ND_SUCCESS, ND_REMOTE_ERROR, ND_CANCELED},
			       received[] = {ND_SUCCESS, ND_ACCESS_VIOLATION, ND_CANCELED};
	struct nd_result result;
	struct nd_sge sge;
	struct nd_mr *mr;
	char *at = lost_buffer(&p->b, &mr);

	memset(p->a.buf, 0x5a, BYTES);
	for (int i = 0; i < 3; i++) {
		sge = i == 1 ? (struct nd_sge){at, BYTES, nd_mr_local_token(mr)}
			     : (struct nd_sge){p->b.buf, BYTES, nd_mr_local_token(p->b.mr)};
		WANT(ND_SUCCESS, nd_qp_receive(p->b.qp, NULL, &sge, 1));
	}
	for (int i = 0; i < 3; i++)
		WANT(ND_SUCCESS, side_send(&p->a, BYTES));
	for (int i = 0; i < 3; i++) {
		WANT(received[i], side_result(&p->b, &result));
		WANT(sent[i], side_result(&p->a, &result));
	}
	CHECK(p->b.buf[0] == 0x5a && p->b.buf[BYTES - 1] == 0x5a);
	munmap(at, 8192);
}

/* Our own WRITE from there, or READ to there; the peer's queue pair does not notice the first. */
static void
we_reach(struct pair *p, int write)
{
	static const nd_status want[] = {ND_SUCCESS, ND_ACCESS_VIOLATION, ND_CANCELED};
	struct nd_result result;
	struct nd_sge sge;
	struct nd_mr *mr;
	char *at = lost_buffer(&p->a, &mr);

	for (int i = 0; i < 3; i++) {
		sge = i == 1 ? (struct nd_sge){at, BYTES, nd_mr_local_token(mr)}
			     : (struct nd_sge){p->a.buf, BYTES, nd_mr_local_token(p->a.mr)};
		WANT(ND_SUCCESS, (write ? nd_qp_write : nd_qp_read)(p->a.qp, NULL, &sge, 1,
					 (uintptr_t)p->b.buf, nd_mr_remote_token(p->b.mr), 0));
	}
	for (int i = 0; i < 3; i++)
		WANT(want[i], side_result(&p->a, &result));
	munmap(at, 8192);
}

/* checks R-MR-14[1], R-MR-14[2], R-MR-14[3]: each in a connection of its own, beside one that
 * goes on. */
void
scenario_lost_memory(struct pair *p)
{
	for (int i = 0; i < 5; i++) {
		struct pair other;

		pair_open(p);
		pair_beside(p, &other);
		if (i < 2)
			peer_reaches(p, i);
		else if (i < 4)
			we_reach(p, i - 2);
		else
			peer_sends(p);
		pair_works(&other);
		pair_close(p);
	}
}
