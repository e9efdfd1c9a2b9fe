/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids, and finding a connection by each of them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/cm_net.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/table.h"

#define CONNS 64u

static int
by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* checks W-CM-40: not one id comes twice, none is 0, and another secret begins elsewhere. */
Test(cm_table, w_cm_40_ids_are_unique_and_start_at_random)
{
	enum { N = 100000 };
	struct cm_net *net = cm_net_new(false);
	struct roce_cm *a = net->host[CM_NET_A].cm, *p = net->host[CM_NET_P].cm;
	uint32_t *ids = malloc(N * sizeof(*ids));
	unsigned close = 0;

	cr_assert_neq(cm_new_id(a), cm_new_id(p));
	for (unsigned i = 0; i < N; i++) {
		ids[i] = cm_new_id(a);
		cr_assert_neq(ids[i], 0);
		close += i > 0 && ids[i] - ids[i - 1] + 100 < 200;
	}
	cr_expect_lt(close, 10, "an id does not tell the next one");
	qsort(ids, N, sizeof(*ids), by_value);
	for (unsigned i = 1; i < N; i++)
		cr_assert_neq(ids[i], ids[i - 1]);
	free(ids);
	cr_assert_neq(cm_new_tid(a, 7), cm_new_tid(a, 7));
	cm_net_free(net);
}

/* checks W-CM-41: by our id and both addresses; by both ids; a peer's by its GUID, too. */
Test(cm_table, w_cm_41_each_connection_by_its_ids)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *conns[CONNS];
	struct cm_in in = {.local = a->gid, .remote = net->host[CM_NET_P].gid};

	for (unsigned i = 0; i < CONNS; i++) {
		a->qpn = 0x1000 + i;
		conns[i] = cm_net_connect(net, NULL, 0);
		conns[i]->remote_id = 500 + i % 8; /* not unique: peers choose them */
		conns[i]->remote_guid = i / 8;
		cm_table_link(a->cm, conns[i], CM_BY_REMOTE_ID);
	}
	for (unsigned i = 0; i < CONNS; i++) {
		in.mad.remote_id = conns[i]->local_id;
		in.mad.local_id = 500 + i % 8;
		cr_assert_eq(cm_find_local_id(a->cm, conns[i]->local_id), conns[i]);
		cr_assert_eq(cm_find_mine(a->cm, &in), conns[i]);
		cr_assert_eq(cm_find_both(a->cm, &in), conns[i]);
		cr_assert_eq(cm_find_remote_id(a->cm, i / 8, &in.remote, 500 + i % 8), conns[i]);
		cr_assert_null(cm_find_remote_id(a->cm, i / 8, &in.local, 500 + i % 8));
		in.mad.local_id++;
		cr_assert_null(cm_find_both(a->cm, &in), "another id of the peer");
		in.remote.raw[15] ^= 1;
		cr_assert_null(cm_find_mine(a->cm, &in), "another peer");
		in.remote.raw[15] ^= 1;
		in.local.raw[15] ^= 1;
		cr_assert_null(cm_find_mine(a->cm, &in), "another address of ours");
		in.local.raw[15] ^= 1;
		cr_assert(roce_cm_qpn_resting(a->cm, 0x1000 + i));
		cm_table_unlink(conns[i], CM_BY_LOCAL_ID);
		cm_table_unlink(conns[i], CM_BY_LOCAL_ID);
		cr_assert_null(cm_find_local_id(a->cm, conns[i]->local_id));
	}
	cr_assert_not(roce_cm_qpn_resting(a->cm, 0x1000 + CONNS));
	cm_net_free(net);
}
