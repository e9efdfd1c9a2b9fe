/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and requests on the control socket. */
#include "raw.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 253u /* SCM_MAX_FD */
#define SEED_STEP 0x9e3779b97f4a7c15u

void (*raw_on_step)(const char *name);
int raw_patience_ms = 2000;
static uint64_t random_state = SEED_STEP;

void
raw_step(const char *format, ...)
{
	char name[64];
	va_list args;

	if (raw_on_step == NULL)
		return;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	raw_on_step(name);
}

void
raw_seed(uint64_t seed)
{
	random_state = seed * SEED_STEP + 1;
}

uint32_t
raw_random(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

void
raw_fill(void *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)to)[i] = (uint8_t)raw_random(256);
}

int
raw_dial(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void
raw_say(int fd, const void *data, size_t bytes)
{
	(void)send(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void
raw_say_files(int fd, const void *data, size_t bytes, const int *files, uint32_t n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(FILES_MAX * sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)(uintptr_t)data, bytes};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), files, n * sizeof(int));
	(void)sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

long
raw_hear(int fd, void *buf, size_t room, int *file, int ms)
{
	struct pollfd p = {fd, POLLIN, 0};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {buf, room};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	struct cmsghdr *c;
	long n;
	int got;

	if (poll(&p, 1, ms) <= 0)
		return -1;
	n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return 0;
	c = CMSG_FIRSTHDR(&m);
	if (c == NULL || c->cmsg_type != SCM_RIGHTS)
		return n;
	memcpy(&got, CMSG_DATA(c), sizeof(got));
	if (file != NULL)
		*file = got;
	else
		close(got);
	return n;
}

/* The first message of that type (and cookie, if it is not 0) within ms. */
static int
raw_await(struct raw *r, uint16_t type, uint64_t cookie, void *out, int *file, int ms)
{
	union {
		struct ndsh_msg_hdr h;
		uint8_t bytes[NDSH_MSG_BYTES];
	} m;
	time_t end = time(NULL) + ms / 1000 + 1;

	while (time(NULL) <= end) {
		long n = raw_hear(r->fd, &m, sizeof(m), file, ms);

		if (n < 0)
			return RAW_MUTE;
		if (n == 0 || m.h.type == NDSH_EV_SESSION_END)
			return RAW_GONE;
		if (m.h.type != type || m.h.cookie != cookie)
			continue;
		if (out != NULL)
			memcpy(out, &m, (size_t)n);
		return m.h.status;
	}
	return RAW_MUTE;
}

int
raw_ask(struct raw *r, void *request, void *reply, int *file)
{
	struct ndsh_msg_hdr *h = request;
	const struct ndsh_msg_desc *d = &ndsh_msg_table[h->type];
	int status;

	h->cookie = ++r->cookie;
	raw_step("%s to be sent", d->name);
	if (send(r->fd, request, d->bytes, MSG_NOSIGNAL) < 0)
		return RAW_GONE;
	raw_step("%s sent", d->name);
	status = raw_await(r, h->type | NDSH_REPLY, h->cookie, reply, file, raw_patience_ms);
	raw_step("%s answered", d->name);
	return status;
}

int
raw_ask_id(struct raw *r, uint16_t type, uint32_t id, uint32_t *out)
{
	struct ndsh_id_msg m = {.h.type = type, .id = id};
	union {
		struct ndsh_id_msg m;
		uint8_t bytes[NDSH_MSG_BYTES]; /* some have a reply of their own */
	} reply = {.m.id = 0};
	int status = raw_ask(r, &m, &reply, NULL);

	if (out != NULL)
		*out = reply.m.id;
	return status;
}

int
raw_event(struct raw *r, uint16_t type, void *event, int ms)
{
	int status = raw_await(r, type, 0, event, NULL, ms);

	raw_step("event %x taken", type);
	return status;
}
