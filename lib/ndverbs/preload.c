/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: opens, writes and closes of librdmacm's device go to libibverbs.so.1 of this
 * project, if that is the one that the process has. All else passes through; as long as the device
 * was not opened, that costs a test of a word.
 */
#undef _FILE_OFFSET_BITS /* it makes two names one */

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#define DEVICE "/dev/infiniband/rdma_cm"
/* The kernel's numbers of such devices change; these are of a class of devices of no other. */
#define DEVICE_MODE   (S_IFCHR | 0666)
#define DEVICE_NUMBER makedev(10, 255)

static struct {
	int (*open)(int flags);
	long (*write)(int fd, const void *buf, size_t bytes);
	int (*close)(int fd);
	bool (*owns)(int fd);
} device;
static bool device_opened; /* ever; atomic */

/* What fortified programs call, and those that were linked against a C library of before 2.33. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);

#define PASSED_ON(X)                                                                               \
	X(open)                                                                                    \
	X(open64)                                                                                  \
	X(openat)                                                                                  \
	X(__open_2)                                                                                \
	X(__open64_2)                                                                              \
	X(write) X(close) X(fstat) X(fstat64) X(__fxstat) X(__fxstat64)

/* The next definitions. All at once and at the start: a child of a process with threads may call
 * close() at a time when it must not ask the dynamic linker for anything. */
#define MEMBER(name) __typeof__(name) *name;
#define FOUND(name)  next.name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);
static struct {
	PASSED_ON(MEMBER)
} next;

__attribute__((constructor)) static void
find_next(void)
{
	PASSED_ON(FOUND)
}

/* Constructors of other libraries may come before this one. */
#define NEXT(name) (__builtin_expect(next.name != NULL, 1) ? next.name : (find_next(), next.name))

static bool
find_device(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (library == NULL)
		return false;
	device.open = (int (*)(int))dlsym(library, "ndv_cm_open");
	device.write = (long (*)(int, const void *, size_t))dlsym(library, "ndv_cm_write");
	device.close = (int (*)(int))dlsym(library, "ndv_cm_close");
	device.owns = (bool (*)(int))dlsym(library, "ndv_cm_owns");
	(void)dlclose(library);
	return device.open != NULL && device.write != NULL && device.close != NULL &&
	       device.owns != NULL;
}

static bool
is_device(const char *path)
{
	return path != NULL && strcmp(path, DEVICE) == 0 && find_device();
}

static int
open_device(int flags)
{
	int fd = device.open(flags);

	if (fd >= 0)
		__atomic_store_n(&device_opened, true, __ATOMIC_RELEASE);
	return fd;
}

static bool
is_ours(int fd)
{
	return __builtin_expect(__atomic_load_n(&device_opened, __ATOMIC_ACQUIRE), 0) &&
	       device.owns(fd);
}

/* ---- open ---------------------------------------------------------------------------------- */

#define MODE_OF(flags, mode)                                                                       \
	mode_t mode = 0;                                                                           \
	if ((flags) & (O_CREAT | O_TMPFILE)) {                                                     \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		mode = va_arg(args, mode_t);                                                       \
		va_end(args);                                                                      \
	}

int
open(const char *path, int flags, ...)
{
	MODE_OF(flags, mode)
	return is_device(path) ? open_device(flags) : NEXT(open)(path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	MODE_OF(flags, mode)
	return is_device(path) ? open_device(flags) : NEXT(open64)(path, flags, mode);
}

int
openat(int folder, const char *path, int flags, ...)
{
	MODE_OF(flags, mode)
	return is_device(path) ? open_device(flags) : NEXT(openat)(folder, path, flags, mode);
}

int
__open_2(const char *path, int flags)
{
	return is_device(path) ? open_device(flags) : NEXT(__open_2)(path, flags);
}

int
__open64_2(const char *path, int flags)
{
	return is_device(path) ? open_device(flags) : NEXT(__open64_2)(path, flags);
}

/* ---- what is done with it ------------------------------------------------------------------ */

ssize_t
write(int fd, const void *buf, size_t bytes)
{
	return is_ours(fd) ? device.write(fd, buf, bytes) : NEXT(write)(fd, buf, bytes);
}

int
close(int fd)
{
	return is_ours(fd) ? device.close(fd) : NEXT(close)(fd);
}

/* A descriptor of events says that it is no file of any kind. */
static int
as_device(struct stat *st)
{
	st->st_mode = DEVICE_MODE;
	st->st_rdev = DEVICE_NUMBER;
	return 0;
}

int
fstat(int fd, struct stat *st)
{
	int err = NEXT(fstat)(fd, st);

	return err == 0 && is_ours(fd) ? as_device(st) : err;
}

int
fstat64(int fd, struct stat64 *st)
{
	int err = NEXT(fstat64)(fd, st);

	static_assert(sizeof(struct stat) == sizeof(struct stat64), "one structure");
	return err == 0 && is_ours(fd) ? as_device((struct stat *)st) : err;
}

int
__fxstat(int version, int fd, struct stat *st)
{
	int err = NEXT(__fxstat)(version, fd, st);

	return err == 0 && is_ours(fd) ? as_device(st) : err;
}

int
__fxstat64(int version, int fd, struct stat64 *st)
{
	int err = NEXT(__fxstat64)(version, fd, st);

	return err == 0 && is_ours(fd) ? as_device((struct stat *)st) : err;
}
