/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration: any text is a configuration or refused in words. What is accepted is within
 * the limits of config.h.
 */
#include <string.h>

#include "config/config.h"
#include "fuzz.h"

/* Text in a field of so many bytes. */
#define ENDS(field) (strnlen(field, sizeof(field)) < sizeof(field))

static void
link_is_sound(const struct config_link *l)
{
	fuzz_need(l->id <= 4094 && l->priority <= 7, "VLAN %u", l->id);
	fuzz_need(l->addresses <= CONFIG_ADDRESSES_MAX, "%u addresses", l->addresses);
	fuzz_need(l->routes <= CONFIG_ROUTES_MAX, "%u routes", l->routes);
	for (uint32_t i = 0; i < l->addresses; i++)
		fuzz_need(l->address[i].prefix_len <= 128, "address %u", i);
	for (uint32_t i = 0; i < l->routes; i++)
		fuzz_need(l->route[i].to.prefix_len <= 128, "route %u", i);
}

static void
config_is_sound(const struct config *c)
{
	fuzz_need(c->ports <= CONFIG_PORTS_MAX, "%u ports", c->ports);
	fuzz_need(c->lcores > 0 && c->lcores <= CONFIG_LCORES_MAX, "%u lcores", c->lcores);
	fuzz_need(c->vdevs <= CONFIG_STRINGS_MAX && c->pcis <= CONFIG_STRINGS_MAX &&
			  c->extras <= CONFIG_STRINGS_MAX,
		"strings of \"eal\"");
	fuzz_need(ENDS(c->socket_path) && ENDS(c->file_prefix), "a path does not end");
	for (uint32_t i = 0; i < c->vdevs; i++)
		fuzz_need(ENDS(c->vdev[i]), "vdev %u", i);
	for (uint32_t i = 0; i < c->ports; i++) {
		fuzz_need(ENDS(c->port[i].device), "port %u", i);
		fuzz_need(c->port[i].vlans <= CONFIG_VLANS_MAX, "port %u: VLANs", i);
		link_is_sound(&c->port[i].untagged);
		for (uint32_t v = 0; v < c->port[i].vlans; v++)
			link_is_sound(&c->port[i].vlan[v]);
	}
	fuzz_need(c->max_sessions >= 1 && c->max_sessions <= 1024, "%u sessions", c->max_sessions);
}

/* Lines, with at most so many bytes. Each would begin with the name of the file, but text may be
 * cut. */
static void
words_are_sound(const char *err, size_t room)
{
	size_t n = strnlen(err, room);

	fuzz_need(n > 0, "refused without a word");
	fuzz_need(n < room, "words without an end");
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/* The first byte: how much room there is for words. */
	size_t room = n > 0 && bytes[0] != 0 ? 2 + bytes[0] % 64u : 4096;
	struct config *c = malloc(sizeof(*c));
	char *text = malloc(n + 1), *err = malloc(room);

	fuzz_need(c != NULL && text != NULL && err != NULL, "memory");
	memset(err, 'x', room);
	if (n > 0)
		memcpy(text, bytes + 1, n - 1);
	text[n > 0 ? n - 1 : 0] = 0;
	if (config_parse(c, "input", text, err, room))
		config_is_sound(c);
	else
		words_are_sound(err, room);
	free(c);
	free(text);
	free(err);
	return 0;
}
