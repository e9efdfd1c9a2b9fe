/* SPDX-License-Identifier: BSD-3-Clause */
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/log.h"
#include "privilege/identity.h"

bool
ndd_identity_find(struct ndd_identity *identity, const char *user, uint64_t caps)
{
	const struct passwd *pw;

	memset(identity, 0, sizeof(*identity));
	identity->caps = caps;
	if (user[0] == 0)
		return true;
	pw = getpwnam(user);
	if (pw == NULL) {
		ndd_error("control.user: there is no user \"%s\"", user);
		return false;
	}
	if (pw->pw_uid == geteuid())
		return true;
	if (geteuid() != 0) {
		ndd_error("control.user: only root can become \"%s\": start the daemon as root, or "
			  "as that user and without the key",
			user);
		return false;
	}
	identity->changes = true;
	identity->uid = pw->pw_uid;
	identity->gid = pw->pw_gid;
	identity->groups = NDD_IDENTITY_GROUPS;
	if (getgrouplist(user, pw->pw_gid, identity->group, &identity->groups) < 0) {
		ndd_error("control.user: \"%s\" is in more than %d groups", user,
			NDD_IDENTITY_GROUPS);
		return false;
	}
	return true;
}

/* Capabilities outlast the change, so that some can be kept. */
static bool
change_user(const struct ndd_identity *identity)
{
	return syscall(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_setgroups, (size_t)identity->groups, identity->group) == 0 &&
	       syscall(SYS_setresgid, identity->gid, identity->gid, identity->gid) == 0 &&
	       syscall(SYS_setresuid, identity->uid, identity->uid, identity->uid) == 0 &&
	       syscall(SYS_prctl, PR_SET_KEEPCAPS, 0, 0, 0, 0) == 0;
}

static bool
keep_caps(uint64_t wanted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		d[i].permitted &= (uint32_t)(wanted >> (32 * i));
		d[i].effective = d[i].permitted;
		d[i].inheritable = 0;
	}
	return syscall(SYS_capset, &h, d) == 0;
}

bool
ndd_identity_take(const struct ndd_identity *identity)
{
	if (identity->changes && (uid_t)syscall(SYS_getuid) != identity->uid &&
		!change_user(identity))
		return false;
	return keep_caps(identity->caps) &&
	       syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}
