/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/faults.h"

unsigned
fault_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const struct fault *fault = ctx;

	(void)pkt;
	if (from != fault->from || p->sent[from] != fault->nth)
		return 1;
	*late_ns = fault->late_ns;
	return fault->copies;
}

void
fault_each_frame(void (*run)(struct fault *fault, uint64_t sent[2]))
{
	static const struct fault faults[] = {{.copies = 0}, {.copies = 2},
		{.copies = 1, .late_ns = 500}, {.copies = 1, .late_ns = 40000000},
		{.copies = 2, .late_ns = 300000}};
	uint64_t clean[2], sent[2];

	run(&(struct fault){.from = 2}, clean);
	for (unsigned f = 0; f < sizeof(faults) / sizeof(faults[0]); f++)
		for (unsigned from = 0; from < 2; from++)
			for (uint64_t nth = 1; nth <= clean[from]; nth++) {
				struct fault fault = faults[f];

				fault.from = from;
				fault.nth = nth;
				run(&fault, sent);
			}
}

uint64_t
fault_dice(uint64_t *dice)
{
	uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ z >> 27;
}

unsigned
fault_tap_dice(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const uint64_t z = fault_dice(ctx);

	(void)p;
	(void)from;
	(void)pkt;
	(void)late_ns;
	return z % 20 == 0 ? 0 : z % 20 == 1 ? 2 : 1;
}

unsigned
fault_tap_mute(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const unsigned *side = ctx;

	(void)p;
	(void)pkt;
	(void)late_ns;
	return from != *side;
}
