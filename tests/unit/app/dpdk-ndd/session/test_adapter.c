/* SPDX-License-Identifier: BSD-3-Clause */
/* OPEN: the address, the port and the shard of a session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "courier/door.h"
#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"
#include "session/adapter.h"
#include "session/seat.h"

union reply {
	struct ndsh_open_reply open;
	uint8_t bytes[NDSH_MSG_BYTES];
};

/* The status of an OPEN of that address; *reply is its reply, *s the session. */
static enum ndsh_status
open_at(struct ndd_rig *r, const char *address, uint32_t placement, uint32_t flags,
	union reply *reply, struct ndd_session **s)
{
	const struct net_ip ip = net_rig_ip(address);
	struct ndsh_open open = {.h.type = NDSH_MSG_OPEN, .placement = placement, .flags = flags};
	struct ndsh_hello hello;
	int client = ndd_rig_connect(r, s);

	ndsh_hello_fill(&hello);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &hello, reply), NDSH_OK));
	memcpy(open.addr.ip, ip.b, 16);
	return ndd_rig_ask(r, client, &open, reply);
}

Test(adapter, open_tells_the_limits)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;

	cr_assert(eq(i32, open_at(r, NDD_RIG_IP, NDSH_PLACE_ANY, 0, &reply, &s), NDSH_OK));
	cr_expect(eq(u64, reply.open.adapter_id, 1), "the port, from 1 on");
	cr_expect(eq(u64, reply.open.max_mr_bytes, r->cfg.max_memory_bytes));
	cr_expect(eq(u32, reply.open.max_qps, r->cfg.max_qps));
	cr_expect(eq(u32, reply.open.max_cqs, r->cfg.max_cqs));
	cr_expect(eq(u32, reply.open.max_mrs, r->cfg.max_mrs));
	cr_expect(eq(u32, reply.open.path_mtu, 1024), "of an Ethernet MTU of 1500");
	cr_expect(eq(u32, reply.open.numa_node, 0), "also when the shard's is not known");
	cr_expect(eq(i32, s->state, NDSH_ST_OPEN));
	cr_expect(not(s->no_flush));
}

/* A socket could bring the daemon files of the client's, and closing one of those may block. */
Test(adapter, nothing_but_a_count_comes_by_the_wake_fd)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	char target[64] = "", path[64];

	cr_assert(eq(i32, open_at(r, NDD_RIG_IP, NDSH_PLACE_ANY, 0, &reply, &s), NDSH_OK));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ndd_door_fd(s->lcore->door));
	cr_assert_gt(readlink(path, target, sizeof(target) - 1), 0);
	cr_expect(eq(str, target, "anon_inode:[eventfd]"));
}

/* A courier takes as long to close it as the client has waiters. A client that makes and destroys
 * all the while must not have more open files than it pays for, nor leave them to its next
 * session. */
Test(adapter, the_file_of_a_bell_is_paid_for_until_it_is_closed)
{
	struct ndd_rig *r = ndd_rig_new();
	const struct base_share *files;
	struct ndd_session *s;
	struct ndd_bell *bell;
	union reply reply;
	uint64_t used;
	int client_end;

	cr_assert(eq(i32, open_at(r, NDD_RIG_IP, NDSH_PLACE_ANY, 0, &reply, &s), NDSH_OK));
	files = &s->account.principal->share[0][CONFIG_SHARE_descriptors];
	used = files->used;
	bell = ndd_session_bell(s, &client_end);
	cr_assert_not_null(bell);
	ndd_session_bell_free(s, bell);
	cr_expect(eq(u64, files->used, used + 1));
	cr_expect(eq(u32, s->seat->holders, 2));
	ndd_rig_turn(r);
	cr_expect(eq(u64, files->used, used));
	cr_expect(eq(u32, s->seat->holders, 1));
	close(client_end);
}

Test(adapter, an_address_of_another_host_is_refused)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;

	cr_expect(eq(i32, open_at(r, "10.77.0.2", NDSH_PLACE_ANY, 0, &reply, &s),
		NDSH_ERR_ADDRESS_NOT_LOCAL));
	cr_expect(eq(i32, s->state, NDSH_ST_HELLO), "it may try another one");
	cr_expect(eq(ptr, s->lcore, NULL));
}

Test(adapter, flags_that_are_unknown_are_refused)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;

	cr_expect(eq(i32, open_at(r, NDD_RIG_IP, NDSH_PLACE_ANY, 2, &reply, &s),
		NDSH_ERR_NOT_SUPPORTED));
	cr_expect(eq(i32, open_at(r, NDD_RIG_IP, NDSH_PLACE_ANY, NDSH_OPEN_NO_FLUSH, &reply, &s),
		NDSH_OK));
	cr_expect(s->no_flush);
}

/* The shard that is asked for, else the one with the fewest sessions. */
Test(adapter, sessions_are_spread_over_the_shards)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_shard more[2] = {
		{.id = 1, .numa_node = 3, .engine = r->shard.engine},
		{.id = 2, .numa_node = -1, .engine = r->shard.engine},
	};
	struct ndd_session *s;
	union reply reply;
	static const struct {
		uint32_t wanted, got;
	} rows[] = {
		{NDSH_PLACE_ANY, 0}, {1, 1}, {1, 1}, {NDSH_PLACE_ANY, 2}, {NDSH_PLACE_ANY, 0},
		{NDSH_PLACE_ANY, 2}, {3, 0}, /* there is no such shard */
	};

	r->cfg.max_sessions = sizeof(rows) / sizeof(rows[0]);
	r->cfg.lcores = 3;
	ndd_rig_principals(r);
	r->d.plane.shard[1] = &more[0];
	r->d.plane.shard[2] = &more[1];
	r->d.plane.shards = 3;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert(eq(i32, open_at(r, NDD_RIG_IP, rows[i].wanted, 0, &reply, &s), NDSH_OK));
		cr_expect(eq(u32, reply.open.shard, rows[i].got), "row %zu", i);
		cr_expect(eq(u32, s->shard->id, rows[i].got));
		cr_expect(eq(u32, reply.open.numa_node, rows[i].got == 1 ? 3 : 0));
	}
}
