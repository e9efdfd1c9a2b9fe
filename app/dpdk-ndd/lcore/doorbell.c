/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbells. A session that rang lately is polled in each turn; one that was silent for a
 * millisecond is demoted: its page says so, and its next doorbell comes with a knock. A thousand
 * idle sessions cost an lcore nothing.
 */
#include "lcore/shard.h"
#include "lcore/turn.h"
#include "roce/shard/line.h"

static void
session_wake(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns)
{
	roce_line_join(s->engine, &ss->client, ROCE_LINE_POLLED, &ss->polled);
	s->awake++;
	ss->rung_ns = now_ns;
}

static void
session_rest(struct ndd_shard *s, struct ndd_shard_session *ss)
{
	base_list_remove(&ss->polled);
	s->awake--;
}

/* The next one that is awake; NULL: all sleep. */
static struct ndd_shard_session *
session_next(struct ndd_shard *s)
{
	struct base_link *l = roce_line_next(s->engine, ROCE_LINE_POLLED);

	return l == NULL ? NULL : base_container(l, struct ndd_shard_session, polled);
}

/* It is awake at first: what the client rings before its door leads here is polled. */
bool
ndd_lcore_attach(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns)
{
	uint32_t place = 0;

	while (place < NDD_PLACES && s->place[place] != NULL)
		place++;
	if (place == NDD_PLACES)
		return false;
	s->place[place] = ss;
	ss->place = place;
	s->sessions++;
	session_wake(s, ss, now_ns);
	ndd_door_lead_to(ss->door, place);
	return true;
}

void
ndd_lcore_detach(struct ndd_shard *s, struct ndd_shard_session *ss)
{
	ndd_door_lead_to(ss->door, NDD_PLACE_NONE);
	s->place[ss->place] = NULL;
	if (base_linked(&ss->polled))
		session_rest(s, ss);
	s->sessions--;
}

void
ndd_lcore_promote(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns)
{
	if (base_linked(&ss->polled))
		return;
	ndsh_doorbell_awake(ss->page);
	session_wake(s, ss, now_ns);
	s->count.promotions++;
}

struct knocked {
	struct ndd_shard *shard;
	uint64_t now_ns;
};

static void
on_knock(void *arg, uint32_t place)
{
	const struct knocked *k = arg;
	struct ndd_shard_session *ss = k->shard->place[place];

	if (ss != NULL)
		ndd_lcore_promote(k->shard, ss, k->now_ns);
}

void
ndd_lcore_knocks(struct ndd_shard *s, uint64_t now_ns)
{
	struct knocked k = {s, now_ns};

	ndd_knocks_take(&s->knocks, on_knock, &k);
}

/* False: it rang in the same moment and stays awake. */
static bool
session_demote(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns)
{
	if (ss->summary != 0 || ss->admin_due || !ndsh_doorbell_sleep(ss->page)) {
		ss->rung_ns = now_ns;
		return false;
	}
	session_rest(s, ss);
	s->count.demotions++;
	return true;
}

bool
ndd_lcore_demote_all(struct ndd_shard *s, uint64_t now_ns)
{
	struct ndd_shard_session *ss;

	while ((ss = session_next(s)) != NULL)
		if (!session_demote(s, ss, now_ns))
			return false;
	return true;
}

/* A long ring is served over many turns: the other sessions, and packets, come in between. */
static unsigned
session_serve_admin(struct ndd_shard *s, struct ndd_shard_session *ss)
{
	unsigned n = roce_admin_serve(s->engine, &ss->admin, NDD_ADMIN);

	ss->admin_due = n == NDD_ADMIN;
	return n;
}

/* A doorbell that queue pairs share may be that of any. Returns how many places were looked at. */
static unsigned
session_rang(struct ndd_shard *s, struct ndd_shard_session *ss, uint32_t doorbell)
{
	unsigned n = 0;

	for (uint32_t i = doorbell; i < ss->qps; i += NDSH_DOORBELLS, n++)
		if (ss->qp[i] != NULL)
			roce_qp_doorbell(s->engine, &ss->client, ss->qp[i]);
	return n != 0 ? n : 1;
}

/* The client writes the bits: numbers without a queue pair are passed over. */
static unsigned
session_poll(struct ndd_shard *s, struct ndd_shard_session *ss)
{
	unsigned n = 0;
	uint32_t word;
	uint64_t bits;

	if (ss->summary == 0)
		ss->summary = ndsh_doorbell_begin(ss->page);
	for (unsigned i = 0; i < NDD_DOORBELL_WORDS && n < NDD_DOORBELLS_SESSION; i++) {
		if (!ndsh_doorbell_take(ss->page, &ss->summary, &word, &bits))
			break;
		while (bits != 0) {
			uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(bits);

			bits &= bits - 1;
			if (number == NDSH_ADMIN_DOORBELL) {
				ss->admin_due = true;
				n++;
			} else {
				n += session_rang(s, ss, number);
			}
		}
	}
	return n;
}

/* Returns how many rang, and registrations that were served. */
static unsigned
session_look(
	struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns, unsigned *registered)
{
	unsigned n = session_poll(s, ss);

	if (ss->admin_due) {
		unsigned served = session_serve_admin(s, ss);

		*registered += served;
		n += served;
	}
	ss->looked = s->looks;
	if (n != 0)
		ss->rung_ns = now_ns;
	else if (now_ns - ss->rung_ns > NDD_DEMOTE_NS)
		(void)session_demote(s, ss, now_ns);
	return n;
}

/*
 * The next session is one of the next principal: however many sessions one of them has, and however
 * many doorbells these ring, another one waits for a session or two of each principal before it.
 * One that is met again in a turn was looked at: its principal has no other.
 */
unsigned
ndd_lcore_doorbells(struct ndd_shard *s, uint64_t now_ns, unsigned *registered)
{
	uint32_t left = s->awake < NDD_DOORBELL_SESSIONS ? s->awake : NDD_DOORBELL_SESSIONS;
	struct ndd_shard_session *ss;
	unsigned n = 0;

	*registered = 0;
	s->looks++;
	for (; left != 0 && n < NDD_DOORBELLS && (ss = session_next(s)) != NULL; left--)
		if (ss->looked != s->looks)
			n += session_look(s, ss, now_ns, registered);
	s->count.doorbells += n;
	return n;
}
