/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* Before Linux 6.5 the process is found by its number, which may be another's by then: only for a
 * client that ends in the moment in which it connects. Until Linux 6.15 there is no pidfd of a
 * process that has been waited for, which is "invalid". */
int
ndd_credentials_pidfd(int sock, pid_t pid)
{
	socklen_t bytes = sizeof(int);
	int fd = -1;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &bytes) == 0)
		return fd;
	if (errno == ENOPROTOOPT)
		return (int)syscall(SYS_pidfd_open, pid, 0);
	if (errno == EINVAL)
		errno = ESRCH;
	return -1;
}

static bool
process_lives(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

/* Version 2 has the one line "0::/path". The process still lives behind the look, so its number was
 * not yet another's. */
static void
read_cgroup(struct ndd_credentials *cred, int pidfd)
{
	char path[32], text[sizeof(cred->cgroup) + 3];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", cred->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 4 || memcmp(text, "0::/", 4) != 0 || !process_lives(pidfd))
		return;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	memcpy(cred->cgroup, text + 3, strlen(text + 3) + 1);
}

static void
read_groups(struct ndd_credentials *cred, int sock, gid_t own)
{
	socklen_t bytes = sizeof(cred->gid) - sizeof(cred->gid[0]);

	cred->gid[0] = own;
	cred->gids = 1;
	if (getsockopt(sock, SOL_SOCKET, SO_PEERGROUPS, &cred->gid[1], &bytes) == 0)
		cred->gids += (uint32_t)(bytes / sizeof(gid_t));
}

static void
find_cgroup(struct ndd_credentials *cred, int sock)
{
	int pidfd = ndd_credentials_pidfd(sock, cred->pid);

	if (pidfd < 0)
		return;
	read_cgroup(cred, pidfd);
	close(pidfd);
}

bool
ndd_credentials_of(struct ndd_credentials *cred, int sock, const char *label, bool wants_cgroup)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	memset(cred, 0, sizeof(*cred));
	cred->uid = NDD_UID_UNKNOWN;
	cred->label = label;
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return false;
	cred->pid = peer.pid;
	cred->uid = peer.uid;
	read_groups(cred, sock, peer.gid);
	if (wants_cgroup)
		find_cgroup(cred, sock);
	return true;
}

/* ---- rules --------------------------------------------------------------------------------- */

static bool
is_among(uint32_t id, const uint32_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

static bool
is_in_group(const struct ndd_credentials *cred, const struct config_principal *rule)
{
	for (uint32_t i = 0; i < cred->gids; i++)
		if (is_among(cred->gid[i], rule->gid, rule->gids))
			return true;
	return false;
}

/* "/a" is above "/a/b", and not above "/ab". */
static bool
is_below(const char *path, const char *above)
{
	size_t n = strlen(above);

	while (n > 0 && above[n - 1] == '/')
		n--;
	return path[0] != '\0' && strncmp(path, above, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0');
}

bool
ndd_credentials_match(const struct ndd_credentials *cred, const struct config_principal *rule)
{
	return (rule->label[0] == '\0' || strcmp(cred->label, rule->label) == 0) &&
	       (rule->uids == 0 || is_among(cred->uid, rule->uid, rule->uids)) &&
	       (rule->gids == 0 || is_in_group(cred, rule)) &&
	       (rule->cgroup[0] == '\0' || is_below(cred->cgroup, rule->cgroup));
}
