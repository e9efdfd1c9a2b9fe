/* SPDX-License-Identifier: BSD-3-Clause */
#include "left.h"

#include <dirent.h>

#include "control/daemon.h"
#include "fuzz.h"

unsigned
left_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	fuzz_need(dir != NULL, "/proc");
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static void
no_list_is_left(const struct ndd *d)
{
	fuzz_need(TAILQ_EMPTY(&d->followers.all) && TAILQ_EMPTY(&d->groups),
		"connections, handles or groups");
	for (unsigned i = 0; i < NDD_WAITS; i++)
		fuzz_need(TAILQ_EMPTY(&d->followers.waiting[i]), "one that waits");
	for (unsigned i = 0; i < NDD_PEER_BUCKETS; i++)
		fuzz_need(LIST_EMPTY(&d->peers.bucket[i]), "a peer's queue pair");
}

static void
no_port_is_left(const struct ndd_ports *t)
{
	for (unsigned i = 0; i < NDD_PORT_BUCKETS; i++)
		fuzz_need(LIST_EMPTY(&t->bucket[i]), "a port");
	for (unsigned i = 0; i < NDD_PORT_PAYER_BUCKETS; i++)
		fuzz_need(LIST_EMPTY(&t->payers.bucket[i]), "what pays for a port");
}

void
left_nothing(struct ndd *d, const struct ndd_shard *shard, unsigned files)
{
	struct roce_cm_usage cm;
	struct roce_usage u;

	fuzz_need(ndd_accounts_end_couriers(&d->accounts), "couriers that do not end");
	fuzz_need(d->accounts.couriers.ending == 0, "files of couriers");
	roce_shard_usage(shard->engine, &u);
	roce_cm_usage(d->cm, &cm);
	fuzz_need(d->session_count == 0, "%u sessions", d->session_count);
	fuzz_need(u.qps + u.cqs + u.pds + u.mrs + u.srqs + u.wqes + u.timers == 0,
		"left: %u queue pairs, %u completion queues, %u domains, %u regions", u.qps, u.cqs,
		u.pds, u.mrs);
	fuzz_need(cm.listeners == 0, "%u listeners", cm.listeners);
	no_list_is_left(d);
	no_port_is_left(&d->ports);
	no_port_is_left(&d->ud_ports);
	fuzz_need(shard->sessions == 0, "the lcore has a session");
	fuzz_need(left_files() == files, "%u files instead of %u", left_files(), files);
}
