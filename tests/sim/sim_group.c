/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicast: queue pairs of datagrams are attached to groups and detached while datagrams fly. A
 * table of a shard is replaced by another one, as the daemon does it; sometimes late, so that it
 * names a queue pair that is gone. Frames to a group reach all other hosts, each with a fate of its
 * own, and the members of the sending host.
 *
 * What must hold: each attached queue pair that a datagram is for takes one copy of each frame,
 * with what it must hold (sim_ud_model.c), and no other takes any.
 */
#include <stdlib.h>
#include <string.h>

#include "roce/ud/group.h"
#include "sim.h"
#include "sim_kind.h"

static bool
is_v6(unsigned group)
{
	return group >= SIM_GROUPS / 2;
}

static void
group_gid(unsigned group, struct roce_gid *gid)
{
	const uint8_t v4[4] = {239, 129, 1, (uint8_t)group}; /* bit 7 of 129 is not in the MAC */

	if (!is_v6(group)) {
		roce_gid_from_v4(gid, v4);
		return;
	}
	*gid = (struct roce_gid){{0xff, 0x12}};
	gid->raw[15] = (uint8_t)group;
}

/* checks W-MC-05 */
struct roce_path
sim_group_path(const struct sim_host *from, unsigned group)
{
	struct roce_path p = {.sgid = *sim_gid(from, is_v6(group)), .ttl = 64};

	memcpy(p.smac, from->mac, 6);
	group_gid(group, &p.dgid);
	if (is_v6(group))
		memcpy(p.dmac, (const uint8_t[6]){0x33, 0x33, 0, 0, 0, (uint8_t)group}, 6);
	else
		memcpy(p.dmac, (const uint8_t[6]){1, 0, 0x5e, 1, 1, (uint8_t)group}, 6);
	return p;
}

unsigned
sim_group_choose(const struct sim_ud *u)
{
	return (unsigned)sim_below(u->w, SIM_GROUPS / 2) + (u->v6 ? SIM_GROUPS / 2 : 0);
}

bool
sim_group_frame(const uint8_t *frame)
{
	return frame[0] & 1;
}

/* ---- members ------------------------------------------------------------------------------- */

static void
add_group(struct sim_shard *sh, unsigned group)
{
	const struct sim_client *c = &sh->client;
	struct roce_group_member member[SIM_UDS_MAX];
	struct roce_group_key key = {.port = 0};
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_uds; i++) {
		const struct sim_ud *u = c->uds[i];

		if ((u->groups >> group & 1) && u->state == SIM_UD_UP)
			member[n++] =
				(struct roce_group_member){u->qpn, (u->not_own >> group & 1) != 0};
	}
	group_gid(group, &key.gid);
	roce_groups_add(sh->groups, &key, 0, member, n);
}

static void
make_table(struct sim_shard *sh)
{
	struct sim_world *w = sh->host->w;

	sh->groups = roce_groups_init(
		sim_alloc(w, roce_groups_bytes(SIM_GROUPS, SIM_GROUPS * SIM_UDS_MAX)), SIM_GROUPS,
		SIM_GROUPS * SIM_UDS_MAX, sh->host->secret);
	for (unsigned g = 0; g < SIM_GROUPS; g++)
		add_group(sh, g);
}

/* Now and then it is attached somewhere, or detached. */
void
sim_group_step(struct sim_ud *u)
{
	struct sim_world *w = u->w;
	unsigned group;

	if (w->profile->groups == 0 || !sim_chance(w, 300))
		return;
	group = sim_group_choose(u);
	u->groups ^= 1u << group;
	if (sim_chance(w, 3000))
		u->not_own ^= 1u << group;
	sim_note(w, "ud %u: %s group %u", u->number,
		u->groups >> group & 1 ? "attached to" : "detached from", group);
	make_table(u->client->shard);
	sim_kind(SIM_KIND_attachments);
}

/* ---- frames -------------------------------------------------------------------------------- */

/* One member, in the order of the table, which is that of the client's queue pairs. */
static void
judge(struct sim_ud *u, unsigned group, const struct roce_pkt *pkt, struct sim_group_before *b)
{
	unsigned taken = u->page->rq_done - b->done;
	bool own = (u->not_own >> group & 1) && pkt->src_qpn == u->qpn;
	struct sim_recv *r = sim_ud_receive(u, b->shared);
	bool good = b->attached && !own && sim_ud_group_good(u, pkt, r) && !b->dead;

	sim_check(u->w, taken == 0 || (taken == 1 && good),
		"ud %u: took %u copies of %u bytes from %06x to group %u, PSN %06x", u->number,
		taken, pkt->payload_bytes, pkt->src_qpn, group, pkt->psn);
	sim_check(u->w, taken == 1 || !good || b->excused,
		"ud %u: did not take %u bytes from %06x to group %u, PSN %06x", u->number,
		pkt->payload_bytes, pkt->src_qpn, group, pkt->psn);
	if (taken == 0)
		return;
	sim_ud_expect(u, r, pkt);
	sim_kind(SIM_KIND_copies);
}

static bool
same_srq(const struct sim_ud *u, const struct sim_ud *other)
{
	return u->srq != NULL && u->srq == other->srq;
}

static void
judge_all(struct sim_client *c, unsigned group, const struct roce_pkt *pkt,
	struct sim_group_before *b)
{
	for (unsigned i = 0; i < c->n_uds; i++) {
		struct sim_ud *u = c->uds[i];

		if (u->state == SIM_UD_OVER)
			continue;
		judge(u, group, pkt, &b[i]);
		if (u->page->rq_done == b[i].done)
			continue;
		for (unsigned k = i + 1; k < c->n_uds; k++) /* it is theirs no more */
			b[k].shared += same_srq(u, c->uds[k]);
	}
}

/* A member by the table, which may be older than what the application wishes. */
static bool
is_member(const struct sim_shard *sh, const struct roce_group *g, const struct sim_ud *u)
{
	for (unsigned i = 0; i < g->members; i++)
		if (roce_groups_member(sh->groups, g, i)->qpn == u->qpn)
			return true;
	return false;
}

static void
deliver(struct sim_shard *sh, const struct roce_pkt *pkt, const struct roce_group *g, bool damaged)
{
	const struct roce_counters *now = roce_shard_counters(sh->s);
	struct sim_group_before before[SIM_UDS_MAX];
	struct sim_client *c = &sh->client;
	uint64_t empty = now->wqe_pool_empty;

	for (unsigned i = 0; i < c->n_uds; i++) {
		const struct sim_ud *u = c->uds[i];

		before[i] = (struct sim_group_before){.done = u->page->rq_done,
			.dead = u->page->dead,
			.attached = is_member(sh, g, u),
			.shared = u->srq != NULL ? u->srq->page->taken : u->arrived,
			.excused = damaged};
	}
	roce_shard_multicast(sh->s, sh->host->w->now_ns, pkt, sh->groups, g);
	for (unsigned i = 0; i < c->n_uds; i++)
		before[i].excused |= now->wqe_pool_empty != empty;
	judge_all(c, g->key.gid.raw[15], pkt, before);
}

void
sim_group_rx(struct sim_shard *sh, const struct sim_frame *f, const struct roce_pkt *pkt)
{
	const struct roce_group *g =
		sh->groups != NULL ? roce_groups_find(sh->groups, pkt, 0) : NULL;

	if (g != NULL)
		deliver(sh, pkt, g, f->damaged);
}
