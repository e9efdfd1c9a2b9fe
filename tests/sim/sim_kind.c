/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "sim_kind.h"

uint64_t sim_kinds[SIM_KINDS_END];
uint64_t sim_rnr_codes[32], sim_timeout_codes[32], sim_retries[8];

static const char *const texts[] = {
#define X(name, text) text,
	SIM_KINDS(X)
#undef X
};
static const struct {
	const char *name;
	const uint64_t *of;
	unsigned count;
} values[] = {
	{"RNR code", sim_rnr_codes, 32},
	{"timeout code", sim_timeout_codes, 32},
	{"retry count", sim_retries, 8},
};

void
sim_kinds_print(void)
{
	for (unsigned k = 0; k < SIM_KINDS_END; k++)
		printf("%12lu %s\n", (unsigned long)sim_kinds[k], texts[k]);
	for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
		printf("%12s", values[v].name);
		for (unsigned i = 0; i < values[v].count; i++)
			printf(" %lu", (unsigned long)values[v].of[i]);
		printf("\n");
	}
}

bool
sim_kinds_all(void)
{
	unsigned missing = 0;

	for (unsigned k = 0; k < SIM_KINDS_END; k++)
		if (sim_kinds[k] == 0)
			missing += printf("never happened: %s\n", texts[k]) > 0;
	for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++)
		for (unsigned i = 0; i < values[v].count; i++)
			if (values[v].of[i] == 0)
				missing += printf("never happened: %s %u\n", values[v].name, i) > 0;
	return missing == 0;
}
