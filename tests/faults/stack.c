/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The injector passes on more arguments than most calls have, so it reads words of its callers'
 * stacks. It may not write them: another thread may have done so meanwhile. Here they are read-only
 * while a call is passed on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)
#define PAGE	    4096u

static void
on_fault(int signal)
{
	static const char said[] = "a call that is passed on writes to its caller's stack\n";

	(void)signal;
	(void)!write(STDERR_FILENO, said, sizeof(said) - 1);
	_exit(1);
}

static void
faults_are_told(void)
{
	const stack_t other = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
	struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};

	if (other.ss_sp == NULL || sigaltstack(&other, NULL) != 0 ||
		sigaction(SIGSEGV, &sa, NULL) != 0)
		abort();
}

/* top: what is above it belongs to the caller. */
static long
call_below(char *top, int (*f)(int, const sigset_t *, sigset_t *), int how)
{
	long result;

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[top], %%rsp\n\t"
			 "call *%[f]\n\t"
			 "mov %%rbx, %%rsp"
			 : "=a"(result)
			 : [top] "r"(top), [f] "r"(f), "D"((long)how), "S"(0l), "d"(0l)
			 : "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}

int
main(void)
{
	char *stack = mmap(NULL, STACK_BYTES + PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack + STACK_BYTES, PAGE, PROT_READ) != 0)
		abort();
	faults_are_told();
	return call_below(stack + STACK_BYTES, pthread_sigmask, SIG_BLOCK) != 0;
}
