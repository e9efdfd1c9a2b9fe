/* SPDX-License-Identifier: BSD-3-Clause */
/* An unreliable connection over a wire that loses, repeats and exchanges packets, by many seeds:
 * each receive that completes has the contents of one message, whole, and nothing else is written.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define SEEDS	 60u
#define MESSAGES 200u
#define AT_ONCE	 8u
#define MTU	 256u
#define LONGEST	 (6 * MTU)
#define STRIDE	 2048u /* of a receive, with a guard behind it */
#define GUARD	 0xee
#define MILLI	 1000u

struct wire {
	uint64_t state;
	unsigned loss, twice, late; /* of a thousand packets */
};

static uint32_t
draw(struct wire *w, uint32_t below)
{
	w->state ^= w->state << 13;
	w->state ^= w->state >> 7;
	w->state ^= w->state << 17;
	return (uint32_t)(w->state >> 33) % below;
}

static unsigned
pass(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct wire *w = ctx;

	(void)p;
	(void)pkt;
	cr_assert(eq(u32, from, 0), "the receiver says nothing");
	if (draw(w, MILLI) < w->loss)
		return 0;
	if (draw(w, MILLI) < w->late)
		*late_ns = 1 + draw(w, 3000);
	return draw(w, MILLI) < w->twice ? 2 : 1;
}

static uint32_t
length_of(uint32_t message)
{
	return 4 + (message * 2654435761u >> 8) % (LONGEST - 4);
}

static uint8_t
byte_of(uint32_t message, uint32_t i)
{
	return (uint8_t)(i < 4 ? message >> 8 * i : message * 31 + i * 7 + i / MTU);
}

static void
fill(uint8_t *to, uint32_t message)
{
	for (uint32_t i = 0; i < length_of(message); i++)
		to[i] = byte_of(message, i);
}

static void
post_receive(struct pair *p, uint32_t slot)
{
	memset(p->side[1].arena + slot * STRIDE, GUARD, STRIDE);
	pair_recv(p, 1, 0, slot, slot * STRIDE, LONGEST);
}

/* The receive in that slot has one message. Returns which. */
static uint32_t
expect_whole(const struct pair *p, const struct ndsh_cqe *c)
{
	const uint8_t *at = p->side[1].arena + c->context * STRIDE;
	uint32_t message;

	memcpy(&message, at, sizeof(message));
	cr_assert(lt(u32, message, MESSAGES));
	cr_assert(eq(u32, c->bytes, length_of(message)));
	for (uint32_t i = 0; i < c->bytes; i++)
		cr_assert(eq(u8, at[i], byte_of(message, i)), "byte %u of %u", i, message);
	for (uint32_t i = LONGEST; i < STRIDE; i++)
		cr_assert(eq(u8, at[i], GUARD), "behind the receive");
	return message;
}

/* Returns how many messages came. */
static unsigned
run_seed(struct wire *w)
{
	struct pair *p = pair_new(&(struct pair_opts){.uc = true, .mtu = MTU});
	int64_t newest = -1;
	unsigned came = 0;
	struct ndsh_cqe c;

	p->tap = pass;
	p->tap_ctx = w;
	for (uint32_t slot = 0; slot < AT_ONCE; slot++)
		post_receive(p, slot);
	for (uint32_t m = 0; m < MESSAGES; m++) {
		fill(p->side[0].arena + m % AT_ONCE * STRIDE, m);
		pair_send(p, 0, 0, m, m % AT_ONCE * STRIDE, length_of(m), 0);
		if (m % AT_ONCE != AT_ONCE - 1)
			continue;
		cr_assert(pair_run(p, PAIR_LONG));
		for (unsigned i = 0; i < AT_ONCE; i++)
			pair_expect(p, 0, m + 1 - AT_ONCE + i, NDSH_WC_SUCCESS);
		while (pair_poll(p, 1, &c)) {
			uint32_t message = expect_whole(p, &c);

			cr_assert(eq(u32, c.status, NDSH_WC_SUCCESS));
			if (w->twice == 0 && w->late == 0)
				cr_assert(lt(i64, newest, (int64_t)message), "in order");
			newest = message;
			came++;
			post_receive(p, (uint32_t)c.context);
		}
	}
	pair_free(p);
	return came;
}

static unsigned
run_seeds(unsigned loss, unsigned twice, unsigned late)
{
	unsigned came = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct wire w = {.state = seed * UINT64_C(0x9e3779b97f4a7c15),
			.loss = loss,
			.twice = twice,
			.late = late};

		came += run_seed(&w);
	}
	return came;
}

/* checks W-UC-01[3,4] */
Test(uc_loss, W_UC_01_what_comes_is_whole_and_in_order)
{
	unsigned came = run_seeds(100, 0, 0);

	cr_assert(lt(u32, came, SEEDS * MESSAGES));
	cr_assert(lt(u32, SEEDS * MESSAGES / 4, came));
}

/* checks W-UC-01[3-5] */
Test(uc_loss, W_UC_01_what_comes_over_a_bad_wire_is_whole)
{
	cr_assert(lt(u32, SEEDS * MESSAGES / 8, run_seeds(30, 50, 50)));
}

/* Nothing is lost where the wire loses nothing. */
Test(uc_loss, all_comes_over_a_good_wire)
{
	cr_assert(eq(u32, run_seeds(0, 0, 0), SEEDS * MESSAGES));
}
