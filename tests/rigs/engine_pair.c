/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "rigs/zeroed.h"
#include "roce/mem/mover.h"

#define TIMER_BUDGET 64u
#define BURST	     32u

struct pair_frame {
	uint64_t at_ns;
	uint32_t len;
	unsigned to;
	uint8_t bytes[];
};

static void
need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "engine_pair: %s\n", what);
	abort();
}

static uint32_t
or_default(uint32_t value, uint32_t def)
{
	return value != 0 ? value : def;
}

static uint8_t
code(uint8_t value, uint8_t def)
{
	return value == 255 ? 0 : value != 0 ? value : def;
}

static void
side_gid(const struct pair *p, unsigned side, struct roce_gid *gid)
{
	if (p->opts.v6) {
		*gid = (struct roce_gid){.raw = {0xfd, 1, [15] = (uint8_t)(side + 1)}};
	} else {
		const uint8_t v4[4] = {192, 0, 2, (uint8_t)(side + 1)};

		roce_gid_from_v4(gid, v4);
	}
}

void
pair_attr(const struct pair *p, unsigned side, unsigned i, struct roce_qp_attr *attr)
{
	const struct pair_opts *o = &p->opts;

	*attr = (struct roce_qp_attr){
		.access = o->access,
		.mtu_bytes = o->mtu,
		.dest_qpn = roce_qp_num(p->side[!side].q[i].qp),
		.rq_psn = o->sq_psn[!side],
		.sq_psn = o->sq_psn[side],
		.max_rd = code(o->max_rd, 4),
		.max_dest_rd = code(o->max_dest_rd, 4),
		.min_rnr_code = code(o->min_rnr_code, 1),
		.timeout_code = code(o->timeout_code, 12),
		.retry = code(o->retry, 7),
		.rnr_retry = code(o->rnr_retry, 7),
		.rnr_give_up_ms = o->rnr_give_up_ms,
		.path = {.ttl = 64,
			.tos = o->ecn ? ROCE_TOS_ECT0 : 0,
			.udp_sport = 0xc000,
			.tagged = o->vlan != 0,
			.vlan_tci = o->vlan,
			.smac = {2, 0, 0, 0, 0, (uint8_t)side},
			.dmac = {2, 0, 0, 0, 0, (uint8_t)!side}},
	};
	side_gid(p, side, &attr->path.sgid);
	side_gid(p, !side, &attr->path.dgid);
}

void
pair_bring_up(struct pair *p, unsigned side, struct roce_qp *qp, const struct roce_qp_attr *a)
{
	struct roce_shard *s = p->side[side].shard;
	enum roce_modify r;

	r = roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, a);
	need(r == ROCE_MODIFY_OK, "INIT");
	if (p->opts.uc) {
		r = roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_UC_RTR, PAIR_QPA_UC_RTR, a);
		need(r == ROCE_MODIFY_OK, "RTR");
		r = roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_UC_RTS, ROCE_QPA_SQ_PSN, a);
		need(r == ROCE_MODIFY_OK, "RTS");
		return;
	}
	r = roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTR, PAIR_QPA_RTR, a);
	need(r == ROCE_MODIFY_OK, "RTR");
	r = roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTS,
		ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN |
			ROCE_QPA_MAX_RD,
		a);
	need(r == ROCE_MODIFY_OK, "RTS");
}

void
pair_connect(struct pair *p, unsigned side, unsigned i)
{
	struct roce_qp_attr a;

	pair_attr(p, side, i, &a);
	pair_bring_up(p, side, p->side[side].q[i].qp, &a);
}

static void
side_qp(struct pair *p, struct pair_side *d, unsigned i)
{
	struct ndsh_qp_layout layout;

	need(ndsh_qp_layout(&d->dims, &layout), "queue pair dimensions");
	d->q[i].block = zeroed(layout.total_bytes);
	d->q[i].qp = roce_qp_create(d->shard, &(struct roce_qp_cfg){
						      .pd = d->pd,
						      .send_cq = d->cq,
						      .recv_cq = d->cq,
						      .srq = d->srq,
						      .shared = d->q[i].block,
						      .dims = d->dims,
						      .handle = i,
						      .owner = &d->q[i],
						      .unreliable = p->opts.uc,
					      });
	need(d->q[i].qp != NULL, "queue pair");
	ndsh_sq_view(&d->q[i].sq, d->q[i].block, &d->dims);
	ndsh_rq_view(&d->q[i].rq, d->q[i].block, &d->dims);
	if (!p->opts.set_psn)
		p->opts.sq_psn[d == &p->side[1]] = roce_random_psn(d->shard);
}

static void
side_srq(struct pair_side *d, uint32_t depth, uint32_t sge)
{
	d->srq_page = zeroed(ndsh_srq_bytes(depth, sge));
	d->srq = roce_srq_create(d->shard, NULL, d->pd, d->srq_page, depth, sge, d);
	need(d->srq != NULL, "shared receive queue");
	ndsh_srq_view(&d->srq_rq, d->srq_page, depth, sge);
}

static void
side_moved(struct pair *p, struct pair_side *d)
{
	d->moved = zeroed(PAIR_ARENA);
	d->mover_mem = zeroed(roce_mover_bytes());
	d->mover_shared = zeroed(ndsh_mover_bytes(true));
	d->mover = roce_mover_create(d->shard, NULL, d->mover_mem, d->mover_shared, true, d);
	need(d->mover != NULL, "mover");
	ndsh_mover_view(&d->client, d->mover_shared, true);
	d->moved_mr = roce_mr_register_moved(
		d->shard, d->pd, (uintptr_t)d->moved, PAIR_ARENA, d->mover, p->opts.mr_access);
	need(d->moved_mr != NULL, "region behind a mover");
	d->moved_key = roce_mr_key(d->moved_mr);
}

static void
side_new(struct pair *p, unsigned side)
{
	struct pair_side *d = &p->side[side];
	const struct pair_opts *o = &p->opts;
	struct roce_shard_cfg cfg = {
		.shard_id = side,
		.max_qps = or_default(o->max_qps, o->qps > PAIR_QPS ? o->qps : PAIR_QPS),
		.max_cqs = 8,
		.max_pds = 4,
		.max_srqs = 1,
		.max_mrs = 64,
		.max_wqes = o->max_wqes,
		.secret = {1, side},
		.rto_floor_ns = 1000000,
		.window = o->window,
		.shared_window = o->shared_window,
		.check_source_port = o->sports,
	};

	d->mem = zeroed(roce_shard_bytes(&cfg));
	d->shard = roce_shard_init(d->mem, &cfg);
	need(d->shard != NULL, "shard");
	roce_qpn_key_init(&d->qpn_key, cfg.secret);
	d->pd = roce_pd_create(d->shard);
	d->arena = zeroed(PAIR_ARENA);
	d->mr = roce_mr_register(d->shard, d->pd, PAIR_VA, PAIR_ARENA, d->arena, o->mr_access);
	need(d->mr != NULL, "region");
	d->key = roce_mr_key(d->mr);
	d->cq_mem = zeroed(ndsh_cq_bytes(o->cq_depth));
	d->cq = roce_cq_create(d->shard, NULL, d->cq_mem, o->cq_depth, d);
	need(d->cq != NULL, "completion queue");
	ndsh_cq_reader_view(&d->reader, d->cq_mem, o->cq_depth);
	d->dims = (struct ndsh_qp_dims){.sq_depth = o->sq_depth,
		.rq_depth = o->rq_depth,
		.sq_sge = 16,
		.rq_sge = 16,
		.inline_bytes = 256};
	if (side == 1 && o->srq_depth != 0)
		side_srq(d, o->srq_depth, 16);
	if (o->moved)
		side_moved(p, d);
	for (unsigned i = 0; i < o->qps; i++)
		side_qp(p, d, i);
}

struct pair *
pair_new(const struct pair_opts *opts)
{
	struct pair *p = zeroed(sizeof(*p));
	struct pair_opts *o = &p->opts;

	*o = *opts;
	o->qps = or_default(o->qps, 1);
	o->mtu = or_default(o->mtu, 1024);
	o->window = or_default(o->window, 64);
	o->max_wqes = or_default(o->max_wqes, 1024);
	o->sq_depth = or_default(o->sq_depth, 256);
	o->rq_depth = or_default(o->rq_depth, 256);
	o->cq_depth = or_default(o->cq_depth, PAIR_CQ_DEPTH);
	o->access = or_default(o->access, NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE);
	o->mr_access = or_default(o->mr_access,
		NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE);
	o->delay_ns = o->delay_ns != 0 ? o->delay_ns : 2000;
	p->now_ns = 1000000000;
	side_new(p, 0);
	side_new(p, 1);
	for (unsigned i = 0; i < o->qps; i++) {
		pair_connect(p, 0, i);
		pair_connect(p, 1, i);
	}
	return p;
}

static void
side_free(struct pair *p, struct pair_side *d)
{
	struct roce_usage u;

	for (unsigned i = 0; i < p->opts.qps; i++) {
		if (d->q[i].qp != NULL)
			roce_qp_destroy(d->shard, d->q[i].qp);
		free(d->q[i].block);
	}
	need(roce_cq_destroy(d->shard, d->cq), "completion queue in use");
	if (d->mr != NULL)
		roce_mr_deregister(d->shard, d->mr);
	if (d->moved_mr != NULL)
		roce_mr_deregister(d->shard, d->moved_mr);
	if (d->mover != NULL) {
		need(d->mover->slots == NDSH_MOVER_SLOTS && d->mover->waiters == 0,
			"slots of the mover are taken, or waited for");
		need(roce_mover_destroy(d->shard, d->mover), "mover in use");
	}
	if (d->srq != NULL)
		need(roce_srq_destroy(d->shard, d->srq), "shared receive queue in use");
	need(roce_pd_destroy(d->shard, d->pd), "PD in use");
	roce_shard_usage(d->shard, &u);
	need(u.qps + u.cqs + u.pds + u.mrs + u.srqs + u.wqes + u.timers == 0,
		"something is left over");
	need(roce_shard_counters(d->shard)->internal_errors == 0, "internal error");
	free(d->mem);
	free(d->cq_mem);
	free(d->srq_page);
	free(d->arena);
	free(d->moved);
	free(d->mover_mem);
	free(d->mover_shared);
}

void
pair_free(struct pair *p)
{
	side_free(p, &p->side[0]);
	side_free(p, &p->side[1]);
	while (p->on_wire > 0)
		free(p->wire[--p->on_wire]);
	free(p);
}

static void
wire_put(struct pair *p, unsigned to, const uint8_t *bytes, uint32_t len, uint64_t at_ns)
{
	unsigned i = p->on_wire++;
	struct pair_frame *f = malloc(sizeof(*f) + len);

	need(i < PAIR_WIRE && f != NULL, "too many frames on the wire");
	f->at_ns = at_ns;
	f->to = to;
	f->len = len;
	memcpy(f->bytes, bytes, len);
	for (; i > 0 && p->wire[i - 1]->at_ns > at_ns; i--)
		p->wire[i] = p->wire[i - 1];
	p->wire[i] = f;
}

/* What a congested switch does. */
static void
mark(uint8_t *frame, const struct roce_pkt *pkt)
{
	const struct roce_hdr_tmpl where = {.l3_off = (uint8_t)(pkt->l3 - frame), .v6 = pkt->v6};

	roce_wire_set_tos(frame, &where, pkt->tos | ROCE_TOS_ECN);
}

static void
wire_send(struct pair *p, unsigned from, uint8_t *bytes, uint32_t len)
{
	struct roce_pkt pkt;
	uint64_t late_ns = 0;
	unsigned copies = 1;

	need(roce_wire_parse(bytes, len, &pkt) == ROCE_WIRE_OK, "the engine sent garbage");
	need(roce_icrc_ok(&pkt), "the engine sent a wrong ICRC");
	p->sent[from]++;
	p->mark = false;
	if (p->tap != NULL)
		copies = p->tap(p, from, &pkt, &late_ns, p->tap_ctx);
	if (p->mark)
		mark(bytes, &pkt);
	while (copies-- > 0)
		wire_put(p, !from, bytes, len, p->now_ns + p->opts.delay_ns + late_ns);
}

void
pair_rx(struct pair *p, unsigned side, const struct roce_pkt *pkt)
{
	struct pair_side *d = &p->side[side];
	uint32_t place = roce_qpn_place(&d->qpn_key, pkt->qpn);

	if (pkt->qpn == ROCE_QPN_MULTICAST) {
		const struct roce_group *g =
			d->groups != NULL ? roce_groups_find(d->groups, pkt, 0) : NULL;

		if (g != NULL)
			roce_shard_multicast(d->shard, p->now_ns, pkt, d->groups, g);
		return;
	}
	roce_shard_rx(d->shard, p->now_ns, pkt, roce_shard_rx_seek(d->shard, place, pkt));
}

unsigned
pair_deliver(struct pair *p, unsigned side)
{
	unsigned done = 0, kept = 0;

	for (unsigned i = 0; i < p->on_wire; i++) {
		struct pair_frame *f = p->wire[i];
		struct roce_pkt pkt;

		if (f->to != side || f->at_ns > p->now_ns) {
			p->wire[kept++] = f;
			continue;
		}
		need(roce_wire_parse(f->bytes, f->len, &pkt) == ROCE_WIRE_OK, "parse");
		pair_rx(p, side, &pkt);
		free(f);
		done++;
	}
	p->on_wire = kept;
	return done;
}

/* Memory that has gone. */
static bool
is_gone(const struct pair_side *d, const struct ndsh_cqe *command)
{
	uint64_t from = command->context - (uintptr_t)d->moved;

	return from < d->gone[1] && from + command->bytes > d->gone[0];
}

static uint32_t
copy_commands(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (is_gone(ctx, &commands[i]))
			failed |= 1u << i;
		else
			ndsh_mover_copy_plain(m, &commands[i]);
	}
	return failed;
}

unsigned
pair_client_moves(struct pair *p, unsigned side, uint32_t n)
{
	struct pair_side *d = &p->side[side];

	return ndsh_mover_run(&d->client, n, copy_commands, d);
}

/* What the client does meanwhile, and what the shard sees of it. */
static unsigned
move(struct pair *p, unsigned side)
{
	struct pair_side *d = &p->side[side];
	unsigned done = 0;

	if (d->mover == NULL)
		return 0;
	if (!d->stalled)
		done = pair_client_moves(p, side, d->moves != 0 ? d->moves : UINT32_MAX);
	return done + roce_shard_movers(d->shard, p->now_ns);
}

unsigned
pair_turn(struct pair *p, unsigned side)
{
	static uint8_t room[BURST][ROCE_FRAME_MAX];
	struct pair_side *d = &p->side[side];
	struct roce_tx_slot slot[BURST];
	struct roce_event ev;
	uint64_t produced = d->reader.page->produced;
	unsigned rung = roce_shard_tx_pending(d->shard, p->now_ns);
	unsigned done = pair_deliver(p, side), burst = or_default(d->frames, BURST), n;

	if (done == 0)
		done += roce_shard_timers(d->shard, p->now_ns, TIMER_BUDGET);
	done += move(p, side);
	done += roce_shard_poll_rings(d->shard, p->now_ns, 64);
	for (unsigned i = 0; i < BURST; i++)
		slot[i].buf = room[i];
	do {
		n = roce_shard_tx(d->shard, p->now_ns, slot, burst);
		for (unsigned i = 0; i < n; i++)
			wire_send(p, side, slot[i].buf, slot[i].len);
		done += n;
	} while (n == BURST && d->frames == 0);
	roce_shard_publish(d->shard);
	done += rung;
	done += (unsigned)(d->reader.page->produced - produced);
	if (d->mover != NULL && !d->stalled) /* the client will have something to do */
		done += d->client.reader.taken != d->client.reader.page->produced;
	while (roce_shard_fired_cq(d->shard, p->now_ns) != NULL)
		d->fired++;
	while (roce_shard_event(d->shard, &ev)) {
		d->last_event = ev;
		d->events |= 1u << ev.type;
	}
	return done;
}

void
pair_settle(struct pair *p)
{
	for (unsigned idle = 0; idle < 4;)
		idle = pair_turn(p, 0) > 0 ? 0 : idle + 1;
}

bool
pair_run(struct pair *p, uint64_t limit_ns)
{
	uint64_t end = p->now_ns + limit_ns;

	for (;;) {
		uint64_t next = UINT64_MAX;

		while (pair_turn(p, 0) + pair_turn(p, 1) > 0)
			;
		for (unsigned i = 0; i < 2; i++) {
			uint64_t t = roce_shard_next_deadline(p->side[i].shard);

			next = t < next ? t : next;
		}
		if (p->on_wire > 0 && p->wire[0]->at_ns < next)
			next = p->wire[0]->at_ns;
		if (next == UINT64_MAX)
			return true;
		if (next > end) {
			p->now_ns = end;
			return false;
		}
		p->now_ns = next > p->now_ns ? next : p->now_ns + 1;
	}
}

static void
lengthen(uint8_t *length, uint32_t more)
{
	uint32_t n = (uint32_t)(length[0] << 8 | length[1]) + more;

	length[0] = (uint8_t)(n >> 8);
	length[1] = (uint8_t)n;
}

static uint32_t
build_longer(uint8_t *frame, const struct roce_path *path, const struct roce_pkt *pkt,
	const void *payload, uint32_t more)
{
	struct roce_hdr_tmpl tmpl;
	uint32_t hdr;

	memset(frame, 0, ROCE_FRAME_MAX);
	roce_hdr_tmpl_init(&tmpl, path);
	hdr = roce_wire_build(frame, &tmpl, pkt, 0);
	if (payload != NULL)
		memcpy(frame + hdr, payload, pkt->payload_bytes);
	if (more > 0) {
		cr_assert(tmpl.v6, "there is a checksum in the other one");
		lengthen(frame + tmpl.l3_off + 4, more);
		lengthen(frame + tmpl.l3_off + 40 + 4, more);
	}
	return roce_wire_seal(frame, &tmpl, hdr + more, pkt->payload_bytes);
}

uint32_t
pair_build(uint8_t frame[ROCE_FRAME_MAX], const struct roce_path *path, const struct roce_pkt *pkt,
	const void *payload)
{
	return build_longer(frame, path, pkt, payload, 0);
}

void
pair_inject_longer(struct pair *p, unsigned to, unsigned i, const struct roce_pkt *pkt,
	const void *payload, uint32_t more)
{
	uint8_t buf[ROCE_FRAME_MAX];
	struct roce_qp_attr a;
	uint32_t len;

	pair_attr(p, !to, i, &a);
	len = build_longer(buf, &a.path, pkt, payload, more);
	wire_put(p, to, buf, len, p->now_ns);
}

void
pair_inject(
	struct pair *p, unsigned to, unsigned i, const struct roce_pkt *pkt, const void *payload)
{
	pair_inject_longer(p, to, i, pkt, payload, 0);
}

const struct roce_counters *
pair_count(const struct pair *p, unsigned side)
{
	return roce_shard_counters(p->side[side].shard);
}
