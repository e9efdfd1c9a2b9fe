/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/udp_run.h"

#include <string.h>

/* Addresses, class and source port: all but lengths, identification and checksum. */
static bool
go_the_same_way(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	const uint8_t *x = udp_frame_ip(a), *y = udp_frame_ip(b);

	if (udp_frame_is_v6(a) != udp_frame_is_v6(b))
		return false;
	if (udp_frame_is_v6(a))
		return memcmp(x, y, 4) == 0 && x[7] == y[7] && memcmp(x + 8, y + 8, 34) == 0;
	return x[1] == y[1] && x[8] == y[8] && memcmp(x + 12, y + 12, 10) == 0;
}

/* Of a run that loopback carries, the network's error quotes the first packet alone. */
static bool
goes_alone(const struct udp_port *u, const struct rte_mbuf *m)
{
	return !u->segments || udp_frame_is_shared(m) || udp_frame_sender(m) == UDP_MAD_SENDER;
}

/* So many frames as long as this one a send has at most. */
static uint32_t
run_most(const struct rte_mbuf *m)
{
	const uint32_t bytes = m->data_len - udp_frame_headers(udp_frame_is_v6(m));

	return RTE_MIN(UDP_BYTES_MAX / bytes, UDP_SEGMENTS);
}

/* Of the n frames those from the first on that could be one run, whatever its length. */
struct alike {
	uint32_t frames;
	bool ended; /* by a shorter one: others like them would be another run's */
};

static struct alike
alike_of(struct rte_mbuf *const *m, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && m[i]->data_len <= m[0]->data_len && !udp_frame_is_shared(m[i]) &&
		udp_frame_is_ours(m[i]) && go_the_same_way(m[0], m[i]))
		if (m[i++]->data_len < m[0]->data_len)
			return (struct alike){i, true};
	return (struct alike){i, false};
}

struct first_run {
	uint32_t frames;
	bool open; /* if others follow these, it might be another one */
};

/* The first packet of a WRITE has a RETH, and is longer than those behind it: it could take one of
 * them along, as the last of a run of two. It does if that saves a send. */
static struct first_run
leader_of(struct rte_mbuf *const *m, uint32_t n)
{
	const struct alike behind = alike_of(m + 1, n - 1);
	const uint32_t most = run_most(m[1]);

	return (struct first_run){
		.frames = behind.frames % most == 1 ? 2 : 1,
		.open = behind.frames == n - 1 && !behind.ended && behind.frames <= most,
	};
}

static struct first_run
first_run_of(const struct udp_port *u, struct rte_mbuf *const *m, uint32_t n)
{
	struct alike run;
	uint32_t most;

	if (goes_alone(u, m[0]))
		return (struct first_run){.frames = 1};
	most = run_most(m[0]);
	run = alike_of(m, RTE_MIN(n, most));
	if (run.frames == 2 && run.ended)
		return leader_of(m, n);
	return (struct first_run){
		.frames = run.frames,
		.open = run.frames == n && !run.ended && n < most,
	};
}

uint32_t
udp_run_length(const struct udp_port *u, struct rte_mbuf *const *m, uint32_t n)
{
	return first_run_of(u, m, n).frames;
}

uint16_t
udp_runs_whole(const struct port *p, struct rte_mbuf *const *m, uint16_t n)
{
	const struct udp_port *u = udp_of(p);
	uint32_t i = 0;

	while (i < n) {
		struct first_run run = {.frames = 1};

		if (udp_frame_is_ours(m[i]))
			run = first_run_of(u, m + i, n - i);
		if (run.open)
			break;
		i += run.frames;
	}
	return (uint16_t)i;
}
