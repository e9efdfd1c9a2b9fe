/* SPDX-License-Identifier: BSD-3-Clause */
/* The credentials of a client, and the rules that match them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account/credentials.h"

Test(credentials, of_a_process_as_the_kernel_says)
{
	struct ndd_credentials cred;
	gid_t groups[NDD_GROUPS_MAX];
	int sock[2], pidfd, n = getgroups(NDD_GROUPS_MAX, groups);

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	cr_assert(ndd_credentials_of(&cred, sock[0], "red", true));
	cr_expect(eq(int, cred.pid, getpid()));
	cr_expect(eq(u32, cred.uid, getuid()));
	cr_expect(eq(str, (char *)(uintptr_t)cred.label, "red"));
	cr_expect(eq(u32, cred.gid[0], getgid()));
	cr_expect(eq(u32, cred.gids, 1 + (uint32_t)n));
	cr_expect(eq(int, memcmp(&cred.gid[1], groups, (size_t)n * sizeof(gid_t)), 0));
	pidfd = ndd_credentials_pidfd(sock[0], cred.pid);
	cr_expect(ge(int, pidfd, 0));
	cr_expect(cred.cgroup[0] == '/' || access("/sys/fs/cgroup/cgroup.procs", F_OK) != 0);
	close(pidfd);
	cr_assert(ndd_credentials_of(&cred, sock[0], "", false));
	cr_expect(eq(str, cred.cgroup, ""), "it was not asked for");
}

/* It has connected, and is gone; a child of its might have the socket. */
Test(credentials, of_a_process_that_has_ended)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t bytes = sizeof(at);
	int listening = socket(AF_UNIX, SOCK_SEQPACKET, 0),
	    sock = socket(AF_UNIX, SOCK_SEQPACKET, 0), pidfd, accepted;
	struct ndd_credentials cred;
	pid_t child;

	cr_assert_eq(bind(listening, (struct sockaddr *)&at, sizeof(sa_family_t)), 0);
	cr_assert_eq(listen(listening, 1), 0);
	cr_assert_eq(getsockname(listening, (struct sockaddr *)&at, &bytes), 0);
	child = fork();
	if (child == 0)
		_exit(connect(sock, (struct sockaddr *)&at, bytes));
	cr_assert_eq(waitpid(child, NULL, 0), child);
	accepted = accept(listening, NULL, NULL);
	cr_assert(ndd_credentials_of(&cred, accepted, "", false));
	cr_expect(eq(int, cred.pid, child));
	pidfd = ndd_credentials_pidfd(accepted, cred.pid);
	if (pidfd < 0) {
		cr_expect(eq(int, errno, ESRCH));
		return;
	}
	cr_expect(eq(int, poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, 0), 1),
		"it says that the process has ended");
}

Test(credentials, of_no_socket)
{
	struct ndd_credentials cred;

	cr_expect_not(ndd_credentials_of(&cred, 0, "", false));
	cr_expect(eq(u32, cred.uid, NDD_UID_UNKNOWN));
}

Test(credentials, a_rule_is_about_those_who_match_in_all_that_it_names)
{
	static const struct ndd_credentials cred = {
		.uid = 7, .gid = {8, 9}, .gids = 2, .label = "red", .cgroup = "/a/b"};
	static const struct {
		struct config_principal rule;
		bool matches;
	} rows[] = {
		{{.name = "everybody"}, true},
		{{.uid = {6, 7}, .uids = 2}, true},
		{{.uid = {6, 8}, .uids = 2}, false},
		{{.gid = {8}, .gids = 1}, true},
		{{.gid = {1, 9}, .gids = 2}, true},
		{{.gid = {7}, .gids = 1}, false},
		{{.label = "red"}, true},
		{{.label = "re"}, false},
		{{.cgroup = "/"}, true},
		{{.cgroup = "/a"}, true},
		{{.cgroup = "/a/"}, true},
		{{.cgroup = "/a/b"}, true},
		{{.cgroup = "/a/b/c"}, false},
		{{.cgroup = "/a/bb"}, false},
		{{.cgroup = "/a/"}, true},
		{{.cgroup = "/b"}, false},
		{{.label = "red", .uid = {7}, .uids = 1, .gid = {9}, .gids = 1, .cgroup = "/a"},
			true},
		{{.label = "blue", .uid = {7}, .uids = 1, .gid = {9}, .gids = 1}, false},
		{{.label = "red", .uid = {1}, .uids = 1, .gid = {9}, .gids = 1}, false},
		{{.label = "red", .uid = {7}, .uids = 1, .gid = {1}, .gids = 1}, false},
	};
	struct ndd_credentials other = cred;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(int, ndd_credentials_match(&cred, &rows[i].rule), rows[i].matches),
			"row %zu", i);
	strcpy(other.cgroup, "/ab");
	cr_expect_not(ndd_credentials_match(&other, &(struct config_principal){.cgroup = "/a"}));
	strcpy(other.cgroup, "");
	cr_expect_not(ndd_credentials_match(&other, &(struct config_principal){.cgroup = "/"}),
		"an unknown cgroup is in none");
}
