/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "sim_script.h"

void
sim_script_add(struct sim_script *s, const struct sim_choice *c)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->list = realloc(s->list, s->room * sizeof(*s->list));
		if (s->list == NULL)
			abort();
	}
	s->list[s->count] = *c;
	s->list[s->count++].asked = false;
}

/* The place in the list, plus 1, or where it belongs. */
static uint32_t *
find(const struct sim_script *s, uint64_t stream, uint32_t actor, uint32_t ordinal)
{
	uint64_t h = sim_mix(stream ^ (uint64_t)actor << 32 ^ ordinal);
	uint32_t *at;

	for (;; h++) {
		at = &s->index[h & (s->slots - 1)];
		if (*at == 0 ||
			(s->list[*at - 1].stream == stream && s->list[*at - 1].actor == actor &&
				s->list[*at - 1].ordinal == ordinal))
			return at;
	}
}

void
sim_script_seal(struct sim_script *s)
{
	free(s->index);
	for (s->slots = 16; s->slots < 2 * s->count; s->slots *= 2)
		;
	s->index = calloc(s->slots, sizeof(*s->index));
	if (s->index == NULL)
		abort();
	for (uint32_t i = 0; i < s->count; i++)
		*find(s, s->list[i].stream, s->list[i].actor, s->list[i].ordinal) = i + 1;
}

void
sim_script_clear(struct sim_script *s)
{
	s->count = 0;
	s->plain = false;
}

void
sim_script_free(struct sim_script *s)
{
	free(s->list);
	free(s->index);
	*s = (struct sim_script){.list = NULL};
}

static struct sim_choice *
listed(const struct sim_script *s, uint64_t stream, uint32_t actor, uint32_t ordinal)
{
	uint32_t at = *find(s, stream, actor, ordinal);

	if (at == 0)
		at = *find(s, stream, SIM_ANY, SIM_ANY);
	return at != 0 ? &s->list[at - 1] : NULL;
}

/* A value that is none of this draw's is not taken. */
uint64_t
sim_script_value(struct sim_script *script, const struct sim_site *s, uint32_t actor,
	uint32_t ordinal, uint64_t n, uint64_t value)
{
	struct sim_choice *c = listed(script, s->hash, actor, ordinal);

	if (c != NULL && (n == 0 || c->value < n)) {
		value = c->value;
		c->asked = true;
	} else if (script->plain) {
		value = 0;
	}
	if (script->record != NULL && value != 0 && *script->recorded < SIM_CHOICES_MAX)
		script->record[(*script->recorded)++] = (struct sim_choice){.site = s,
			.stream = s->hash,
			.actor = actor,
			.ordinal = ordinal,
			.n = n,
			.value = value};
	return value;
}
