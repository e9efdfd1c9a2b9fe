/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of both ends of a connection, closed in any order behind real daemons. */
#include <stdlib.h>
#include <string.h>

#include "pair.h"
#include "scenarios.h"

#define ROUNDS	100
#define OBJECTS 12 /* six of each side */

/* A connected pair with requests under way; the adapters stay. */
static void
make(struct pair *p, void **object, struct nd_overlapped *pending)
{
	for (struct side *s = &p->a; s != NULL; s = s == &p->a ? &p->b : NULL) {
		WANT(ND_SUCCESS, nd_pd_create(s->adapter, &s->pd));
		WANT(ND_SUCCESS, nd_cq_create(s->adapter, 64, &s->cq));
		side_register(s);
		side_create_qp(s, 16);
	}
	pair_connect(p);
	for (struct side *s = &p->a; s != NULL; s = s == &p->a ? &p->b : NULL) {
		struct nd_mw *mw;

		WANT(ND_SUCCESS, nd_mw_create(s->pd, &mw));
		for (int i = 0; i < 4; i++)
			WANT(ND_SUCCESS, side_receive(s, 100));
		WANT(ND_PENDING, nd_connector_notify_disconnect(s->connector, pending++));
		*object++ = s->pd;
		*object++ = s->cq;
		*object++ = s->mr;
		*object++ = s->qp;
		*object++ = s->connector;
		*object++ = mw;
	}
	WANT(ND_SUCCESS, side_send(&p->a, 10));
	WANT(ND_PENDING, nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_ERRORS, pending));
}

static void
shuffle(void **object)
{
	for (int i = OBJECTS - 1; i > 0; i--) {
		int j = rand() % (i + 1);
		void *was = object[i];

		object[i] = object[j];
		object[j] = was;
	}
}

/*
 * checks R-LIFE-01, R-LIFE-08[1,2]: in any order each close succeeds, each end is reported, and
 * the daemons have as much room afterwards as before.
 */
void
scenario_any_order(struct pair *p)
{
	srand(1);
	side_open(&p->a, 64);
	side_open(&p->b, 64);
	for (int round = 0; round < ROUNDS; round++) {
		struct nd_overlapped pending[3] = {0}, end[OBJECTS] = {0};
		void *object[OBJECTS];

		make(p, object, pending);
		shuffle(object);
		for (int i = 0; i < OBJECTS; i++)
			WANT(ND_PENDING, nd_close(object[i], &end[i]));
		for (int i = 0; i < OBJECTS; i++)
			WANT(ND_SUCCESS, nd_overlapped_status(&end[i]));
		for (int i = 0; i < 3; i++)
			CHECK(nd_overlapped_status(&pending[i]) != ND_PENDING);
	}
	pair_close(p);
}
