/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets that clients connect to: one, and those of control.sockets. */
#ifndef NDD_LISTENING_H
#define NDD_LISTENING_H

#include "config/config.h"
#include "control/watch.h"

#define NDD_LISTENING_MAX (1u + CONFIG_SOCKETS_MAX)

struct ndd;

struct ndd_listening {
	struct ndd_watch watch;
	const char *path, *label; /* label "": the main one */
	int held;		  /* a refused client's that has no place yet, or -1 */
	bool deaf;		  /* not looked at now, as there is no room */
	uint64_t deaf_since_ns;
};

/* All of them, from now on; false: the log says why not. */
bool ndd_listening_start(struct ndd *d);
/* A socket that listens already. */
bool ndd_listening_add(struct ndd *d, int fd, const char *path, const char *label);
/* Those that were deaf for a while listen again. */
void ndd_listening_again(struct ndd *d, uint64_t now_ns);
/* Refuse all that connect; paths are removed. */
void ndd_listening_stop(struct ndd *d);

#endif
