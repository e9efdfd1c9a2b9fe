/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of a client's memory go missing: real accesses to them, a real engine and session. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/daemon.h"
#include "courier/line.h"
#include "object/cq.h"
#include "object/lost_memory.h"
#include "object/segment.h"
#include "platform/sigbus.h"
#include "session/session.h"

#define PAGE	4096u
#define PAGES	8u
#define DEPTH	512u /* the page of words, and four pages of entries behind it */
#define ENTRIES (2 * PAGE)

static struct ndd_shard shard; /* it does not run: its calls are made at once */

struct client {
	struct ndd d;
	struct ndd_session session;
	struct ndd_segment segment;
	struct ndd_cq cq;
	int fd;
};

/* What the client is told has a way. */
static struct ndd_line *
line_new(struct ndd_couriers *all)
{
	int end[2];

	all->local = ndd_courier_start_local(all);
	cr_assert_not_null(all->local);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, end), 0);
	return ndd_line_new(all->local, true, end[0]);
}

/* The queue's entries begin on the third page of the segment. */
static struct client *
client_new(void)
{
	const struct roce_shard_cfg cfg = {.max_qps = 4,
		.max_cqs = 2,
		.max_pds = 3,
		.max_mrs = 8,
		.max_wqes = 64,
		.secret = {11, 22},
		.rto_floor_ns = 1000000,
		.window = 64};
	struct client *c = calloc(1, sizeof(*c));
	void *mem = aligned_alloc(64, (roce_shard_bytes(&cfg) + 63) & ~(size_t)63);

	memset(mem, 0, roce_shard_bytes(&cfg));
	shard.engine = roce_shard_init(mem, &cfg);
	cr_assert_not_null(shard.engine);
	TAILQ_INIT(&c->d.sessions);
	TAILQ_INIT(&c->d.ended);
	c->session.daemon = &c->d;
	c->session.line = line_new(&c->d.accounts.couriers);
	TAILQ_INSERT_TAIL(&c->d.sessions, &c->session, next);
	c->session.shard = &shard;
	ndd_slots_init(&c->session.segments, 4, true);
	ndd_slots_init(&c->session.cqs, 4, false);
	c->fd = memfd_create("test", MFD_CLOEXEC);
	cr_assert_eq(ftruncate(c->fd, PAGES * PAGE), 0);
	c->segment.map.host =
		mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	c->segment.state = NDD_SEGMENT_LIVE;
	c->segment.id = ndd_slots_add(&c->session.segments, &c->segment);
	c->cq.engine = roce_cq_create(shard.engine, NULL,
		c->segment.map.host + ENTRIES - sizeof(struct ndsh_cq_page), DEPTH, NULL);
	cr_assert_not_null(c->cq.engine);
	c->cq.owner.handle = ndd_slots_add(&c->session.cqs, &c->cq);
	cr_assert(ndd_sigbus_install());
	cr_assert(ndd_sigbus_guard(c->segment.map.host, PAGES * PAGE));
	return c;
}

/* The client's memory ends before page n all of a sudden, and the daemon reads there. */
static void
lose(struct client *c, unsigned n)
{
	cr_assert_eq(ftruncate(c->fd, n * PAGE), 0);
	cr_assert_eq(*(volatile uint8_t *)(c->segment.map.host + n * PAGE), 0);
	ndd_lost_memory(&c->d);
	roce_shard_publish(shard.engine);
}

static uint32_t
fault(const struct client *c)
{
	const struct ndsh_cq_page *page =
		(const void *)(c->segment.map.host + ENTRIES - sizeof(struct ndsh_cq_page));

	return page->fault;
}

/* checks R-CQ-32: entries are lost, so the queue fails; a client that sleeps on it is woken */
Test(lost, R_CQ_32_entries_of_a_queue)
{
	struct client *c = client_new();
	struct ndsh_cq_reader reader;
	uint8_t *page = c->segment.map.host + ENTRIES - sizeof(struct ndsh_cq_page);

	ndsh_cq_reader_view(&reader, page, DEPTH);
	cr_assert_eq(ndsh_cq_arm(&reader, NDSH_ARM_ERRORS, NULL), NDSH_ARMED);
	lose(c, 5);
	cr_assert_eq(fault(c), NDSH_CQ_FATAL);
	cr_assert_eq(roce_shard_fired_cq(shard.engine, 0), c->cq.engine);
	cr_assert(c->cq.lost);
	lose(c, 3); /* another of it */
	cr_assert_not(c->session.ended, "the session lives");
}

/* Another session's loss makes the daemon check all of them. */
Test(lost, a_loss_that_was_borne_is_no_new_one)
{
	struct client *c = client_new();
	uint8_t *other = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, c->fd, 0);

	lose(c, 5);
	ndd_slots_remove(&c->session.cqs, c->cq.owner.handle);
	cr_assert(ndd_sigbus_guard(other, PAGE));
	cr_assert_eq(ftruncate(c->fd, 0), 0);
	cr_assert_eq(*(volatile uint8_t *)other, 0);
	ndd_lost_memory(&c->d);
	cr_assert_not(c->session.ended);
}

/* What was there is unknown; or it was entries and more. */
Test(lost, anything_else_ends_the_session)
{
	struct client *c = client_new();

	lose(c, 7);
	cr_assert(c->session.ended);
	cr_assert_eq(fault(c), NDSH_CQ_OK);
}

Test(lost, the_words_of_a_queue_are_not_its_entries)
{
	struct client *c = client_new();

	lose(c, 5);
	lose(c, 1);
	cr_assert(c->session.ended);
}
