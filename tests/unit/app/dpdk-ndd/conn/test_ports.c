/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's table of local CM ports. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

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
	ndd_port_accepted(t, p, 0, &addr);
	return NDSH_OK;
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
