/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the daemon: what is said if it is not there. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ndclient/session/socket.h"

static nd_status
open_at(const char *path)
{
	const struct nd_open_options opt = {.socket_path = path};
	struct ndsh_hello_reply reply;
	int sock;

	return nd_socket_open(&opt, &sock, &reply);
}

Test(ndclient_socket, no_daemon)
{
	cr_expect(eq(i32, open_at("/nowhere/ndd.sock"), ND_DEVICE_NOT_READY));
	cr_expect(strstr(nd_last_error(), "/nowhere/ndd.sock") != NULL, "%s", nd_last_error());
}

/* A socket that holds one client, and accepts none. */
static void
listen_at(struct sockaddr_un *at)
{
	int listening = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(at->sun_path, sizeof(at->sun_path), "/tmp/ndd-unit-%d.sock", getpid());
	cr_assert_eq(bind(listening, (struct sockaddr *)at, sizeof(*at)), 0);
	cr_assert_eq(listen(listening, 0), 0);
}

/* One that has stopped: it listens, and accepts nobody. */
Test(ndclient_socket, a_daemon_that_does_not_accept)
{
	struct sockaddr_un at;
	int sock;

	listen_at(&at);
	cr_expect(eq(i32, nd_socket_connect(at.sun_path, 1, &sock), ND_SUCCESS), "it holds one");
	cr_expect(eq(i32, nd_socket_connect(at.sun_path, 1, &sock), ND_DEVICE_NOT_READY));
	(void)unlink(at.sun_path);
	cr_expect(strstr(nd_last_error(), "does not answer") != NULL, "%s", nd_last_error());
	cr_expect(strstr(nd_last_error(), at.sun_path) != NULL, "%s", nd_last_error());
}

/* The socket of one that accepts waits for room without an end, as ever. */
Test(ndclient_socket, patience_is_for_connecting_alone)
{
	struct timeval wait = {1, 1};
	socklen_t bytes = sizeof(wait);
	struct sockaddr_un at;
	int sock;

	listen_at(&at);
	cr_assert(eq(i32, nd_socket_connect(at.sun_path, 1, &sock), ND_SUCCESS));
	(void)unlink(at.sun_path);
	cr_assert_eq(getsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &wait, &bytes), 0);
	cr_expect(eq(i64, wait.tv_sec, 0));
	cr_expect(eq(i64, wait.tv_usec, 0));
}

Test(ndclient_socket, a_path_that_fits_no_socket)
{
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	cr_expect(eq(i32, open_at(path), ND_DEVICE_NOT_READY));
	cr_expect(strstr(nd_last_error(), "too long") != NULL, "%s", nd_last_error());
}
