/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the daemon: what is said if it is not there. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
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

Test(ndclient_socket, a_path_that_fits_no_socket)
{
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	cr_expect(eq(i32, open_at(path), ND_DEVICE_NOT_READY));
	cr_expect(strstr(nd_last_error(), "too long") != NULL, "%s", nd_last_error());
}
