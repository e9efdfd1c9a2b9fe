/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What makes a file readable goes through all that wait for it, as a part of the system call that
 * made it readable. One poll() waits as often as its list names the file.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

#define WAITERS	      320000u
#define PROCESSES_MAX 64u
#define PAUSE_US      2000u /* until all wait again */

struct crowd {
	pid_t process[PROCESSES_MAX];
	uint32_t processes;
};

static void
wait_for_ever(int fd, nfds_t times)
{
	struct pollfd *p = calloc(times, sizeof(*p));

	for (nfds_t i = 0; p != NULL && i < times; i++)
		p[i] = (struct pollfd){.fd = fd, .events = POLLIN};
	while (p != NULL && poll(p, times, -1) >= 0)
		;
	_exit(1);
}

static void
crowd_gather(struct crowd *c, int fd)
{
	struct rlimit files; /* is also how long a list may be */
	nfds_t times;

	getrlimit(RLIMIT_NOFILE, &files);
	times = files.rlim_cur < WAITERS ? files.rlim_cur : WAITERS;
	for (c->processes = 0; c->processes < PROCESSES_MAX && c->processes * times < WAITERS;
		c->processes++) {
		pid_t p = fork();

		if (p == 0)
			wait_for_ever(fd, times);
		if (p < 0)
			break;
		c->process[c->processes] = p;
	}
	attack_pause_us(500000);
}

static void
crowd_leave(struct crowd *c)
{
	for (uint32_t i = 0; i < c->processes; i++)
		kill(c->process[i], SIGKILL);
	for (uint32_t i = 0; i < c->processes; i++)
		(void)waitpid(c->process[i], NULL, 0);
}

/* The daemon tells of each message by a file that a crowd waits for. */
static void
for_a_wakeup(struct target *t, uint32_t arg)
{
	struct ndsh_cqe e[64];
	struct ndsh_swr w;
	struct crowd c;
	struct duo d;
	char told[64];

	(void)arg;
	if (!duo_begin(&d, t, 64))
		return;
	w = duo_request(&d, NDSH_OP_WRITE, 8);
	crowd_gather(&c, d.cq.wake_fd);
	attack_starts(t);
	while (attacking(t) && !duo_over(&d)) {
		(void)ndsh_cq_arm(&d.cq.reader, NDSH_ARM_ANY, NULL);
		raw_post(&d.r, &d.qp, &w);
		attack_pause_us(PAUSE_US);
		(void)ndsh_cq_poll(&d.cq.reader, e, 64);
		while (recv(d.cq.wake_fd, told, sizeof(told), MSG_DONTWAIT) > 0)
			;
	}
	crowd_leave(&c);
	duo_end(&d);
}

/* It asks, and a crowd waits for the answer, or for room for the next question. */
static void
for_a_reply(struct target *t, uint32_t arg)
{
	struct ndsh_msg_hdr ask = {.type = NDSH_MSG_ADDRESS_LIST};
	char reply[NDSH_MSG_BYTES];
	struct crowd c;
	struct raw r;

	(void)arg;
	if (raw_open(&r, t->socket) != NDSH_OK)
		return;
	crowd_gather(&c, r.fd);
	attack_starts(t);
	while (attacking(t) && raw_ask(&r, &ask, reply, NULL) != RAW_GONE)
		attack_pause_us(PAUSE_US);
	crowd_leave(&c);
	raw_end(&r);
}

const struct attack crowd_attacks[] = {
	{"wake-up-crowd", for_a_wakeup, 0, true},
	{"reply-crowd", for_a_reply, 0, true},
	{0},
};
