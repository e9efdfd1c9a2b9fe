/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/group_frames.h"

static uint32_t
words_sum(uint32_t sum, const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i + 1 < bytes; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	return sum;
}

static void
put_sum(uint8_t *at, uint32_t sum)
{
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	at[0] = (uint8_t)(~sum >> 8);
	at[1] = (uint8_t)~sum;
}

size_t
group_frame(const char *hex, uint8_t *out, size_t room)
{
	size_t n = net_rig_bytes(hex, out, room), header, bytes;
	uint8_t *ip = out + 14;

	if (ip[0] >> 4 == 4) {
		header = (ip[0] & 15u) * 4;
		put_sum(ip + 10, words_sum(0, ip, header));
		put_sum(ip + header + 2, words_sum(0, ip + header, n - 14 - header));
		return n;
	}
	header = ip[6] == 0 ? 40 + (ip[41] + 1u) * 8 : 40;
	if (n < 14 + header) /* it is the header that is wrong */
		return n;
	bytes = n - 14 - header;
	put_sum(ip + header + 2,
		words_sum(words_sum(58 + (uint32_t)bytes, ip + 8, 32), ip + header, bytes));
	return n;
}

void
group_rx(struct net_rig *r, const char *hex)
{
	uint8_t bytes[2048], *exact;
	size_t n = group_frame(hex, bytes, sizeof(bytes));

	exact = malloc(n);
	memcpy(exact, bytes, n);
	net_rx(r->n, r->now, 0, exact, n);
	free(exact);
}

bool
group_tx_is(const struct net_rig *r, const char *hex)
{
	uint8_t want[2048] = {0};
	size_t n = group_frame(hex, want, sizeof(want));

	return r->tx.len == (n < 60 ? 60 : n) && memcmp(r->tx.frame, want, r->tx.len) == 0;
}

void
group_expect(struct net_rig *r, const char *hex)
{
	uint8_t want[2048] = {0};
	size_t n = group_frame(hex, want, sizeof(want));

	net_rig_run_until(r, r->now);
	cr_assert(net_tx(r->n, &r->tx), "no frame, but expected %s", hex);
	cr_assert_eq(r->tx.len, n < 60 ? 60 : n, "%s", hex);
	for (size_t i = 0; i < r->tx.len; i++)
		cr_assert_eq(r->tx.frame[i], want[i], "byte %zu: %02x instead of %02x", i,
			r->tx.frame[i], want[i]);
}

uint64_t
group_wait(struct net_rig *r)
{
	while (!net_tx(r->n, &r->tx)) {
		cr_assert_neq(net_next_deadline(r->n), UINT64_MAX, "nothing will come");
		if (net_next_deadline(r->n) > r->now)
			r->now = net_next_deadline(r->n);
		net_tick(r->n, r->now);
	}
	return r->now;
}

void
group_quiet(struct net_rig *r, uint64_t ns)
{
	net_rig_run_until(r, r->now + ns);
	net_rig_expect_silence(r);
}

void
group_member(struct net_rig *r, const struct net_ip *group)
{
	cr_assert(net_group_join(r->n, 0, group));
	net_rig_run_until(r, r->now + GROUP_MEMBER_TIME);
	while (net_tx(r->n, &r->tx))
		;
}
