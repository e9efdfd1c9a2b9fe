/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rate of a sender that was told of congestion: DCQCN (Zhu et al., SIGCOMM 2015). A cut takes
 * away up to half of the rate; how much, alpha says, which measures the congestion of the last
 * milliseconds. Then the rate is raised: five times half way back to where it was before the cut,
 * then beyond that in steps, and at last in growing steps. A raise is due after each period and
 * after each volume sent.
 *
 * No timer runs for that. When the rate is needed, all raises that have become due since are made
 * at once: an idle queue pair costs nothing, and has the same rate as with a timer.
 *
 * Differences to the paper, whose numbers are for a 40 Gb/s network card:
 * - g is 1/16 instead of 1/256, as in DCTCP. With the paper's, alpha remembers for 14 ms. Current
 *   hardware remembers for 0.2 ms, with shorter periods than software can keep.
 * - Steps are 10 Mb/s instead of 40, as many links are slow: two senders use 93 % of 1 Gb/s instead
 *   of 88 %, with half the queue.
 * - After a cut there is no other cut, and no raise, before a round trip has shown its effect.
 * - A cut starts from the highest rate that the sender can have reached, as queue pairs in software
 *   are often slower than their link.
 */
#include "roce/cc/rate.h"

#define PERIOD_NS	55000u
#define CUT_INTERVAL_NS 50000u /* of the CNPs that one congested queue causes */
#define VOLUME_BYTES	10000000u
#define RECOVERIES	5u     /* raises that only go back half the way */
#define STEP		1250u  /* 10 Mb/s */
#define LEAP		12500u /* 100 Mb/s */
#define ONE_BY_ONE	128u   /* periods; of more, raises are steps, and alpha is next to 0 */
#define ALPHA_ONE	65535u
#define ALPHA_SHIFT	4u /* g */

/* By how much the next raise moves the target. */
static uint32_t
rate_step(const struct roce_rate *r)
{
	uint32_t few = r->times < r->volumes ? r->times : r->volumes;
	uint32_t many = r->times < r->volumes ? r->volumes : r->times;

	if (few > RECOVERIES)
		return (few - RECOVERIES) * LEAP;
	return many >= RECOVERIES ? STEP : 0;
}

static uint32_t
rate_cap(uint64_t rate)
{
	return (uint32_t)(rate < ROCE_RATE_MAX ? rate : ROCE_RATE_MAX);
}

static void
rate_raise(struct roce_rate *r)
{
	r->target = rate_cap((uint64_t)r->target + rate_step(r));
	r->now += (r->target - r->now + 1) / 2;
}

static void
raises_count(uint8_t *raises)
{
	if (*raises < UINT8_MAX)
		++*raises;
}

/* At the highest rate there is no limit any more. One leap short of it, since the rate stays behind
 * its target. */
static bool
rate_is_over(struct roce_rate *r)
{
	if (r->now < ROCE_RATE_MAX - LEAP)
		return false;
	*r = (struct roce_rate){0};
	return true;
}

static void
rate_end_period(struct roce_rate *r)
{
	r->period_ns += PERIOD_NS;
	r->alpha -= (uint16_t)(r->alpha >> ALPHA_SHIFT);
	raises_count(&r->times);
	rate_raise(r);
}

/* End all periods that are over at once: each is one step, and the rate is one step behind its
 * target. */
static void
rate_end_periods(struct roce_rate *r, uint64_t now_ns)
{
	uint64_t ended = (now_ns - r->period_ns) / PERIOD_NS + 1;
	uint64_t target = r->target + ended * rate_step(r);

	r->period_ns += ended * PERIOD_NS;
	r->now = rate_cap(target - rate_step(r));
	r->target = rate_cap(target);
}

bool
roce_rate_recover(struct roce_rate *r, uint64_t now_ns)
{
	if (r->now == 0)
		return false;
	for (unsigned i = 0; i < ONE_BY_ONE && now_ns >= r->period_ns; i++)
		rate_end_period(r);
	if (now_ns >= r->period_ns)
		rate_end_periods(r, now_ns);
	return !rate_is_over(r);
}

static bool
rate_was_just_cut(const struct roce_rate *r, uint64_t now_ns)
{
	return r->times == 0 && now_ns + (PERIOD_NS - CUT_INTERVAL_NS) < r->period_ns;
}

bool
roce_rate_cut(struct roce_rate *r, uint64_t now_ns, uint32_t most, uint64_t rtt_ns)
{
	if (!roce_rate_recover(r, now_ns))
		*r = (struct roce_rate){.now = ROCE_RATE_MAX, .alpha = ALPHA_ONE};
	else if (rate_was_just_cut(r, now_ns))
		return false;
	if (r->now > most)
		r->now = most;
	if (r->now < ROCE_RATE_MIN)
		r->now = ROCE_RATE_MIN;
	r->target = r->now;
	r->now -= (uint32_t)((uint64_t)r->now * r->alpha >> 17);
	if (r->now < ROCE_RATE_MIN)
		r->now = ROCE_RATE_MIN;
	r->alpha += (uint16_t)((ALPHA_ONE - r->alpha) >> ALPHA_SHIFT);
	r->times = r->volumes = 0;
	r->bytes = 0;
	r->period_ns = now_ns + (rtt_ns > PERIOD_NS ? rtt_ns : PERIOD_NS);
	return true;
}

uint64_t
roce_rate_sent(struct roce_rate *r, uint64_t bytes)
{
	uint64_t ns = bytes * 1000000 / r->now;

	r->bytes += (uint32_t)bytes;
	if (r->bytes >= VOLUME_BYTES) {
		r->bytes -= VOLUME_BYTES;
		raises_count(&r->volumes);
		rate_raise(r);
	}
	return ns;
}
