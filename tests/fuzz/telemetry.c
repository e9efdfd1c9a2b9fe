/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of telemetry's commands. DPDK takes a line from its socket, cuts it at the first
 * comma and gives both parts to the command; here the input is such a line. The commands are
 * looked at from within their file, as DPDK alone is told their names.
 */
#include <rte_telemetry.h>

/* DPDK frees the parts of an answer that it has sent. Here none is sent: the fuzzer frees them. */
static struct rte_tel_data *answer_part(void);
#define rte_tel_data_alloc answer_part
#include "metrics/telemetry.c"
#undef rte_tel_data_alloc

#include "fuzz.h"
#include "rigs/ndd_rig.h"

#define PARTS_MAX      64u
#define LINE_MAX_BYTES 1024u /* DPDK's */

static struct rte_tel_data *parts[PARTS_MAX];
static unsigned part_count;

static struct rte_tel_data *
answer_part(void)
{
	struct rte_tel_data *d = rte_tel_data_alloc();

	fuzz_need(part_count < PARTS_MAX && d != NULL, "parts of an answer");
	return parts[part_count++] = d;
}

static void
tell_some(const struct port *p, port_counter_fn *tell, void *arg)
{
	(void)p;
	tell(arg, "rx_packets", 1);
}

static const struct port_ops port = {.counters = tell_some};

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct ndd_rig *r = ndd_rig_new();

	(void)argc;
	(void)argv;
	r->d.plane.ports = 1;
	r->d.plane.port[0].ops = &port;
	(void)snprintf(r->d.plane.port[0].device, sizeof(r->d.plane.port[0].device), "net_null0");
	r->shard.cycles = &r->shard.counted;
	daemon_of = &r->d;
	return 0;
}

/* The name of a command by its number, or what the line says. */
static const char *
command_of(struct fuzz_in *in)
{
	unsigned which = fuzz_below(in, COMMANDS + 1);

	return which < COMMANDS ? commands[which].name : "/ndd/none";
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_in in = {bytes, bytes + n};
	const char *cmd = command_of(&in);
	char *params = fuzz_below(&in, 4) ? malloc(LINE_MAX_BYTES) : NULL;
	size_t left = fuzz_left(&in);

	if (params != NULL) {
		left = left < LINE_MAX_BYTES ? left : LINE_MAX_BYTES - 1;
		memcpy(params, in.at, left);
		params[left] = 0;
		params = realloc(params, strlen(params) + 1);
	}
	(void)command_dispatch(cmd, params, answer_part());
	while (part_count > 0)
		rte_tel_data_free(parts[--part_count]);
	free(params);
	return 0;
}
