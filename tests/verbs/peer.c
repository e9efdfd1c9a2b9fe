/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.h"

void
peer_tell(int peer, const void *what, size_t bytes)
{
	WANT(send(peer, what, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
}

void
peer_hear(int peer, void *what, size_t bytes)
{
	WANT(recv(peer, what, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

int
peer_reach(const char *port, const char *host)
{
	const struct addrinfo hints = {.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host == NULL ? AI_PASSIVE : 0};
	struct addrinfo *a;
	int one = 1, listener, peer;

	WANT(getaddrinfo(host, port, &hints, &a) == 0);
	listener = socket(a->ai_family, a->ai_socktype, 0);
	WANT(listener >= 0);
	if (host != NULL) {
		WANT(connect(listener, a->ai_addr, a->ai_addrlen) == 0);
		freeaddrinfo(a);
		return listener;
	}
	WANT(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0);
	WANT(bind(listener, a->ai_addr, a->ai_addrlen) == 0 && listen(listener, 1) == 0);
	peer = accept(listener, NULL, NULL);
	WANT(peer >= 0);
	close(listener);
	freeaddrinfo(a);
	return peer;
}
