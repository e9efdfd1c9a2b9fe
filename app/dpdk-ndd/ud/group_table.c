/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lcores' tables of multicast groups. A table is never changed: a new one takes its place in a
 * call of the lcore, between two turns. A shard's has the groups of its own queue pairs; that of
 * the I/O owner, which all frames pass, has all groups, and says in which shards they have members.
 */
#include <stdlib.h>

#include "control/daemon.h"
#include "lcore/call.h"
#include "session/session.h"
#include "ud/group.h"

static void
on_shard_groups(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	const struct roce_groups **t = arg, *old = shard->groups;

	(void)now_ns;
	shard->groups = *t;
	*t = old;
}

struct group_members {
	struct roce_group_member member[ROCE_GROUP_MEMBERS_MAX];
	uint32_t n;
	uint32_t elsewhere; /* shards with others */
};

/* The group as the shard needs to know it; false: not at all. */
static bool
collect_members(const struct ndd_group *g, const struct ndd_shard *shard, struct group_members *out)
{
	const struct ndd_member *m;

	out->n = out->elsewhere = 0;
	LIST_FOREACH (m, &g->members, of_group) {
		if (m->session->shard == shard)
			out->member[out->n++] = (struct roce_group_member){
				.qpn = m->qp->qpn, .not_own = m->not_own};
		else
			out->elsewhere |= 1u << m->session->shard->id;
	}
	return out->n != 0 || (shard->id == NDD_IO_OWNER && out->elsewhere != 0);
}

static struct roce_groups *
make_table(struct ndd *d, const struct ndd_shard *shard, uint32_t groups, uint32_t members)
{
	size_t bytes = roce_groups_bytes(groups, members);
	void *mem = bytes != 0 ? calloc(1, bytes) : NULL;
	struct roce_groups *t =
		mem != NULL ? roce_groups_init(mem, groups, members, d->plane.secret) : NULL;
	struct group_members in;
	struct ndd_group *g;

	if (t == NULL)
		return NULL;
	TAILQ_FOREACH (g, &d->groups, next)
		if (collect_members(g, shard, &in))
			roce_groups_add(t, &g->key, in.elsewhere, in.member, in.n);
	return t;
}

bool
ndd_group_table_renew(struct ndd *d, struct ndd_shard *shard)
{
	uint32_t groups = 0, members = 0;
	const struct roce_groups *t = NULL;
	struct group_members in;
	struct ndd_group *g;
	bool ok = true;

	TAILQ_FOREACH (g, &d->groups, next)
		if (collect_members(g, shard, &in)) {
			groups++;
			members += in.n;
		}
	if (groups != 0) {
		t = make_table(d, shard, groups, members);
		ok = t != NULL;
	}
	ndd_shard_call(shard, on_shard_groups, &t);
	free((void *)(uintptr_t)t); /* the old one */
	return ok;
}
