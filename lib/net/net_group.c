/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicast groups that clients are in: reports when they come and go, and answers to routers and
 * switches that ask (RFC 3376 and RFC 3810; with routers of older versions RFC 2236 and RFC 2710).
 * A member wants datagrams from all sources, so each group is in the mode of excluding none, and a
 * query about sources is answered as one about their group.
 */
#include <string.h>

#include "net/net_address.h"
#include "net/net_group.h"

#define NEVER		    UINT64_MAX
#define ROBUSTNESS	    2u
#define QUERY_INTERVAL_NS   (125 * NET_S)
#define RESPONSE_NS	    (10 * NET_S)
#define UNSOLICITED_NS	    (1 * NET_S)	 /* RFC 3376, section 8.11; RFC 3810, section 9.11 */
#define UNSOLICITED_OLD_NS  (10 * NET_S) /* RFC 2236, section 8.10; RFC 2710, section 7.10 */
#define VERSION_WITH_LEAVES 2u

/* ---- groups ---- */

bool
net_ip_is_group(const struct net_ip *ip)
{
	if (net_ip_is_v4(ip))
		return ip->b[12] >> 4 == 14;
	return ip->b[0] == 0xff && (ip->b[1] & 15) > 1;
}

void
net_group_mac(const struct net_ip *group, uint8_t mac[6])
{
	static const uint8_t v4[6] = {0x01, 0x00, 0x5e}, v6[6] = {0x33, 0x33};

	if (net_ip_is_v4(group)) {
		memcpy(mac, v4, 6);
		mac[3] = group->b[13] & 0x7f;
		memcpy(mac + 4, group->b + 14, 2);
	} else {
		memcpy(mac, v6, 6);
		memcpy(mac + 2, group->b + 12, 4);
	}
}

bool
net_group_is_public(const struct net_ip *group)
{
	static const struct net_ip all4 = {{[10] = 0xff, 0xff, 224, 0, 0, 1}},
				   all6 = {{0xff, 2, [15] = 1}};

	return net_ip_is_group(group) && !net_ip_equal(group, &all4) && !net_ip_equal(group, &all6);
}

static struct net_group *
group_find(struct net *n, uint32_t link, const struct net_ip *ip)
{
	for (uint32_t i = 0; i < n->groups; i++)
		if (n->group[i].state != GROUP_FREE && n->group[i].link == link &&
			net_ip_equal(&n->group[i].ip, ip))
			return &n->group[i];
	return NULL;
}

bool
net_group_is_joined(const struct net *n, uint32_t link, const struct net_ip *ip)
{
	const struct net_group *g = group_find((struct net *)n, link, ip);

	return g != NULL && g->state == GROUP_JOINED;
}

/* A place: one that is free, or that of a group whose leaving has been reported only once. */
static struct net_group *
group_place(struct net *n)
{
	struct net_group *left = NULL;

	for (uint32_t i = 0; i < n->groups; i++) {
		if (n->group[i].state == GROUP_FREE)
			return &n->group[i];
		if (n->group[i].state == GROUP_LEFT)
			left = &n->group[i];
	}
	return n->groups < NET_GROUPS_MAX ? &n->group[n->groups++] : left;
}

static bool
is_of(const struct net_group *g, uint32_t link, bool v4)
{
	return g->state != GROUP_FREE && g->link == link && net_ip_is_v4(&g->ip) == v4;
}

/* ---- what the routers of a link speak ---- */

static struct net_querier *
querier_of(struct net *n, uint32_t link, bool v4)
{
	return &n->querier[link][v4];
}

static unsigned
robustness_of(const struct net_querier *q)
{
	return q->robustness != 0 ? q->robustness : ROBUSTNESS;
}

static unsigned
version_of(const struct net_querier *q)
{
	return q->version != 0 ? q->version : GROUP_VERSION_NEWEST;
}

/* The oldest version that a router has spoken of late. A change of it ends all that is pending (RFC
 * 3376, section 7.2.1; RFC 3810, section 8.2.1). */
static unsigned
querier_version(struct net *n, uint64_t now_ns, uint32_t link, bool v4)
{
	struct net_querier *q = querier_of(n, link, v4);
	unsigned version = now_ns < q->old_until_ns[0]	 ? 1
			   : now_ns < q->old_until_ns[1] ? 2
							 : GROUP_VERSION_NEWEST;

	if (version == version_of(q))
		return version;
	q->version = (uint8_t)version;
	q->answers = false;
	for (uint32_t i = 0; i < n->groups; i++) {
		struct net_group *g = &n->group[i];

		if (!is_of(g, link, v4))
			continue;
		g->change_ns = g->answer_ns = NEVER;
		if (g->state == GROUP_LEFT)
			g->state = GROUP_FREE;
	}
	return version;
}

static void
querier_note(struct net *n, uint64_t now_ns, uint32_t link, bool v4, const struct net_query *asked)
{
	struct net_querier *q = querier_of(n, link, v4);

	if (asked->version == GROUP_VERSION_NEWEST) {
		q->robustness = asked->robustness;
		q->interval_ns = asked->interval_ns;
		return;
	}
	q->old_until_ns[asked->version - 1] =
		now_ns +
		robustness_of(q) * (q->interval_ns != 0 ? q->interval_ns : QUERY_INTERVAL_NS) +
		RESPONSE_NS;
}

/* ---- messages ---- */

static void
send_records(struct net *n, uint32_t link, bool v4, const struct net_record *record, unsigned count)
{
	if (v4)
		net_igmp_report3(n, link, record, count);
	else
		net_mld_report3(n, link, record, count);
}

static void
send_record(struct net *n, const struct net_group *g, enum net_record_type type)
{
	const struct net_record record = {type, &g->ip};

	send_records(n, g->link, net_ip_is_v4(&g->ip), &record, 1);
}

/* A report of an older version. */
static void
send_report(struct net *n, struct net_group *g, unsigned version)
{
	if (net_ip_is_v4(&g->ip))
		net_igmp_report(n, g->link, version, &g->ip);
	else
		net_mld_report(n, g->link, &g->ip);
	g->reporter = true;
}

/* Only the member that reported last needs to say that it leaves (RFC 2236, section 3). */
static void
send_leave(struct net *n, const struct net_group *g)
{
	if (!g->reporter)
		return;
	if (net_ip_is_v4(&g->ip))
		net_igmp_leave(n, g->link, &g->ip);
	else
		net_mld_done(n, g->link, &g->ip);
}

/* ---- time ---- */

static void
group_change(struct net *n, uint64_t now_ns, struct net_group *g, unsigned version)
{
	const bool newest = version == GROUP_VERSION_NEWEST;

	if (newest) {
		send_record(n, g, g->state == GROUP_JOINED ? RECORD_TO_EXCLUDE : RECORD_TO_INCLUDE);
	} else if (g->state == GROUP_JOINED) {
		send_report(n, g, version);
	} else {
		if (version == VERSION_WITH_LEAVES)
			send_leave(n, g);
		g->changes = 1;
	}
	g->changes--;
	g->change_ns = now_ns + net_random(n, 1, newest ? UNSOLICITED_NS : UNSOLICITED_OLD_NS);
	if (g->changes > 0)
		return;
	g->change_ns = NEVER;
	if (g->state == GROUP_LEFT)
		g->state = GROUP_FREE;
}

static void
group_tick(struct net *n, uint64_t now_ns, struct net_group *g)
{
	const unsigned version = querier_version(n, now_ns, g->link, net_ip_is_v4(&g->ip));

	if (g->answer_ns <= now_ns) {
		g->answer_ns = NEVER;
		if (version == GROUP_VERSION_NEWEST)
			send_record(n, g, RECORD_IS_EXCLUDE);
		else
			send_report(n, g, version);
	}
	if (g->change_ns <= now_ns)
		group_change(n, now_ns, g, version);
	if (g->state == GROUP_FREE)
		return;
	net_deadline(n, g->answer_ns);
	net_deadline(n, g->change_ns);
}

/* All groups of the link, in as many reports as they need. */
static void
answer_general(struct net *n, uint32_t link, bool v4)
{
	const unsigned room =
		v4 ? net_igmp_records(&n->link[link]) : net_mld_records(&n->link[link]);
	struct net_record record[NET_RECORDS_MAX];
	unsigned count = 0;

	for (uint32_t i = 0; i < n->groups; i++) {
		const struct net_group *g = &n->group[i];

		if (!is_of(g, link, v4) || g->state != GROUP_JOINED || !net_group_is_public(&g->ip))
			continue;
		record[count++] = (struct net_record){RECORD_IS_EXCLUDE, &g->ip};
		if (count < room)
			continue;
		send_records(n, link, v4, record, count);
		count = 0;
	}
	if (count > 0)
		send_records(n, link, v4, record, count);
}

static void
querier_tick(struct net *n, uint64_t now_ns, uint32_t link, bool v4)
{
	struct net_querier *q = querier_of(n, link, v4);

	if (!q->answers)
		return;
	(void)querier_version(n, now_ns, link, v4);
	if (q->answers && q->answer_ns <= now_ns) {
		q->answers = false;
		answer_general(n, link, v4);
	}
	if (q->answers)
		net_deadline(n, q->answer_ns);
}

void
net_group_tick(struct net *n, uint64_t now_ns)
{
	for (uint32_t i = 0; i < n->links; i++) {
		querier_tick(n, now_ns, i, true);
		querier_tick(n, now_ns, i, false);
	}
	for (uint32_t i = 0; i < n->groups; i++)
		if (n->group[i].state != GROUP_FREE)
			group_tick(n, now_ns, &n->group[i]);
}

/* ---- queries, and reports of others ---- */

/* RFC 2236, section 3: a timer that runs is set anew only if it might run out too late. */
static void
group_answer_old(struct net *n, uint64_t now_ns, struct net_group *g, uint64_t response_ns)
{
	if (g->answer_ns == NEVER || now_ns + response_ns < g->answer_ns)
		g->answer_ns = now_ns + net_random(n, 0, response_ns);
	net_deadline(n, g->answer_ns);
}

static void
asked_in_old_version(
	struct net *n, uint64_t now_ns, uint32_t link, bool v4, const struct net_query *asked)
{
	for (uint32_t i = 0; i < n->groups; i++) {
		struct net_group *g = &n->group[i];

		if (is_of(g, link, v4) && g->state == GROUP_JOINED && net_group_is_public(&g->ip) &&
			(net_ip_is_zero(&asked->group) || net_ip_equal(&asked->group, &g->ip)))
			group_answer_old(n, now_ns, g, asked->response_ns);
	}
}

/* RFC 3376, section 5.2; RFC 3810, section 6.2. */
static void
asked_in_newest_version(
	struct net *n, uint64_t now_ns, uint32_t link, bool v4, const struct net_query *asked)
{
	const uint64_t due_ns = now_ns + net_random(n, 0, asked->response_ns);
	struct net_querier *q = querier_of(n, link, v4);
	struct net_group *g;

	if (q->answers && q->answer_ns <= due_ns)
		return; /* an answer about all groups comes sooner */
	if (net_ip_is_zero(&asked->group)) {
		q->answers = true;
		q->answer_ns = due_ns;
		net_deadline(n, due_ns);
		return;
	}
	g = group_find(n, link, &asked->group);
	if (g == NULL || g->state != GROUP_JOINED || !net_group_is_public(&g->ip))
		return;
	if (due_ns < g->answer_ns)
		g->answer_ns = due_ns;
	net_deadline(n, g->answer_ns);
}

void
net_group_asked(
	struct net *n, uint64_t now_ns, uint32_t link, bool v4, const struct net_query *asked)
{
	querier_note(n, now_ns, link, v4, asked);
	if (querier_version(n, now_ns, link, v4) == GROUP_VERSION_NEWEST)
		asked_in_newest_version(n, now_ns, link, v4, asked);
	else
		asked_in_old_version(n, now_ns, link, v4, asked);
}

/* One member's report is enough for the older versions. In the newest each reports for itself. */
void
net_group_reported(struct net *n, uint32_t link, const struct net_ip *ip)
{
	struct net_group *g = group_find(n, link, ip);

	if (g == NULL || g->state != GROUP_JOINED ||
		version_of(querier_of(n, link, net_ip_is_v4(ip))) == GROUP_VERSION_NEWEST) {
		n->counters.rx_dropped++;
		return;
	}
	g->reporter = false;
	g->answer_ns = g->change_ns = NEVER;
}

/* ---- coming and going ---- */

/* The change is told now, and again as often as the routers deem enough. */
static void
group_tell(struct net *n, struct net_group *g)
{
	g->answer_ns = g->change_ns = NEVER;
	if (!net_group_is_public(&g->ip)) {
		g->state = g->state == GROUP_LEFT ? GROUP_FREE : g->state;
		return;
	}
	g->changes = (uint8_t)robustness_of(querier_of(n, g->link, net_ip_is_v4(&g->ip)));
	g->change_ns = 0;
	net_deadline(n, 0);
}

bool
net_group_join(struct net *n, uint32_t link, const struct net_ip *group)
{
	struct net_group *g = group_find(n, link, group);

	if (g == NULL)
		g = group_place(n);
	if (g == NULL)
		return false;
	*g = (struct net_group){.ip = *group, .link = (uint8_t)link, .state = GROUP_JOINED};
	group_tell(n, g);
	return true;
}

void
net_group_leave(struct net *n, uint32_t link, const struct net_ip *group)
{
	struct net_group *g = group_find(n, link, group);

	if (g == NULL || g->state != GROUP_JOINED)
		return;
	g->state = GROUP_LEFT;
	group_tell(n, g);
}

void
net_group_port_up(struct net *n, uint32_t port)
{
	for (uint32_t i = 0; i < n->groups; i++)
		if (n->group[i].state == GROUP_JOINED && n->link[n->group[i].link].port == port)
			group_tell(n, &n->group[i]);
}

void
net_group_forget(struct net *n, uint32_t link)
{
	for (uint32_t i = 0; i < n->groups; i++)
		if (n->group[i].link == link)
			n->group[i].state = GROUP_FREE;
	memset(n->querier[link], 0, sizeof(n->querier[link]));
}
