/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/client_wakeup.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool
ndd_client_wakeup_open(int *daemon_end, int *client_end)
{
	const int least = 1; /* the kernel's least: what a client does not read costs memory */
	int end[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, end) != 0)
		return false;
	if (shutdown(end[0], SHUT_RD) != 0 ||
		setsockopt(end[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)) != 0) {
		close(end[0]);
		close(end[1]);
		return false;
	}
	*daemon_end = end[0];
	*client_end = end[1];
	return true;
}

/* Full is readable already, and closed has no reader. Else the kernel has no memory for a byte, or
 * the daemon's cgroup has none left. */
bool
ndd_client_wakeup_send(int daemon_end, uint64_t *woken)
{
	if (send(daemon_end, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) {
		++*woken;
		return true;
	}
	return errno == EAGAIN || errno == EPIPE;
}
