/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel holds a file's lock while it copies from or to a client's page, and the page comes
 * when the client likes. A user has such pages from a file system of its own (FUSE, in a namespace
 * of its own); here a userfaultfd makes one, which takes a right that is given up before the daemon
 * sees this process.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "attack.h"
#include "rigs/file_holder.h"

#define NOBODY 65534u
#define DEPTH  64u

/* The file is told some time after the completion is there, and an empty one is not read. */
static bool
is_told(int fd)
{
	struct pollfd told = {.fd = fd, .events = POLLIN};

	return poll(&told, 1, 1) == 1;
}

/* The daemon tells of each message by the file that a thread here reads all the while. */
static void
notified(struct target *t, struct duo *d, struct file_holder *h)
{
	struct ndsh_swr w = duo_request(d, NDSH_OP_WRITE, 8);
	struct ndsh_cqe e[DEPTH];
	bool reads = false;

	attack_starts(t);
	while (attacking(t) && !duo_over(d)) {
		(void)ndsh_cq_arm(&d->cq.reader, NDSH_ARM_ANY, NULL);
		raw_post(&d->r, &d->qp, &w);
		while (ndsh_cq_poll(&d->cq.reader, e, DEPTH) == 0 && attacking(t))
			attack_pause_us(1);
		if (reads || !is_told(d->cq.wake_fd))
			continue;
		file_holder_reads(h, d->cq.wake_fd);
		reads = true;
	}
	if (reads)
		file_holder_end(h);
}

static void
reads_for_ever(struct target *t, uint32_t arg)
{
	struct file_holder h;
	struct duo d;

	(void)arg;
	if (!file_holder_new(&h) || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
		setresuid(NOBODY, NOBODY, NOBODY) != 0) {
		perror("userfaultfd, or to be nobody");
		return;
	}
	if (!duo_begin(&d, t, DEPTH))
		return;
	notified(t, &d, &h);
	duo_end(&d);
}

const struct attack held_attacks[] = {
	{"wake-up-held", reads_for_ever, 0, true},
	{0},
};
