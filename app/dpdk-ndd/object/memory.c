/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments are the clients' memory, but what the daemon has to spend on them is its own: page
 * tables, locked memory, mappings. So they count from the request until the daemon has unmapped
 * them, whether or not the session still lives.
 */
#include "object/memory.h"

#include <inttypes.h>

#include "control/daemon.h"
#include "session/session.h"

/* Half of what Linux lets a process have (vm.max_map_count). Half of them are divided among the
 * sessions that there may be; the other half is for sessions that need more. */
#define MAPPINGS_SURE	  16384u
#define MAPPINGS_BORROWED 16384u

static bool
memory_refuse(struct ndd_session *s, uint64_t bytes, const char *limit)
{
	ndd_account_refuse(&s->account, "no segment of %" PRIu64 " bytes: %s", bytes, limit);
	return false;
}

bool
ndd_memory_take(struct ndd_session *s, struct ndd_memory *m, uint64_t bytes)
{
	struct ndd *d = s->daemon;
	const struct config *cfg = d->cfg;
	bool borrowed = s->segments.used >= MAPPINGS_SURE / cfg->max_sessions;

	if (bytes > cfg->max_memory_bytes - s->segment_bytes)
		return memory_refuse(s, bytes, "limits.memory_mb of the session are in use");
	if (borrowed && d->borrowed_mappings == MAPPINGS_BORROWED)
		return memory_refuse(s, bytes, "all sessions together have too many segments");
	if (!ndd_account_take_with_files(&s->account, CONFIG_SHARE_memory_mb, bytes, 1))
		return false;
	*m = (struct ndd_memory){
		.principal = s->account.principal, .bytes = bytes, .borrowed = borrowed};
	s->segment_bytes += bytes;
	d->borrowed_mappings += borrowed;
	return true;
}

void
ndd_memory_give(struct ndd *d, struct ndd_session *s, struct ndd_memory *m)
{
	struct ndd_account account = {.all = &d->accounts, .principal = m->principal};

	if (s != NULL)
		s->segment_bytes -= m->bytes;
	ndd_account_give_with_files(&account, CONFIG_SHARE_memory_mb, m->bytes, 1);
	d->borrowed_mappings -= m->borrowed;
}
