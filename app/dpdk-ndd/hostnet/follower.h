/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Followers: connections, queue pairs brought up by hand, and address handles. Each waits until its
 * next hop is known, and follows it when it moves. They go on when they have something to do, each
 * in the time of its principal. Those that have nothing to do are never looked at, since a client
 * can have thousands of them.
 */
#ifndef NDD_FOLLOWER_H
#define NDD_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "account/account.h"
#include "hostnet/path.h"

struct ndd;
struct ndd_session;

enum ndd_follow {
	NDD_FOLLOW_NOT,
	NDD_FOLLOW_FIRST,  /* its client waits for it */
	NDD_FOLLOW_BEHIND, /* behind all that clients wait for: the next hop may be the same */
};

struct ndd_follower_kind {
	/* What it does when next hops have changed. */
	enum ndd_follow (*moved)(const struct ndd_follower *f);
	/* Its next hop may be known by now, have changed, or be late. It may free itself. */
	void (*go_on)(struct ndd_follower *f, uint64_t now_ns);
	/* Its source address, and its destination, if it has gone as far as that (else all zero).
	 * False: it needs neither any more. */
	bool (*addresses)(const struct ndd_follower *f, struct roce_path *path);
	/* One of these, or the route between them, is gone. why is for the log. All followers stay
	 * in their list. */
	void (*end)(struct ndd_follower *f, const char *why);
};

enum ndd_wait {
	NDD_WAIT_HOP,	/* for the neighbour to answer */
	NDD_WAIT_FLUSH, /* for late acknowledgements */
	NDD_WAITS
};

/* Part of the object that follows. */
struct ndd_follower {
	const struct ndd_follower_kind *kind;
	struct ndd_session *session;
	TAILQ_ENTRY(ndd_follower) next, next_waiting, next_due;
	struct ndd_follower_list *waits; /* in this list; NULL: no more */
	struct ndd_follower_list *due;	 /* goes on when this list's turn comes; NULL: does not */
	uint64_t deadline_ns;		 /* of what it waits or waited for; UINT64_MAX: none */
	uint64_t swept;			 /* the last sweep over all that it was part of */
};

struct ndd_followers {
	struct ndd_follower_list all; /* the one whose sweep is the oldest comes first */
	struct ndd_follower_list waiting[NDD_WAITS]; /* the first ends first */
	uint64_t sweep;	      /* how often all were to follow their next hops */
	uint64_t generation;  /* of the network, as far as they are judged by it */
	uint64_t deadline_ns; /* of the next tick; UINT64_MAX: it has nothing to do */
};

void ndd_followers_init(struct ndd_followers *all);
/* It follows from now on. */
void ndd_follower_add(
	struct ndd_follower *f, const struct ndd_follower_kind *kind, struct ndd_session *s);
/* It is out of all lists. */
void ndd_follower_remove(struct ndd_follower *f);
/* It goes on when it has waited for as long as one does for that, if nothing else makes it. */
void ndd_follower_wait(struct ndd_follower *f, enum ndd_wait what, uint64_t now_ns);
void ndd_follower_wait_no_more(struct ndd_follower *f);
/* It goes on in the next tick that its principal has time in. */
void ndd_follower_is_due(struct ndd_follower *f);
/* Those that are due, or whose next hop may have changed; some of those per call. */
void ndd_followers_tick(struct ndd *d, uint64_t now_ns);
/* Those whose path is lost end; why is for the log. */
void ndd_followers_end(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why);

#endif
