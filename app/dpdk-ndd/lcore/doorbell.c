/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbells. A session that rang lately is polled in each turn; one that was silent for a
 * millisecond is demoted: its page says so, and its next doorbell comes with a write to its wake
 * eventfd. A thousand idle sessions cost an lcore nothing.
 */
#include <sys/epoll.h>

#include "lcore/shard.h"
#include "lcore/turn.h"

static void
session_swap_places(struct ndd_shard *s, uint32_t a, uint32_t b)
{
	struct ndd_shard_session *x = s->session[a], *y = s->session[b];

	s->session[a] = y;
	s->session[b] = x;
	y->index = a;
	x->index = b;
}

/*
 * Each write to an eventfd is an edge, so the lcore never reads it: the client has the same open
 * file, and could make a read block. It carries no file descriptors either, whose last reference
 * the lcore would have to drop.
 */
bool
ndd_lcore_attach(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = ss};

	if (s->sessions == NDD_SESSIONS_MAX ||
		epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, ss->wake_fd, &ev) != 0)
		return false;
	ss->index = s->sessions;
	s->session[s->sessions++] = ss;
	session_swap_places(s, ss->index, s->awake);
	s->awake++;
	ss->rung_ns = now_ns;
	return true;
}

void
ndd_lcore_detach(struct ndd_shard *s, struct ndd_shard_session *ss)
{
	(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, ss->wake_fd, NULL);
	if (ss->index < s->awake) {
		s->awake--;
		session_swap_places(s, ss->index, s->awake);
	}
	s->sessions--;
	session_swap_places(s, ss->index, s->sessions);
	s->session[s->sessions] = NULL;
}

void
ndd_lcore_promote(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns)
{
	if (ss->index < s->awake)
		return;
	ndsh_doorbell_awake(ss->page);
	session_swap_places(s, ss->index, s->awake);
	s->awake++;
	ss->rung_ns = now_ns;
	s->count.promotions++;
}

/* False: it rang in the same moment and stays awake. */
static bool
session_demote(struct ndd_shard *s, struct ndd_shard_session *ss, uint64_t now_ns)
{
	if (ss->summary != 0 || ss->admin_due || !ndsh_doorbell_sleep(ss->page)) {
		ss->rung_ns = now_ns;
		return false;
	}
	s->awake--;
	session_swap_places(s, ss->index, s->awake);
	s->count.demotions++;
	return true;
}

bool
ndd_lcore_demote_all(struct ndd_shard *s, uint64_t now_ns)
{
	while (s->awake != 0)
		if (!session_demote(s, s->session[s->awake - 1], now_ns))
			return false;
	return true;
}

/* A long ring is served over many turns: the other sessions, and packets, come in between. */
static unsigned
session_serve_admin(struct ndd_shard *s, struct ndd_shard_session *ss)
{
	unsigned n = roce_admin_serve(s->engine, &ss->admin, NDD_ADMIN);

	ss->admin_due = n == NDD_ADMIN;
	return n;
}

/* The client writes the bits: numbers without a queue pair are passed over. */
static unsigned
session_poll(struct ndd_shard *s, struct ndd_shard_session *ss)
{
	unsigned n = 0;
	uint32_t word;
	uint64_t bits;

	if (ss->summary == 0)
		ss->summary = ndsh_doorbell_begin(ss->page);
	for (unsigned i = 0; i < NDD_DOORBELL_WORDS; i++) {
		if (!ndsh_doorbell_take(ss->page, &ss->summary, &word, &bits))
			break;
		while (bits != 0) {
			uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(bits);

			bits &= bits - 1;
			n++;
			if (number == NDSH_ADMIN_DOORBELL)
				ss->admin_due = true;
			else if (ss->qp[number] != NULL)
				roce_qp_doorbell(s->engine, ss->qp[number]);
		}
	}
	if (ss->admin_due)
		n += session_serve_admin(s, ss);
	return n;
}

unsigned
ndd_lcore_doorbells(struct ndd_shard *s, uint64_t now_ns)
{
	uint32_t looks = s->awake < NDD_DOORBELL_SESSIONS ? s->awake : NDD_DOORBELL_SESSIONS;
	unsigned work = 0;

	for (; looks != 0 && s->awake != 0; looks--) {
		struct ndd_shard_session *ss;
		unsigned n;

		if (s->next_session >= s->awake)
			s->next_session = 0;
		ss = s->session[s->next_session];
		n = session_poll(s, ss);
		if (n != 0)
			ss->rung_ns = now_ns;
		else if (now_ns - ss->rung_ns > NDD_DEMOTE_NS && session_demote(s, ss, now_ns))
			continue; /* another session has its place now */
		s->next_session++;
		work += n;
	}
	s->count.doorbells += work;
	return work;
}
