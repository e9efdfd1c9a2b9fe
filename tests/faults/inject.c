/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: notes the calls of a process, and lets one of them fail once, as its test says
 * by the file that NDD_FAULTS names. What a library calls counts for the place in the project's
 * code that called the library; for that the stack is read.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "calls.h"
#include "faults.h"

#define DEPTH 64

enum way { MINUS, NOTHING, ERROR, NEGATIVE, AFTER };

enum function {
	NO_FUNCTION,
#define NUMBER(name)		      F_##name,
#define CALL_NUMBER(name, how, error) F_##name,
	FAULT_ALLOCATIONS(NUMBER) FAULT_CALLS(CALL_NUMBER) FUNCTIONS
};

static struct {
	struct {
		uintptr_t begin, end;
	} code[2]; /* of the executable, of libndclient */
	struct fault_page *page;
} injector;

/* The injector's own calls, and those of the unwinder, are nobody's. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* ---- whose call it is ---- */

static uint64_t
own_place(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	for (int i = 0; i < 2; i++)
		if (at >= injector.code[i].begin && at < injector.code[i].end)
			return (at - injector.code[i].begin) | (i == 0 ? 0 : FAULT_IN_LIBRARY);
	return 0;
}

/* between: places to be passed over. */
static uint64_t
place_of_call(const void *caller, int between)
{
	void *frame[DEPTH];
	uint64_t place = own_place(caller);

	if (place != 0 && between == 0)
		return place;
	for (int i = 0, n = backtrace(frame, DEPTH); i < n; i++)
		if ((place = own_place(frame[i])) != 0 && between-- == 0)
			return place | FAULT_INDIRECT;
	return 0;
}

static void
note(struct fault_page *page, enum function f, uint64_t place)
{
	static char lock;
	uint32_t i;

	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		;
	for (i = 0; i < page->sites; i++)
		if (page->site[i].place == place && page->site[i].function == f)
			break;
	if (i == page->sites && i < FAULT_SITES)
		page->site[page->sites++] = (struct fault_site){place, f, 0};
	if (i < FAULT_SITES)
		page->site[i].calls++;
	__atomic_clear(&lock, __ATOMIC_RELEASE);
}

/* The call that is to fail is this one. */
static bool
is_meant(struct fault_page *page, enum function f, uint64_t place)
{
	uint32_t meant = f;

	if (__atomic_load_n(&page->armed, __ATOMIC_ACQUIRE) != f || page->place != place)
		return false;
	if (page->skip > 0) {
		page->skip--;
		return false;
	}
	if (!__atomic_compare_exchange_n(
		    &page->armed, &meant, NO_FUNCTION, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	page->fired = 1;
	return true;
}

/* Calls that Linux can't fail, and their callers rely on it: a number goes to an eventfd, a thread
 * is woken, or asks for its id. */
static bool
cannot_fail(enum function f, long a, long c)
{
	if (f == F_write)
		return c == sizeof(uint64_t);
	return f == F_syscall && (a == SYS_gettid || a == SYS_getuid ||
					 (a == SYS_futex && (c & FUTEX_CMD_MASK) == FUTEX_WAKE));
}

/* DPDK's threads tell each other by a byte in a pipe that they are to run, and that they do. Linux
 * can't fail that, and DPDK does not survive an error: it panics or crashes. */
static bool
launches(enum function f, long c, uint64_t place)
{
	bool of_library = place == 0 || (place & FAULT_INDIRECT) != 0;

	return (f == F_read || f == F_write) && c == 1 && of_library;
}

/* The daemon has an mmap() and a munmap() of its own in front of the C library's
 * (drivers/ethdev). */
static int
wrappers(enum function f, long number)
{
	return f == F_syscall && (number == SYS_mmap || number == SYS_munmap) ? 1 : 0;
}

static bool
fails(enum function f, const void *caller, long a, long c)
{
	struct fault_page *page = injector.page;
	int saved = errno;
	uint64_t place;
	bool can;

	if (page == NULL || inside || cannot_fail(f, a, c))
		return false;
	inside = true;
	place = place_of_call(caller, wrappers(f, a));
	can = !launches(f, c, place);
	if (can)
		note(page, f, place);
	inside = false;
	errno = saved;
	return can && is_meant(page, f, place);
}

/*
 * ---- calls that are passed on as they are ----
 *
 * Whatever their arguments are: by the ABI of x86-64 the first six are in registers, and up to two
 * more are on the stack.
 */
typedef long any_function(long a, long b, long c, long d, long e, long f, long g, long h);

static any_function *
real(any_function **known, const char *name)
{
	bool was = inside;

	inside = true;
	if (*known == NULL)
		*known = (any_function *)dlsym(RTLD_NEXT, name);
	inside = was;
	return *known;
}

static long
failure(enum way way, int error)
{
	if (way == ERROR)
		return error;
	if (way == NEGATIVE)
		return -error;
	errno = error;
	return way == NOTHING ? 0 : -1;
}

#define PASS_ON(name, way, error)                                                                  \
	any_function call_##name __asm__(#name);                                                   \
	long call_##name(long a, long b, long c, long d, long e, long f, long g, long h)           \
	{                                                                                          \
		static any_function *known;                                                        \
		bool fault = fails(F_##name, __builtin_return_address(0), a, c);                   \
		bool passes = !fault || way == AFTER;                                              \
		long result = passes ? real(&known, #name)(a, b, c, d, e, f, g, h) : 0;            \
		return fault ? failure(way, error) : result;                                       \
	}
FAULT_CALLS(PASS_ON)

/* ---- memory ---- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static void *
no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

void *
malloc(size_t bytes)
{
	return fails(F_malloc, __builtin_return_address(0), 0, 0) ? no_memory()
								  : __libc_malloc(bytes);
}

void *
calloc(size_t n, size_t bytes)
{
	return fails(F_calloc, __builtin_return_address(0), 0, 0) ? no_memory()
								  : __libc_calloc(n, bytes);
}

void *
realloc(void *p, size_t bytes)
{
	return fails(F_realloc, __builtin_return_address(0), 0, 0) ? no_memory()
								   : __libc_realloc(p, bytes);
}

void *
aligned_alloc(size_t alignment, size_t bytes)
{
	return fails(F_aligned_alloc, __builtin_return_address(0), 0, 0)
		       ? no_memory()
		       : __libc_memalign(alignment, bytes);
}

int
posix_memalign(void **p, size_t alignment, size_t bytes)
{
	if (fails(F_posix_memalign, __builtin_return_address(0), 0, 0))
		return ENOMEM;
	*p = __libc_memalign(alignment, bytes);
	return *p == NULL ? ENOMEM : 0;
}

/* ---- the beginning ---- */

static int
find_code(struct dl_phdr_info *info, size_t size, void *found)
{
	uintptr_t end = 0;
	int i = strstr(info->dlpi_name, "libndclient.so") != NULL ? 1 : 0;

	(void)size;
	if (i == 0 && info->dlpi_name[0] != '\0')
		return 0;
	if (i == 0 && (*(int *)found)++ != 0)
		return 0; /* the kernel's own page has no name either */
	for (int k = 0; k < info->dlpi_phnum; k++)
		if (info->dlpi_phdr[k].p_type == PT_LOAD)
			end = info->dlpi_phdr[k].p_vaddr + info->dlpi_phdr[k].p_memsz;
	injector.code[i].begin = info->dlpi_addr;
	injector.code[i].end = info->dlpi_addr + end;
	return 0;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *path = getenv("NDD_FAULTS");
	void *warm[DEPTH];
	int found = 0, file;
	void *page;

	if (path == NULL)
		return;
	(void)backtrace(warm, DEPTH); /* loads the unwinder */
	dl_iterate_phdr(find_code, &found);
	file = (int)call_open((long)path, O_RDWR | O_CLOEXEC, 0, 0, 0, 0, 0, 0);
	if (file < 0)
		return;
	page = (void *)call_mmap(
		0, sizeof(*injector.page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0, 0, 0);
	(void)call_close(file, 0, 0, 0, 0, 0, 0, 0);
	if (page != MAP_FAILED)
		injector.page = page;
}
