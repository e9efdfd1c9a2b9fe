/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses and the ABI's. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <string.h>

#include "ndclient/session/address.h"

/* checks R-CONN-19[5-7] */
Test(ndclient_address, both_families_there_and_back)
{
	const struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = 0x3412, .sin_addr.s_addr = 0x04030201};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = 0x7856, .sin6_scope_id = 3};
	struct sockaddr_storage out;
	struct ndsh_addr a;
	socklen_t n;

	cr_assert(nd_address_from(&a, (const void *)&in, sizeof(in)));
	cr_expect(eq(u16, a.port, 0x1234));
	cr_assert(eq(u32, nd_address_to(&out, &a), sizeof(in)));
	cr_expect(zero(int, memcmp(&out, &in, sizeof(in))));
	in6.sin6_addr.s6_addr[0] = 0xfe;
	in6.sin6_addr.s6_addr[15] = 9;
	cr_assert(nd_address_from(&a, (const void *)&in6, sizeof(in6)));
	cr_assert(eq(u32, nd_address_to(&out, &a), sizeof(in6)));
	cr_expect(zero(int, memcmp(&out, &in6, sizeof(in6))));
	cr_expect(not(nd_address_from(&a, (const void *)&in6, sizeof(in6) - 1)));
	cr_expect(not(nd_address_from(&a, NULL, 0)));
	/* R-CONN-19: too small leaves the buffer alone and tells the size. */
	cr_assert(nd_address_from(&a, (const void *)&in, sizeof(in)));
	memset(&out, 0xaa, sizeof(out));
	n = sizeof(in) - 1;
	cr_expect(eq(i32, nd_address_give(&a, (void *)&out, &n), ND_BUFFER_OVERFLOW));
	cr_expect(eq(u32, n, sizeof(in)));
	cr_expect(eq(u8, *(uint8_t *)&out, 0xaa));
	n = sizeof(out);
	cr_expect(eq(i32, nd_address_give(&a, (void *)&out, &n), ND_SUCCESS));
	cr_expect(eq(u32, n, sizeof(in)));
}

Test(ndclient_address, common_bits)
{
	struct ndsh_addr a = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}}, b = a, six = {.ip = {0xfd}};

	cr_expect(eq(int, nd_address_common_bits(&a, &b), 128));
	b.ip[15] = 3;
	cr_expect(eq(int, nd_address_common_bits(&a, &b), 126));
	b.ip[12] = 11;
	cr_expect(eq(int, nd_address_common_bits(&a, &b), 103));
	cr_expect(eq(int, nd_address_common_bits(&a, &six), -1), "other family");
	cr_expect(not(nd_address_is_any(&a)));
	memset(a.ip + 12, 0, 4);
	cr_expect(nd_address_is_any(&a));
}
