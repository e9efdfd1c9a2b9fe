/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/file_holder.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOLDER_PAGE 4096u

static void
holder_must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

bool
file_holder_new(struct file_holder *h)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	h->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (h->uffd < 0)
		return false;
	h->absent =
		mmap(NULL, HOLDER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	holder_must(h->absent != MAP_FAILED, "mmap");
	reg.range.start = (uintptr_t)h->absent;
	reg.range.len = HOLDER_PAGE;
	holder_must(ioctl(h->uffd, UFFDIO_API, &api) == 0, "UFFDIO_API");
	holder_must(ioctl(h->uffd, UFFDIO_REGISTER, &reg) == 0, "UFFDIO_REGISTER");
	return true;
}

static void *
holder_main(void *arg)
{
	const struct file_holder *h = arg;

	if (h->reads)
		(void)!read(h->fd, h->absent, HOLDER_PAGE);
	else
		(void)!pwrite(h->fd, h->absent, HOLDER_PAGE, 0);
	return NULL;
}

static void
holder_begin(struct file_holder *h, int fd, bool reads)
{
	h->fd = fd;
	h->reads = reads;
	holder_must(pthread_create(&h->thread, NULL, holder_main, h) == 0, "pthread_create");
	for (struct uffd_msg m; read(h->uffd, &m, sizeof(m)) != sizeof(m);)
		sched_yield();
}

void
file_holder_writes(struct file_holder *h, int fd)
{
	holder_begin(h, fd, false);
}

void
file_holder_reads(struct file_holder *h, int fd)
{
	holder_begin(h, fd, true);
}

void
file_holder_end(struct file_holder *h)
{
	struct uffdio_zeropage z = {.range = {.start = (uintptr_t)h->absent, .len = HOLDER_PAGE}};

	holder_must(ioctl(h->uffd, UFFDIO_ZEROPAGE, &z) == 0, "UFFDIO_ZEROPAGE");
	holder_must(pthread_join(h->thread, NULL) == 0, "pthread_join");
}
