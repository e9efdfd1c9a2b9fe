/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/dcqcn.h"

#include <math.h>

#define ADDITIVE  1250.0
#define HYPER	  12500.0
#define G	  (1.0 / 16)
#define F	  5u
#define PERIOD_NS 55000u
#define SAME_NS	  50000u /* CNPs so close behind a cut tell of the same congestion */
#define VOLUME	  10e6

static void
raise_rate(struct dcqcn *m)
{
	unsigned few = m->times < m->volumes ? m->times : m->volumes;
	unsigned many = m->times < m->volumes ? m->volumes : m->times;

	if (few > F)
		m->target += (few - F) * HYPER;
	else if (many >= F)
		m->target += ADDITIVE;
	m->target = fmin(m->target, DCQCN_LINE_RATE);
	m->rate = (m->target + m->rate) / 2;
}

void
dcqcn_recover(struct dcqcn *m, uint64_t now_ns)
{
	while (m->limited && now_ns >= m->period_ns) {
		m->period_ns += PERIOD_NS;
		m->alpha *= 1 - G;
		m->times++;
		raise_rate(m);
		m->limited = m->rate < DCQCN_LINE_RATE - HYPER;
	}
}

bool
dcqcn_cut(struct dcqcn *m, uint64_t now_ns, double most, uint64_t rtt_ns)
{
	uint64_t wait = rtt_ns > PERIOD_NS ? rtt_ns : PERIOD_NS;

	dcqcn_recover(m, now_ns);
	if (!m->limited)
		*m = (struct dcqcn){
			.limited = true, .rate = DCQCN_LINE_RATE, .alpha = 1, .ahead_ns = now_ns};
	else if (m->times == 0 && now_ns + (PERIOD_NS - SAME_NS) < m->period_ns)
		return false;
	m->target = fmax(fmin(m->rate, most), DCQCN_LEAST);
	m->rate = fmax(m->target * (1 - m->alpha / 2), DCQCN_LEAST);
	m->alpha = (1 - G) * m->alpha + G;
	m->times = m->volumes = 0;
	m->bytes = 0;
	m->period_ns = now_ns + wait;
	return true;
}

void
dcqcn_sent(struct dcqcn *m, uint32_t bytes)
{
	m->ahead += bytes * 1e6 / m->rate;
	m->bytes += bytes;
	if (m->bytes >= VOLUME) {
		m->bytes -= VOLUME;
		m->volumes++;
		raise_rate(m);
	}
}
