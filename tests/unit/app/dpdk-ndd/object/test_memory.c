/* SPDX-License-Identifier: BSD-3-Clause */
/* What counts against the limits of shared memory. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "control/daemon.h"
#include "object/memory.h"
#include "platform/log.h"
#include "session/session.h"

#define MIB (1ull << 20)

static struct config cfg = {.max_sessions = 4,
	.max_memory_bytes = 16 * MIB,
	.total_memory_bytes = 40 * MIB,
	.lcores = 1,
	.principals = 1,
	.principal = {{.allow = true,
		.weight = 1,
		.has_limit = {[CONFIG_SHARE_memory_mb] = true, [CONFIG_SHARE_descriptors] = true},
		.limit = {[CONFIG_SHARE_memory_mb] = 40, [CONFIG_SHARE_descriptors] = 65536}}}};
static struct ndd d = {.cfg = &cfg};

/* All sessions are of one principal, which may have everything. */
static struct ndd_session
session_new(void)
{
	char why[NDD_WHY_BYTES];

	if (d.accounts.cfg == NULL)
		cr_assert(ndd_accounts_init(&d.accounts, &cfg, 65536, why), "%s", why);
	ndd_log_set_level(NDD_LOG_ERROR);
	return (struct ndd_session){.daemon = &d,
		.account = {.all = &d.accounts, .principal = TAILQ_FIRST(&d.accounts.principals)}};
}

Test(memory, a_session_has_its_limit)
{
	struct ndd_session s = session_new(), other = session_new();
	struct ndd_memory m[3];

	cr_assert(ndd_memory_take(&s, &m[0], 12 * MIB));
	cr_expect_not(ndd_memory_take(&s, &m[1], 4 * MIB + 1));
	cr_expect_not(ndd_memory_take(&s, &m[1], UINT64_MAX));
	cr_expect(ndd_memory_take(&s, &m[1], 4 * MIB));
	cr_expect_not(ndd_memory_take(&s, &m[2], 1));
	cr_expect(ndd_memory_take(&other, &m[2], 16 * MIB));
	ndd_memory_give(&d, &s, &m[0]);
	cr_expect(ndd_memory_take(&s, &m[0], 12 * MIB));
}

/* What an ended session has not given back yet still counts. */
Test(memory, the_daemon_has_its_limit)
{
	struct ndd_session s[3] = {session_new(), session_new(), session_new()};
	struct ndd_memory m[3];

	cr_assert(ndd_memory_take(&s[0], &m[0], 16 * MIB));
	cr_assert(ndd_memory_take(&s[1], &m[1], 16 * MIB));
	cr_expect_not(ndd_memory_take(&s[2], &m[2], 8 * MIB + 1));
	cr_expect(eq(u64, s[2].segment_bytes, 0), "what was refused does not count");
	cr_assert(ndd_memory_take(&s[2], &m[2], 8 * MIB));
	s[0] = session_new();
	cr_expect_not(ndd_memory_take(&s[0], &m[2], 1));
	ndd_memory_give(&d, NULL, &m[0]);
	cr_expect(ndd_memory_take(&s[0], &m[0], 16 * MIB));
}

/* 16,384 mappings are divided among the sessions; as many more go to the first that ask. */
Test(memory, mappings_of_which_each_session_is_sure)
{
	struct ndd_session greedy = session_new(), other = session_new();
	struct ndd_memory m[2];

	cfg.max_sessions = 16384 / 8;
	for (uint32_t i = 0; i < 8 + 16384; i++) {
		cr_assert(ndd_memory_take(&greedy, &m[0], 1), "mapping %u", i);
		greedy.segments.used++;
	}
	cr_expect_not(ndd_memory_take(&greedy, &m[1], 1));
	for (; other.segments.used < 8; other.segments.used++)
		cr_expect(ndd_memory_take(&other, &m[1], 1));
	cr_expect_not(ndd_memory_take(&other, &m[1], 1));
	ndd_memory_give(&d, NULL, &m[0]);
	cr_expect(ndd_memory_take(&other, &m[1], 1));
}
