/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's table of local CM ports. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "account/account.h"
#include "conn/ports.h"

#define LISTENER  NDD_PORT_LISTENER
#define CONNECTOR NDD_PORT_CONNECTOR
#define ENDPOINT  NDD_PORT_ENDPOINT
#define ACCEPTED  NDD_PORT_ACCEPTED

/* Address 0 is the wildcard. */
static enum ndsh_status
take(struct ndd_ports *t, struct ndd_port *p, enum ndd_port_use use, uint8_t host, uint16_t port)
{
	const struct roce_cm_addr addr = {.gid.raw = {[15] = host}, .port = port};

	if (use != ACCEPTED)
		return ndd_port_take(t, NULL, p, use, 0, &addr);
	return ndd_port_accepted(t, NULL, p, 0, &addr);
}

/* checks R-LSN-01[5]: of two adapters each has its own wildcard, and no address of the other is in
 * it; of one, each use is in the way of the other. */
Test(ports, R_LSN_01_the_wildcard_does_not_span_adapters)
{
	static const struct roce_cm_addr any = {.port = 7000},
					 here = {.gid.raw = {[15] = 1}, .port = 7000};
	const struct roce_cm_addr *const addr[] = {&any, &here};

	for (unsigned i = 0; i < 4; i++) {
		struct ndd_ports *t = calloc(1, sizeof(*t));
		struct ndd_port p[3] = {0};

		cr_assert(
			eq(i32, ndd_port_take(t, NULL, &p[0], LISTENER, 0, addr[i & 1]), NDSH_OK));
		if (i != 3) /* an address is of one adapter */
			cr_expect(eq(i32, ndd_port_take(t, NULL, &p[1], LISTENER, 1, addr[i >> 1]),
					  NDSH_OK),
				"%u", i);
		cr_expect(eq(i32, ndd_port_take(t, NULL, &p[2], LISTENER, 0, addr[i >> 1]),
				  NDSH_ERR_PORT_IN_USE),
			"%u", i);
		free(t);
	}
}

/* checks R-CONN-15[3,7,10]: everyone against everyone at one port of one address. */
Test(ports, R_CONN_15_who_may_have_a_port_that_another_has)
{
	static const struct {
		enum ndd_port_use first, second;
		enum ndsh_status status;
	} rows[] = {
		{LISTENER, LISTENER, NDSH_ERR_PORT_IN_USE},
		{LISTENER, CONNECTOR, NDSH_ERR_PORT_IN_USE},
		{LISTENER, ACCEPTED, NDSH_OK},
		{CONNECTOR, LISTENER, NDSH_ERR_PORT_IN_USE},
		{CONNECTOR, CONNECTOR, NDSH_ERR_PORT_IN_USE},
		{LISTENER, ENDPOINT, NDSH_ERR_PORT_IN_USE},
		{CONNECTOR, ENDPOINT, NDSH_ERR_PORT_IN_USE},
		{ENDPOINT, LISTENER, NDSH_ERR_PORT_IN_USE},
		{ENDPOINT, CONNECTOR, NDSH_ERR_PORT_IN_USE},
		{ENDPOINT, ENDPOINT, NDSH_ERR_PORT_IN_USE},
		{ACCEPTED, ENDPOINT, NDSH_ERR_ADDRESS_IN_USE},
		{ACCEPTED, LISTENER, NDSH_ERR_PORT_IN_USE},
		{ACCEPTED, CONNECTOR, NDSH_ERR_ADDRESS_IN_USE},
		{ACCEPTED, ACCEPTED, NDSH_OK},
	};
	static const uint8_t hosts[][3] = {/* first, second, do they overlap? */
		{1, 1, 1}, {0, 1, 1}, {1, 0, 1}, {0, 0, 1}, {1, 2, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t h = 0; h < sizeof(hosts) / sizeof(hosts[0]); h++) {
			struct ndd_ports *t = calloc(1, sizeof(*t));
			struct ndd_port first = {0}, second = {0}, other = {0};
			enum ndsh_status want = hosts[h][2] ? rows[i].status : NDSH_OK;

			cr_assert(eq(
				i32, take(t, &first, rows[i].first, hosts[h][0], 7000), NDSH_OK));
			cr_expect(eq(i32, take(t, &other, CONNECTOR, hosts[h][1], 7001), NDSH_OK));
			cr_expect(
				eq(i32, take(t, &second, rows[i].second, hosts[h][1], 7000), want),
				"row %zu, hosts %zu", i, h);
			free(t);
		}
	}
}

/* checks R-CONN-15[10], R-LSN-07[1,4,5] */
Test(ports, R_LSN_07_free_when_the_last_has_gone)
{
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct ndd_port l = {0}, a = {0}, b = {0}, c = {0};

	cr_assert(eq(i32, take(t, &l, LISTENER, 0, 7000), NDSH_OK));
	cr_assert(eq(i32, take(t, &a, ACCEPTED, 1, 7000), NDSH_OK));
	cr_assert(eq(i32, take(t, &b, ACCEPTED, 1, 7000), NDSH_OK));
	ndd_port_give(&l);
	cr_expect(eq(i32, take(t, &l, LISTENER, 0, 7000), NDSH_ERR_PORT_IN_USE));
	cr_expect(eq(i32, take(t, &c, CONNECTOR, 2, 7000), NDSH_OK), "another address");
	ndd_port_give(&c);
	ndd_port_give(&a);
	cr_expect(eq(i32, take(t, &c, CONNECTOR, 1, 7000), NDSH_ERR_ADDRESS_IN_USE));
	ndd_port_give(&b);
	ndd_port_give(&b); /* has none any more */
	cr_expect(eq(i32, take(t, &c, CONNECTOR, 1, 7000), NDSH_OK));
	free(t);
}

/*
 * checks R-CONN-15[4], R-LSN-07[3-5]: any number at an endpoint's port, but each pair of
 * addresses once.
 */
Test(ports, R_LSN_07_shared_with_different_peers)
{
	const struct roce_cm_addr peers[] = {
		{{.raw = {9}}, 1}, {{.raw = {9}}, 2}, {{.raw = {8}}, 1}};
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct ndd_port e = {0}, s[3] = {0}, again = {0}, other = {0};

	cr_assert(eq(i32, take(t, &e, ENDPOINT, 1, 7000), NDSH_OK));
	for (int i = 0; i < 3; i++) {
		cr_expect(eq(i32, ndd_port_share(t, &s[i], &e, &peers[i]), NDSH_OK));
		cr_expect(
			eq(i32, ndd_port_share(t, &again, &e, &peers[i]), NDSH_ERR_ADDRESS_IN_USE));
	}
	ndd_port_give(&s[1]);
	cr_expect(eq(i32, ndd_port_share(t, &s[1], &e, &peers[1]), NDSH_OK));
	ndd_port_give(&e);
	for (int i = 0; i < 3; i++) {
		cr_expect(eq(i32, take(t, &other, LISTENER, 1, 7000), NDSH_ERR_PORT_IN_USE));
		cr_expect(eq(i32, take(t, &other, CONNECTOR, 1, 7000), NDSH_ERR_ADDRESS_IN_USE));
		ndd_port_give(&s[i]);
	}
	cr_expect(eq(i32, take(t, &other, LISTENER, 1, 7000), NDSH_OK));
	free(t);
}

/* checks R-CONN-15[1,2,8]: every ephemeral port once, and none that was taken by number. */
Test(ports, R_CONN_15_ephemeral_ports)
{
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct ndd_port *p = calloc(NDD_EPHEMERAL_COUNT, sizeof(*p)), one = {0}, by_number = {0};
	bool *seen = calloc(65536, sizeof(*seen));

	t->next = 0xfffffff0u; /* wraps on the way */
	cr_assert(eq(i32, take(t, &by_number, LISTENER, 0, 54321), NDSH_OK));
	for (uint32_t i = 0; i < NDD_EPHEMERAL_COUNT - 1; i++) {
		cr_assert(eq(i32, take(t, &p[i], CONNECTOR, 1, 0), NDSH_OK));
		cr_assert(ge(u16, p[i].addr.port, 49152));
		cr_assert(not(seen[p[i].addr.port]));
		cr_assert(ne(u16, p[i].addr.port, 54321));
		seen[p[i].addr.port] = true;
	}
	cr_expect(eq(i32, take(t, &one, CONNECTOR, 1, 0), NDSH_ERR_NO_FREE_PORT));
	cr_expect(eq(i32, take(t, &one, LISTENER, 1, 0), NDSH_ERR_NO_FREE_PORT));
	ndd_port_give(&p[77]);
	cr_assert(eq(i32, take(t, &one, CONNECTOR, 1, 0), NDSH_OK));
	cr_expect(eq(u16, one.addr.port, p[77].addr.port));
	free(seen);
	free(p);
	free(t);
}

/* ---- who pays ---- */

#define PORTS_LIMIT 2u

static const struct config_principal few_ports = {.allow = true,
	.has_limit = {[CONFIG_SHARE_ports] = true},
	.limit = {[CONFIG_SHARE_ports] = PORTS_LIMIT}};

/* A client of a principal that may have PORTS_LIMIT ports. */
struct payer {
	struct ndd_accounts all;
	struct ndd_principal principal;
	struct ndd_account account;
};

static struct payer *
payer_new(void)
{
	struct payer *y = calloc(1, sizeof(*y));

	y->all.pool[0][CONFIG_SHARE_ports].total = NDD_EPHEMERAL_COUNT;
	cr_assert(base_share_begin(&y->all.pool[0][CONFIG_SHARE_ports],
		&y->principal.share[0][CONFIG_SHARE_ports], 0, PORTS_LIMIT));
	y->principal.rule = &few_ports;
	y->account = (struct ndd_account){.all = &y->all, .principal = &y->principal};
	return y;
}

static uint64_t
paid(const struct payer *y)
{
	return y->principal.share[0][CONFIG_SHARE_ports].used;
}

static const struct roce_cm_addr *
at_port(uint16_t port)
{
	static struct roce_cm_addr addr = {.gid.raw = {[15] = 1}};

	addr.port = port;
	return &addr;
}

/* A port counts as long as it is not free for others, whatever of it is closed first. */
Test(ports, connections_pay_for_what_their_listener_leaves_to_them)
{
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct payer *y = payer_new();
	struct ndd_port l[PORTS_LIMIT + 1] = {0}, a[PORTS_LIMIT] = {0}, b = {0};

	for (unsigned i = 0; i < PORTS_LIMIT; i++) {
		const struct roce_cm_addr *at = at_port((uint16_t)(7000 + i));

		cr_assert(eq(i32, ndd_port_take(t, &y->account, &l[i], LISTENER, 0, at), NDSH_OK));
		cr_assert(eq(i32, ndd_port_accepted(t, &y->account, &a[i], 0, at), NDSH_OK));
		cr_expect(eq(u64, paid(y), i + 1), "accepted connections are for nothing");
		ndd_port_give(&l[i]);
		cr_expect(eq(u64, paid(y), i + 1));
	}
	cr_expect(
		eq(i32, ndd_port_take(t, &y->account, &l[PORTS_LIMIT], LISTENER, 0, at_port(7100)),
			NDSH_ERR_NO_RESOURCES));
	cr_assert(eq(i32, ndd_port_accepted(t, &y->account, &b, 0, at_port(7000)), NDSH_OK));
	ndd_port_give(&a[0]);
	cr_expect(eq(u64, paid(y), 2), "the next one pays");
	ndd_port_give(&b);
	cr_expect(eq(u64, paid(y), 1));
	ndd_port_give(&a[1]);
	cr_expect(eq(u64, paid(y), 0));
	free(y);
	free(t);
}

Test(ports, connections_pay_for_what_their_endpoint_leaves_to_them)
{
	const struct roce_cm_addr peers[] = {{.gid.raw = {9}}, {.gid.raw = {8}}};
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct payer *y = payer_new();
	struct ndd_port e = {0}, s[2] = {0};

	cr_assert(eq(i32, ndd_port_take(t, &y->account, &e, ENDPOINT, 0, at_port(7000)), NDSH_OK));
	for (unsigned i = 0; i < 2; i++)
		cr_assert(eq(i32, ndd_port_share(t, &s[i], &e, &peers[i]), NDSH_OK));
	cr_expect(eq(u64, paid(y), 1));
	ndd_port_give(&s[1]);
	cr_expect(eq(u64, paid(y), 1));
	cr_assert(eq(i32, ndd_port_share(t, &s[1], &e, &peers[1]), NDSH_OK));
	ndd_port_give(&e);
	cr_expect(eq(u64, paid(y), 1));
	ndd_port_give(&s[0]);
	cr_expect(eq(u64, paid(y), 1));
	ndd_port_give(&s[1]);
	cr_expect(eq(u64, paid(y), 0));
	free(y);
	free(t);
}

/* A request that is accepted when its listener has gone takes a port of its own account; what
 * others have there, or the account elsewhere, does not pay for it. */
Test(ports, accepted_behind_its_listener)
{
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct payer *y = payer_new(), *other = payer_new();
	struct ndd_port l = {0}, elsewhere = {0}, nic = {0}, a[2] = {0};

	cr_assert(eq(
		i32, ndd_port_take(t, &other->account, &l, LISTENER, 0, at_port(7000)), NDSH_OK));
	cr_assert(eq(i32,
		ndd_port_take(
			t, &y->account, &elsewhere, LISTENER, 0, at_port(7000 + NDD_PORT_BUCKETS)),
		NDSH_OK));
	cr_assert(eq(i32, ndd_port_accepted(t, &y->account, &a[0], 0, at_port(7000)), NDSH_OK));
	cr_expect(eq(u64, paid(y), 2));
	cr_expect(eq(i32, ndd_port_accepted(t, &y->account, &nic, 1, at_port(7000)),
		NDSH_ERR_NO_RESOURCES));
	ndd_port_give(&nic); /* has none */
	cr_expect(eq(u64, paid(y), 2));
	ndd_port_give(&a[0]);
	ndd_port_give(&elsewhere);
	cr_expect(eq(u64, paid(y), 0));
	cr_expect(eq(u64, paid(other), 1));
	free(y);
	free(other);
	free(t);
}

/* Listeners at two addresses are two, and what one of them leaves is the other's. */
Test(ports, a_port_at_two_addresses)
{
	struct roce_cm_addr here = *at_port(7000), there = *at_port(7000);
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct payer *y = payer_new();
	struct ndd_port l[2] = {0}, a = {0};

	there.gid.raw[15] = 2;
	cr_assert(eq(i32, ndd_port_take(t, &y->account, &l[0], LISTENER, 0, &here), NDSH_OK));
	cr_assert(eq(i32, ndd_port_accepted(t, &y->account, &a, 0, &here), NDSH_OK));
	for (unsigned i = 0; i < 3; i++) { /* opened and closed, it takes no more each time */
		cr_assert(eq(
			i32, ndd_port_take(t, &y->account, &l[1], LISTENER, 0, &there), NDSH_OK));
		cr_expect(eq(u64, paid(y), 2));
		ndd_port_give(&l[1]);
		cr_expect(eq(u64, paid(y), 1));
	}
	cr_assert(eq(i32, ndd_port_take(t, &y->account, &l[1], LISTENER, 0, &there), NDSH_OK));
	ndd_port_give(&l[0]);
	cr_expect(eq(u64, paid(y), 1), "the other listener pays");
	ndd_port_give(&l[1]);
	cr_expect(eq(u64, paid(y), 1));
	ndd_port_give(&a);
	cr_expect(eq(u64, paid(y), 0));
	free(y);
	free(t);
}

/* ---- what connections cost others ---- */

#define CROWD 64u /* in 4,096 buckets */

/* Connections of a client that are not to be looked at. */
static struct ndd_port *
crowd_new(void)
{
	void *at = mmap(NULL, CROWD * sizeof(struct ndd_port), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(ne(ptr, at, MAP_FAILED));
	return at;
}

static void
crowd_set(struct ndd_port *crowd, int protection)
{
	cr_assert(eq(int, mprotect(crowd, CROWD * sizeof(*crowd), protection), 0));
}

/* However many connections one client has at a port, another client's use of that port, or of one
 * in the same list, does not walk them: it would end in a fault here. */
Test(ports, accepted_connections_of_others_are_not_looked_at)
{
	struct roce_cm_addr there = *at_port(7000);
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct payer *y = payer_new(), *other = payer_new();
	struct ndd_port *crowd = crowd_new(), l = {0}, v[3] = {0};

	there.gid.raw[15] = 2;
	cr_assert(eq(i32, ndd_port_take(t, &y->account, &l, LISTENER, 0, at_port(7000)), NDSH_OK));
	for (unsigned i = 0; i < CROWD; i++)
		cr_assert(eq(i32, ndd_port_accepted(t, &y->account, &crowd[i], 0, at_port(7000)),
			NDSH_OK));
	crowd_set(crowd, PROT_NONE);
	for (unsigned use = LISTENER; use <= ENDPOINT; use++) {
		cr_expect(
			eq(i32, ndd_port_take(t, &other->account, &v[0], use, 0, &there), NDSH_OK));
		cr_expect(eq(i32,
			ndd_port_take(t, &other->account, &v[1], use, 0,
				at_port(7000 + NDD_PORT_BUCKETS)),
			NDSH_OK));
		cr_expect(
			eq(i32, ndd_port_accepted(t, &other->account, &v[2], 0, &there), NDSH_OK));
		for (unsigned i = 0; i < 3; i++)
			ndd_port_give(&v[i]);
		cr_expect(eq(i32, take(t, &v[0], use, 1, 7000), NDSH_ERR_PORT_IN_USE));
		cr_expect(eq(u64, paid(other), 0));
	}
	crowd_set(crowd, PROT_READ | PROT_WRITE);
	for (unsigned i = 0; i < CROWD; i++)
		ndd_port_give(&crowd[i]);
	munmap(crowd, CROWD * sizeof(*crowd));
}

/* Nor are those of an endpoint, which have another peer each: with a secret of zeros none of them
 * is in the bucket of the connections that are made here. */
Test(ports, connections_of_an_endpoint_are_not_looked_at)
{
	struct roce_cm_addr there = *at_port(7000), peer = {.gid.raw = {9}};
	struct ndd_ports *t = calloc(1, sizeof(*t));
	struct payer *y = payer_new(), *other = payer_new();
	struct ndd_port *crowd = crowd_new(), e[2] = {0}, v = {0};

	there.gid.raw[15] = 2;
	cr_assert(
		eq(i32, ndd_port_take(t, &y->account, &e[0], ENDPOINT, 0, at_port(7000)), NDSH_OK));
	cr_assert(eq(i32, ndd_port_take(t, &other->account, &e[1], ENDPOINT, 0, &there), NDSH_OK));
	for (unsigned i = 0; i < CROWD; i++) {
		peer.port = (uint16_t)(i + 1);
		cr_assert(eq(i32, ndd_port_share(t, &crowd[i], &e[0], &peer), NDSH_OK));
	}
	crowd_set(crowd, PROT_NONE);
	for (unsigned i = 0; i < 4; i++) {
		peer.port = (uint16_t)(i + 1);
		cr_expect(eq(i32, ndd_port_share(t, &v, &e[1], &peer), NDSH_OK));
		ndd_port_give(&v);
	}
	crowd_set(crowd, PROT_READ | PROT_WRITE);
	cr_expect(eq(i32, ndd_port_share(t, &v, &e[0], &peer), NDSH_ERR_ADDRESS_IN_USE));
	munmap(crowd, CROWD * sizeof(*crowd));
}
