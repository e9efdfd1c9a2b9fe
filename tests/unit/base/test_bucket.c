/* SPDX-License-Identifier: BSD-3-Clause */
/* A bucket gives what it holds at once, and then one token at a time. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/bucket.h"

#define TOKEN 1000u
#define BURST 8u

/* Takes one at a time, until there is none. Returns how many. */
static unsigned
take_all(struct base_bucket *b, uint64_t now_ns)
{
	unsigned n = 0;

	for (; base_bucket_ready_ns(b, TOKEN, BURST) <= now_ns; n++)
		base_bucket_take(b, now_ns, TOKEN);
	return n;
}

Test(bucket, what_it_holds_and_then_its_rate)
{
	struct base_bucket b = {0};
	uint64_t now_ns = 77000;

	cr_expect(eq(u32, take_all(&b, now_ns), BURST));
	cr_expect(eq(u64, base_bucket_ready_ns(&b, TOKEN, BURST), now_ns + TOKEN));
	for (unsigned i = 0; i < 20; i++) {
		cr_expect(eq(u32, take_all(&b, now_ns + TOKEN - 1), 0));
		now_ns += TOKEN;
		cr_expect(eq(u32, take_all(&b, now_ns), 1));
	}
	cr_expect(eq(u32, take_all(&b, now_ns + 3 * TOKEN), 3));
	cr_expect(eq(u32, take_all(&b, now_ns + 1000 * TOKEN), BURST), "no more than it holds");
}

/* It is one moment: so much before it, or behind it, counts. */
Test(bucket, to_the_nanosecond)
{
	struct base_bucket b = {.full_ns = (BURST - 1) * TOKEN + 1};

	cr_expect(eq(u64, base_bucket_ready_ns(&b, TOKEN, BURST), 1));
	b.full_ns = 77001;
	base_bucket_take(&b, 77000, TOKEN);
	cr_expect(eq(u64, b.full_ns, 77001 + TOKEN), "a token less than it would have had");
	b.full_ns = 77000;
	base_bucket_take(&b, 77001, TOKEN);
	cr_expect(eq(u64, b.full_ns, 77001 + TOKEN), "it was full");
}
