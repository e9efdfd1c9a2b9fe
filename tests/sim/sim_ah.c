/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles of a client: made when one is needed, destroyed in use or not. */
#include <string.h>

#include "sim.h"

void
sim_ahs_init(struct sim_client *c)
{
	c->ahs.table = (struct roce_ah_table){.slot = c->ahs.engine, .count = SIM_AHS};
}

const struct sim_ah *
sim_ah_find(const struct sim_client *c, uint32_t token)
{
	for (unsigned i = 0; i < SIM_AHS; i++)
		if (c->ahs.of[i].live && c->ahs.of[i].token == token)
			return &c->ahs.of[i];
	return NULL;
}

/* Sends of c by this handle that have not left. */
static bool
is_awaited(const struct sim_client *c, uint32_t token)
{
	for (unsigned i = 0; i < c->n_uds; i++)
		for (unsigned k = c->uds[i]->sent; k < c->uds[i]->posted; k++)
			if (c->uds[i]->sends[k].token == token)
				return true;
	return false;
}

/* What has not left by it never will. */
static void
destroy(struct sim_client *c, struct sim_ah *ah)
{
	sim_note(c->w, "address handle %x destroyed", ah->token);
	ah->live = false;
	c->ahs.engine[ah - c->ahs.of].live = false;
	for (unsigned i = 0; i < c->n_uds; i++)
		sim_ud_doom(c->uds[i], ah->token);
}

static struct sim_ah *
find_room(struct sim_client *c)
{
	unsigned first = (unsigned)sim_below(c->w, SIM_AHS);

	for (unsigned i = 0; i < SIM_AHS; i++)
		if (!c->ahs.of[i].live)
			return &c->ahs.of[i];
	for (unsigned i = 0; i < SIM_AHS; i++) {
		struct sim_ah *ah = &c->ahs.of[(first + i) % SIM_AHS];

		if (!is_awaited(c, ah->token)) {
			destroy(c, ah);
			return ah;
		}
	}
	return NULL;
}

const struct sim_ah *
sim_ah_to(struct sim_client *c, unsigned address, bool v6)
{
	const struct sim_host *local = c->shard->host;
	struct roce_path path = address >= SIM_GROUPS_AT
					? sim_group_path(local, address - SIM_GROUPS_AT)
					: sim_path_to(local, address, v6);
	struct sim_ah *ah;

	for (unsigned i = 0; i < SIM_AHS; i++)
		if (c->ahs.of[i].live && roce_gid_equal(&c->ahs.of[i].path.dgid, &path.dgid))
			return &c->ahs.of[i];
	ah = find_room(c);
	if (ah == NULL)
		return NULL;
	path.udp_sport = (uint16_t)(0xc000 | sim_below(c->w, 0x4000));
	path.tos = (uint8_t)(4 * sim_below(c->w, 64));
	*ah = (struct sim_ah){.live = true,
		.path = path,
		.mtu = 256u << sim_below(c->w, 5),
		.token = ++c->ahs.generation << ROCE_AH_INDEX_BITS | (uint32_t)(ah - c->ahs.of)};
	roce_ah_set(&c->ahs.engine[ah - c->ahs.of], ah->token, &path, local->number, ah->mtu);
	return ah;
}

uint32_t
sim_ah_dead(struct sim_client *c)
{
	uint32_t token = (uint32_t)sim_rand(c->w);

	if (sim_chance(c->w, 5000)) /* an older one of a slot in use */
		token = (c->ahs.generation / 2) << ROCE_AH_INDEX_BITS | token % SIM_AHS;
	return sim_ah_find(c, token) != NULL ? 0 : token;
}

void
sim_ah_step(struct sim_client *c)
{
	struct sim_ah *ah = &c->ahs.of[sim_below(c->w, SIM_AHS)];

	if (c->w->profile->poison > 0 && ah->live && sim_chance(c->w, 100))
		destroy(c, ah);
}
