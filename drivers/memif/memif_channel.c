/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages. What comes is a message of the right size with one file at most, or the link's end. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "memif/memif_own.h"

#define FILES_MAX 8u /* that a peer may send at once, for us to close */

const char memif_gone[] = "the peer has gone";

uint64_t
memif_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The first file is taken, and only if it is alone. */
static int
take_file(struct msghdr *h)
{
	int file[FILES_MAX], taken = -1;
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL; c = CMSG_NXTHDR(h, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
			bytes > sizeof(file) - n * sizeof(int))
			continue;
		memcpy(&file[n], CMSG_DATA(c), bytes);
		n += bytes / sizeof(int);
	}
	if (n == 1)
		taken = file[0];
	for (size_t i = 0; n > 1 && i < n; i++)
		close(file[i]);
	return taken;
}

/* The peer's words, for people to read. */
static const char *
reason_of(struct memif_port *m, const struct memif_message *message)
{
	char said[MEMIF_REASON_BYTES];
	size_t n = 0;

	for (; n + 1 < sizeof(said) && message->disconnect.reason[n] != 0; n++) {
		char c = message->disconnect.reason[n];

		said[n] = isprint((unsigned char)c) ? c : '?';
	}
	said[n] = 0;
	(void)snprintf(m->refusal, sizeof(m->refusal), "the peer disconnects: %s", said);
	return m->refusal;
}

static const char *
read_message(struct memif_port *m, int fd, struct memif_message *message, int *file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FILES_MAX * sizeof(int))];
	struct iovec iov = {message, sizeof(*message)};
	struct msghdr h = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return "";
	if (n <= 0)
		return memif_gone;
	*file = take_file(&h);
	if (n != sizeof(*message) || (h.msg_flags & MSG_TRUNC) != 0)
		return "a message of the peer's has a wrong length";
	return message->type == MEMIF_DISCONNECT ? reason_of(m, message) : NULL;
}

/* False: the deadline, or the end of the port. */
static bool
wait_readable(const struct memif_port *m, int fd, uint64_t deadline_ns)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = m->wake, .events = POLLIN}};
	uint64_t now = memif_now_ns();

	if (now >= deadline_ns || __atomic_load_n(&m->stop, __ATOMIC_ACQUIRE))
		return false;
	(void)poll(p, 2, (int)((deadline_ns - now) / 1000000) + 1);
	if (p[1].revents != 0) {
		uint64_t count;

		(void)!read(m->wake, &count, sizeof(count)); /* of a link before */
	}
	return true;
}

const char *
memif_hear(struct memif_port *m, int fd, uint64_t deadline_ns, struct memif_message *message,
	int *file)
{
	const char *why = "";

	*file = -1;
	while (why != NULL && *why == 0) {
		if (!wait_readable(m, fd, deadline_ns))
			return "the peer does not answer";
		why = read_message(m, fd, message, file);
	}
	if (why != NULL && *file >= 0) {
		close(*file);
		*file = -1;
	}
	return why;
}

const char *
memif_expect(struct memif_port *m, int fd, uint64_t deadline_ns, enum memif_type type,
	struct memif_message *message)
{
	int file;
	const char *why = memif_hear(m, fd, deadline_ns, message, &file);

	if (file >= 0)
		close(file);
	if (why == NULL && message->type != type)
		why = "the peer sends another message than its turn is";
	return why;
}

const char *
memif_say(int fd, const struct memif_message *message, int file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {(void *)(uintptr_t)message, sizeof(*message)};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (file >= 0) {
		h.msg_control = control;
		h.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &file, sizeof(int));
	}
	if (sendmsg(fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*message))
		return NULL;
	return errno == EAGAIN ? "the peer reads no messages" : memif_gone;
}

void
memif_leave(int fd, const char *why)
{
	struct memif_message message = {.type = MEMIF_DISCONNECT};

	(void)snprintf(message.disconnect.reason, sizeof(message.disconnect.reason), "%s", why);
	(void)memif_say(fd, &message, -1);
	(void)shutdown(fd, SHUT_RD);
	while (recv(fd, &message, sizeof(message), MSG_DONTWAIT) > 0)
		;
	close(fd);
}
