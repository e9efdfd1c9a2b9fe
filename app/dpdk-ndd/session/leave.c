/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/leave.h"

#include "lcore/call.h"
#include "session/class.h"
#include "session/session.h"

struct leaving {
	const struct ndd_class *class;
	struct ndd_session *session;
	void *const *object;
	uint32_t objects, gone; /* the first ones are gone from the shard */
};

static void
on_shard_leave(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct leaving *l = arg;

	(void)now_ns;
	while (l->gone < l->objects && l->class->leave(shard, l->session, l->object[l->gone]))
		l->gone++;
}

uint32_t
ndd_objects_leave(const struct ndd_class *c, struct ndd_session *s, void *const *object, uint32_t n)
{
	struct leaving l = {.class = c, .session = s, .object = object, .objects = n};

	if (c->leave == NULL)
		return n;
	ndd_shard_call(s->shard, on_shard_leave, &l);
	return l.gone;
}

bool
ndd_object_leave(const struct ndd_class *c, struct ndd_session *s, void *object)
{
	return ndd_objects_leave(c, s, &object, 1) == 1;
}

void
ndd_object_free(const struct ndd_class *c, struct ndd_session *s, void *object)
{
	while (!ndd_object_leave(c, s, object))
		;
	c->free(s, object);
}
