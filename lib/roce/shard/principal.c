/* SPDX-License-Identifier: BSD-3-Clause */
/* Principals and their clients: how they begin and end. What they may take is in pool.h. */
#include "roce/shard/principal.h"

#include "roce/assert.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/turns.h"

#define NS_OF_SECOND UINT64_C(1000000000)

static uint32_t
for_receives(uint32_t n)
{
	return n / 8 + (n % 8 != 0);
}

static void
share_init(struct roce_share *share, uint32_t reserve, uint32_t cap)
{
	uint32_t sends = cap == ROCE_CAP_FAIR ? cap : cap - for_receives(cap);

	*share = (struct roce_share){
		.tight = true, /* until it takes the first */
		.reserve = {reserve - for_receives(reserve), for_receives(reserve)},
		.cap = {sends, cap},
	};
}

/*
 * One that was not there before has one token, and one that was there has no more than it left: to
 * leave and to come back brings none. Of the time between two tokens a fraction of a nanosecond is
 * lost, rather than won.
 */
static void
wakeups_init(struct roce_shard *s, struct roce_principal *p, const struct roce_principal_cfg *cfg)
{
	struct roce_wakeups *w = &p->wakeups;

	if (cfg->wakeups == 0)
		return;
	w->burst = cfg->wakeups;
	w->token_ns = (NS_OF_SECOND + w->burst - 1) / w->burst;
	w->tokens.full_ns = s->now_ns + (w->burst - 1) * w->token_ns;
	if (cfg->tokens.full_ns > w->tokens.full_ns)
		w->tokens = cfg->tokens;
	if (roce_wakeups_left(w, s->now_ns))
		return;
	w->until_ns = s->now_ns + ROCE_WAKEUPS_REST_NS;
	base_list_append(&s->resting, &p->line[ROCE_LINE_FIRED].link);
}

static void
lines_init(struct roce_line *line)
{
	for (unsigned i = 0; i < ROCE_LINES; i++)
		base_list_init(&line[i].items);
}

static void
lines_fini(struct roce_line *line)
{
	for (unsigned i = 0; i < ROCE_LINES; i++) {
		roce_assert(base_list_empty(&line[i].items));
		base_list_remove(&line[i].link);
	}
}

static bool
cfg_ok(const struct roce_shard *s, const struct roce_principal_cfg *cfg)
{
	if (cfg->weight == 0 || cfg->weight > ROCE_WEIGHT_MAX)
		return false;
	for (unsigned i = 0; i < ROCE_POOLS; i++)
		if (cfg->pool[i].reserve > cfg->pool[i].cap ||
			cfg->pool[i].reserve > s->pool[i].total - s->pool[i].reserved)
			return false;
	return true;
}

bool
roce_principal_init(
	struct roce_shard *s, struct roce_principal *p, const struct roce_principal_cfg *cfg)
{
	if (!cfg_ok(s, cfg))
		return false;
	if (s->now_ns < cfg->now_ns)
		s->now_ns = cfg->now_ns;
	*p = (struct roce_principal){.turn.quantum = cfg->weight * ROCE_TURN_BYTES};
	base_list_init(&p->turns);
	base_list_init(&p->held);
	lines_init(p->line);
	wakeups_init(s, p, cfg);
	for (unsigned i = 0; i < ROCE_POOLS; i++) {
		base_list_init(&p->starved[i]);
		share_init(&p->share[i], cfg->pool[i].reserve, cfg->pool[i].cap);
		roce_pool_reserve(&s->pool[i], cfg->pool[i].reserve);
	}
	base_list_append(&s->principals, &p->link);
	return true;
}

static bool
is_idle(const struct roce_principal *p)
{
	uint32_t used = p->clients;

	for (unsigned i = 0; i < ROCE_POOLS; i++)
		for (unsigned side = 0; side < ROCE_SIDES; side++)
			used |= roce_share_used(&p->share[i], side);
	return used == 0;
}

bool
roce_principal_fini(struct roce_shard *s, struct roce_principal *p)
{
	if (!is_idle(p))
		return false;
	lines_fini(p->line);
	base_list_remove(&p->starving);
	base_list_remove(&p->holding);
	s->busy_count -= base_linked(&p->busy);
	base_list_remove(&p->busy);
	base_list_remove(&p->link);
	for (unsigned i = 0; i < ROCE_POOLS; i++) {
		struct roce_share *share = &p->share[i];

		roce_share_settle(&s->pool[i], share);
		roce_pool_release(&s->pool[i],
			share->reserve[ROCE_SIDE_SEND] + share->reserve[ROCE_SIDE_RECV]);
	}
	return true;
}

void
roce_client_init(struct roce_client *c, struct roce_principal *p)
{
	*c = (struct roce_client){.principal = p, .turn.quantum = ROCE_TURN_BYTES};
	base_list_init(&c->senders);
	base_list_init(&c->rings);
	lines_init(c->line);
	p->clients++;
}

struct roce_client *
roce_client_use(struct roce_shard *s, struct roce_client *c)
{
	if (c == NULL)
		c = &s->own_client;
	c->objects++;
	return c;
}

bool
roce_client_fini(struct roce_shard *s, struct roce_client *c)
{
	if (c->objects != 0)
		return false;
	roce_assert(c->principal->clients > 0 && base_list_empty(&c->senders) &&
		    base_list_empty(&c->rings));
	lines_fini(c->line);
	if (base_linked(&c->polled))
		s->polled--;
	base_list_remove(&c->polled);
	roce_turns_leave(s, c);
	c->principal->clients--;
	return true;
}
