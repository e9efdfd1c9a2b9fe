/* SPDX-License-Identifier: BSD-3-Clause */
/* Control sockets and principals: do they fit each other, and do the reserves exist? */
#include <inttypes.h>
#include <string.h>

#include "config/config_table.h"

#define CQS_PER_QP     2u /* as the engine's tables are made */
#define HANDLES_PER_QP 4u

const char *
config_share_name(enum config_share what)
{
	static const char *const names[] = {
#define CONFIG_X(name) [CONFIG_SHARE_##name] = #name,
		CONFIG_SHARES(CONFIG_X)
#undef CONFIG_X
	};

	return names[what];
}

uint64_t
config_total(const struct config *c, enum config_share what)
{
	switch (what) {
	case CONFIG_SHARE_sessions:
		return c->max_sessions;
	case CONFIG_SHARE_listeners:
		return CONFIG_LISTENERS;
	case CONFIG_SHARE_ports:
		return CONFIG_EPHEMERAL;
	case CONFIG_SHARE_connections:
		return (uint64_t)2 * c->shard_qps * c->lcores;
	case CONFIG_SHARE_handles:
		return (uint64_t)HANDLES_PER_QP * c->shard_qps * c->lcores;
	case CONFIG_SHARE_memory_mb:
		return c->total_memory_bytes >> 20;
	case CONFIG_SHARE_groups:
		return (uint64_t)c->port_groups * c->ports;
	case CONFIG_SHARE_queue_pairs:
	case CONFIG_SHARE_receive_queues:
	case CONFIG_SHARE_domains:
		return c->shard_qps;
	case CONFIG_SHARE_completion_queues:
		return (uint64_t)CQS_PER_QP * c->shard_qps;
	case CONFIG_SHARE_regions:
		return c->shard_mrs;
	case CONFIG_SHARE_requests:
		return c->shard_wqes;
	case CONFIG_SHARE_descriptors:
	case CONFIG_SHARE_COUNT:
		break;
	}
	return UINT64_MAX;
}

static void
check_sockets(struct config_errors *e, const struct config *c)
{
	for (unsigned i = 0; i < c->sockets; i++) {
		config_at(e, "control.sockets[%u].path", i);
		if (strcmp(c->socket[i].path, c->socket_path) == 0)
			config_error(e, "\"%s\" is also control.socket", c->socket[i].path);
		for (unsigned j = 0; j < i; j++)
			if (strcmp(c->socket[i].path, c->socket[j].path) == 0)
				config_error(e, "\"%s\" is also the path of control.sockets[%u]",
					c->socket[i].path, j);
		config_at(e, "control.sockets[%u].label", i);
		for (unsigned j = 0; j < i; j++)
			if (strcmp(c->socket[i].label, c->socket[j].label) == 0)
				config_error(e, "\"%s\" is also the label of control.sockets[%u]",
					c->socket[i].label, j);
	}
}

static void
check_label(struct config_errors *e, const struct config *c, const char *label)
{
	for (unsigned i = 0; i < c->sockets; i++)
		if (strcmp(label, c->socket[i].label) == 0)
			return;
	config_error(e, "no socket in control.sockets has the label \"%s\"", label);
}

static bool
matches_everybody(const struct config_principal *p)
{
	return p->label[0] == '\0' && p->cgroup[0] == '\0' && p->uids == 0 && p->gids == 0;
}

static void
check_shares(struct config_errors *e, const struct config_principal *p, unsigned at)
{
	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++) {
		config_at(e, "principals[%u].reserves.%s", at, config_share_name(k));
		if (p->reserve[k] != 0 && p->each_user)
			config_error(e, "nobody knows how many users there will be: each_user and "
					"reserves exclude each other");
		else if (p->has_limit[k] && p->reserve[k] > p->limit[k])
			config_error(
				e, "%u is more than the limit, %u", p->reserve[k], p->limit[k]);
	}
}

static void
check_principal(struct config_errors *e, const struct config *c, unsigned at)
{
	const struct config_principal *p = &c->principal[at];

	config_at(e, "principals[%u].name", at);
	for (unsigned i = 0; i < at; i++)
		if (strcmp(p->name, c->principal[i].name) == 0)
			config_error(e, "\"%s\" is also the name of principals[%u]", p->name, i);
	config_at(e, "principals[%u].label", at);
	if (p->label[0] != '\0')
		check_label(e, c, p->label);
	config_at(e, "principals[%u].cgroup", at);
	if (p->cgroup[0] != '\0' && p->cgroup[0] != '/')
		config_error(
			e, "\"%s\" is no path in the cgroup tree: it must begin with /", p->cgroup);
	config_at(e, "principals[%u]", at);
	if (matches_everybody(p) && at + 1 < c->principals)
		config_error(
			e, "it matches everybody, so nobody ever gets to principals[%u]", at + 1);
	for (unsigned i = 0; i < p->listens; i++) {
		config_at(e, "principals[%u].listen[%u].last", at, i);
		if (p->listen[i].last < p->listen[i].first)
			config_error(e, "%u is before the first port, %u", p->listen[i].last,
				p->listen[i].first);
	}
	check_shares(e, p, at);
}

/* Reserves are promises: what is promised must exist. */
static void
check_sums(struct config_errors *e, const struct config *c)
{
	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++) {
		uint64_t sum = 0, total = config_total(c, k);

		for (unsigned i = 0; i < c->principals; i++)
			sum += c->principal[i].reserve[k];
		config_at(e, "principals[].reserves.%s", config_share_name(k));
		if (sum > total)
			config_error(e, "all together reserve %" PRIu64 "; there are %" PRIu64 "%s",
				sum, total, config_share_of_shard(k) ? " on each shard" : "");
	}
}

void
config_check_principals(struct config_errors *e, const struct config *c)
{
	check_sockets(e, c);
	for (unsigned i = 0; i < c->principals; i++)
		check_principal(e, c, i);
	check_sums(e, c);
}
