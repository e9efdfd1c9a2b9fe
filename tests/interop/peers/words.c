/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the pingpong programs: "LID:QPN:PSN:GID" in hexadecimal, and the end of the string. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

#define GID_BYTES 16
#define TRIES	  200 /* 100 ms apart */

struct line {
	char text[sizeof("0000:000000:000000:00000000000000000000000000000000")];
};

static const uint8_t v4_mapped[12] = {[10] = 0xff, [11] = 0xff};

static void
gid_of(const struct sockaddr_storage *addr, uint8_t gid[GID_BYTES])
{
	const struct sockaddr_in6 *v6 = (const void *)addr;
	const struct sockaddr_in *v4 = (const void *)addr;

	if (addr->ss_family == AF_INET6) {
		memcpy(gid, &v6->sin6_addr, GID_BYTES);
		return;
	}
	memcpy(gid, v4_mapped, sizeof(v4_mapped));
	memcpy(gid + sizeof(v4_mapped), &v4->sin_addr, 4);
}

static struct sockaddr_storage
address_of(const uint8_t gid[GID_BYTES])
{
	struct sockaddr_storage addr = {0};
	struct sockaddr_in6 *v6 = (void *)&addr;
	struct sockaddr_in *v4 = (void *)&addr;

	if (memcmp(gid, v4_mapped, sizeof(v4_mapped)) == 0) {
		v4->sin_family = AF_INET;
		memcpy(&v4->sin_addr, gid + sizeof(v4_mapped), 4);
	} else {
		v6->sin6_family = AF_INET6;
		memcpy(&v6->sin6_addr, gid, GID_BYTES);
	}
	return addr;
}

static void
say(int fd, const void *what, size_t bytes)
{
	CHECK(send(fd, what, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
}

void
words_say(int fd, const struct words *w)
{
	uint8_t gid[GID_BYTES] = {0};
	struct line l;
	int at = snprintf(l.text, sizeof(l.text), "0000:%06x:%06x:", w->number, w->psn);

	if (w->number != 0)
		gid_of(&w->addr, gid);
	for (int i = 0; i < GID_BYTES; i++)
		at += snprintf(l.text + at, sizeof(l.text) - (size_t)at, "%02x", gid[i]);
	say(fd, l.text, sizeof(l.text));
}

struct words
words_hear(int fd)
{
	uint8_t gid[GID_BYTES];
	struct words w = {0};
	struct line l;
	int at = 0;

	CHECK(recv(fd, l.text, sizeof(l.text), MSG_WAITALL) == sizeof(l.text));
	l.text[sizeof(l.text) - 1] = 0;
	CHECK(sscanf(l.text, "%*x:%x:%x:%n", &w.number, &w.psn, &at) == 2 && at > 0);
	for (int i = 0; i < GID_BYTES; i++)
		CHECK(sscanf(l.text + at + 2 * i, "%2hhx", &gid[i]) == 1);
	w.addr = address_of(gid);
	return w;
}

void
words_say_done(int fd)
{
	say(fd, "done", sizeof("done"));
}

void
words_hear_done(int fd)
{
	char done[sizeof("done")];

	CHECK(recv(fd, done, sizeof(done), MSG_WAITALL) == sizeof(done));
}

static int
words_accept(uint16_t port)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, fd;

	CHECK(setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0);
	CHECK(bind(l, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(l, 1) == 0);
	peer_tell("listening");
	fd = accept(l, NULL, NULL);
	CHECK(fd >= 0);
	close(l);
	return fd;
}

int
words_socket(const char *host, uint16_t port)
{
	struct sockaddr_storage to;
	socklen_t bytes;

	if (host == NULL)
		return words_accept(port);
	peer_address(host, port, &to, &bytes);
	for (int i = 0; i < TRIES; i++) {
		int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(fd, (struct sockaddr *)&to, bytes) == 0)
			return fd;
		close(fd);
		sleep_ms(100);
	}
	CHECK(!"the peer listens");
	return -1;
}
