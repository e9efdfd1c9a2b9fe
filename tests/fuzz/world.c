/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <string.h>
#include <sys/mman.h>

#include "roce/check.h"

#define NEIGHBOUR_QPN_PEER 0x4242u
#define BURST		   8u
#define SECRET_RUN	   64u /* of bytes: no accident */

/* ---- the beginning --------------------------------------------------------------------------- */

static void *
shared(struct world *w, size_t bytes)
{
	void *mem = fuzz_zeroed(bytes);

	fuzz_need(w->blocks < WORLD_BLOCKS, "blocks");
	w->block[w->blocks++] = (struct world_block){mem, bytes, false};
	return mem;
}

/* For a block of which little is touched: pages that are not touched cost nothing. Behind it is a
 * page that may not be touched. */
static void *
shared_pages(struct world *w, size_t bytes)
{
	size_t room = (bytes + WORLD_PAGE - 1) / WORLD_PAGE * WORLD_PAGE;
	uint8_t *mem = mmap(NULL, room + WORLD_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fuzz_need(mem != MAP_FAILED && mprotect(mem + room, WORLD_PAGE, PROT_NONE) == 0, "pages");
	w->block[w->blocks++] = (struct world_block){mem, bytes, true};
	return mem;
}

static struct roce_cq *
cq_new(struct world *w, void *mem, uint32_t depth)
{
	struct roce_cq *cq = roce_cq_create(w->s, NULL, mem, depth, w);

	fuzz_need(cq != NULL, "completion queue");
	return cq;
}

#define WORLD_RIGHTS                                                                               \
	(NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |            \
		NDSH_ACCESS_REMOTE_ATOMIC | NDSH_ACCESS_WINDOW_BIND)

static uint8_t *
arena_at(const struct world *w, unsigned page)
{
	return w->arena + page * WORLD_PAGE;
}

static void
memory_new(struct world *w)
{
	w->arena = fuzz_zeroed(WORLD_PAGES * WORLD_PAGE);
	memset(w->arena, WORLD_SECRET, WORLD_PAGES * WORLD_PAGE);
	memset(arena_at(w, WORLD_AT_RW), 0x11, 4 * WORLD_PAGE);
	memset(arena_at(w, WORLD_AT_RO), 0x22, 2 * WORLD_PAGE);
	memset(arena_at(w, WORLD_AT_FAST), 0x33, 4 * WORLD_PAGE);
	w->neighbour_mr =
		roce_mr_register(w->s, w->neighbour_pd, WORLD_VA + WORLD_AT_NEIGHBOUR * WORLD_PAGE,
			2 * WORLD_PAGE, arena_at(w, WORLD_AT_NEIGHBOUR), WORLD_RIGHTS);
	fuzz_need(w->neighbour_mr != NULL, "the neighbour's region");
	w->neighbour_key = roce_mr_key(w->neighbour_mr);
	w->moved = fuzz_zeroed(WORLD_MOVED);
	w->mover_mem = fuzz_zeroed(roce_mover_bytes());
	w->mover_shared = shared_pages(w, ndsh_mover_bytes(true));
	w->mover = roce_mover_create(w->s, NULL, w->mover_mem, w->mover_shared, true, w);
	fuzz_need(w->mover != NULL, "mover");
	ndsh_mover_view(&w->mover_client, w->mover_shared, true);
}

static void
admin_range(struct world *w, unsigned page, unsigned pages)
{
	fuzz_need(roce_admin_add_range(w->admin, WORLD_VA + page * WORLD_PAGE, pages * WORLD_PAGE,
			  arena_at(w, page)),
		"range");
}

static uint32_t
region_new(struct world *w, uint32_t op, uint64_t va, uint64_t bytes, uint32_t access)
{
	struct ndsh_cqe answer;

	ndsh_admin_push(&w->admin_client, &(struct ndsh_admin_request){.va = va,
						  .bytes = bytes,
						  .pd = WORLD_PD_HANDLE,
						  .access = access,
						  .ctrl = op});
	fuzz_need(roce_admin_serve(w->s, w->admin, 1) == 1, "registration");
	roce_shard_publish(w->s);
	fuzz_need(ndsh_cq_poll(&w->admin_reader, &answer, 1) == 1, "answer");
	fuzz_need(answer.status == NDSH_ADMIN_OK, "status %u", answer.status);
	return answer.data;
}

static void
regions_new(struct world *w)
{
	w->rw_key = region_new(w, NDSH_ADMIN_REGISTER, WORLD_VA + WORLD_AT_RW * WORLD_PAGE,
		4 * WORLD_PAGE, WORLD_RIGHTS);
	w->ro_key = region_new(w, NDSH_ADMIN_REGISTER, WORLD_VA + WORLD_AT_RO * WORLD_PAGE,
		2 * WORLD_PAGE, NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_WINDOW_BIND);
	w->moved_key = region_new(
		w, NDSH_ADMIN_REGISTER_MOVED, (uintptr_t)w->moved, WORLD_MOVED, WORLD_RIGHTS);
}

void
world_keyed_new(struct world *w, unsigned i)
{
	struct world_keyed *k = &w->keyed[i];

	k->mw = roce_mw_create_keyed(
		w->s, w->pd, i == 0 ? NDSH_MW_TYPE_1 : NDSH_MW_TYPE_2, &k->token);
	fuzz_need(k->mw != NULL, "a window of type %u", i + 1);
}

static void
windows_new(struct world *w)
{
	w->mw = roce_mw_create(w->s, w->pd, &w->mw_token.slot, &w->mw_token.secret);
	w->extent = (struct roce_extent){.va = WORLD_VA + WORLD_AT_FAST * WORLD_PAGE,
		.bytes = 4 * WORLD_PAGE,
		.host = w->arena + WORLD_AT_FAST * WORLD_PAGE};
	w->fr_arena = (struct roce_arena){&w->extent, 1};
	w->lists = shared(w, NDSH_FRMR_LISTS * WORLD_FR_PAGES * sizeof(w->lists[0]));
	for (unsigned i = 0; i < NDSH_FRMR_LISTS * WORLD_FR_PAGES; i++)
		w->lists[i] = w->extent.va + i % WORLD_FR_PAGES * WORLD_PAGE;
	w->fr_mem = fuzz_zeroed(roce_frmr_bytes(WORLD_FR_PAGES));
	w->fr = roce_frmr_create(w->s,
		&(struct roce_frmr_cfg){.pd = w->pd,
			.max_pages = WORLD_FR_PAGES,
			.remote = true,
			.arena = &w->fr_arena,
			.lists = w->lists},
		w->fr_mem, &w->fr_token.slot, &w->fr_token.secret);
	w->all = roce_arena_open(w->s, w->pd, &w->fr_arena);
	fuzz_need(w->mw != NULL && w->fr != NULL && w->all != NULL, "windows");
	for (unsigned i = 0; i < WORLD_KEYED; i++)
		world_keyed_new(w, i);
}

static void
queues_new(struct world *w)
{
	for (unsigned i = 0; i < WORLD_CQS; i++) {
		w->cq_mem[i] = shared(w, ndsh_cq_bytes(WORLD_CQ_DEPTH));
		w->cq[i] = cq_new(w, w->cq_mem[i], WORLD_CQ_DEPTH);
		ndsh_cq_reader_view(&w->reader[i], w->cq_mem[i], WORLD_CQ_DEPTH);
	}
	w->neighbour_cq_mem = fuzz_zeroed(ndsh_cq_bytes(WORLD_CQ_DEPTH));
	w->neighbour_cq = cq_new(w, w->neighbour_cq_mem, WORLD_CQ_DEPTH);
	w->srq_mem = shared(w, ndsh_srq_bytes(WORLD_SRQ_DEPTH, WORLD_SGE));
	w->srq = roce_srq_create(w->s, NULL, w->pd, w->srq_mem, WORLD_SRQ_DEPTH, WORLD_SGE, w);
	fuzz_need(w->srq != NULL, "shared receive queue");
	ndsh_srq_view(&w->srq_rq, w->srq_mem, WORLD_SRQ_DEPTH, WORLD_SGE);
}

static void
admin_new(struct world *w)
{
	w->admin_cq_mem = shared(w, ndsh_cq_bytes(2 * WORLD_ADMIN_DEPTH));
	w->admin_cq = cq_new(w, w->admin_cq_mem, 2 * WORLD_ADMIN_DEPTH);
	ndsh_cq_reader_view(&w->admin_reader, w->admin_cq_mem, 2 * WORLD_ADMIN_DEPTH);
	w->admin = fuzz_zeroed(sizeof(*w->admin));
	w->admin_mem = shared(w, ndsh_admin_bytes(WORLD_ADMIN_DEPTH));
	ndsh_admin_view(&w->admin_client, w->admin_mem, WORLD_ADMIN_DEPTH);
	roce_admin_init(w->admin, 8);
	roce_admin_add_pd(w->admin, WORLD_PD_HANDLE, w->pd);
	admin_range(w, WORLD_AT_RW, 4);
	admin_range(w, WORLD_AT_RO, 2);
	roce_admin_set_mover(w->admin, w->mover);
	roce_admin_open(w->admin, w->admin_mem, WORLD_ADMIN_DEPTH, w->admin_cq);
}

static void
qp_new(struct world *w, struct world_qp_side *q, const struct roce_qp_cfg *like)
{
	const struct ndsh_qp_dims dims = {.sq_depth = WORLD_DEPTH,
		.rq_depth = WORLD_DEPTH,
		.sq_sge = WORLD_SGE,
		.rq_sge = WORLD_SGE,
		.inline_bytes = WORLD_INLINE};
	struct roce_qp_cfg cfg = *like;
	struct ndsh_qp_layout l;

	fuzz_need(ndsh_qp_layout(&dims, &l), "layout");
	q->block_bytes = l.total_bytes;
	q->block = fuzz_zeroed(l.total_bytes);
	cfg.dims = dims;
	cfg.shared = q->block;
	cfg.owner = q;
	q->qp = roce_qp_create(w->s, &cfg);
	fuzz_need(q->qp != NULL, "queue pair");
	ndsh_sq_view(&q->sq, q->block, &dims);
	ndsh_rq_view(&q->rq, q->block, &dims);
}

static void
path_ends(struct roce_path *p, uint8_t peer, bool v6)
{
	p->sgid = (struct roce_gid){{[10] = 0xff, 0xff, 192, 0, 2, 1}};
	p->dgid = (struct roce_gid){{[10] = 0xff, 0xff, 192, 0, 2, peer}};
	if (v6) {
		p->sgid = (struct roce_gid){{0xfd, 1, [15] = 1}};
		p->dgid = (struct roce_gid){{0xfd, 1, [15] = peer}};
	}
}

void
world_attr(const struct world *w, enum world_qp i, struct roce_qp_attr *a)
{
	bool v6 = i == WORLD_RTS_V6;

	*a = (struct roce_qp_attr){.access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
					     NDSH_ACCESS_REMOTE_ATOMIC,
		.path = {.smac = {2, 0, 0, 0, 0, 1},
			.dmac = {2, 0, 0, 0, 0, 2},
			.tagged = v6,
			.vlan_tci = v6 ? 100 : 0,
			.tos = v6 ? ROCE_TOS_ECT0 : 0,
			.ttl = 64,
			.udp_sport = 0xc123},
		.mtu_bytes = WORLD_MTU,
		.dest_qpn = WORLD_PEER_QPN + i,
		.rq_psn = 0xfffffe, /* it wraps soon */
		.sq_psn = 0xfffffd,
		.max_dest_rd = 4,
		.max_rd = 4,
		.min_rnr_code = 1,
		.timeout_code = 12,
		.retry = 3,
		.rnr_retry = 2,
		.keepalive_ms = i == WORLD_RTS && !w->unreliable ? 100 : 0};
	path_ends(&a->path, 2, v6);
}

enum roce_qp_state
world_state(const struct world *w, enum world_qp i, enum roce_qp_state s)
{
	static const enum roce_qp_state uc[] = {[ROCE_QPS_RESET] = ROCE_QPS_RESET,
		[ROCE_QPS_INIT] = ROCE_QPS_INIT,
		[ROCE_QPS_RTR] = ROCE_QPS_UC_RTR,
		[ROCE_QPS_RTS] = ROCE_QPS_UC_RTS,
		[ROCE_QPS_SQD] = ROCE_QPS_UC_SQD,
		[ROCE_QPS_ERR] = ROCE_QPS_ERR};

	return w->unreliable && i != WORLD_UD ? uc[s] : s;
}

struct way {
	enum roce_qp_state from, to;
	uint32_t mask;
};

static const struct way rc_ways[] = {
	{ROCE_QPS_RESET, ROCE_QPS_INIT, ROCE_QPA_ACCESS},
	{ROCE_QPS_INIT, ROCE_QPS_RTR,
		ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
			ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR},
	{ROCE_QPS_RTR, ROCE_QPS_RTS,
		ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN |
			ROCE_QPA_MAX_RD | ROCE_QPA_KEEPALIVE},
	{ROCE_QPS_RTS, ROCE_QPS_SQD, 0},
};
static const struct way uc_ways[] = {
	{ROCE_QPS_RESET, ROCE_QPS_INIT, ROCE_QPA_ACCESS},
	{ROCE_QPS_INIT, ROCE_QPS_UC_RTR,
		ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN},
	{ROCE_QPS_UC_RTR, ROCE_QPS_UC_RTS, ROCE_QPA_SQ_PSN},
	{ROCE_QPS_UC_SQE, ROCE_QPS_UC_RTS, 0},
	{ROCE_QPS_UC_RTS, ROCE_QPS_UC_SQD, 0},
};
#define COUNT(ways) (sizeof(ways) / sizeof((ways)[0]))

static void
qp_bring(struct world *w, struct roce_qp *qp, enum roce_qp_state to, const struct roce_qp_attr *a,
	const struct way *ways, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		enum roce_qp_state is = roce_qp_state_get(qp);

		if (is == ways[i].from && (is < to || is == ROCE_QPS_UC_SQE))
			(void)roce_qp_modify(w->s, qp, w->now_ns, ways[i].to, ways[i].mask, a);
	}
	if (to == ROCE_QPS_ERR || to == ROCE_QPS_RESET)
		(void)roce_qp_modify(w->s, qp, w->now_ns, to, 0, NULL);
}

struct roce_path
world_path_back(const struct roce_path *there)
{
	struct roce_path back = *there;

	back.sgid = there->dgid;
	back.dgid = there->sgid;
	return back;
}

void
world_bring(struct world *w, enum world_qp i, enum roce_qp_state to)
{
	struct roce_qp_attr a;

	world_attr(w, i, &a);
	if (w->unreliable)
		qp_bring(w, w->q[i].qp, to, &a, uc_ways, COUNT(uc_ways));
	else
		qp_bring(w, w->q[i].qp, to, &a, rc_ways, COUNT(rc_ways));
}

static void
datagrams_begin(struct world *w)
{
	struct roce_qp_attr a;

	world_attr(w, WORLD_UD, &a);
	w->ahs = (struct roce_ah_table){w->ah, WORLD_AHS};
	roce_ah_set(&w->ah[WORLD_AH % WORLD_AHS], WORLD_AH, &a.path, 0, WORLD_MTU);
	fuzz_need(roce_ud_start(w->s, w->q[WORLD_UD].qp, w->now_ns,
			  &(struct roce_ud_cfg){
				  .q_key = WORLD_Q_KEY, .gid = a.path.sgid, .ahs = &w->ahs}),
		"datagrams");
}

static void
group_begin(struct world *w)
{
	const struct roce_group_key key = {.gid = {{[10] = 0xff, 0xff, 239, 1, 2, 3}}, .port = 0};
	const struct roce_group_member member = {
		.qpn = roce_qp_num(w->q[WORLD_UD].qp), .not_own = true};

	w->groups = roce_groups_init(
		fuzz_zeroed(roce_groups_bytes(1, 1)), 1, 1, (const uint64_t[2]){1, 2});
	fuzz_need(w->groups != NULL, "groups");
	roce_groups_add(w->groups, &key, 0, &member, 1);
}

static void
qps_new(struct world *w)
{
	static const enum roce_qp_state states[WORLD_QPS] = {[WORLD_INIT] = ROCE_QPS_INIT,
		[WORLD_RTR] = ROCE_QPS_RTR,
		[WORLD_RTS] = ROCE_QPS_RTS,
		[WORLD_RTS_SRQ] = ROCE_QPS_RTS,
		[WORLD_RTS_V6] = ROCE_QPS_RTS,
		[WORLD_RTS_MOVED] = ROCE_QPS_RTS,
		[WORLD_SQD] = ROCE_QPS_SQD,
		[WORLD_ERR] = ROCE_QPS_ERR};
	struct roce_qp_attr a;

	for (unsigned i = 0; i < WORLD_QPS; i++) {
		qp_new(w, &w->q[i],
			&(struct roce_qp_cfg){.pd = w->pd,
				.send_cq = w->cq[i % WORLD_CQS],
				.recv_cq = w->cq[i / 2 % WORLD_CQS],
				.srq = i == WORLD_RTS_SRQ ? w->srq : NULL,
				.handle = i,
				.unreliable = w->unreliable && i != WORLD_UD});
		w->block[w->blocks++] =
			(struct world_block){w->q[i].block, w->q[i].block_bytes, false};
		if (i != WORLD_UD)
			world_bring(w, i, world_state(w, i, states[i]));
	}
	datagrams_begin(w);
	group_begin(w);
	qp_new(w, &w->neighbour,
		&(struct roce_qp_cfg){.pd = w->neighbour_pd,
			.send_cq = w->neighbour_cq,
			.recv_cq = w->neighbour_cq});
	world_attr(w, WORLD_RTS, &a);
	path_ends(&a.path, 9, false);
	a.dest_qpn = NEIGHBOUR_QPN_PEER;
	a.keepalive_ms = 0;
	qp_bring(w, w->neighbour.qp, ROCE_QPS_RTS, &a, rc_ways, COUNT(rc_ways));
}

void
world_new(struct world *w, struct fuzz_in *in, bool hostile, bool unreliable)
{
	const struct roce_shard_cfg cfg = {.max_qps = 16,
		.max_cqs = 8,
		.max_pds = 4,
		.max_srqs = 2,
		.max_mrs = 16,
		.max_wqes = 16,
		.secret = {11, 22},
		.rto_floor_ns = 1000000,
		.window = 16,
		.check_source_port = 1};

	*w = (struct world){
		.in = in, .hostile = hostile, .unreliable = unreliable, .now_ns = 1000000000};
	w->mem = fuzz_zeroed(roce_shard_bytes(&cfg));
	w->s = roce_shard_init(w->mem, &cfg);
	fuzz_need(w->s != NULL, "shard");
	roce_qpn_key_init(&w->qpn_key, cfg.secret);
	w->pd = roce_pd_create(w->s);
	w->neighbour_pd = roce_pd_create(w->s);
	w->page = shared(w, sizeof(*w->page));
	memory_new(w);
	windows_new(w);
	queues_new(w);
	admin_new(w);
	regions_new(w);
	qps_new(w);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void
no_secret_in(const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0, run = 0; i < n; i++) {
		run = bytes[i] == WORLD_SECRET ? run + 1 : 0;
		fuzz_need(run < SECRET_RUN, "memory that may not be read leaves in a frame");
	}
}

static unsigned
frames_leave(struct world *w)
{
	static uint8_t room[BURST][ROCE_FRAME_MAX];
	struct roce_tx_slot slot[BURST];
	unsigned n;

	for (unsigned i = 0; i < BURST; i++)
		slot[i].buf = room[i];
	n = roce_shard_tx(w->s, w->now_ns, slot, BURST);
	for (unsigned i = 0; i < n; i++) {
		struct roce_pkt pkt;

		fuzz_need(slot[i].len <= ROCE_FRAME_MAX, "%u bytes", slot[i].len);
		fuzz_need(roce_wire_parse(slot[i].buf, slot[i].len, &pkt) == ROCE_WIRE_OK,
			"the engine sends what it refuses");
		fuzz_need(roce_icrc_ok(&pkt), "a wrong ICRC leaves");
		no_secret_in(pkt.payload, pkt.payload_bytes);
	}
	return n;
}

/* As app/dpdk-ndd/lcore/doorbell.c does. */
static void
doorbells_are_taken(struct world *w)
{
	uint64_t summary = ndsh_doorbell_begin(w->page), bits;
	uint32_t word;

	while (ndsh_doorbell_take(w->page, &summary, &word, &bits))
		for (unsigned i = 0; i < WORLD_QPS; i++)
			if (word == 0 && (bits >> i & 1))
				roce_qp_doorbell(w->s, NULL, w->q[i].qp);
	(void)roce_admin_serve(w->s, w->admin, 4);
	if (ndsh_doorbell_sleep(w->page))
		ndsh_doorbell_awake(w->page);
}

static void
pages_are_secret(const struct world *w, unsigned from, unsigned to)
{
	static uint8_t secret[WORLD_PAGE];

	memset(secret, WORLD_SECRET, sizeof(secret));
	for (; from < to; from++)
		fuzz_need(memcmp(arena_at(w, from), secret, sizeof(secret)) == 0,
			"page %u has changed", from);
}

/* No memory was written without a right to it, and the neighbour has noticed nothing. */
static void
nothing_else_changed(const struct world *w)
{
	const struct ndsh_cq_page *page = w->neighbour_cq_mem;
	const uint8_t *ro = arena_at(w, WORLD_AT_RO);

	pages_are_secret(w, 0, WORLD_AT_RW);
	pages_are_secret(w, WORLD_AT_RW + 4, WORLD_AT_RO);
	pages_are_secret(w, WORLD_AT_RO + 2, WORLD_AT_FAST);
	pages_are_secret(w, WORLD_AT_FAST + 4, WORLD_PAGES);
	fuzz_need(w->hostile || (ro[0] == 0x22 && memcmp(ro, ro + 1, 2 * WORLD_PAGE - 1) == 0),
		"what is to be read has changed");
	fuzz_need(roce_qp_state_get(w->neighbour.qp) == ROCE_QPS_RTS, "the neighbour's died");
	fuzz_need(page->produced == 0, "the neighbour has a completion");
}

/* Of a token, only what the client may choose has changed. */
static void
tokens_stay(const struct world *w)
{
	for (unsigned i = 0; i < WORLD_KEYED; i++)
		fuzz_need(
			(roce_mr_key(w->keyed[i].mw) ^ w->keyed[i].token) >> NDSH_MW_CHOSEN_BITS ==
				0,
			"a window has a token that is not its own");
}

void
world_turn(struct world *w)
{
	struct roce_event ev;
	const char *why;

	(void)roce_shard_movers(w->s, w->now_ns);
	doorbells_are_taken(w);
	(void)roce_shard_poll_rings(w->s, w->now_ns, 16);
	(void)frames_leave(w);
	roce_shard_publish(w->s);
	while (roce_shard_fired_cq(w->s, w->now_ns) != NULL)
		;
	while (roce_shard_event(w->s, &ev))
		fuzz_need(ev.qp == NULL || ev.qp != w->neighbour.qp, "the neighbour's event");
	why = roce_shard_check(w->s);
	fuzz_need(why == NULL, "%s", why);
	tokens_stay(w);
	fuzz_need(roce_shard_counters(w->s)->internal_errors == 0, "an internal error");
}

/* ---- the end --------------------------------------------------------------------------------- */

static void
admin_end(struct world *w)
{
	roce_admin_close(w->admin);
	while (!roce_admin_purge(w->s, w->admin))
		;
	fuzz_need(roce_cq_destroy(w->s, w->admin_cq), "the admin ring's completion queue");
}

static void
memory_ends(struct world *w)
{
	if (w->mw != NULL)
		roce_mw_destroy(w->s, w->mw);
	for (unsigned i = 0; i < WORLD_KEYED; i++)
		roce_mw_destroy(w->s, w->keyed[i].mw);
	roce_frmr_destroy(w->s, w->fr);
	roce_arena_close(w->s, w->all);
	fuzz_need(roce_mr_deregister(w->s, w->neighbour_mr), "the neighbour's region");
}

static void
queues_end(struct world *w)
{
	for (unsigned i = 0; i < WORLD_QPS; i++)
		fuzz_need(roce_qp_destroy(w->s, w->q[i].qp), "a queue pair");
	fuzz_need(roce_qp_destroy(w->s, w->neighbour.qp), "the neighbour's queue pair");
	fuzz_need(roce_srq_destroy(w->s, w->srq), "shared receive queue");
	for (unsigned i = 0; i < WORLD_CQS; i++)
		fuzz_need(roce_cq_destroy(w->s, w->cq[i]), "completion queue %u", i);
	fuzz_need(roce_cq_destroy(w->s, w->neighbour_cq), "the neighbour's completion queue");
}

static void
world_free(struct world *w)
{
	for (unsigned i = 0; i < w->blocks; i++) {
		const struct world_block *b = &w->block[i];

		if (b->mapped)
			munmap(b->at, (b->bytes + 2 * WORLD_PAGE - 1) / WORLD_PAGE * WORLD_PAGE);
		else
			free(b->at);
	}
	free(w->neighbour.block);
	free(w->neighbour_cq_mem);
	free(w->groups);
	free(w->admin);
	free(w->fr_mem);
	free(w->mover_mem);
	free(w->moved);
	free(w->arena);
	free(w->mem);
}

void
world_end(struct world *w)
{
	struct roce_usage u;

	nothing_else_changed(w);
	queues_end(w);
	memory_ends(w);
	admin_end(w);
	fuzz_need(roce_mover_destroy(w->s, w->mover), "the mover is in use");
	fuzz_need(roce_pd_destroy(w->s, w->pd), "the domain is in use");
	fuzz_need(roce_pd_destroy(w->s, w->neighbour_pd), "the neighbour's domain is in use");
	roce_shard_usage(w->s, &u);
	fuzz_need(u.qps + u.cqs + u.pds + u.mrs + u.srqs + u.wqes + u.timers == 0,
		"left: %u queue pairs, %u completion queues, %u regions, %u requests, %u timers",
		u.qps, u.cqs, u.mrs, u.wqes, u.timers);
	world_free(w);
}
