/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages that are pinned are stored to wherever they are mapped by then, so memory with such pages
 * must not be exchanged by default. No call says which pages are pinned. But each way to pin them
 * needs something that this process can see: a descriptor or a mapping of a kind that can do it, or
 * pages in the kernel's count (VmPin: fixed buffers of io_uring, regions of other RDMA libraries,
 * also if the descriptor is gone or elsewhere). Only kinds that are known not to pin pass.
 *
 * A read() from a file may pin the buffer for as long as it takes: direct I/O does, and so do file
 * systems over a network or in user space. On a block device, or in shared memory, a file without
 * O_DIRECT is read through the page cache. If no other thread can be inside such a call, it does
 * not matter.
 *
 * This runs while threads are held that store to the memory in question (exchange.c). So it takes
 * no lock of this process, allocates nothing, and asks no file system that may wait for one of
 * them: AT_STATX_DONT_SYNC keeps those in user space out.
 */
#include "ndclient/mem/pins.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BUFFER 4096u

/* ---- descriptors --------------------------------------------------------------------- */

static bool
text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* /dev/null, zero, full, random and urandom; terminals. */
static bool
is_harmless_device(const struct statx *st)
{
	uint32_t major = st->stx_rdev_major, minor = st->stx_rdev_minor;

	return (major == 1 && (minor == 3 || minor == 5 || (minor >= 7 && minor <= 9))) ||
	       major == 4 || major == 5 || (major >= 136 && major <= 143);
}

static bool
is_harmless_socket(int fd)
{
	socklen_t bytes = sizeof(int);
	int domain = -1;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 &&
	       (domain == AF_UNIX || domain == AF_INET || domain == AF_INET6 ||
		       domain == AF_NETLINK);
}

/* Files of no file system: the name tells the kind. */
static bool
is_harmless_object(int fd)
{
	static const char *const kinds[] = {"anon_inode:[eventfd]", "anon_inode:[eventpoll]",
		"anon_inode:[timerfd]", "anon_inode:[signalfd]", "anon_inode:[pidfd]",
		"anon_inode:[userfaultfd]", "anon_inode:inotify", "anon_inode:[eventfd:"};
	char path[40] = "/proc/thread-self/fd/", digits[12], name[64] = "";
	size_t at = strlen(path), n = 0;

	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) != 0);
	while (n > 0)
		path[at++] = digits[--n];
	if (readlink(path, name, sizeof(name) - 1) < 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (text_begins(name, kinds[i]))
			return true;
	return false;
}

/* File systems without a block device whose files are copied from, too. */
struct devices {
	dev_t of[3];
	size_t n;
};

static bool
devices_hold(const struct devices *d, dev_t device)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->of[i] == device)
			return true;
	return false;
}

static bool
is_harmless_file(const struct statx *st, int flags, const struct devices *plain, bool others)
{
	dev_t device = makedev(st->stx_dev_major, st->stx_dev_minor);

	if (flags & O_DIRECT)
		return false;
	return !others || (flags & O_ACCMODE) == O_WRONLY || st->stx_dev_major != 0 ||
	       devices_hold(plain, device);
}

static bool
is_harmless(int fd, const struct devices *plain, bool others)
{
	int flags = fcntl(fd, F_GETFL);
	struct statx st;

	if (flags < 0) /* it was closed since the folder was read */
		return true;
	if (flags & O_PATH)
		return true;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) != 0)
		return false;
	switch (st.stx_mode & S_IFMT) {
	case S_IFDIR:
	case S_IFIFO:
		return true;
	case S_IFBLK:
		return !(flags & O_DIRECT);
	case S_IFREG:
		return is_harmless_file(&st, flags, plain, others);
	case S_IFCHR:
		return is_harmless_device(&st);
	case S_IFSOCK:
		return is_harmless_socket(fd);
	default:
		return is_harmless_object(fd);
	}
}

struct entry { /* of a directory, as the kernel hands it over */
	uint64_t inode, offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static int
number_of(const char *name)
{
	int n = 0;

	if (*name < '0' || *name > '9')
		return -1;
	while (*name >= '0' && *name <= '9')
		n = n * 10 + (*name++ - '0');
	return n;
}

static bool
entries_are_harmless(const char *buf, size_t bytes, const struct devices *plain, bool others)
{
	for (size_t at = 0; at < bytes;) {
		const struct entry *e = (const struct entry *)(const void *)(buf + at);
		int fd = number_of(e->name);

		if (fd >= 0 && !is_harmless(fd, plain, others))
			return false;
		at += e->bytes;
	}
	return true;
}

static void
devices_add(struct devices *d, const char *path, long magic)
{
	struct statfs fs;
	struct stat st;

	if (statfs(path, &fs) == 0 && fs.f_type == magic && stat(path, &st) == 0)
		d->of[d->n++] = st.st_dev;
}

/* Of memfd_create(), shm_open(), and /proc: this library has its files open, too. */
static void
devices_find(struct devices *d)
{
	int fd = memfd_create("", MFD_CLOEXEC);
	struct stat st;

	d->n = 0;
	if (fd >= 0 && fstat(fd, &st) == 0)
		d->of[d->n++] = st.st_dev;
	if (fd >= 0)
		close(fd);
	devices_add(d, "/dev/shm", TMPFS_MAGIC);
	devices_add(d, "/proc", PROC_SUPER_MAGIC);
}

static bool
descriptors_are_harmless(bool others)
{
	int all = open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(8) char buf[BUFFER];
	struct devices plain;
	bool ok = all >= 0;
	long n = 0;

	devices_find(&plain);
	while (ok && (n = syscall(SYS_getdents64, all, buf, sizeof(buf))) > 0)
		ok = entries_are_harmless(buf, (size_t)n, &plain, others);
	if (all >= 0)
		close(all);
	return ok && n == 0;
}

/* ---- mappings, and the kernel's count ------------------------------------------------ */

/* A file's name. Mappings of devices and of objects that are none keep what pins alive when the
 * descriptor is closed. */
static bool
is_harmless_name(const char *name)
{
	if (text_begins(name, "/dev/"))
		return text_begins(name, "/dev/zero") || text_begins(name, "/dev/shm/");
	return !text_begins(name, "/[aio]") && !text_begins(name, "anon_inode:") &&
	       !text_begins(name, "socket:") && !text_begins(name, "/dmabuf");
}

static bool
is_harmless_mapping(const char *line)
{
	for (int i = 0; i < 5; i++) { /* addresses, rights, offset, device, inode */
		while (*line != '\0' && *line != ' ')
			line++;
		while (*line == ' ')
			line++;
	}
	return is_harmless_name(line);
}

static bool
is_no_pin_count(const char *line)
{
	if (!text_begins(line, "VmPin:"))
		return true;
	for (line += strlen("VmPin:"); *line == ' ' || *line == '\t'; line++)
		;
	return text_begins(line, "0 kB");
}

/* All lines of a file of the kernel's; of those that are longer than the buffer, the beginning. */
static bool
lines_are_harmless(const char *path, bool (*is_good)(const char *line))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[BUFFER + 1], *end;
	bool ok = fd >= 0, skip = false;
	size_t have = 0;
	ssize_t n = 0;

	while (ok && (n = read(fd, buf + have, BUFFER - have)) > 0) {
		char *line = buf;

		have += (size_t)n;
		buf[have] = '\0';
		while (ok && (end = memchr(line, '\n', have - (size_t)(line - buf))) != NULL) {
			*end = '\0';
			ok = skip || is_good(line);
			skip = false;
			line = end + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have == BUFFER) {
			buf[have] = '\0';
			ok = ok && (skip || is_good(buf));
			skip = true;
			have = 0;
		}
	}
	if (fd >= 0)
		close(fd);
	return ok && n == 0;
}

bool
nd_pins_possible(bool others)
{
	return !lines_are_harmless("/proc/self/status", is_no_pin_count) ||
	       !descriptors_are_harmless(others) ||
	       !lines_are_harmless("/proc/self/maps", is_harmless_mapping);
}
