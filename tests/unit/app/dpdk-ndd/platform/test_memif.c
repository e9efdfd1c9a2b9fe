/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets of memifs: whole paths, directories for one user, and a word about abstract ones. */
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

static char folder[] = "/tmp/ndd-memif-XXXXXX", here[64];

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

TestSuite(memif, .init = start, .fini = end);

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

Test(memif, a_path_from_the_working_directory_is_made_whole)
{
	char out[256], want[256];
	struct stat st;

	cr_assert(ndd_memif_vdev(
		"net_memif0,socket-abstract=no,socket=made/memif.sock,rsize=8", out, sizeof(out)));
	snprintf(want, sizeof(want),
		"net_memif0,socket-abstract=no,socket=%s/made/memif.sock,rsize=8", here);
	cr_expect(eq(str, out, want));
	cr_assert_eq(stat("made", &st), 0);
	cr_expect(eq(u32, st.st_mode & 0777, 0700));
	cr_expect(eq(u32, log_lines(), 0));
}

Test(memif, a_whole_path_stays_and_so_does_its_directory)
{
	static const char vdev[] = "net_memif0,socket=/tmp/memif.sock,socket-abstract=no";
	char out[256];

	cr_assert(ndd_memif_vdev(vdev, out, sizeof(out)));
	cr_expect(eq(str, out, (char *)vdev));
	cr_expect(eq(u32, log_lines(), 0));
}

Test(memif, an_abstract_socket_is_a_warning)
{
	static const char *const vdevs[] = {"net_memif0", "net_memif0,socket=x",
		"net_memif0,socket-abstract=yes,socket=made/x"};
	char out[256];

	for (unsigned i = 0; i < 3; i++) {
		cr_assert(ndd_memif_vdev(vdevs[i], out, sizeof(out)));
		cr_expect(eq(str, out, (char *)vdevs[i]));
	}
	cr_expect(ne(i32, access("made", F_OK), 0));
	cr_expect(eq(u32, log_lines(), 3));
}

Test(memif, a_path_that_no_socket_can_have_is_an_error)
{
	char vdev[256] = "net_memif0,socket-abstract=no,socket=", out[512];

	memset(vdev + strlen(vdev), 'x', 100);
	cr_expect(not(ndd_memif_vdev(vdev, out, sizeof(out))), "with the working directory");
	cr_expect(eq(u32, log_lines(), 1));
}

Test(memif, other_devices_are_none)
{
	cr_expect(ndd_memif_is("net_memif7,role=client"));
	cr_expect(not(ndd_memif_is("net_tap0,iface=net_memif")));
}
