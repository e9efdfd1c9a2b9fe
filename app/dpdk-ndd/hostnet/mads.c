/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/mads.h"

#include "base/share.h"
#include "platform/clock.h"

#define MAD_WAIT_NS (3 * NDD_S)

void
ndd_mads_free(struct ndd_mads *m, struct ndd_mad *mad)
{
	mad->until_ns = 0;
	m->waiting--;
}

/* The network says nothing of an address that does not answer. */
static void
mads_expire(struct ndd_mads *m, uint64_t now_ns)
{
	for (uint32_t i = 0; i < NDD_MADS_WAITING; i++)
		if (m->mad[i].until_ns != 0 && m->mad[i].until_ns <= now_ns)
			ndd_mads_free(m, &m->mad[i]);
}

static uint32_t
mads_to(const struct ndd_mads *m, const struct roce_gid *gid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < NDD_MADS_WAITING; i++)
		n += m->mad[i].until_ns != 0 && roce_gid_equal(&m->mad[i].tx.dgid, gid);
	return n;
}

/* What strangers brought about has a part of the places, of which one destination may have as many
 * as it leaves free. */
static bool
mads_has_room(const struct ndd_mads *m, const struct roce_cm_tx *tx)
{
	const uint32_t room = NDD_MADS_WAITING - NDD_MADS_OURS;

	if (tx->ours)
		return m->waiting < NDD_MADS_WAITING;
	return base_share_has_room(mads_to(m, &tx->dgid), room, m->waiting, 1);
}

void
ndd_mads_keep(struct ndd_mads *m, uint64_t now_ns, const struct roce_cm_tx *tx)
{
	struct ndd_mad *mad = m->mad;

	mads_expire(m, now_ns);
	if (!mads_has_room(m, tx))
		return;
	while (mad->until_ns != 0)
		mad++;
	*mad = (struct ndd_mad){.until_ns = now_ns + MAD_WAIT_NS, .tx = *tx};
	m->waiting++;
}
