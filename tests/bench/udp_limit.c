/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel's UDP carries by itself: one process sends runs of segments as fast as it can,
 * another receives them, and nobody looks at what is in them.
 *
 *   udp_limit ADDRESS PORT               receive there, and print GB/s
 *   udp_limit ADDRESS PORT SEGMENT       send segments of so many bytes to it
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RUN_BYTES   65000
#define BUFFER	    (4 << 20)
#define MEASURED_NS 500000000ull
#define SENT_NS	    900000000ull

static uint8_t bytes[1 << 16];

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void
must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "udp_limit: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* From the first that comes on. */
static void
receive(int fd)
{
	uint64_t came = 0, began = 0, now;
	ssize_t n;

	do {
		n = recv(fd, bytes, sizeof(bytes), 0);
		must(n > 0, "recv");
		now = now_ns();
		if (began == 0)
			began = now;
		else
			came += (uint64_t)n;
	} while (now < began + MEASURED_NS);
	printf("%.3f\n", (double)came / (double)(now - began));
}

static void
send_on(int fd, int segment)
{
	const size_t run = (size_t)(RUN_BYTES / segment * segment);
	const uint64_t end = now_ns() + SENT_NS;

	must(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)) == 0, "UDP_SEGMENT");
	while (now_ns() < end) /* the receiver may have ended before */
		must(send(fd, bytes, run, 0) > 0 || errno == ECONNREFUSED || errno == ENOBUFS,
			"send");
}

int
main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1, room = BUFFER;

	if (argc < 3 || argc > 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
		fprintf(stderr, "udp_limit ADDRESS PORT [SEGMENT]\n");
		return 2;
	}
	to.sin_port = htons((uint16_t)atoi(argv[2]));
	must(fd >= 0, "socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (argc == 4) {
		must(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0, "connect");
		send_on(fd, atoi(argv[3]));
	} else {
		must(setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on)) == 0, "UDP_GRO");
		must(bind(fd, (struct sockaddr *)&to, sizeof(to)) == 0, "bind");
		puts("listening");
		fflush(stdout);
		receive(fd);
	}
	close(fd);
	return 0;
}
