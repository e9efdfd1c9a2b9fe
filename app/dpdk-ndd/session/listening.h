/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets that clients connect to: one, and those of control.sockets. */
#ifndef NDD_LISTENING_H
#define NDD_LISTENING_H

#include "config/config.h"
#include "control/watch.h"

#define NDD_LISTENING_MAX (1u + CONFIG_SOCKETS_MAX)
#define NDD_ACCEPTED_MAX  4u /* in a turn, of one socket */

struct ndd;

struct ndd_listening {
	struct ndd_watch watch;
	const char *path, *label; /* label "": the main one */
	bool ready;		  /* somebody has connected */
	bool deaf;		  /* not looked at now, as there is no room */
	bool stuck;		  /* the first of those accepted is refused and has no place */
	uint64_t deaf_since_ns;
	uint32_t n; /* accepted, and not yet admitted */
	int accepted[NDD_ACCEPTED_MAX];
};

/* All of them, from now on; false: the log says why not. */
bool ndd_listening_start(struct ndd *d);
/* A socket that listens already. */
bool ndd_listening_add(struct ndd *d, int fd, const char *path, const char *label);
/*
 * Accept clients that have connected. It is what a turn does last: clients that sleep as the
 * kernel's queue was full get into it while this thread rests (platform/pace.h), before others that
 * connect in a loop have filled it again.
 */
void ndd_listening_accept(struct ndd *d);
/* Admit those that were accepted (session/arrival.h). */
void ndd_listening_admit(struct ndd *d);
/* Has ndd_listening_admit() nothing to do? */
bool ndd_listening_is_quiet(const struct ndd *d);
/* Those that were deaf for a while listen again. */
void ndd_listening_again(struct ndd *d, uint64_t now_ns);
/* Refuse all that connect; paths are removed. */
void ndd_listening_stop(struct ndd *d);

#endif
