/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters are read while their one writer, an lcore or the control thread, goes on: each is an
 * aligned word that its writer stores whole, so what is read was true at some moment, and never
 * goes back; several of them are of moments that lie a little apart. The cycles alone are a copy of
 * one moment (cycles.h). Sessions and objects are not read, as they come and go.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_telemetry.h>

#include "control/daemon.h"
#include "platform/eal.h"
#include "platform/log.h"
#include "session/adapter.h"
#include "metrics/telemetry.h"

/* DPDK gives its commands no argument of the program's. Held while one is answered. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct ndd *daemon_of; /* NULL: not there yet, or no more */

static void
counter_add(struct rte_tel_data *out, const char *name, uint64_t value)
{
	(void)rte_tel_data_add_dict_u64(out, name, value);
}

/* The counter of that name in c to out. */
#define ADD(name) counter_add(out, #name, __atomic_load_n(&c->name, __ATOMIC_RELAXED));

/* A dictionary in out; what is in it is the caller's to add. NULL: no memory. */
static struct rte_tel_data *
inner_dictionary(struct rte_tel_data *out, const char *name)
{
	struct rte_tel_data *in = rte_tel_data_alloc();

	if (in == NULL)
		return NULL;
	rte_tel_data_start_dict(in);
	if (rte_tel_data_add_dict_container(out, name, in, 0) == 0)
		return in;
	rte_tel_data_free(in);
	return NULL;
}

/* "7" of "/ndd/cycles,7": one of count things, or UINT32_MAX with an answer that says what is
 * wrong. */
static uint32_t
which_of(const char *cmd, const char *params, const char *what, uint32_t count,
	struct rte_tel_data *out)
{
	char text[RTE_TEL_MAX_STRING_LEN], *end;
	unsigned long n;

	if (params != NULL && params[0] >= '0' && params[0] <= '9') {
		errno = 0;
		n = strtoul(params, &end, 10);
		if (*end == 0 && errno == 0 && n < count)
			return (uint32_t)n;
	}
	rte_tel_data_start_dict(out);
	(void)snprintf(text, sizeof(text), "\"%.20s\" is no %s; there are %u: %s,0 ...",
		params == NULL ? "" : params, what, count, cmd);
	(void)rte_tel_data_add_dict_string(out, "error", text);
	return UINT32_MAX;
}

static int
on_shards(const struct ndd *d, const char *cmd, const char *params, struct rte_tel_data *out)
{
	(void)cmd;
	(void)params;
	rte_tel_data_start_array(out, RTE_TEL_INT_VAL);
	for (uint32_t i = 0; i < d->plane.shards; i++)
		rte_tel_data_add_array_int(out, (int)i);
	return 0;
}

static void
add_engine(struct rte_tel_data *out, const struct roce_counters *c)
{
	if (out != NULL) {
		ROCE_COUNTERS(ADD)
	}
}

static void
add_frames(struct rte_tel_data *out, const struct ndd_io_counters *c)
{
	if (out != NULL) {
		NDD_IO_COUNTERS(ADD)
	}
}

static void
add_usage(struct rte_tel_data *out, const struct ndd_shard *s)
{
	struct roce_usage u, *c = &u;

	if (out == NULL)
		return;
	roce_shard_usage(s->engine, &u);
	ADD(qps)
	ADD(cqs)
	ADD(pds)
	ADD(mrs)
	ADD(mws)
	ADD(srqs)
	ADD(wqes)
	ADD(timers)
	counter_add(out, "sessions", __atomic_load_n(&s->sessions, __ATOMIC_RELAXED));
}

static int
on_shard(const struct ndd *d, const char *cmd, const char *params, struct rte_tel_data *out)
{
	uint32_t i = which_of(cmd, params, "shard", d->plane.shards, out);
	const struct ndd_shard *s;

	if (i == UINT32_MAX)
		return 0;
	s = d->plane.shard[i];
	rte_tel_data_start_dict(out);
	counter_add(out, "shard", i);
	counter_add(out, "cpu", ndd_lcore_cpu(NDD_LCORE_OF_SHARD(i)));
	add_usage(inner_dictionary(out, "in_use"), s);
	add_engine(inner_dictionary(out, "engine"), roce_shard_counters(s->engine));
	add_frames(inner_dictionary(out, "frames"), &s->count);
	return 0;
}

static void
add_stage(struct rte_tel_data *stages, const char *name, const char *items,
	const struct ndd_cycles_copy *c, enum ndd_stage stage)
{
	struct rte_tel_data *out = inner_dictionary(stages, name);

	if (out == NULL)
		return;
	counter_add(out, "cycles", c->stage[stage].cycles);
	counter_add(out, items, c->stage[stage].items);
	counter_add(out, "longest", c->longest[stage]);
	counter_add(out, "overlong_cycles", c->overlong_cycles[stage]);
}

static void
add_lengths(struct rte_tel_data *out, const char *name, const uint64_t *length)
{
	struct rte_tel_data *lengths = rte_tel_data_alloc();

	if (lengths == NULL)
		return;
	rte_tel_data_start_array(lengths, RTE_TEL_U64_VAL);
	for (unsigned k = 0; k < NDD_LENGTHS; k++)
		(void)rte_tel_data_add_array_u64(lengths, length[k]);
	if (rte_tel_data_add_dict_container(out, name, lengths, 0) != 0)
		rte_tel_data_free(lengths);
}

static int
on_cycles(const struct ndd *d, const char *cmd, const char *params, struct rte_tel_data *out)
{
	uint32_t i = which_of(cmd, params, "shard", d->plane.shards, out);
	struct ndd_cycles_copy c;
	struct rte_tel_data *stages;

	if (i == UINT32_MAX)
		return 0;
	rte_tel_data_start_dict(out);
	if (d->plane.shard[i]->cycles == NULL) {
		(void)rte_tel_data_add_dict_string(out, "error",
			"cycles are not counted: set telemetry.cycles in the configuration");
		return 0;
	}
	if (!ndd_cycles_read(d->plane.shard[i]->cycles, &c))
		return -EAGAIN;
	counter_add(out, "shard", i);
	counter_add(out, "hz", rte_get_tsc_hz());
	counter_add(out, "cycles", c.until - c.since);
	counter_add(out, "turns", c.turns);
	counter_add(out, "overlong", c.overlong);
	counter_add(out, "own_longest", c.own_longest);
	add_lengths(out, "lengths", c.length);
	add_lengths(out, "own_lengths", c.own_length);
	stages = inner_dictionary(out, "stages");
	if (stages == NULL)
		return -ENOMEM;
#define NDD_X(name, unit) add_stage(stages, #name, unit, &c, NDD_STAGE_##name);
	NDD_STAGES(NDD_X)
#undef NDD_X
	return 0;
}

static int
on_ports(const struct ndd *d, const char *cmd, const char *params, struct rte_tel_data *out)
{
	(void)cmd;
	(void)params;
	rte_tel_data_start_array(out, RTE_TEL_STRING_VAL);
	for (uint32_t i = 0; i < d->plane.ports; i++)
		rte_tel_data_add_array_string(out, d->plane.port[i].device);
	return 0;
}

static void
port_counter_add(void *out, const char *name, uint64_t value)
{
	counter_add(out, name, value);
}

static int
on_port(const struct ndd *d, const char *cmd, const char *params, struct rte_tel_data *out)
{
	uint32_t i = which_of(cmd, params, "port", d->plane.ports, out);
	const struct port *c;

	if (i == UINT32_MAX)
		return 0;
	c = &d->plane.port[i];
	rte_tel_data_start_dict(out);
	counter_add(out, "port", i);
	counter_add(out, "adapter", ndd_adapter_id(i));
	(void)rte_tel_data_add_dict_string(out, "device", c->device);
	ADD(mtu)
	ADD(link_up)
	ADD(links_up)
	ADD(links_down)
	c->ops->counters(c, port_counter_add, out);
	return 0;
}

/* Principals come and go, and are not read from here. */
static void
add_refused(struct rte_tel_data *out, const struct ndd_accounts *a)
{
	for (enum config_share k = 0; out != NULL && k < CONFIG_SHARE_COUNT; k++)
		counter_add(out, config_share_name(k),
			__atomic_load_n(&a->refused[k], __ATOMIC_RELAXED));
}

static int
on_control(const struct ndd *d, const char *cmd, const char *params, struct rte_tel_data *out)
{
	struct rte_tel_data *whole = out;

	(void)cmd;
	(void)params;
	rte_tel_data_start_dict(whole);
	counter_add(whole, "sessions", __atomic_load_n(&d->session_count, __ATOMIC_RELAXED));
	counter_add(whole, "commands_delayed",
		__atomic_load_n(&d->accounts.commands_delayed, __ATOMIC_RELAXED));
	counter_add(whole, "rests", __atomic_load_n(&d->pace.rests, __ATOMIC_RELAXED));
	out = inner_dictionary(whole, "cm");
	if (out != NULL) {
		const struct roce_cm_counters *c = roce_cm_counters(d->cm);

		ROCE_CM_COUNTERS(ADD)
	}
	out = inner_dictionary(whole, "network");
	if (out != NULL) {
		const struct net_counters *c = net_counters(d->net);

		NET_COUNTERS(ADD)
	}
	add_refused(inner_dictionary(whole, "refused"), &d->accounts);
	return 0;
}

static const struct command {
	const char *name;
	int (*answer)(
		const struct ndd *d, const char *cmd, const char *params, struct rte_tel_data *out);
	const char *help;
} commands[] = {
	{"/ndd/shards", on_shards, "The shards' numbers. No parameters"},
	{"/ndd/shard", on_shard, "Counters and objects of a shard. Parameters: its number"},
	{"/ndd/cycles", on_cycles, "Cycles of an lcore's stages. Parameters: the shard's number"},
	{"/ndd/ports", on_ports, "The ports' devices, in order. No parameters"},
	{"/ndd/port", on_port, "Counters of a port. Parameters: its place in /ndd/ports"},
	{"/ndd/control", on_control, "Sessions; counters of CM, network, refusals. No parameters"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int
command_dispatch(const char *cmd, const char *params, struct rte_tel_data *out)
{
	int rc = -ESHUTDOWN;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; daemon_of != NULL && i < COMMANDS; i++)
		if (strcmp(cmd, commands[i].name) == 0)
			rc = commands[i].answer(daemon_of, cmd, params, out);
	pthread_mutex_unlock(&lock);
	return rc;
}

/* A folder of this user, in which no other user may create or move anything; nor read, if it is
 * private. */
static bool
is_ours(const char *path, mode_t others)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
		(st.st_mode & others) == 0)
		return true;
	ndd_error("telemetry: DPDK's socket lies in %s, which must be a folder of this user alone: "
		  "remove it, or set XDG_RUNTIME_DIR, or telemetry.socket to false",
		path);
	return false;
}

/*
 * A process that can connect to the socket learns what all clients do, and DPDK serves ten at a
 * time. Its own mode is whatever the umask left; the folder decides, and under /tmp a stranger may
 * have made it.
 */
static bool
is_private(const char *dir)
{
	char parent[4096], *slash;

	(void)snprintf(parent, sizeof(parent), "%s", dir);
	slash = strrchr(parent, '/');
	if (slash != NULL)
		*slash = 0;
	return is_ours(dir, 077) && is_ours(parent, 022);
}

bool
ndd_telemetry_start(struct ndd *d)
{
	const char *dir = rte_eal_get_runtime_dir();

	if (!d->cfg->telemetry)
		return true;
	if (!is_private(dir))
		return false;
	for (size_t i = 0; i < COMMANDS; i++) {
		int rc = rte_telemetry_register_cmd(
			commands[i].name, command_dispatch, commands[i].help);

		if (rc != 0) {
			ndd_error("telemetry: DPDK does not take %s: %s", commands[i].name,
				strerror(-rc));
			return false;
		}
	}
	pthread_mutex_lock(&lock);
	daemon_of = d;
	pthread_mutex_unlock(&lock);
	ndd_notice("telemetry: %s/dpdk_telemetry.v2", dir);
	return true;
}

void
ndd_telemetry_stop(void)
{
	pthread_mutex_lock(&lock);
	daemon_of = NULL;
	pthread_mutex_unlock(&lock);
}
