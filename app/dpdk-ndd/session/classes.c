/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/log.h"
#include "session/class.h"
#include "session/session.h"

/*
 * The lcore gives up the session before anything of it goes: the client goes on ringing, and what
 * it asks for then must not meet what is being taken down. Then from the users to the used: the
 * peers get their DREQs first, the memory goes last. The admin ring ends when no window is left
 * that could keep a region; the mover goes when no region of its memory is left.
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
	&ndd_segment_class,
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
	for (const struct ndd_class *const *c = ndd_classes; *c != NULL; c++)
		if ((*c)->end == NULL)
			ndd_slots_init(table_of(s, *c), (*c)->most(cfg), (*c)->plain_handles);
}

void
ndd_tables_fini(struct ndd_session *s)
{
	for (const struct ndd_class *const *c = ndd_classes; *c != NULL; c++)
		if ((*c)->end == NULL)
			ndd_slots_fini(table_of(s, *c));
}

static void
table_empty(struct ndd_session *s, const struct ndd_class *c)
{
	uint32_t pos = 0, n = 0;
	void *object;

	for (; (object = ndd_slots_next(table_of(s, c), &pos)) != NULL; n++)
		c->free(s, object);
	if (n != 0)
		ndd_debug("session %lu: %u of %s freed at its end", s->serial, n, c->name);
}

void
ndd_tables_empty(struct ndd_session *s)
{
	for (const struct ndd_class *const *c = ndd_classes; *c != NULL; c++)
		if ((*c)->end != NULL)
			(*c)->end(s);
		else
			table_empty(s, *c);
}

enum ndsh_status
ndd_class_destroy(const struct ndd_class *c, struct ndd_session *s, const struct ndsh_id_msg *m)
{
	void *object = ndd_slots_get(table_of(s, c), m->id);

	if (object == NULL)
		return NDSH_ERR_INVALID_ID;
	if (c->destroy != NULL)
		return c->destroy(s, object);
	c->free(s, object);
	return NDSH_OK;
}
