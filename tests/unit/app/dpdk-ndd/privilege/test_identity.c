/* SPDX-License-Identifier: BSD-3-Clause */
/* What every thread gives up: capabilities, the user, and what could bring them back. */
#include "privilege/identity.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <linux/capability.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/log.h"
#include "privilege/needs.h"
#include "privilege/threads.h"

#define CAP(name) (UINT64_C(1) << CAP_##name)
#define THREADS	  4

static struct ndd_identity identity;

static bool
take(const void *arg)
{
	(void)arg;
	return ndd_identity_take(&identity);
}

/* A number in a line of /proc/thread-self/status. */
static uint64_t
status(const char *what, int base)
{
	FILE *f = fopen("/proc/thread-self/status", "r");
	char line[256];
	uint64_t value = UINT64_MAX;

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, what, strlen(what)) == 0)
			value = strtoull(line + strlen(what) + 1, NULL, base);
	fclose(f);
	return value;
}

static pthread_barrier_t barrier;

struct seen {
	uint64_t uid, permitted, effective, no_new;
};

/* A thread that is there before privileges are given up, and looks at its own afterwards. */
static void *
bystander(void *arg)
{
	struct seen *seen = arg;

	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	*seen = (struct seen){status("Uid:", 10), status("CapPrm:", 16), status("CapEff:", 16),
		status("NoNewPrivs:", 10)};
	return NULL;
}

static bool
with_bystanders(struct seen seen[THREADS])
{
	pthread_t thread[THREADS];
	bool done;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_create(&thread[i], NULL, bystander, &seen[i]);
	pthread_barrier_wait(&barrier);
	done = ndd_threads_each(take, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return done;
}

/* In a process of its own: Criterion's has a thread that takes no signals. Returns what it did. */
static int
in_child(bool (*holds)(void))
{
	pid_t pid = fork();
	int how = -1;

	if (pid == 0)
		_exit(holds() ? 0 : 1);
	cr_assert_eq(waitpid(pid, &how, 0), pid);
	return how;
}

static bool
all_have(const struct seen seen[THREADS], uint64_t uid, uint64_t caps)
{
	for (int i = 0; i < THREADS; i++)
		if (seen[i].uid != uid || seen[i].permitted != caps || seen[i].effective != caps ||
			seen[i].no_new != 1)
			return false;
	return status("Uid:", 10) == uid && status("CapPrm:", 16) == caps &&
	       status("CapEff:", 16) == caps && status("NoNewPrivs:", 10) == 1;
}

static bool
one_is_kept(void)
{
	const uint64_t kept = status("CapPrm:", 16) & CAP(NET_ADMIN);
	struct seen seen[THREADS];

	return ndd_identity_find(&identity, "", CAP(NET_ADMIN)) && with_bystanders(seen) &&
	       all_have(seen, getuid(), kept);
}

Test(identity, every_thread_keeps_what_is_needed_and_nothing_else)
{
	cr_expect(eq(i32, in_child(one_is_kept), 0));
}

static bool
nobody_keeps_one(void)
{
	const uint64_t kept = status("CapPrm:", 16) & CAP(NET_RAW);
	struct seen seen[THREADS];

	return ndd_identity_find(&identity, "nobody", CAP(NET_RAW)) && with_bystanders(seen) &&
	       all_have(seen, getpwnam("nobody")->pw_uid, kept) && setuid(0) != 0;
}

Test(identity, root_becomes_the_user_on_every_thread)
{
	if (geteuid() != 0 || getpwnam("nobody") == NULL)
		cr_skip_test("only root can become another user");
	cr_expect(eq(i32, in_child(nobody_keeps_one), 0));
}

Test(identity, users_that_it_cannot_become_are_errors)
{
	ndd_log_set_level(NDD_LOG_ERROR);
	cr_expect(not(ndd_identity_find(&identity, "no-such-user-of-ndd", 0)));
	if (geteuid() == 0)
		cr_assert_eq(setuid(65534), 0);
	cr_expect(not(ndd_identity_find(&identity, "root", 0)), "another user can't become root");
}

static bool
refuse(const void *arg)
{
	(void)arg;
	return false;
}

static bool
refusal_is_told(void)
{
	return !ndd_threads_each(refuse, NULL);
}

Test(threads, one_that_cannot_is_an_error)
{
	cr_expect(eq(i32, in_child(refusal_is_told), 0));
}

static uint64_t
needs_of(const char *vdev, const char *pci)
{
	struct config *cfg = calloc(1, sizeof(*cfg));
	uint64_t caps;

	strcpy(cfg->vdev[0], vdev);
	strcpy(cfg->pci[0], pci);
	cfg->vdevs = vdev[0] != 0;
	cfg->pcis = pci[0] != 0;
	caps = ndd_needs_caps(cfg);
	free(cfg);
	return caps;
}

Test(needs, each_kind_of_port_has_its_own)
{
	cr_expect(eq(u64, needs_of("net_memif0,role=client", ""), CAP(IPC_LOCK)));
	cr_expect(eq(u64, needs_of("net_af_packet0,iface=eth1", ""), CAP(IPC_LOCK)));
	cr_expect(eq(u64, needs_of("net_virtio_user0,path=x", ""), CAP(IPC_LOCK)));
	cr_expect(eq(u64, needs_of("net_vhost0,iface=x", ""), CAP(IPC_LOCK)));
	cr_expect(eq(u64, needs_of("net_tap0,iface=x", ""), CAP(IPC_LOCK) | CAP(NET_ADMIN)));
	cr_expect(eq(u64, needs_of("net_af_xdp0,iface=x", ""), CAP(IPC_LOCK) | CAP(NET_ADMIN)));
	cr_expect(eq(u64, needs_of("net_memif0", "0000:01:00.0"),
		CAP(IPC_LOCK) | CAP(NET_ADMIN) | CAP(NET_RAW) | CAP(SYS_RAWIO)));
}
