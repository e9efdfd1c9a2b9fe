/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"

#include <stdio.h>
#include <string.h>

#define SHARDS_MAX 64u

/* doc/verbs.md has a table of the same, which devtools/checks/facts compares with this one. */
/* clang-format off */
const struct verbs_figure verbs_figures[VERBS_FIGURES] = {
	{"counters/port_xmit_data", VERBS_OF_PORT, 4, {"tx_bytes"}},
	{"counters/port_rcv_data", VERBS_OF_PORT, 4, {"rx_bytes"}},
	{"counters/port_xmit_packets", VERBS_OF_PORT, 1, {"tx_packets"}},
	{"counters/port_rcv_packets", VERBS_OF_PORT, 1, {"rx_packets"}},
	{"counters/port_rcv_errors", VERBS_OF_PORT, 1, {"rx_errors"}},
	{"counters/port_rcv_discards", VERBS_OF_PORT, 1, {"rx_missed", "rx_kernel_drops"}},
	{"counters/link_downed", VERBS_OF_PORT, 1, {"links_down"}},
	{"hw_counters/sent_pkts", VERBS_OF_ENGINE, 1, {"tx_packets"}},
	{"hw_counters/rcvd_pkts", VERBS_OF_ENGINE, 1, {"rx_packets"}},
	{"hw_counters/duplicate_request", VERBS_OF_ENGINE, 1, {"rx_duplicate"}},
	{"hw_counters/out_of_seq_request", VERBS_OF_ENGINE, 1, {"rx_out_of_sequence"}},
	{"hw_counters/out_of_sequence", VERBS_OF_ENGINE, 1, {"rx_out_of_sequence"}},
	{"hw_counters/rcvd_rnr_err", VERBS_OF_ENGINE, 1, {"rx_rnr"}},
	{"hw_counters/send_rnr_err", VERBS_OF_ENGINE, 1, {"tx_rnr"}},
	{"hw_counters/out_of_buffer", VERBS_OF_ENGINE, 1, {"tx_rnr", "rx_datagram_no_receive"}},
	{"hw_counters/rcvd_seq_err", VERBS_OF_ENGINE, 1, {"rx_nak_sequence"}},
	{"hw_counters/packet_seq_err", VERBS_OF_ENGINE, 1, {"rx_nak_sequence"}},
	{"hw_counters/implied_nak_seq_err", VERBS_OF_ENGINE, 1, {"implied_nak"}},
	{"hw_counters/local_ack_timeout_err", VERBS_OF_ENGINE, 1, {"timeouts"}},
	{"hw_counters/retry_exceeded_err", VERBS_OF_ENGINE, 1, {"retry_exceeded"}},
	{"hw_counters/rnr_nak_retry_err", VERBS_OF_ENGINE, 1, {"rnr_retry_exceeded"}},
	{"hw_counters/rx_write_requests", VERBS_OF_ENGINE, 1, {"rx_write_requests"}},
	{"hw_counters/rx_read_requests", VERBS_OF_ENGINE, 1, {"rx_read_requests"}},
	{"hw_counters/rx_atomic_requests", VERBS_OF_ENGINE, 1, {"rx_atomic_requests"}},
	{"hw_counters/req_cqe_error", VERBS_OF_ENGINE, 1, {"requests_failed", "requests_flushed"}},
	{"hw_counters/req_cqe_flush_error", VERBS_OF_ENGINE, 1, {"requests_flushed"}},
	{"hw_counters/req_remote_access_errors", VERBS_OF_ENGINE, 1, {"rx_nak_access"}},
	{"hw_counters/req_remote_invalid_request", VERBS_OF_ENGINE, 1, {"rx_nak_invalid"}},
	{"hw_counters/resp_cqe_error", VERBS_OF_ENGINE, 1, {"receives_failed", "receives_flushed"}},
	{"hw_counters/resp_cqe_flush_error", VERBS_OF_ENGINE, 1, {"receives_flushed"}},
	{"hw_counters/resp_remote_access_errors", VERBS_OF_ENGINE, 1, {"key_violations"}},
	{"hw_counters/resp_local_length_error", VERBS_OF_ENGINE, 1, {"rx_message_too_long"}},
	{"hw_counters/rdma_recvs", VERBS_OF_ENGINE, 1, {"receives_completed"}},
	{"hw_counters/rx_icrc_encapsulated", VERBS_OF_ENGINE, 1, {"rx_icrc_error"}},
	{"hw_counters/np_ecn_marked_roce_packets", VERBS_OF_ENGINE, 1, {"np_ecn_marked"}},
	{"hw_counters/np_cnp_sent", VERBS_OF_ENGINE, 1, {"np_cnp_sent"}},
	{"hw_counters/rp_cnp_handled", VERBS_OF_ENGINE, 1, {"rp_cnp_handled"}},
	{"hw_counters/rp_cnp_ignored", VERBS_OF_ENGINE, 1, {"rp_cnp_ignored"}},
};
/* clang-format on */

static bool
counter_of(const json_t *from, const char *name, uint64_t *value)
{
	const json_t *v = name != NULL ? json_object_get(from, name) : NULL;

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*value = (uint64_t)json_integer_value(v);
	return true;
}

/* Add what an answer has to v, still in the daemon's own units. */
static void
values_add(struct verbs_values *v, enum verbs_source source, const json_t *from)
{
	uint64_t n;

	for (unsigned i = 0; i < VERBS_FIGURES; i++) {
		for (unsigned k = 0; k < 2 && verbs_figures[i].source == source; k++) {
			if (!counter_of(from, verbs_figures[i].counter[k], &n))
				continue;
			v->has |= UINT64_C(1) << i;
			v->value[i] += n;
		}
	}
}

static void
values_scale(struct verbs_values *v)
{
	for (unsigned i = 0; i < VERBS_FIGURES; i++)
		v->value[i] /= verbs_figures[i].unit;
}

static bool
told_wrong(struct verbs_telemetry *t, const char *what)
{
	(void)snprintf(t->why, sizeof(t->why),
		"the daemon's telemetry does not tell %s: are daemon and ndd-verbs of one build?",
		what);
	return false;
}

/* How many there are of what the command lists. */
static bool
ask_count(struct verbs_telemetry *t, const char *command, uint32_t most, uint32_t *count)
{
	json_t *list = verbs_telemetry_ask(t, command);
	size_t n = json_array_size(list);

	json_decref(list);
	if (list == NULL)
		return false;
	*count = (uint32_t)n;
	return (n > 0 && n <= most) || told_wrong(t, command);
}

static json_t *
ask_number(struct verbs_telemetry *t, const char *command, uint32_t number)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%s,%u", command, number);
	return verbs_telemetry_ask(t, text);
}

static bool
read_port(struct verbs_telemetry *t, uint32_t number, struct verbs_port_counts *p)
{
	json_t *answer = ask_number(t, "/ndd/port", number);
	uint64_t up;
	bool ok;

	if (answer == NULL)
		return false;
	ok = (counter_of(answer, "adapter", &p->adapter) && counter_of(answer, "link_up", &up)) ||
	     told_wrong(t, "a port's adapter");
	if (ok) {
		p->link_up = up != 0;
		values_add(&p->values, VERBS_OF_PORT, answer);
		values_scale(&p->values);
	}
	json_decref(answer);
	return ok;
}

static bool
read_shard(struct verbs_telemetry *t, uint32_t number, struct verbs_values *engine)
{
	json_t *answer = ask_number(t, "/ndd/shard", number);

	if (answer == NULL)
		return false;
	values_add(engine, VERBS_OF_ENGINE, json_object_get(answer, "engine"));
	json_decref(answer);
	return true;
}

bool
verbs_counts_read(struct verbs_telemetry *t, struct verbs_counts *c)
{
	uint32_t shards;

	memset(c, 0, sizeof(*c));
	if (!ask_count(t, "/ndd/ports", VERBS_PORTS_MAX, &c->ports) ||
		!ask_count(t, "/ndd/shards", SHARDS_MAX, &shards))
		return false;
	for (uint32_t i = 0; i < c->ports; i++)
		if (!read_port(t, i, &c->port[i]))
			return false;
	for (uint32_t i = 0; i < shards; i++)
		if (!read_shard(t, i, &c->engine))
			return false;
	values_scale(&c->engine);
	return true;
}
