/* SPDX-License-Identifier: BSD-3-Clause */
/* Privileges given up by threads that make others meanwhile. */
#include "privilege/privilege.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct config cfg = {.seccomp = CONFIG_SECCOMP_ENFORCE};
static pthread_t made;
static uint32_t is_made;

static bool
is_filtered(void)
{
	return syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0 && errno == EPERM;
}

static void *
stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* It gives them up at once, and makes a thread then. */
static void *
first(void *arg)
{
	while (!is_filtered())
		usleep(100);
	if (pthread_create(&made, NULL, stay, NULL) == 0)
		__atomic_store_n(&is_made, 1, __ATOMIC_RELEASE);
	return stay(arg);
}

/* It can't be asked before that thread is there: so that one is found after it. */
static void *
second(void *arg)
{
	sigset_t all;

	while (__atomic_load_n(&is_made, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
	sigfillset(&all);
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	return stay(arg);
}

static int
drop_beside_them(void)
{
	pthread_t thread;
	sigset_t all, before;

	if (!ndd_privilege_prepare(&cfg))
		return 2;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, second, NULL) != 0)
		return 3;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pthread_create(&thread, NULL, first, NULL) != 0)
		return 4;
	if (!ndd_privilege_drop(&cfg))
		return 1;
	return is_filtered() ? 0 : 5;
}

Test(privilege, threads_that_were_made_by_one_without_any_have_none)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(drop_beside_them());
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(eq(int, status, 0));
}
