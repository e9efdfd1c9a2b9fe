/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets, the files that come by them, and processes that have them. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

#define SILENT_MAX  512u
#define FILES_MAX   253u
#define STOPPED_MAX 16u

enum silence { SILENCE, SILENCE_HELLO, SILENCE_OPEN, SILENCE_HALF };

static void
say_hello(int fd)
{
	struct ndsh_hello m;

	ndsh_hello_fill(&m);
	raw_say(fd, &m, sizeof(m));
}

/* As many connections as the daemon takes, silent from some step on. */
static void
silent(struct target *t, uint32_t how)
{
	for (uint32_t i = 0; i < SILENT_MAX && attacking(t); i++) {
		struct raw r;
		int fd;

		if (how == SILENCE_OPEN) {
			if (raw_open(&r, t->socket) != NDSH_OK)
				break;
			continue;
		}
		fd = raw_dial(t->socket);
		if (fd < 0)
			break;
		if (how != SILENCE)
			say_hello(fd);
		if (how == SILENCE_HALF)
			shutdown(fd, SHUT_WR);
	}
	attack_hold(t);
}

static void
storm(struct target *t, uint32_t how)
{
	while (attacking(t)) {
		struct raw r = {.wake = -1};

		if (how == SILENCE_OPEN)
			(void)raw_open(&r, t->socket);
		else
			r.fd = raw_dial(t->socket);
		if (how == SILENCE_HELLO)
			say_hello(r.fd);
		raw_end(&r);
	}
}

/* ---- open files ---- */

enum gift { GIFT_NULL, GIFT_LINGERING, GIFT_MANY, GIFT_NESTED, GIFT_BACKLOG };

/* A TCP socket whose close() waits 3 s for a peer that never reads. */
static int
lingering_socket(void)
{
	static char block[1 << 16];
	struct sockaddr_in here = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct linger linger = {1, 3};
	socklen_t bytes = sizeof(here);
	int far = socket(AF_INET, SOCK_STREAM, 0), near = socket(AF_INET, SOCK_STREAM, 0),
	    small = 4096;

	setsockopt(far, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (bind(far, (struct sockaddr *)&here, sizeof(here)) != 0 || listen(far, 1) != 0 ||
		getsockname(far, (struct sockaddr *)&here, &bytes) != 0 ||
		connect(near, (struct sockaddr *)&here, sizeof(here)) != 0)
		return -1;
	setsockopt(near, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	while (send(near, block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	return near;
}

/* A socket with a socket in its receive queue, and so on. */
static int
nested_sockets(void)
{
	int inner = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 16; i++) {
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
			return inner;
		raw_say_files(ends[0], "x", 1, &inner, 1);
		close(inner);
		close(ends[0]);
		inner = ends[1];
	}
	return inner;
}

static int
gift_file(uint32_t what)
{
	if (what == GIFT_LINGERING)
		return lingering_socket();
	if (what == GIFT_NESTED)
		return nested_sockets();
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
give_files(int fd, int file, uint32_t n)
{
	int files[FILES_MAX];
	struct ndsh_hello m;

	for (uint32_t i = 0; i < n; i++)
		files[i] = file;
	ndsh_hello_fill(&m);
	raw_say_files(fd, &m, sizeof(m), files, n);
}

/* The message that brings a file has the last reference to it. */
static void
gifts(struct target *t, uint32_t what)
{
	while (attacking(t)) {
		int fd = raw_dial(t->socket), file = gift_file(what);
		char buf[NDSH_MSG_BYTES];

		if (fd >= 0 && file >= 0)
			give_files(fd, file, what == GIFT_MANY ? FILES_MAX : 1);
		close(file);
		if (fd >= 0 && what != GIFT_BACKLOG)
			(void)raw_hear(fd, buf, sizeof(buf), NULL, 200);
		close(fd);
	}
}

/* ---- the wake-up file, which the client has in common with an lcore ---- */

enum wake { WAKE_STORM, WAKE_FULL, WAKE_BLOCKING };

static void
wakes(struct target *t, uint32_t how)
{
	uint64_t one = 1, most = UINT64_MAX - 1;
	struct raw r;
	int flags;

	raw_begin(&r, t->socket);
	flags = fcntl(r.wake, F_GETFL);
	if (how != WAKE_STORM) {
		fcntl(r.wake, F_SETFL, how == WAKE_FULL ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
		(void)!write(r.wake, &most, sizeof(most));
		attack_hold(t);
	}
	while (attacking(t)) {
		for (int i = 0; i < 64; i++)
			(void)!write(r.wake, &one, sizeof(one));
		attack_pause_us(1);
	}
	raw_end(&r);
}

/* ---- readers ---- */

enum reader { READER_DEAF, READER_SLOW, READER_SHUT };

/* Send requests without a pause, and do not read the answers, or late. */
static void
readers(struct target *t, uint32_t how)
{
	struct ndsh_address_list ask = {.h.type = NDSH_MSG_ADDRESS_LIST};
	char buf[NDSH_MSG_BYTES];
	struct raw r;

	while (attacking(t)) {
		if (raw_hello(&r, t->socket) != NDSH_OK)
			break;
		if (how == READER_SHUT)
			shutdown(r.fd, SHUT_RD);
		for (int i = 0; i < 4000 && attacking(t); i++) {
			raw_say(r.fd, &ask, sizeof(ask));
			if (how == READER_SLOW && i % 64 == 0)
				(void)raw_hear(r.fd, buf, sizeof(buf), NULL, 20);
		}
		if (how == READER_DEAF)
			attack_hold(t);
		raw_end(&r);
	}
}

/* ---- processes ---- */

enum process { PROCESS_DIES, PROCESS_STOPS, PROCESS_LEAVES_CHILD };

static void
child_acts(struct target *t, uint32_t how)
{
	struct raw_cq cq;
	struct raw_qp qp;
	struct raw r;

	raw_begin(&r, t->socket);
	(void)raw_cq(&r, 64, &cq);
	(void)raw_qp(&r, &cq, 64, &qp);
	(void)raw_region(&r);
	if (how == PROCESS_LEAVES_CHILD && fork() == 0) {
		attack_hold(t);
		_exit(0);
	}
	raise(how == PROCESS_STOPS ? SIGSTOP : SIGKILL);
}

static void
processes(struct target *t, uint32_t how)
{
	pid_t children[STOPPED_MAX];
	uint32_t n = 0;

	while (attacking(t) && n < STOPPED_MAX) {
		pid_t child = fork();

		if (child == 0)
			child_acts(t, how);
		if (how == PROCESS_STOPS)
			children[n++] = child;
		else
			waitpid(child, NULL, 0);
	}
	attack_hold(t);
	while (n > 0) {
		kill(children[--n], SIGKILL);
		waitpid(children[n], NULL, 0);
	}
}

const struct attack socket_attacks[] = {
	{"silent-sockets", silent, SILENCE},
	{"silent-after-hello", silent, SILENCE_HELLO},
	{"silent-after-open", silent, SILENCE_OPEN},
	{"half-closed-sockets", silent, SILENCE_HALF},
	{"connect-storm", storm, SILENCE},
	{"hello-storm", storm, SILENCE_HELLO},
	{"open-storm", storm, SILENCE_OPEN},
	{"files-null", gifts, GIFT_NULL},
	{"files-lingering", gifts, GIFT_LINGERING},
	{"files-many", gifts, GIFT_MANY},
	{"files-nested", gifts, GIFT_NESTED},
	{"files-in-backlog", gifts, GIFT_BACKLOG},
	{"wake-storm", wakes, WAKE_STORM},
	{"wake-full", wakes, WAKE_FULL},
	{"wake-blocking", wakes, WAKE_BLOCKING},
	{"reader-deaf", readers, READER_DEAF},
	{"reader-slow", readers, READER_SLOW},
	{"reader-shut", readers, READER_SHUT},
	{"process-dies", processes, PROCESS_DIES},
	{"process-stops", processes, PROCESS_STOPS},
	{"process-leaves-child", processes, PROCESS_LEAVES_CHILD},
	{0},
};
