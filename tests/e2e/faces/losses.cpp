/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that goes while it is registered, and memory whose pages come late. The library moves what is
 * there: nothing is adopted here (main.cpp). */
#include <cstring>
#include <memory>
#include <sys/mman.h>

#include "scenarios.hpp"

#define BYTES 20000u /* several packets, and more than is copied when it is posted */
#define ROOM  (1u << 20)
#define KEPT  8192u

static int request[8], bound;

/* Memory of the second region of an end, of which all but the first pages goes. */
class Memory {
	End &of;
	char *const at;
	bool whole = true;

      public:
	explicit Memory(End &e, uint32_t flags)
	    : of(e), at((char *)mmap(nullptr, ROOM, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
	{
		CHECK(at != MAP_FAILED);
		(void)madvise(at, ROOM, MADV_NOHUGEPAGE); /* single pages are counted */
		WANT(ND_SUCCESS, of.enroll(at, ROOM, flags));
	}
	~Memory()
	{
		CHECK(munmap(at, whole ? ROOM : KEPT) == 0);
	}
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;
	void
	goes()
	{
		CHECK(munmap(at + KEPT, ROOM - KEPT) == 0);
		whole = false;
	}
	Piece
	piece(uint32_t length) const
	{
		return {0, length, true, at};
	}
	unsigned
	resident_pages() const
	{
		unsigned char pages[ROOM / 4096];
		unsigned n = 0;

		CHECK(mincore(at, ROOM, pages) == 0);
		for (const unsigned char page : pages)
			n += page & 1;
		return n;
	}
};

/* Two connections: something ends the first, and the other goes on. */
struct Beside {
	std::unique_ptr<End> a2, b2;

	explicit Beside(Pair &p) : a2(p.a->another()), b2(p.b->another())
	{
		const sockaddr_in at = p.b->listen();

		join(*p.a, *p.b, *p.b, at);
		join(*a2, *b2, *p.b, at);
	}
	void
	goes_on(Pair &p) const
	{
		WANT(ND_SUCCESS, b2->receive(&request[6], 0, BYTES));
		WANT(ND_SUCCESS, a2->send(&request[7], 0, BYTES));
		WANT(ND_SUCCESS, status_of(*p.b, &request[6]));
		WANT(ND_SUCCESS, status_of(*p.a, &request[7]));
	}
};

/* What b's memory is opened by for a. */
static Far
opened(Pair &p, const Memory &m)
{
	Far w;

	WANT(ND_SUCCESS, p.b->bind(&bound, m.piece(ROOM),
				 ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE, &w));
	WANT(ND_SUCCESS, status_of(*p.b, &bound));
	return w;
}

/* a's write or read of memory of b's that has gone. */
static void
peer_reaches(Pair &p, bool write)
{
	const Beside other(p);
	Memory m(*p.b, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	const Far w = opened(p, m);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	m.goes();
	WANT(ND_SUCCESS, write ? p.a->write(&request[1], {0, BYTES}, w, 0)
			       : p.a->read(&request[1], {0, BYTES}, w, 0));
	refused(p, &request[1], &request[0]);
	WANT(ND_SUCCESS, p.a->receive(&request[2], 0, 8));
	WANT(ND_CANCELED, status_of(*p.a, &request[2]));
	other.goes_on(p);
}

/* checks R-MR-14[1,3] */
static void
peer_writes_what_went(Pair &p)
{
	peer_reaches(p, true);
}

/* checks R-MR-14[1,3] */
static void
peer_reads_what_went(Pair &p)
{
	peer_reaches(p, false);
}

/* checks R-MR-14[1-3]: of three receives the memory of the second one has gone. The first one's
 * bytes are whole, and the third one ends as canceled, though its message may have come. */
static void
peer_sends_to_what_went(Pair &p)
{
	const Beside other(p);
	Memory m(*p.b, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	const Piece gone = m.piece(BYTES);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, BYTES));
	WANT(ND_SUCCESS, p.b->receive_list(&request[1], &gone, 1));
	WANT(ND_SUCCESS, p.b->receive(&request[2], 0, BYTES));
	m.goes();
	memset(p.a->buffer, 's', BYTES);
	for (int i = 3; i < 6; i++)
		WANT(ND_SUCCESS, p.a->send(&request[i], 0, BYTES));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_ACCESS_VIOLATION, status_of(*p.b, &request[1]));
	WANT(ND_CANCELED, status_of(*p.b, &request[2]));
	WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
	WANT(ND_REMOTE_ERROR, status_of(*p.a, &request[4]));
	WANT(ND_CANCELED, status_of(*p.a, &request[5]));
	CHECK(p.b->buffer[0] == 's' && p.b->buffer[BYTES - 1] == 's');
	other.goes_on(p);
}

/* The memory of the second one of three requests of a's has gone. */
static void
own_memory(Pair &p, bool write)
{
	const Beside other(p);
	Memory m(*p.a, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE);

	m.goes();
	for (int i = 0; i < 3; i++) {
		const Piece piece = i == 1 ? m.piece(BYTES) : Piece{0, BYTES};

		WANT(ND_SUCCESS, write ? p.a->write(&request[i], piece, w, 0)
				       : p.a->read(&request[i], piece, w, 0));
	}
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	WANT(ND_ACCESS_VIOLATION, status_of(*p.a, &request[1]));
	WANT(ND_CANCELED, status_of(*p.a, &request[2]));
	other.goes_on(p);
}

/* checks R-MR-14[1-3] */
static void
writes_what_went(Pair &p)
{
	own_memory(p, true);
}

/* checks R-MR-14[1-3] */
static void
reads_into_what_went(Pair &p)
{
	own_memory(p, false);
}

/* checks R-MR-11[1,2]: registered with the flag, memory has no pages until it is used; they come
 * then, and the bytes with them. Without the flag they are there at once. */
static void
pages_made_late(Pair &p)
{
	p.meet();
	{
		const Memory at_once(*p.b, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
		CHECK(at_once.resident_pages() == ROOM / 4096);
		WANT(ND_SUCCESS, p.b->retire());
	}
	const Memory late(
		*p.b, ND_MR_FLAG_ALLOW_LOCAL_WRITE | (uint32_t)ND_MR_FLAG_DO_NOT_SECURE_VM);
	CHECK(late.resident_pages() == 0);
	const Piece piece = late.piece(4096);
	WANT(ND_SUCCESS, p.b->receive_list(&request[0], &piece, 1));
	memset(p.a->buffer, 'p', 4096);
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 4096));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	CHECK(late.resident_pages() == 1);
	CHECK(memcmp(p.a->buffer, p.b->start(piece), 4096) == 0);
}

const Scenario of_losses[] = {
	{"peer_writes_what_went", peer_writes_what_went},
	{"peer_reads_what_went", peer_reads_what_went},
	{"peer_sends_to_what_went", peer_sends_to_what_went},
	{"writes_what_went", writes_what_went},
	{"reads_into_what_went", reads_into_what_went},
	{},
};
const Scenario of_late_pages[] = {
	{"pages_made_late", pages_made_late},
	{},
};
