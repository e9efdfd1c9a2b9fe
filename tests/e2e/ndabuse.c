/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndabuse SOCKET SEED SECONDS: what no client may send, on many connections: random datagrams,
 * right messages of wrong size, wrong state or wrong magic, file descriptors, and sudden ends. The
 * daemon may give any answer and close the connection; the runner checks that other clients do not
 * notice. Prints how many it sent. Exit status 1: the daemon was not there any more, or held a
 * connection that it had to end.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../abuse/raw.h"

static int
dial(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

/* Wait for an answer, or for the end: 1 answered, 0 ended, -1 neither within 5 s. */
static int
hear(int fd)
{
	char buf[NDSH_MSG_BYTES];
	long n = raw_hear(fd, buf, sizeof(buf), NULL, 5000);

	return n > 0 ? 1 : (int)n;
}

static void
hello(int fd)
{
	struct ndsh_hello m = {0};

	ndsh_hello_fill(&m);
	raw_say(fd, &m, sizeof(m));
	if (hear(fd) != 1) {
		fprintf(stderr, "ndabuse: no answer to HELLO\n");
		exit(1);
	}
}

static void
expect_end(int fd, const char *after)
{
	int heard;

	while ((heard = hear(fd)) == 1)
		;
	if (heard < 0) {
		fprintf(stderr, "ndabuse: the daemon kept a connection after %s\n", after);
		exit(1);
	}
}

/* ---- one abuse each; fd is a fresh connection ---- */

static void
random_datagram(int fd)
{
	char buf[NDSH_MSG_BYTES * 2];
	size_t bytes = raw_random(sizeof(buf));

	if (raw_random(2))
		hello(fd);
	raw_fill(buf, sizeof(buf));
	raw_say(fd, buf, bytes);
}

static void
wrong_magic(int fd)
{
	struct ndsh_hello m = {0};

	ndsh_hello_fill(&m);
	if (raw_random(2))
		m.magic ^= 1u << raw_random(32);
	else
		m.abi_major++;
	raw_say(fd, &m, sizeof(m));
}

static void
wrong_size(int fd)
{
	uint16_t type = (uint16_t)(1 + raw_random(NDSH_MSG_TYPE_COUNT - 1));
	union {
		struct ndsh_msg_hdr h;
		char bytes[NDSH_MSG_BYTES + 64];
	} m = {.h.type = type};

	hello(fd);
	raw_say(fd, &m, ndsh_msg_table[type].bytes + (raw_random(2) ? 1 : -1));
	expect_end(fd, "a message of the wrong size");
}

static void
wrong_state(int fd)
{
	uint16_t type;
	union {
		struct ndsh_msg_hdr h;
		char bytes[NDSH_MSG_BYTES];
	} m;

	do
		type = (uint16_t)(1 + raw_random(NDSH_MSG_TYPE_COUNT - 1));
	while (ndsh_msg_table[type].states & (1u << NDSH_ST_NEW));
	raw_fill(&m, sizeof(m));
	m.h = (struct ndsh_msg_hdr){.type = type};
	raw_say(fd, &m, ndsh_msg_table[type].bytes);
	expect_end(fd, "a message before HELLO");
}

/* Right in form and state, but with nonsense inside: the daemon answers with a status or ends the
 * session. */
static void
nonsense(int fd)
{
	union {
		struct ndsh_msg_hdr h;
		char bytes[NDSH_MSG_BYTES];
	} m;

	hello(fd);
	for (int i = 0; i < 8; i++) {
		uint16_t type = (uint16_t)(1 + raw_random(NDSH_MSG_TYPE_COUNT - 1));

		raw_fill(&m, sizeof(m));
		m.h = (struct ndsh_msg_hdr){.type = type, .cookie = 1};
		raw_say(fd, &m, ndsh_msg_table[type].bytes);
	}
}

/* An opened adapter, by the first address that the daemon tells. */
static void
open_adapter(int fd)
{
	struct ndsh_address_list ask = {.h.type = NDSH_MSG_ADDRESS_LIST};
	struct ndsh_open m = {.h.type = NDSH_MSG_OPEN, .placement = NDSH_PLACE_ANY};
	struct ndsh_address_list_reply reply = {.count = 0};

	hello(fd);
	raw_say(fd, &ask, sizeof(ask));
	if (raw_hear(fd, &reply, sizeof(reply), NULL, 5000) != sizeof(reply) || reply.count == 0) {
		fprintf(stderr, "ndabuse: no addresses\n");
		exit(1);
	}
	m.addr = reply.addr[0];
	raw_say(fd, &m, sizeof(m));
	if (hear(fd) != 1) {
		fprintf(stderr, "ndabuse: no answer to OPEN\n");
		exit(1);
	}
}

/* Messages about datagrams, of objects that are not there, or are another client's; and handles to
 * anywhere, made, asked for and dropped at once. Each is answered, or ends the session. */
static void
datagrams(int fd)
{
	static const uint16_t types[] = {NDSH_MSG_UD_QP_CREATE, NDSH_MSG_UD_QP_MODIFY,
		NDSH_MSG_AH_CREATE, NDSH_MSG_AH_CREATE, NDSH_MSG_AH_DESTROY,
		NDSH_MSG_UD_LISTENER_CREATE, NDSH_MSG_UD_ANSWER, NDSH_MSG_LISTENER_DESTROY};
	union {
		struct ndsh_msg_hdr h;
		struct ndsh_ah_create ah;
		struct ndsh_id_msg id;
		struct ndsh_listener_create listener;
		char bytes[NDSH_MSG_BYTES];
	} m;

	open_adapter(fd);
	for (int i = 0; i < 64; i++) {
		uint16_t type = types[raw_random(sizeof(types) / sizeof(types[0]))];

		raw_fill(&m, sizeof(m));
		m.h = (struct ndsh_msg_hdr){.type = type, .cookie = 1};
		if (type == NDSH_MSG_AH_CREATE) { /* one in two has a form that goes further */
			memset(m.ah.remote.ip, 0, 10);
			memset(m.ah.remote.ip + 10, 0xff, 2);
			m.ah.priv_bytes = raw_random(2 * NDSH_LOOKUP_DATA_MAX);
		} else if (type == NDSH_MSG_AH_DESTROY || type == NDSH_MSG_LISTENER_DESTROY) {
			m.id.id = raw_random(32);
		} else if (type == NDSH_MSG_UD_LISTENER_CREATE) {
			memset(m.listener.addr.ip, 0, sizeof(m.listener.addr.ip));
		}
		raw_say(fd, &m, ndsh_msg_table[type].bytes);
		if (hear(fd) < 0) {
			fprintf(stderr, "ndabuse: no answer to message %u\n", type);
			exit(1);
		}
	}
}

/* A file descriptor that the daemon must not receive: closing a client's can block its thread. */
static void
descriptor(int fd)
{
	struct ndsh_hello m = {0};
	int given = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ndsh_hello_fill(&m);
	raw_say_files(fd, &m, sizeof(m), &given, 1);
	close(given);
}

static void
sudden_end(int fd)
{
	if (raw_random(2))
		hello(fd);
	if (raw_random(2))
		shutdown(fd, SHUT_WR);
}

/* Asks and asks, and never reads an answer. */
static void
deaf(int fd)
{
	struct ndsh_address_list m = {.h.type = NDSH_MSG_ADDRESS_LIST};

	hello(fd);
	for (int i = 0; i < 2000; i++)
		raw_say(fd, &m, sizeof(m));
}

static void (*const abuses[])(int fd) = {random_datagram, wrong_magic, wrong_size, wrong_state,
	nonsense, descriptor, sudden_end, deaf, datagrams};

int
main(int argc, char **argv)
{
	unsigned int sent = 0;
	time_t end;

	if (argc != 4) {
		fprintf(stderr, "usage: ndabuse SOCKET SEED SECONDS\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	raw_seed(strtoull(argv[2], NULL, 0));
	end = time(NULL) + atoi(argv[3]);
	while (time(NULL) < end || sent < 8 * 9) {
		int fd = dial(argv[1]);

		abuses[sent++ % (sizeof(abuses) / sizeof(abuses[0]))](fd);
		close(fd);
	}
	printf("%u abuses\n", sent);
	return 0;
}
