/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's user when it has started, and what that may do. */
#ifndef NDD_IDENTITY_H
#define NDD_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NDD_IDENTITY_GROUPS 32

struct ndd_identity {
	bool changes; /* the user is another one */
	uid_t uid;
	gid_t gid, group[NDD_IDENTITY_GROUPS];
	int groups;
	uint64_t caps; /* kept, as far as they are there */
};

/* user: a name, or "" for the present one. False after a log line. */
bool ndd_identity_find(struct ndd_identity *identity, const char *user, uint64_t caps);
/* On one thread, by system calls alone: it is that user from now on, has no other capabilities, and
 * gets no others by whatever it does. To do it again changes nothing. */
bool ndd_identity_take(const struct ndd_identity *identity);

#endif
