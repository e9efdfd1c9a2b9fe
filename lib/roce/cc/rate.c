/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rate of a sender that was told of congestion: DCQCN (Zhu et al., SIGCOMM 2015). A cut takes
 * away up to half, by what alpha says of the last milliseconds; then the rate goes half way back to
 * where it was, five times, then probes beyond in steps, and at last in growing steps. A raise is
 * due after each period, and after each volume.
 *
 * Nobody watches the clock for that. What has become due is made up for when the rate is asked for,
 * so an idle queue pair costs nothing, and finds its rate as if somebody had.
 *
 * Differences to the paper, where its numbers are those of a 40 Gb/s network card:
 * - g is 1/16 instead of 1/256, as in DCTCP. The paper's remembers for 14 ms. Hardware of today
 *   does for 0.2 ms, by shorter periods than software can keep.
 * - Steps are 10 Mb/s instead of 40, as many of our links are slow: of 1 Gb/s two senders use 93 %
 *   instead of 88 %, with half the queue.
 * - After a cut no other one follows, and no raise, before a round trip has shown what it did.
 * - A cut starts from what the sender can have reached at most, as software's queue pairs are
 *   often slower than their link.
 */
#include "roce/cc/rate.h"

#define PERIOD_NS	55000u
#define CUT_INTERVAL_NS 50000u /* as the notifications of one marked queue come */
#define VOLUME_BYTES	10000000u
#define RECOVERIES	5u     /* raises that only go back half the way */
#define STEP		1250u  /* 10 Mb/s */
#define LEAP		12500u /* 100 Mb/s */
#define ONE_BY_ONE	64u    /* periods; if more have ended, it is on its way in steps */
#define ALPHA_ONE	65535u
#define ALPHA_SHIFT	4u /* g */

/* What the target goes up by. */
static uint32_t
rate_step(const struct roce_rate *r)
{
	uint32_t few = r->times < r->volumes ? r->times : r->volumes;
	uint32_t many = r->times < r->volumes ? r->volumes : r->times;

	if (few > RECOVERIES)
		return (few - RECOVERIES) * LEAP;
	return many >= RECOVERIES ? STEP : 0;
}

static void
rate_aim(struct roce_rate *r, uint64_t target)
{
	r->target = target < ROCE_RATE_MAX ? (uint32_t)target : ROCE_RATE_MAX;
}

static void
rate_raise(struct roce_rate *r)
{
	rate_aim(r, r->target + rate_step(r));
	r->now += (r->target - r->now + 1) / 2;
}

static void
raises_count(uint8_t *raises)
{
	if (*raises < UINT8_MAX)
		++*raises;
}

/* As fast as any link: the limit is none. A leap short of it, as it follows a target. */
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

/* All periods that have ended, at once: each is a step, and the rate one step behind its target. */
static void
rate_end_periods(struct roce_rate *r, uint64_t now_ns)
{
	uint64_t ended = (now_ns - r->period_ns) / PERIOD_NS + 1;

	r->period_ns += ended * PERIOD_NS;
	r->alpha = 0;
	rate_aim(r, r->target + (ended < ROCE_RATE_MAX ? ended : ROCE_RATE_MAX) * rate_step(r));
	r->now = r->target < ROCE_RATE_MAX ? r->target - rate_step(r) : ROCE_RATE_MAX;
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
