/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/class.h"
#include "session/leave.h"
#include "session/session.h"

#define SMALL_ONES 128u /* that leave the shard in one call: some 20 us of the lcore */

/*
 * The lcore gives up the session before anything of it goes: the client goes on ringing, and what
 * it asks for then must not meet what is being taken down. Then from the users to the used: the
 * peers get their DREQs first, the memory goes last. The admin ring ends when no window is left
 * that could keep a region; the mover goes when no region of its memory is left; what made all of
 * them one client's goes behind the last of the engine's queues.
 */
const struct ndd_class *const ndd_classes[] = {
	&ndd_lcore_class,
	&ndd_listener_class,
	&ndd_conn_class,
	&ndd_endpoint_class,
	&ndd_sidr_request_class,
	&ndd_qp_class,
	&ndd_ah_class,
	&ndd_srq_class,
	&ndd_mw_class,
	&ndd_frmr_class,
	&ndd_admin_class,
	&ndd_cq_class,
	&ndd_mover_class,
	&ndd_pd_class,
	&ndd_membership_class,
	&ndd_segment_class,
	&ndd_worker_class,
	NULL,
};

static struct ndd_slots *
table_of(struct ndd_session *s, const struct ndd_class *c)
{
	return (struct ndd_slots *)((char *)s + c->table);
}

void
ndd_tables_init(struct ndd_session *s, const struct config *cfg)
{
	for (const struct ndd_class *const *c = ndd_classes; *c != NULL; c++) {
		if ((*c)->end != NULL)
			continue;
		ndd_slots_init(table_of(s, *c), (*c)->most(cfg), (*c)->plain_handles);
		ndd_slots_charge(table_of(s, *c), &s->account, (*c)->share, (*c)->files);
	}
}

void
ndd_tables_fini(struct ndd_session *s)
{
	for (const struct ndd_class *const *c = ndd_classes; *c != NULL; c++)
		if ((*c)->end == NULL)
			ndd_slots_fini(table_of(s, *c));
}

/* True: the session has no more objects of this class. */
static bool
class_empty_some(const struct ndd_class *c, struct ndd_session *s)
{
	uint32_t most = c->small ? SMALL_ONES : 1, at = s->ending.object, n = 0, gone;
	void *object[SMALL_ONES];

	while (n < most && (object[n] = ndd_slots_next(table_of(s, c), &at)) != NULL)
		n++;
	if (n == 0)
		return true;
	gone = ndd_objects_leave(c, s, object, n);
	for (uint32_t i = 0; i < gone; i++)
		c->free(s, object[i]);
	if (gone == n)
		s->ending.object = at; /* else the rest is found from the same place */
	return false;
}

/* Each step is a few calls of the lcore at most; a session with many objects takes many steps, and
 * others have their turn between them. */
bool
ndd_tables_empty_some(struct ndd_session *s)
{
	const struct ndd_class *c = ndd_classes[s->ending.class];

	if (c == NULL)
		return true;
	if (c->end != NULL ? c->end(s) : class_empty_some(c, s)) {
		s->ending.class ++;
		s->ending.object = s->ending.part = 0;
	}
	return false;
}

enum ndsh_status
ndd_class_destroy(const struct ndd_class *c, struct ndd_session *s, const struct ndsh_id_msg *m)
{
	void *object = ndd_slots_get(table_of(s, c), m->id);

	if (object == NULL)
		return NDSH_ERR_INVALID_ID;
	if (c->destroy != NULL)
		return c->destroy(s, object);
	ndd_object_free(c, s, object);
	return NDSH_OK;
}
