/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of objects: each has its place, and none is taken down before what uses it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

#include "object/pd.h"
#include "rigs/ndd_rig.h"
#include "roce/shard/shard.h"
#include "session/class.h"
#include "shm/ndsh_mover.h"
#include "shm/ndsh_ring.h"

#define SEGMENT_BYTES (1u << 20)

static int
place_of(const struct ndd_class *c)
{
	for (int i = 0; ndd_classes[i] != NULL; i++)
		if (ndd_classes[i] == c)
			return i;
	return -1;
}

Test(classes, each_is_complete_and_there_once)
{
	static const struct ndd_class *const all[] = {&ndd_admin_class, &ndd_ah_class,
		&ndd_conn_class, &ndd_cq_class, &ndd_endpoint_class, &ndd_frmr_class,
		&ndd_lcore_class, &ndd_listener_class, &ndd_membership_class, &ndd_mover_class,
		&ndd_mw_class, &ndd_pd_class, &ndd_qp_class, &ndd_segment_class,
		&ndd_sidr_request_class, &ndd_srq_class, &ndd_worker_class};
	int count = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		cr_expect(ge(int, place_of(all[i]), 0), "%s", all[i]->name);
	for (; ndd_classes[count] != NULL; count++) {
		const struct ndd_class *c = ndd_classes[count];

		cr_expect(eq(int, place_of(c), count), "%s is there twice", c->name);
		if (c->end == NULL) {
			cr_expect(ne(ptr, (void *)c->free, NULL), "%s", c->name);
			cr_expect(ne(ptr, (void *)c->most, NULL), "%s", c->name);
		}
		for (int i = 0; i < count && c->end == NULL; i++)
			if (ndd_classes[i]->end == NULL)
				cr_expect(ne(u64, ndd_classes[i]->table, c->table), "%s and %s",
					ndd_classes[i]->name, c->name);
	}
	cr_expect(eq(u64, count, sizeof(all) / sizeof(all[0])));
}

/* What an object of the first kind holds or counts is of the second kind. */
Test(classes, the_users_go_before_the_used)
{
	static const struct {
		const struct ndd_class *user, *used;
	} rows[] = {
		{&ndd_conn_class, &ndd_qp_class},
		{&ndd_conn_class, &ndd_endpoint_class},
		{&ndd_listener_class, &ndd_sidr_request_class},
		{&ndd_qp_class, &ndd_cq_class},
		{&ndd_qp_class, &ndd_srq_class},
		{&ndd_qp_class, &ndd_pd_class},
		{&ndd_qp_class, &ndd_segment_class},
		{&ndd_srq_class, &ndd_pd_class},
		{&ndd_srq_class, &ndd_segment_class},
		{&ndd_mw_class, &ndd_pd_class},
		{&ndd_mw_class, &ndd_admin_class},
		{&ndd_frmr_class, &ndd_pd_class},
		{&ndd_frmr_class, &ndd_segment_class},
		{&ndd_admin_class, &ndd_cq_class},
		{&ndd_admin_class, &ndd_pd_class},
		{&ndd_admin_class, &ndd_mover_class},
		{&ndd_cq_class, &ndd_segment_class},
		{&ndd_mover_class, &ndd_segment_class},
		{&ndd_cq_class, &ndd_membership_class},
		{&ndd_srq_class, &ndd_membership_class},
		{&ndd_mover_class, &ndd_membership_class},
		{&ndd_admin_class, &ndd_membership_class},
		{&ndd_segment_class, &ndd_worker_class},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(lt(int, place_of(rows[i].user), place_of(rows[i].used)), "%s, %s",
			rows[i].user->name, rows[i].used->name);
}

/* A client goes on ringing while its session is taken down. */
Test(classes, the_lcore_gives_up_a_session_first)
{
	cr_expect(eq(int, place_of(&ndd_lcore_class), 0));
}

/* ---- with objects -------------------------------------------------------------------------- */

union reply {
	struct ndsh_id_msg id;
	struct ndsh_mw_create_reply mw;
	struct ndsh_qp_create_reply qp;
	uint8_t bytes[NDSH_MSG_BYTES];
};

struct made {
	uint32_t segment, pd, cq, admin_cq, srq, mw, frmr, qp;
};

static uint32_t
make(struct ndd_rig *r, int client, const void *msg)
{
	const struct ndsh_msg_hdr *h = msg;
	union reply reply;

	cr_assert(eq(i32, ndd_rig_ask(r, client, msg, &reply), NDSH_OK), "%s",
		ndsh_msg_table[h->type].name);
	return reply.id.id;
}

/* One of each kind that needs no network. */
static struct made
make_all(struct ndd_rig *r, int client)
{
	struct made m;
	uint64_t at = 65536; /* behind the session page */

	(void)ndd_rig_segment(r, client, SEGMENT_BYTES, &m.segment);
	m.pd = make(r, client, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	m.cq = make(r, client,
		&(struct ndsh_cq_create){.h.type = NDSH_MSG_CQ_CREATE,
			.segment = m.segment,
			.depth = 64,
			.offset = at});
	m.admin_cq = make(r, client,
		&(struct ndsh_cq_create){.h.type = NDSH_MSG_CQ_CREATE,
			.segment = m.segment,
			.depth = 64,
			.offset = at += 65536});
	(void)make(r, client,
		&(struct ndsh_admin_create){.h.type = NDSH_MSG_ADMIN_CREATE,
			.segment = m.segment,
			.depth = 16,
			.offset = at += 65536,
			.cq = m.admin_cq});
	m.srq = make(r, client,
		&(struct ndsh_srq_create){.h.type = NDSH_MSG_SRQ_CREATE,
			.pd = m.pd,
			.segment = m.segment,
			.offset = at += 65536,
			.depth = 16,
			.sge = 1});
	m.mw = make(r, client, &(struct ndsh_mw_create){.h.type = NDSH_MSG_MW_CREATE, .pd = m.pd});
	m.frmr = make(r, client,
		&(struct ndsh_frmr_create){.h.type = NDSH_MSG_FRMR_CREATE,
			.pd = m.pd,
			.segment = m.segment,
			.offset = at += 65536,
			.max_pages = 4,
			.remote = 1});
	m.qp = make(r, client,
		&(struct ndsh_qp_create){.h.type = NDSH_MSG_QP_CREATE,
			.pd = m.pd,
			.recv_cq = m.cq,
			.send_cq = m.cq,
			.segment = m.segment,
			.has_srq = 1,
			.offset = at += 65536,
			.sq_depth = 16,
			.rq_depth = 16,
			.sq_sge = 1,
			.rq_sge = 1,
			.srq = m.srq});
	return m;
}

static void
expect_in_use(struct ndd_rig *r, uint32_t objects)
{
	struct roce_usage u;

	roce_shard_usage(r->shard.engine, &u);
	cr_expect(eq(u32, u.qps, objects));
	cr_expect(eq(u32, u.cqs, 2 * objects));
	cr_expect(eq(u32, u.pds, objects));
	cr_expect(eq(u32, u.srqs, objects));
}

/* The engine refuses to free what is in use: in any other order something would be left there. */
Test(classes, a_session_that_ends_leaves_nothing_in_the_engine)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s, *other;
	int client = ndd_rig_open(r, &s), survivor = ndd_rig_open(r, &other);

	(void)make_all(r, survivor);
	(void)make_all(r, client);
	expect_in_use(r, 2);
	close(client);
	ndd_rig_turn(r);
	cr_expect(eq(u32, r->d.session_count, 1));
	expect_in_use(r, 1);
	close(survivor);
	ndd_rig_turn(r);
	expect_in_use(r, 0);
}

/* Of the types that there are a client gets what it computes tokens from; any other is refused. */
Test(classes, windows_have_a_type)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	struct ndsh_mw_create m = {.h.type = NDSH_MSG_MW_CREATE};
	union reply reply;

	m.pd = make(r, client, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	for (m.type = 0; m.type < 40; m.type++) {
		int32_t wanted = m.type == NDSH_MW_DERIVED || m.type == NDSH_MW_TYPE_1 ||
						 m.type == NDSH_MW_TYPE_2
					 ? NDSH_OK
					 : NDSH_ERR_INVALID_PARAMETER;

		cr_assert(eq(i32, ndd_rig_ask(r, client, &m, &reply), wanted), "%u", m.type);
		if (m.type != NDSH_MW_DERIVED && wanted == NDSH_OK)
			cr_expect(eq(u64, reply.mw.secret >> NDSH_TOKEN_KEY_BITS, reply.mw.slot));
	}
	m.type = UINT32_MAX;
	cr_expect(eq(i32, ndd_rig_ask(r, client, &m, &reply), NDSH_ERR_INVALID_PARAMETER));
	cr_expect(eq(u32, s->mws.used, 3));
}

/* A call of the lcore for each of them would keep the control thread waiting for as many turns. */
Test(classes, windows_go_many_at_a_time)
{
	enum { WINDOWS = 200, STEPS = 2 };
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct roce_usage u;
	unsigned steps = 0;
	uint32_t pd;
	int client;

	r->cfg.max_mrs = WINDOWS;
	client = ndd_rig_open(r, &s);
	pd = make(r, client, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	for (uint32_t i = 0; i < WINDOWS; i++)
		(void)make(r, client,
			&(struct ndsh_mw_create){.h.type = NDSH_MSG_MW_CREATE, .pd = pd});
	s->ended = true;
	while (s->mws.used > 0) {
		uint32_t before = s->mws.used;

		cr_assert(not(ndd_tables_empty_some(s)));
		roce_shard_usage(r->shard.engine, &u);
		cr_assert(eq(u32, u.mws, s->mws.used));
		steps += s->mws.used < before;
	}
	cr_expect(le(uint, steps, STEPS));
	while (!ndd_tables_empty_some(s))
		;
	roce_shard_usage(r->shard.engine, &u);
	cr_expect(eq(u32, u.pds, 0));
	cr_expect(eq(u32, u.mrs, 0));
}

/* One that can't go keeps those behind it, and is tried again. */
Test(classes, what_can_not_leave_the_shard_stays)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	struct made m = make_all(r, client);
	struct ndd_pd *pd = ndd_slots_get(&s->pds, m.pd);

	(void)make(r, client, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	s->ended = true;
	while (ndd_classes[s->ending.class] != &ndd_pd_class)
		cr_assert(not(ndd_tables_empty_some(s)));
	cr_assert(roce_pd_get(r->shard.engine, pd->engine));
	cr_expect(not(ndd_tables_empty_some(s)));
	cr_expect(not(ndd_tables_empty_some(s)));
	cr_expect(eq(ptr, ndd_slots_get(&s->pds, m.pd), pd));
	cr_expect(eq(u32, s->pds.used, 2));
	roce_pd_put(r->shard.engine, pd->engine);
	while (!ndd_tables_empty_some(s))
		;
	cr_expect(eq(u32, s->pds.used, 0));
}

/* Whatever there is in a session: before its completion queues go, no lcore knows of it, and its
 * admin ring answers to none of them. */
Test(classes, an_admin_ring_without_a_domain_is_closed, .timeout = 60)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	uint32_t segment, cq;

	(void)ndd_rig_segment(r, client, SEGMENT_BYTES, &segment);
	cq = make(r, client,
		&(struct ndsh_cq_create){.h.type = NDSH_MSG_CQ_CREATE,
			.segment = segment,
			.depth = 64,
			.offset = 65536});
	(void)make(r, client,
		&(struct ndsh_admin_create){.h.type = NDSH_MSG_ADMIN_CREATE,
			.segment = segment,
			.depth = 16,
			.offset = 131072,
			.cq = cq});
	cr_assert(eq(u32, r->shard.sessions, 1));
	cr_assert(ne(ptr, s->lcore->admin.cq, NULL));
	for (const struct ndd_class *const *c = ndd_classes; *c != &ndd_cq_class; c++)
		while ((*c)->end != NULL && !(*c)->end(s))
			;
	cr_expect(eq(u32, r->shard.sessions, 0));
	cr_expect(eq(ptr, s->lcore->admin.cq, NULL));
}

/* An object that others rest on is refused its end until they are gone. */
Test(classes, what_is_in_use_is_not_destroyed)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	struct made m = make_all(r, client);
	const struct {
		uint16_t type;
		uint32_t id;
		bool busy; /* until all above are gone */
	} rows[] = {
		{NDSH_MSG_QP_DESTROY, m.qp, false},
		{NDSH_MSG_SRQ_DESTROY, m.srq, true},
		{NDSH_MSG_CQ_DESTROY, m.cq, true},
		{NDSH_MSG_MW_DESTROY, m.mw, false},
		{NDSH_MSG_FRMR_DESTROY, m.frmr, false},
		{NDSH_MSG_PD_DESTROY, m.pd, true},
	};
	const size_t count = sizeof(rows) / sizeof(rows[0]);
	union reply reply;

	for (size_t gone = 0; gone < count; gone++) {
		struct ndsh_id_msg destroy;

		for (size_t i = gone + 1; i < count; i++) {
			destroy = (struct ndsh_id_msg){.h.type = rows[i].type, .id = rows[i].id};
			if (rows[i].busy && (gone == 0 || rows[i].type == NDSH_MSG_PD_DESTROY))
				cr_expect(eq(i32, ndd_rig_ask(r, client, &destroy, &reply),
						  NDSH_ERR_BUSY),
					"%s", ndsh_msg_table[rows[i].type].name);
		}
		destroy = (struct ndsh_id_msg){.h.type = rows[gone].type, .id = rows[gone].id};
		cr_assert(eq(i32, ndd_rig_ask(r, client, &destroy, &reply), NDSH_OK), "%s",
			ndsh_msg_table[rows[gone].type].name);
		cr_expect(eq(i32, ndd_rig_ask(r, client, &destroy, &reply), NDSH_ERR_INVALID_ID));
	}
	/* The admin ring is there until the session ends. */
	cr_expect(eq(i32,
		ndd_rig_ask(r, client,
			&(struct ndsh_id_msg){.h.type = NDSH_MSG_CQ_DESTROY, .id = m.admin_cq},
			&reply),
		NDSH_ERR_BUSY));
	cr_expect(eq(i32,
		ndd_rig_ask(r, client,
			&(struct ndsh_id_msg){.h.type = NDSH_MSG_SEGMENT_DESTROY, .id = m.segment},
			&reply),
		NDSH_ERR_BUSY));
}

Test(classes, each_kind_has_its_limit)
{
	const struct ndsh_id_msg create = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	for (uint32_t i = 0; i < r->cfg.max_qps; i++)
		(void)make(r, client, &create);
	cr_expect(eq(i32, ndd_rig_ask(r, client, &create, &reply), NDSH_ERR_NO_RESOURCES));
	cr_expect(eq(u32, s->pds.used, r->cfg.max_qps));
}
