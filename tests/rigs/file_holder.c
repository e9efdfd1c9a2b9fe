/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/file_holder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOLDER_PAGE 4096u

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

static bool
holder_begin(struct file_holder *h, int fd, bool reads)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	h->fd = fd;
	h->reads = reads;
	h->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (h->uffd < 0)
		return false;
	h->absent =
		mmap(NULL, HOLDER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)h->absent;
	reg.range.len = HOLDER_PAGE;
	cr_assert_eq(ioctl(h->uffd, UFFDIO_API, &api), 0);
	cr_assert_eq(ioctl(h->uffd, UFFDIO_REGISTER, &reg), 0);
	cr_assert_eq(pthread_create(&h->thread, NULL, holder_main, h), 0);
	for (struct uffd_msg m; read(h->uffd, &m, sizeof(m)) != sizeof(m);)
		sched_yield();
	return true;
}

bool
file_holder_begin(struct file_holder *h, int fd)
{
	return holder_begin(h, fd, false);
}

bool
file_holder_begin_reading(struct file_holder *h, int fd)
{
	return holder_begin(h, fd, true);
}

void
file_holder_end(struct file_holder *h)
{
	struct uffdio_zeropage z = {.range = {.start = (uintptr_t)h->absent, .len = HOLDER_PAGE}};

	cr_assert_eq(ioctl(h->uffd, UFFDIO_ZEROPAGE, &z), 0);
	cr_assert_eq(pthread_join(h->thread, NULL), 0);
}
