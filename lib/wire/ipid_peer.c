/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/ipid_peer.h"

#include <string.h>

static uint32_t
address_mix(const uint8_t ip[4])
{
	return ip[0] ^ ip[1] ^ ip[2] * 3u ^ ip[3];
}

struct roce_ipid_peer *
roce_ipid_peer(struct roce_ipid_peers *t, const uint8_t ip[4], const uint8_t to[4])
{
	const uint32_t place = address_mix(ip) + 5u * address_mix(to);
	struct roce_ipid_peer *p = &t->peer[place % ROCE_IPID_PEERS];

	if (memcmp(p->ip, ip, sizeof(p->ip)) != 0 || memcmp(p->to, to, sizeof(p->to)) != 0) {
		memset(p, 0, sizeof(*p));
		memcpy(p->ip, ip, sizeof(p->ip));
		memcpy(p->to, to, sizeof(p->to));
	}
	return p;
}

static bool
is_near(uint32_t last, uint32_t value, uint32_t pause_ms)
{
	uint16_t ahead = (uint16_t)((value >> 1) - (last >> 1) + ROCE_IPID_BACK);

	if (((last ^ value) & 1) != 0) /* another DF */
		return false;
	return ahead <= ROCE_IPID_AHEAD + ROCE_IPID_BACK || /* the sum must not wrap */
	       ahead - (ROCE_IPID_AHEAD + ROCE_IPID_BACK) <= pause_ms;
}

static void
place_keep(struct roce_ipid_peer *p, uint32_t value, uint32_t now_ms)
{
	p->other = value;
	p->other_ms = now_ms;
	p->has_other = 1;
}

static void
stray_count(struct roce_ipid_peer *p, uint32_t now_ms)
{
	const uint32_t rested = (now_ms - p->stray_ms) / ROCE_IPID_REST_MS;

	p->strays -= rested < p->strays ? (uint8_t)rested : p->strays;
	p->strays++;
	p->stray_ms = now_ms;
}

static bool
is_expected(const struct roce_ipid_peer *p, uint32_t value, uint32_t now_ms)
{
	return p->strays == ROCE_IPID_STRAYS || is_near(p->last, value, now_ms - p->seen_ms) ||
	       (p->has_other && now_ms - p->other_ms < ROCE_IPID_OTHER_MS &&
		       is_near(p->other, value, 0));
}

/* The first packet of a source may have any. One that was refused is the other place where the next
 * is looked for: a source that has gone on with others meanwhile loses one packet, not all. So is
 * the place that one was taken in front of, as it may be another stream's. */
static bool
may_have_sent(struct roce_ipid_peer *p, uint32_t value, uint32_t now_ms)
{
	if (!p->known)
		return true;
	if (is_expected(p, value, now_ms)) {
		place_keep(p, p->last, now_ms);
		return true;
	}
	place_keep(p, value, now_ms);
	stray_count(p, now_ms);
	return false;
}

enum roce_ipid_verdict
roce_ipid_judge(const struct roce_ipid *t, struct roce_ipid_peer *p, uint32_t now_ms,
	uint32_t ip_bytes, uint32_t guess, uint32_t difference, uint32_t *value)
{
	enum roce_ipid_verdict verdict = ROCE_IPID_GUESSED;
	uint32_t change = 0;

	if (difference != 0 &&
		(!roce_ipid_has(ip_bytes) || !roce_ipid_solve(t, ip_bytes, difference, &change))) {
		if (!p->known && p->broken < ROCE_IPID_BROKEN)
			p->broken++;
		return ROCE_IPID_WRONG;
	}
	if (difference != 0) {
		if (!may_have_sent(p, guess ^ change, now_ms))
			return ROCE_IPID_FAR;
		verdict = ROCE_IPID_SOLVED;
	}
	*value = guess ^ change;
	p->last = *value;
	p->seen_ms = now_ms;
	p->known = 1;
	p->broken = 0;
	return verdict;
}
