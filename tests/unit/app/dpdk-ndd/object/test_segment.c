/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments from the request to the last page, in every order of what the client asks for, what its
 * worker does, and how both end. A job of the test's own holds the worker where the test wants it.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/segment.h"
#include "rigs/file_holder.h"
#include "rigs/ndd_rig.h"
#include "session/class.h"
#include "session/end.h"
#include "session/worker.h"

#define MIB  (1ull << 20)
#define PAGE 4096u

union reply {
	struct ndsh_msg_hdr h;
	struct ndsh_segment_create_reply segment;
	uint8_t bytes[NDSH_MSG_BYTES];
};

/* A client's segment before it tells the daemon that it has mapped it. */
struct made {
	uint32_t id;
	int fd;
	uint8_t *mem;
	uint64_t bytes;
};

/* Bytes of all sessions. */
static uint64_t
counted(const struct ndd_rig *r)
{
	return r->d.accounts.pool[0][CONFIG_SHARE_memory_mb].promised;
}

static void
say(int client, const void *msg)
{
	const struct ndsh_msg_hdr *h = msg;

	cr_assert_eq(send(client, msg, ndsh_msg_table[h->type].bytes, 0),
		(ssize_t)ndsh_msg_table[h->type].bytes);
}

/* -1: no reply is there. */
static int64_t
hear(struct ndd_rig *r, int client, uint16_t type)
{
	union reply reply;

	ndd_rig_turn(r);
	if (ndd_rig_take(client, &reply, NULL) == 0)
		return -1;
	if (reply.h.type == NDSH_EV_REFUSAL)
		cr_assert_gt(ndd_rig_take(client, &reply, NULL), 0);
	cr_assert_eq(reply.h.type, type | NDSH_REPLY);
	return (uint32_t)reply.h.status;
}

static enum ndsh_status
create(struct ndd_rig *r, int client, uint64_t bytes, struct made *m)
{
	const struct ndsh_segment_create ask = {.h.type = NDSH_MSG_SEGMENT_CREATE, .bytes = bytes};
	union reply reply;

	say(client, &ask);
	ndd_rig_turn(r);
	cr_assert_gt(ndd_rig_take(client, &reply, &m->fd), 0);
	if (reply.h.type == NDSH_EV_REFUSAL)
		cr_assert_gt(ndd_rig_take(client, &reply, &m->fd), 0);
	m->id = reply.segment.segment;
	m->bytes = bytes;
	return reply.h.status;
}

static struct made
make(struct ndd_rig *r, int client, uint64_t bytes)
{
	struct made m;

	cr_assert_eq(create(r, client, bytes, &m), NDSH_OK);
	m.mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
	cr_assert_neq(m.mem, MAP_FAILED);
	return m;
}

static struct ndsh_segment_mapped
mapped(const struct made *m)
{
	return (struct ndsh_segment_mapped){.h.type = NDSH_MSG_SEGMENT_MAPPED,
		.segment = m->id,
		.client_va = (uintptr_t)m->mem};
}

static struct ndsh_id_msg
destroy(const struct made *m)
{
	return (struct ndsh_id_msg){.h.type = NDSH_MSG_SEGMENT_DESTROY, .id = m->id};
}

static int64_t
file_bytes(const struct made *m)
{
	struct stat st;

	cr_assert_eq(fstat(m->fd, &st), 0);
	return st.st_blocks * 512;
}

/* Each client has a live segment first, for its session page: what tests do is done to another. */
static int
client_new(struct ndd_rig *r, struct ndd_session **s)
{
	int client = ndd_rig_open(r, s);
	uint32_t id;

	(void)ndd_rig_segment(r, client, PAGE, &id);
	return client;
}

/* ---- only what the client has paid for ------------------------------------------------------- */

Test(segment, what_the_client_has_not_touched_is_refused)
{
	static const uint64_t holes[] = {0, PAGE, 2 * MIB - PAGE, 2 * MIB, 3 * MIB - PAGE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = client_new(r, &s);

	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		struct made m = make(r, client, 3 * MIB);
		struct ndsh_segment_mapped live = mapped(&m);
		struct ndsh_id_msg end = destroy(&m);
		union reply reply;

		memset(m.mem, 1, holes[i]);
		memset(m.mem + holes[i] + PAGE, 1, m.bytes - holes[i] - PAGE);
		cr_expect(eq(i32, ndd_rig_ask(r, client, &live, &reply), NDSH_ERR_INVALID_STATE));
		cr_expect(eq(i64, file_bytes(&m), (int64_t)m.bytes - PAGE),
			"the daemon has made a page of it its own");
		cr_expect(
			eq(i32, ndd_rig_ask(r, client, &live, &reply), NDSH_ERR_INVALID_PARAMETER),
			"one try is all");
		cr_expect(eq(i32, ndd_rig_ask(r, client, &end, &reply), NDSH_OK));
		munmap(m.mem, m.bytes);
		close(m.fd);
	}
	cr_expect(eq(u64, counted(r), PAGE));
}

Test(segment, nothing_of_it_was_touched)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = client_new(r, &s);
	struct made m = make(r, client, 16 * MIB - PAGE);
	struct ndsh_segment_mapped live = mapped(&m);
	union reply reply;

	cr_expect(eq(i32, ndd_rig_ask(r, client, &live, &reply), NDSH_ERR_INVALID_STATE));
	cr_expect(eq(i64, file_bytes(&m), 0));
}

Test(segment, what_was_accepted_stays)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = client_new(r, &s);
	struct made m = make(r, client, 3 * MIB);
	struct ndsh_segment_mapped live = mapped(&m);
	struct ndd_segment *seg;
	union reply reply;

	memset(m.mem, 1, m.bytes);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &live, &reply), NDSH_OK));
	cr_expect(eq(i64, file_bytes(&m), (int64_t)m.bytes));
	cr_expect(
		eq(int, fallocate(m.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE), -1));
	cr_expect(eq(int, errno, EPERM));
	cr_expect(eq(int, madvise(m.mem, PAGE, MADV_REMOVE), -1));
	cr_expect(eq(int, errno, EPERM));
	cr_expect(eq(int, ftruncate(m.fd, PAGE), -1));
	seg = ndd_slots_get(&s->segments, m.id);
	cr_expect(eq(u8, seg->map.host[3 * MIB - 1], 1), "it is the client's memory");
	cr_expect(eq(int, seg->map.fd, -1), "the mapping alone holds the file");
}

/* The flags of a mapping as the kernel shows them: dd, do not dump. */
static bool
has_flag(const void *at, const char *flag)
{
	char line[512], first[32];
	FILE *f = fopen("/proc/self/smaps", "r");
	bool here = false, has = false;

	snprintf(first, sizeof(first), "%lx-", (unsigned long)at);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, first, strlen(first)) == 0)
			here = true;
		if (here && strncmp(line, "VmFlags:", 8) == 0) {
			has = strstr(line, flag) != NULL;
			break;
		}
	}
	fclose(f);
	cr_assert(here);
	return has;
}

Test(segment, a_core_dump_does_not_hold_it)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = client_new(r, &s);
	struct ndd_segment *seg;
	uint32_t id;
	void *mem = ndd_rig_segment(r, client, 2 * MIB, &id);

	seg = ndd_slots_get(&s->segments, id);
	cr_expect(has_flag(seg->map.host, " dd "));
	cr_expect_not(has_flag(mem, " dd "), "the client's own mapping is left alone");
}

/* ---- orders --------------------------------------------------------------------------------- */

/* A job ahead of the segment's: the worker is held until the test lets it go. */
struct plug {
	struct ndd_job job;
	sem_t begun, go;
	bool slice;
};

static void
plug_run(struct ndd_job *j)
{
	struct plug *p = (struct plug *)j;

	if (p->slice)
		ndd_job_slice_begin(j);
	sem_post(&p->begun);
	while (sem_wait(&p->go) != 0)
		;
	if (p->slice)
		ndd_job_slice_end(j);
}

static void
plug_done(struct ndd_job *j)
{
	(void)j;
}

/* With slice: it has the daemon's slice. */
static void
plug_in(struct plug *p, struct ndd_session *s, bool slice)
{
	sem_init(&p->begun, 0, 0);
	sem_init(&p->go, 0, 0);
	p->slice = slice;
	p->job = (struct ndd_job){.run = plug_run, .done = plug_done};
	ndd_worker_give(s->worker, &p->job);
	while (sem_wait(&p->begun) != 0)
		;
}

struct scene {
	struct ndd_rig *r;
	struct ndd_session *s;
	struct plug plug;
	struct made m;
	int client;
};

/* A segment beside the first, made of all the memory that the session has left. */
static struct scene *
scene_new(bool touched)
{
	static struct scene sc;

	sc.r = ndd_rig_new();
	sc.client = client_new(sc.r, &sc.s);
	sc.m = make(sc.r, sc.client, sc.r->cfg.max_memory_bytes - PAGE);
	if (touched)
		memset(sc.m.mem, 1, sc.m.bytes);
	return &sc;
}

static void
scene_map(struct scene *sc)
{
	struct ndsh_segment_mapped live = mapped(&sc->m);
	union reply reply;

	cr_assert_eq(ndd_rig_ask(sc->r, sc->client, &live, &reply), NDSH_OK);
}

/* The client asks for what its worker does: the answer comes when that is done. */
static void
scene_ask(const struct scene *sc, const void *msg)
{
	const struct ndsh_msg_hdr *h = msg;

	say(sc->client, msg);
	cr_expect(eq(i64, hear(sc->r, sc->client, h->type), -1));
}

static void
expect_nothing_left(struct scene *sc)
{
	sem_post(&sc->plug.go);
	ndd_rig_settle(sc->r);
	cr_expect(eq(u64, counted(sc->r), 0));
	cr_expect(eq(u32, sc->r->d.session_count, 0));
	cr_expect(eq(u32, ndd_workers_left(sc->r->d.workers), 0));
	cr_expect(ndd_workers_stop(sc->r->d.workers));
}

Test(segment, others_go_on_while_one_is_mapped)
{
	struct scene *sc = scene_new(true);
	struct ndsh_segment_mapped live = mapped(&sc->m);
	const struct ndsh_id_msg pd = {.h.type = NDSH_MSG_PD_CREATE};
	struct ndd_session *other;
	int second;
	union reply reply;

	plug_in(&sc->plug, sc->s, false);
	scene_ask(sc, &live);
	second = ndd_rig_connect(sc->r, &other);
	cr_expect(eq(u32, sc->r->d.session_count, 2));
	close(second);
	cr_expect(eq(i32, ndd_rig_ask(sc->r, sc->client, &pd, &reply), NDSH_OK),
		"the client's other requests, too");
	sem_post(&sc->plug.go);
	ndd_rig_settle(sc->r);
	cr_expect(eq(i64, hear(sc->r, sc->client, NDSH_MSG_SEGMENT_MAPPED), NDSH_OK));
}

/* The first step of its end took the session from the lcore; the lcore would use freed memory if
 * the segment brought it back. */
Test(segment, what_is_mapped_while_its_session_ends_brings_nothing_back)
{
	struct scene sc = {.r = ndd_rig_new()};
	struct ndsh_segment_mapped live;
	struct ndd_segment *seg;

	sc.client = ndd_rig_open(sc.r, &sc.s);
	sc.m = make(sc.r, sc.client, PAGE);
	memset(sc.m.mem, 1, sc.m.bytes);
	cr_assert(ndd_session_needs_worker(sc.s));
	plug_in(&sc.plug, sc.s, false);
	live = mapped(&sc.m);
	say(sc.client, &live);
	ndd_rig_turn(sc.r);
	ndd_session_end(sc.s, NULL);
	cr_assert_not(ndd_tables_empty_some(sc.s));
	sem_post(&sc.plug.go);
	seg = ndd_slots_get(&sc.s->segments, sc.m.id);
	while (seg->state == NDD_SEGMENT_MAPPING)
		ndd_workers_finish(sc.r->d.workers);
	cr_expect(eq(u32, sc.r->shard.sessions, 0));
	expect_nothing_left(&sc);
}

Test(segment, one_that_is_being_mapped_is_in_use)
{
	struct scene *sc = scene_new(true);
	struct ndsh_segment_mapped live = mapped(&sc->m);
	struct ndsh_id_msg end = destroy(&sc->m);
	struct ndd_segment *seg;

	plug_in(&sc->plug, sc->s, false);
	scene_ask(sc, &live);
	say(sc->client, &live);
	cr_expect(eq(i64, hear(sc->r, sc->client, NDSH_MSG_SEGMENT_MAPPED),
		(uint32_t)NDSH_ERR_INVALID_PARAMETER));
	say(sc->client, &end);
	cr_expect(eq(
		i64, hear(sc->r, sc->client, NDSH_MSG_SEGMENT_DESTROY), (uint32_t)NDSH_ERR_BUSY));
	cr_expect(eq(ptr, ndd_segment_block(sc->s, sc->m.id, 0, 64, &seg), NULL), "not yet");
	sem_post(&sc->plug.go);
	ndd_rig_settle(sc->r);
	cr_expect(eq(i64, hear(sc->r, sc->client, NDSH_MSG_SEGMENT_MAPPED), NDSH_OK));
	cr_expect(ne(ptr, ndd_segment_block(sc->s, sc->m.id, 0, 64, &seg), NULL));
}

/* The quota is the client's again when the daemon has let go of the memory, and it is told then. */
Test(segment, it_counts_until_it_is_unmapped)
{
	struct scene *sc = scene_new(true);
	struct ndsh_id_msg end = destroy(&sc->m);
	struct ndd_segment *seg;
	struct made more;

	scene_map(sc);
	plug_in(&sc->plug, sc->s, false);
	scene_ask(sc, &end);
	cr_expect(eq(i32, create(sc->r, sc->client, PAGE, &more), NDSH_ERR_NO_RESOURCES));
	say(sc->client, &end);
	cr_expect(eq(i64, hear(sc->r, sc->client, NDSH_MSG_SEGMENT_DESTROY),
		(uint32_t)NDSH_ERR_INVALID_ID));
	cr_expect(eq(ptr, ndd_segment_block(sc->s, sc->m.id, 0, 64, &seg), NULL));
	sem_post(&sc->plug.go);
	ndd_rig_settle(sc->r);
	cr_expect(eq(i64, hear(sc->r, sc->client, NDSH_MSG_SEGMENT_DESTROY), NDSH_OK));
	cr_expect(eq(u64, sc->s->segment_bytes, PAGE));
	cr_expect(eq(i32, create(sc->r, sc->client, sc->m.bytes, &more), NDSH_OK));
}

Test(segment, a_session_ends_before_its_segment_is_mapped)
{
	struct scene *sc = scene_new(true);
	struct ndsh_segment_mapped live = mapped(&sc->m);

	plug_in(&sc->plug, sc->s, false);
	scene_ask(sc, &live);
	close(sc->client);
	ndd_rig_turn(sc->r);
	cr_expect(eq(u64, counted(sc->r), sc->r->cfg.max_memory_bytes));
	expect_nothing_left(sc);
}

static bool made;

static void
on_made(struct ndd_job *j)
{
	(void)j;
	made = true;
}

/* A job that is cancelled maps no further slice, and nothing stays mapped. */
Test(segment, mapping_is_cut_short)
{
	struct scene *sc = scene_new(true);
	struct ndd_mapping m = {.make = {.run = ndd_mapping_make, .done = on_made},
		.fd = dup(sc->m.fd),
		.bytes = sc->m.bytes};

	plug_in(&sc->plug, sc->s, false);
	ndd_worker_give(sc->s->worker, &m.make);
	ndd_job_cancel(&m.make);
	sem_post(&sc->plug.go);
	while (!made)
		ndd_rig_turn(sc->r);
	cr_expect(eq(i32, m.status, NDSH_ERR_ABORTED));
	cr_expect(eq(ptr, m.host, NULL));
	cr_expect(eq(int, m.fd, -1));
}

/* The segment is sealed, and its worker waits for the next slice. */
Test(segment, a_session_ends_in_the_middle_of_mapping)
{
	struct scene *sc = scene_new(true);
	struct ndsh_segment_mapped live = mapped(&sc->m);
	struct ndd_session *other;

	(void)client_new(sc->r, &other);
	plug_in(&sc->plug, other, true);
	scene_ask(sc, &live);
	while ((fcntl(sc->m.fd, F_GET_SEALS) & F_SEAL_SEAL) == 0)
		sched_yield();
	close(sc->client);
	ndd_rig_turn(sc->r);
	cr_expect(eq(u32, ndd_workers_left(sc->r->d.workers), 1));
	sem_post(&sc->plug.go);
	ndd_rig_settle(sc->r);
	cr_expect(eq(u64, counted(sc->r), PAGE));
	cr_expect(ndd_workers_stop(sc->r->d.workers));
}

/* The worker is done, the control thread has not heard of it. */
Test(segment, a_session_ends_behind_mapping)
{
	struct scene *sc = scene_new(true);
	struct ndsh_segment_mapped live = mapped(&sc->m);
	struct plug behind;

	say(sc->client, &live);
	ndd_rig_receive(sc->r);
	plug_in(&behind, sc->s, false);
	close(sc->client);
	ndd_rig_turn(sc->r);
	sem_post(&behind.go);
	expect_nothing_left(sc);
}

Test(segment, a_session_ends_while_its_segment_goes)
{
	struct scene *sc = scene_new(true);
	struct ndsh_id_msg end = destroy(&sc->m);

	scene_map(sc);
	plug_in(&sc->plug, sc->s, false);
	scene_ask(sc, &end);
	close(sc->client);
	ndd_rig_turn(sc->r);
	expect_nothing_left(sc);
}

Test(segment, a_session_ends_with_segments_in_each_state)
{
	struct scene *sc = scene_new(false);
	struct ndsh_segment_mapped live = mapped(&sc->m);
	union reply reply;

	cr_expect(eq(i32, ndd_rig_ask(sc->r, sc->client, &live, &reply), NDSH_ERR_INVALID_STATE));
	sc->r->cfg.max_memory_bytes += 2 * MIB;
	(void)make(sc->r, sc->client, MIB);
	plug_in(&sc->plug, sc->s, false);
	close(sc->client);
	ndd_rig_turn(sc->r);
	expect_nothing_left(sc);
}

Test(segment, the_daemon_stops_while_one_is_mapped, .timeout = 60)
{
	struct scene *sc = scene_new(true);
	struct ndsh_segment_mapped live = mapped(&sc->m);

	plug_in(&sc->plug, sc->s, false);
	scene_ask(sc, &live);
	close(sc->client);
	ndd_rig_turn(sc->r);
	sem_post(&sc->plug.go);
	cr_expect(ndd_workers_stop(sc->r->d.workers));
}

/* Segments are made and destroyed again and again: none of them is left. */
Test(segment, over_and_over)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = client_new(r, &s);

	for (unsigned i = 0; i < 50; i++) {
		struct ndsh_id_msg end = {.h.type = NDSH_MSG_SEGMENT_DESTROY};
		union reply reply;
		void *mem = ndd_rig_segment(r, client, 12 * MIB, &end.id);

		cr_assert(eq(i32, ndd_rig_ask(r, client, &end, &reply), NDSH_OK));
		munmap(mem, 12 * MIB);
	}
	cr_expect(eq(u64, counted(r), PAGE));
	cr_expect(eq(u32, s->segments.used, 1));
}

/* ---- a client that holds the file's lock ----------------------------------------------------- */

/* It writes to the memfd from a page that is kept missing, so that sealing the memfd waits. */
Test(segment, a_client_that_holds_its_file_waits_alone, .timeout = 60)
{
	struct scene *sc = scene_new(true);
	struct ndsh_segment_mapped live = mapped(&sc->m);
	struct ndd_session *other;
	struct file_holder h;
	uint32_t id;
	int second;

	if (!file_holder_new(&h))
		cr_skip_test("no userfaultfd for this user");
	file_holder_writes(&h, sc->m.fd);
	scene_ask(sc, &live);
	second = client_new(sc->r, &other);
	(void)ndd_rig_segment(sc->r, second, MIB, &id);
	close(second);
	close(sc->client);
	ndd_rig_turn(sc->r);
	while (ndd_workers_left(sc->r->d.workers) > 1)
		ndd_rig_turn(sc->r);
	cr_expect(eq(u32, sc->r->d.session_count, 0));
	cr_expect(eq(u64, sc->r->d.accounts.pool[0][CONFIG_SHARE_sessions].promised, 1));
	cr_expect(eq(u64, counted(sc->r), sc->r->cfg.max_memory_bytes));
	file_holder_end(&h);
	expect_nothing_left(sc);
}
