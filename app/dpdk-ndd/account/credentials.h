/* SPDX-License-Identifier: BSD-3-Clause */
/* The process at the other end of a control socket, as the kernel describes it. */
#ifndef NDD_CREDENTIALS_H
#define NDD_CREDENTIALS_H

#include <stdbool.h>
#include <sys/types.h>

#include "config/config.h"

#define NDD_GROUPS_MAX	64u /* further ones are not looked at */
#define NDD_UID_UNKNOWN ((uid_t)-1)

struct ndd_credentials {
	pid_t pid;
	uid_t uid;
	gid_t gid[NDD_GROUPS_MAX]; /* the first is its own */
	uint32_t gids;
	const char *label;		/* of the socket that it came by; "": the main one */
	char cgroup[CONFIG_PATH_BYTES]; /* "": not known, or not asked for */
};

/*
 * Of the process that has connected sock. wants_cgroup: as that costs a file to be read. False: the
 * kernel does not say, and its user is NDD_UID_UNKNOWN.
 */
bool ndd_credentials_of(
	struct ndd_credentials *cred, int sock, const char *label, bool wants_cgroup);
/* A pidfd of the process that has connected sock, whose number is pid; -1: errno says why there is
 * none, ESRCH that the process has ended. */
int ndd_credentials_pidfd(int sock, pid_t pid);
/* Does the rule's condition hold? */
bool ndd_credentials_match(const struct ndd_credentials *cred, const struct config_principal *rule);

#endif
