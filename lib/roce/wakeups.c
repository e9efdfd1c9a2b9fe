/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which client is woken next. A wake-up is a system call of the host, and a principal may have a
 * limit on how many it gets in a second. A principal that has used its last token rests: its line
 * leaves the shard's lines, and whatever fires goes on to join it. So each principal among the
 * lines has a token, no look is in vain, and the clients of one that rests keep their turns.
 *
 * All rests are equally long. So principals that rest stand in the order in which they go on, and a
 * turn looks at the first few alone. Tokens that come during a rest are not lost.
 */
#include "roce/wakeups.h"

#include "base/list.h"
#include "roce/shard/line.h"
#include "roce/shard/principal.h"

#define LOOKS 4u /* at those whose rest is over, each time that a client is asked for */

void
roce_wakeups_join(struct roce_shard *s, struct roce_cq *cq)
{
	if (base_linked(&cq->fired))
		return;
	cq->rests = cq->principal->wakeups.rests;
	roce_line_join(s, cq->client, ROCE_LINE_FIRED, &cq->fired);
}

static struct roce_principal *
first_resting(const struct roce_shard *s)
{
	return base_container(s->resting.next, struct roce_principal, line[ROCE_LINE_FIRED].link);
}

static void
principal_rest(struct roce_shard *s, struct roce_principal *p)
{
	struct base_link *line = &p->line[ROCE_LINE_FIRED].link;

	p->wakeups.until_ns = s->now_ns + ROCE_WAKEUPS_REST_NS;
	base_list_remove(line);
	base_list_append(&s->resting, line);
}

static void
principal_go_on(struct roce_shard *s, struct roce_principal *p)
{
	struct base_link *line = &p->line[ROCE_LINE_FIRED].link;

	p->wakeups.rests++;
	base_list_remove(line);
	base_list_append(&s->line[ROCE_LINE_FIRED], line);
}

static void
principals_look(struct roce_shard *s)
{
	for (unsigned i = 0; i < LOOKS && roce_wakeups_next(s) <= s->now_ns; i++) {
		struct roce_principal *p = first_resting(s);

		if (roce_wakeups_left(&p->wakeups, s->now_ns))
			principal_go_on(s, p);
		else
			principal_rest(s, p);
	}
}

uint64_t
roce_wakeups_next(const struct roce_shard *s)
{
	return base_list_empty(&s->resting) ? UINT64_MAX : first_resting(s)->wakeups.until_ns;
}

/* A wake-up that waited while its principal rested was delayed by that. Without a limit a token
 * takes no time to come back. */
static void
principal_charge(struct roce_shard *s, const struct roce_cq *cq)
{
	struct roce_principal *p = cq->principal;
	struct roce_wakeups *w = &p->wakeups;

	if (cq->rests != w->rests) {
		w->delayed++;
		s->count.wakeups_delayed++;
	}
	base_bucket_take(&w->tokens, s->now_ns, w->token_ns);
	if (!roce_wakeups_left(w, s->now_ns))
		principal_rest(s, p);
}

struct roce_cq *
roce_shard_fired_cq(struct roce_shard *s, uint64_t now_ns)
{
	struct base_link *l;
	struct roce_cq *cq;

	s->now_ns = now_ns;
	principals_look(s);
	l = roce_line_next(s, ROCE_LINE_FIRED);
	if (l == NULL)
		return NULL;
	base_list_remove(l);
	cq = base_container(l, struct roce_cq, fired);
	principal_charge(s, cq);
	return cq;
}
