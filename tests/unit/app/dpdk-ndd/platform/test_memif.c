/* SPDX-License-Identifier: BSD-3-Clause */
/* Memifs as DPDK's arguments describe them: whole paths, directories for one user, a word about
 * abstract sockets, and what can't be. */
#include "platform/memif.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/log.h"

static char folder[] = "/tmp/ndd-memif-XXXXXX", here[64], why[256];
static struct memif_cfg cfg;

static void
start(void)
{
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
	cr_assert_not_null(getcwd(here, sizeof(here)));
	ndd_log_set_level(NDD_LOG_WARNING);
	cr_redirect_stderr();
}

static void
end(void)
{
	(void)rmdir("made");
	(void)rmdir(folder);
}

TestSuite(memif_vdev, .init = start, .fini = end);

static unsigned
log_lines(void)
{
	FILE *f = cr_get_redirected_stderr();
	unsigned lines = 0;

	fclose(stderr);
	for (int c; (c = fgetc(f)) != EOF;)
		lines += c == '\n';
	return lines;
}

static void
read_right(const char *vdev)
{
	const char *err = ndd_memif_read(vdev, &cfg, why, sizeof(why));

	cr_assert_null(err, "%s: %s", vdev, err);
}

static void
read_wrong(const char *vdev, const char *words)
{
	const char *err = ndd_memif_read(vdev, &cfg, why, sizeof(why));

	cr_assert_not_null(err, "%s", vdev);
	cr_expect_not_null(strstr(err, words), "%s: %s", vdev, err);
}

Test(memif_vdev, each_argument_is_read)
{
	read_right("net_memif0,role=server,id=7,bsize=4352,rsize=8,socket-abstract=no,"
		   "socket=/tmp/x,secret=word,mac=02:00:00:00:00:09,zero-copy=no");
	cr_expect(cfg.server);
	cr_expect(eq(u32, cfg.id, 7));
	cr_expect(eq(u32, cfg.buffer_bytes, 4352));
	cr_expect(eq(u32, cfg.log2_ring, 8));
	cr_expect(not(cfg.is_abstract));
	cr_expect(eq(str, cfg.socket, "/tmp/x"));
	cr_expect(eq(str, cfg.secret, "word"));
	cr_expect(cfg.has_mac);
	cr_expect(eq(u32, cfg.mac[5], 9));
}

Test(memif_vdev, without_arguments_it_is_as_dpdk_has_it)
{
	read_right("net_memif0");
	cr_expect(not(cfg.server));
	cr_expect(eq(u32, cfg.id, 0));
	cr_expect(eq(u32, cfg.buffer_bytes, 2048));
	cr_expect(eq(u32, cfg.log2_ring, 10));
	cr_expect(cfg.is_abstract);
	cr_expect(eq(str, cfg.socket, "/run/memif.sock"));
	cr_expect(eq(str, cfg.secret, ""));
	cr_expect(not(cfg.has_mac));
}

Test(memif_vdev, older_words_for_the_roles)
{
	read_right("net_memif0,role=master");
	cr_expect(cfg.server);
	read_right("net_memif0,role=slave");
	cr_expect(not(cfg.server));
}

Test(memif_vdev, what_can_not_be_is_an_error)
{
	static const char *const wrong[][2] = {
		{"net_memif0,role=boss", "role=boss: server or client is wanted"},
		{"net_memif0,id=", "id"},
		{"net_memif0,id=-1", "id=-1: a number"},
		{"net_memif0,id=4294967296", "a number"},
		{"net_memif0,bsize=63", "64 to 65535"},
		{"net_memif0,bsize=65536", "64 to 65535"},
		{"net_memif0,bsize=2k", "bsize=2k"},
		{"net_memif0,rsize=0", "1 to 14"},
		{"net_memif0,rsize=15", "1 to 14"},
		{"net_memif0,socket-abstract=maybe", "yes or no"},
		{"net_memif0,secret=123456789012345678901234", "1 to 23"},
		{"net_memif0,mac=01:00:00:00:00:01", "MAC address of a station"},
		{"net_memif0,mac=x", "MAC address"},
		{"net_memif0,zero-copy=yes", "each frame is copied"},
		{"net_memif0,rolle=server", "rolle: a memif has no such argument"},
		{"net_memif0,id=1,role", "role"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		read_wrong(wrong[i][0], wrong[i][1]);
}

Test(memif_vdev, a_path_from_the_working_directory_is_made_whole)
{
	char want[256];
	struct stat st;

	read_right("net_memif0,socket-abstract=no,socket=made/memif.sock,rsize=8");
	snprintf(want, sizeof(want), "%s/made/memif.sock", here);
	cr_expect(eq(str, cfg.socket, want));
	cr_assert_eq(stat("made", &st), 0);
	cr_expect(eq(u32, st.st_mode & 0777, 0700));
	cr_expect(eq(u32, log_lines(), 0));
}

Test(memif_vdev, an_abstract_socket_is_a_warning)
{
	static const char *const vdevs[] = {"net_memif0", "net_memif0,socket=x",
		"net_memif0,socket-abstract=yes,socket=made/x"};

	for (unsigned i = 0; i < 3; i++) {
		read_right(vdevs[i]);
		cr_expect(cfg.is_abstract);
	}
	cr_expect(eq(str, cfg.socket, "made/x"));
	cr_expect(ne(i32, access("made", F_OK), 0));
	cr_expect(eq(u32, log_lines(), 3));
}

Test(memif_vdev, a_path_that_no_socket_can_have_is_an_error)
{
	char vdev[256] = "net_memif0,socket-abstract=no,socket=";

	memset(vdev + strlen(vdev), 'x', 100);
	read_wrong(vdev, "too long a path");
	memset(vdev + strlen(vdev), 'x', 10);
	read_wrong(vdev, "a path of 1 to 106 characters");
}

Test(memif_vdev, other_devices_are_none)
{
	cr_expect(ndd_memif_is("net_memif7,role=client"));
	cr_expect(not(ndd_memif_is("net_tap0,iface=net_memif")));
}

/* Before the start, with the place in the file, and nothing made. */
Test(memif_vdev, a_configuration_is_checked_with_all_its_memifs)
{
	static struct config config = {
		.vdev = {"net_memif0,role=server,socket-abstract=no,"
			 "socket=made/memif.sock",
			"net_tap0,role=boss", "net_memif1,role=boss", "net_memif2,id=x"},
		.vdevs = 4};
	char err[256], longest[sizeof(config.vdev[0])] = "net_memif0,socket-abstract=no,socket=";

	cr_expect(not(ndd_memif_check(&config, "f.json", err, sizeof(err))));
	cr_expect(eq(str, err,
		"f.json: eal.vdevs[2]: role=boss: server or client is wanted\n"
		"f.json: eal.vdevs[3]: id=x: a number is wanted\n"));
	cr_expect(not(ndd_memif_check(&config, "f.json", err, 20)), "a short buffer is filled");
	cr_expect(eq(sz, strlen(err), 19));
	config.vdevs = 2;
	cr_expect(ndd_memif_check(&config, "f.json", err, sizeof(err)));
	cr_expect(eq(int, access("made", F_OK), -1));
	cr_expect(eq(u32, log_lines(), 0));
	memset(longest + strlen(longest), 'x', 105);
	snprintf(config.vdev[0], sizeof(config.vdev[0]), "%s", longest);
	cr_expect(not(ndd_memif_check(&config, "f.json", err, sizeof(err))));
	cr_expect_not_null(strstr(err, "eal.vdevs[0]: "), "%s", err);
}
