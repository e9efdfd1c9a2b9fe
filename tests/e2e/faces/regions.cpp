/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: what they take, what they allow, and until when. */
#include <cstring>
#include <sys/mman.h>

#include "scenarios.hpp"

#define REMOTE_READ  ND_MR_FLAG_ALLOW_REMOTE_READ
#define REMOTE_WRITE ND_MR_FLAG_ALLOW_REMOTE_WRITE
#define LOCAL_WRITE  ND_MR_FLAG_ALLOW_LOCAL_WRITE

static int request[8];

/* A request of a fails by what is on its own side, though it was queued; b sees the connection
 * end. */
static void
fails_here(Pair &p, int32_t posted, const void *context)
{
	const int32_t notice = p.b->notify_disconnect();

	WANT(ND_SUCCESS, posted);
	WANT(ND_ACCESS_VIOLATION, status_of(*p.a, context));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice));
}

/* checks R-POST-08[1], R-MR-08[1,2], R-CR-08[1]: memory that was registered, and is not any more */
static void
stale_memory(Pair &p)
{
	const Piece piece = {0, 8, true};

	p.meet();
	WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, LOCAL_WRITE));
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send_list(&request[1], &piece, 1));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.a->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, p.a->retire());
	fails_here(p, p.a->send_list(&request[3], &piece, 1), &request[3]);
	WANT(ND_CANCELED, status_of(*p.a, &request[2]));
}

/* checks R-POST-08[2]: a byte beyond the region */
static void
beyond_the_region(Pair &p)
{
	const Piece inside = {4088, 8, true}, beyond = {4089, 8, true};

	p.meet();
	WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, LOCAL_WRITE));
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send_list(&request[1], &inside, 1));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	fails_here(p, p.a->send_list(&request[2], &beyond, 1), &request[2]);
}

/* checks R-MR-04[1,2,4], R-MR-12[1]: nothing at all, nothing somewhere, and what is not there;
 * the same region takes the next thing. */
static void
bad_memory(Pair &p)
{
	p.meet();
	WANT(ND_INVALID_PARAMETER, p.a->enroll(nullptr, 0, LOCAL_WRITE));
	WANT(ND_INVALID_PARAMETER, p.a->enroll(nullptr, 4096, LOCAL_WRITE));
	WANT(ND_INVALID_BUFFER_SIZE, p.a->enroll(p.a->buffer, 0, LOCAL_WRITE));
	WANT(ND_ACCESS_VIOLATION, p.a->enroll((void *)4096, 4096, LOCAL_WRITE));
	WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, LOCAL_WRITE));
}

/* checks R-MR-01[2,4], R-MR-08[2]: the same memory again and again, beside a region that has it
 * all the while */
static void
again_and_again(Pair &p)
{
	const Piece piece = {0, 8, true};

	p.meet();
	for (unsigned i = 0; i < 300; i++) {
		WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, LOCAL_WRITE));
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		WANT(ND_SUCCESS, p.a->send_list(&request[1], &piece, 1));
		WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
		WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
		WANT(ND_SUCCESS, p.a->retire());
	}
}

/* checks R-MR-01[3], R-MR-04[3,5], R-MR-09[2]: what is registered already, an unknown right, more
 * than there can be, and the tokens before */
static void
bad_registrations(Pair &p)
{
	CHECK(p.a->second().token == 0);
	WANT(p.a->word(ND_INVALID_PARAMETER_3), p.a->enroll(p.a->buffer, 4096, 0x40000000));
	WANT(ND_INVALID_PARAMETER, p.a->enroll(p.a->buffer, (uint64_t)1 << 48, LOCAL_WRITE));
	WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, LOCAL_WRITE));
	WANT(ND_INVALID_DEVICE_STATE, p.a->enroll(p.a->buffer, 4096, LOCAL_WRITE));
	WANT(ND_SUCCESS, p.a->retire());
	WANT(ND_INVALID_DEVICE_STATE, p.a->retire());
}

/* checks R-RW-05[1]: memory that may only be read here is not filled by a read. */
static void
read_into_constants(Pair &p)
{
	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);

	memset(p.b->buffer, 'x', 8);
	WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, 0));
	fails_here(p, p.a->read(&request[0], {0, 8, true}, w, 0), &request[0]);
	CHECK(p.a->buffer[0] == 0);
}

/* checks R-RW-03[1], R-MR-03[1], R-MR-09[1]: written and read by the region's own token; the
 * right of the peer to write includes the own one. */
static void
no_window(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, REMOTE_READ | REMOTE_WRITE));
	const Far r = p.b->second();
	const Piece here = {64, 8, true};

	memset(p.a->buffer, 'w', 8);
	WANT(ND_SUCCESS, p.a->write(&request[0], {0, 8}, r, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	WANT(ND_SUCCESS, p.a->read(&request[1], {100, 8}, r, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	CHECK(memcmp(p.a->buffer + 100, "wwwwwwww", 8) == 0);
	WANT(ND_SUCCESS, p.b->receive_list(&request[2], &here, 1));
	WANT(ND_SUCCESS, p.a->send(&request[3], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.b, &request[2]));
	CHECK(memcmp(p.b->buffer + 64, "wwwwwwww", 8) == 0);
}

/* checks R-RW-02[1-4], R-MR-03[2]: the peer may read, and no more. */
static void
may_only_read(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, REMOTE_READ));
	const Far r = p.b->second();

	WANT(ND_SUCCESS, p.b->receive(&request[0], 8192, 8));
	WANT(ND_SUCCESS, p.a->read(&request[1], {0, 8}, r, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	p.a->buffer[0] = 'x';
	WANT(ND_SUCCESS, p.a->write(&request[2], {0, 8}, r, 0));
	refused(p, &request[2], &request[0]);
	CHECK(p.b->buffer[0] == 0);
}

/* checks R-MR-08[1,2], R-MR-06[3]: the peer's token is good as long as the memory is registered. */
static void
stale_token(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, REMOTE_WRITE));
	const Far r = p.b->second();

	WANT(ND_SUCCESS, p.b->receive(&request[0], 8192, 8));
	WANT(ND_SUCCESS, p.a->write(&request[1], {0, 8}, r, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, p.b->retire());
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, REMOTE_WRITE));
	CHECK(p.b->second().token != r.token);
	p.a->buffer[0] = 'x';
	WANT(ND_SUCCESS, p.a->write(&request[2], {0, 8}, r, 0));
	refused(p, &request[2], &request[0]);
	CHECK(p.b->buffer[0] == 0);
}

/* checks R-MW-04[1-4]: a window for writing needs the right to write here, and none of the
 * peer's. */
static void
rights_of_windows(Pair &p)
{
	const Piece piece = {0, 4096, true};
	Far w;

	p.meet();
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, 0));
	WANT(ND_ACCESS_VIOLATION, p.b->bind(&request[0], piece, ND_OP_FLAG_ALLOW_WRITE, &w));
	WANT(ND_SUCCESS, p.b->bind(&request[1], piece, ND_OP_FLAG_ALLOW_READ, &w));
	WANT(ND_SUCCESS, status_of(*p.b, &request[1]));
	WANT(ND_SUCCESS, p.a->read(&request[2], {0, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	WANT(ND_SUCCESS, p.b->invalidate(&request[3]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[3]));
	WANT(ND_SUCCESS, p.b->retire());
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, LOCAL_WRITE));
	WANT(ND_SUCCESS, p.b->bind(&request[4], piece, ND_OP_FLAG_ALLOW_WRITE, &w));
	WANT(ND_SUCCESS, status_of(*p.b, &request[4]));
	WANT(ND_SUCCESS, p.a->write(&request[5], {0, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[5]));
}

/* checks R-MR-05[1,2], R-MR-04[4]: memory that may only be read can be registered for that. */
static void
constants(Pair &p)
{
	void *page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	WANT(ND_ACCESS_VIOLATION, p.a->enroll(page, 4096, LOCAL_WRITE));
	WANT(ND_ACCESS_VIOLATION, p.a->enroll(page, 4096, REMOTE_WRITE));
	WANT(ND_SUCCESS, p.a->enroll(page, 4096, REMOTE_READ));
	WANT(ND_SUCCESS, p.a->retire());
	CHECK(munmap(page, 4096) == 0);
}

/* checks R-MR-10[1]: the flag is taken, and a read needs it no more than it hurts. */
static void
read_sink(Pair &p)
{
	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);

	memset(p.b->buffer, 'x', 8);
	WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK));
	WANT(ND_SUCCESS, p.a->read(&request[0], {0, 8, true}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	WANT(ND_SUCCESS, p.a->read(&request[1], {8, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	CHECK(memcmp(p.a->buffer, "xxxxxxxxxxxxxxxx", 16) == 0);
}

const Scenario of_regions[] = {
	{"stale_memory", stale_memory},
	{"beyond_the_region", beyond_the_region},
	{"bad_memory", bad_memory},
	{"again_and_again", again_and_again},
	{},
};
const Scenario of_rights[] = {
	{"bad_registrations", bad_registrations},
	{"read_into_constants", read_into_constants},
	{"no_window", no_window},
	{"may_only_read", may_only_read},
	{"stale_token", stale_token},
	{"rights_of_windows", rights_of_windows},
	{"constants", constants},
	{"read_sink", read_sink},
	{},
};
