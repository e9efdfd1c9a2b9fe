/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of virtual devices, and the sockets that killed daemons leave behind. */
#include "platform/vdev.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/xdp.h"
#include "platform/log.h"

Test(vdev, an_argument_is_found_by_its_whole_name)
{
	static const char vdev[] = "net_memif0,id=7,role=client,socket-abstract=no,socket=/a/b,x=";
	char out[16];

	cr_expect(ndd_vdev_argument(vdev, "id", out, sizeof(out)));
	cr_expect(eq(str, out, "7"));
	cr_expect(ndd_vdev_argument(vdev, "role", out, sizeof(out)));
	cr_expect(eq(str, out, "client"));
	cr_expect(ndd_vdev_argument(vdev, "socket", out, sizeof(out)));
	cr_expect(eq(str, out, "/a/b"), "not socket-abstract's");
	cr_expect(not(ndd_vdev_argument(vdev, "abstract", out, sizeof(out))));
	cr_expect(not(ndd_vdev_argument(vdev, "ro", out, sizeof(out))));
	cr_expect(not(ndd_vdev_argument(vdev, "x", out, sizeof(out))), "it is empty");
	cr_expect(not(ndd_vdev_argument(vdev, "net_memif0", out, sizeof(out))));
	cr_expect(not(ndd_vdev_argument("net_memif0", "id", out, sizeof(out))));
}

Test(vdev, a_value_that_does_not_fit_is_none)
{
	char out[4];

	cr_expect(ndd_vdev_argument("net_tap0,iface=abc", "iface", out, sizeof(out)));
	cr_expect(not(ndd_vdev_argument("net_tap0,iface=abcd", "iface", out, sizeof(out))));
}

Test(vdev, a_devices_vdev_is_found_by_its_whole_name)
{
	struct config *cfg = calloc(1, sizeof(*cfg));

	strcpy(cfg->vdev[0], "net_memif01,role=client");
	strcpy(cfg->vdev[1], "net_memif0,role=slave");
	strcpy(cfg->vdev[2], "net_tap0");
	strcpy(cfg->vdev[3], "net_memif2,role=server");
	strcpy(cfg->vdev[4], "net_tap1,role=client");
	cfg->vdevs = 5;
	cr_expect(eq(ptr, (void *)ndd_vdev_of(cfg, "net_memif0"), cfg->vdev[1]));
	cr_expect(eq(ptr, (void *)ndd_vdev_of(cfg, "net_tap0"), cfg->vdev[2]));
	cr_expect(eq(str, (char *)ndd_vdev_of(cfg, "net_memif"), ""));
}

Test(vdev, the_interface_of_af_xdp)
{
	struct config *cfg = calloc(1, sizeof(*cfg));
	char out[16];

	ndd_log_set_level(NDD_LOG_ERROR);
	strcpy(cfg->vdev[0], "net_af_xdp0,iface=eth1,queue_count=2");
	strcpy(cfg->vdev[1], "net_af_xdp1");
	cfg->vdevs = 2;
	strcpy(cfg->port[0].device, "net_af_xdp0");
	strcpy(cfg->port[1].device, "net_af_xdp1");
	cr_expect(ndd_xdp_is(cfg->vdev[0]));
	cr_expect(not(ndd_xdp_is("net_tap0,iface=eth1")));
	cr_expect(ndd_xdp_interface(cfg, 0, out, sizeof(out)));
	cr_expect(eq(str, out, "eth1"));
	cr_expect(not(ndd_xdp_interface(cfg, 1, out, sizeof(out))));
}

/* ---- sockets ------------------------------------------------------------------------------- */

static char folder[64];

/* A socket at that name in the folder; a dead one has no owner any more. */
static void
socket_at(const char *name, int type, bool dead)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", folder, name);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	cr_assert_eq(listen(fd, 1), 0);
	if (dead)
		close(fd);
}

static bool
is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* A device whose arguments end with a path in the folder. */
static void
add_vdev(struct config *cfg, const char *arguments, const char *name)
{
	snprintf(cfg->vdev[cfg->vdevs++], CONFIG_PATH_BYTES, "%s%s/%s", arguments, folder, name);
}

static void
remove_folder(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_expect_eq(system(command), 0);
}

Test(vdev, a_servers_dead_socket_goes_and_no_other_file, .fini = remove_folder)
{
	struct config *cfg = calloc(1, sizeof(*cfg));
	static const char *const gone[] = {"memif", "vhost", "virtio"}, *const stay[] = {"alive",
										"of-client",
										"abstract",
										"vhost-client",
										"virtio-client",
										"tap", "file"};
	char path[128];
	int fd;

	strcpy(folder, "/tmp/ndd-test-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	socket_at("memif", SOCK_SEQPACKET, true);
	socket_at("vhost", SOCK_STREAM, true);
	socket_at("virtio", SOCK_STREAM, true);
	socket_at("alive", SOCK_SEQPACKET, false);
	for (int i = 1; i < 6; i++)
		socket_at(stay[i], i < 3 ? SOCK_SEQPACKET : SOCK_STREAM, true);
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	add_vdev(cfg, "net_memif0,socket-abstract=no,socket=", "memif");
	add_vdev(cfg, "net_vhost0,iface=", "vhost");
	add_vdev(cfg, "net_virtio_user0,server=1,path=", "virtio");
	add_vdev(cfg, "net_memif1,socket-abstract=no,socket=", "alive");
	add_vdev(cfg, "net_memif2,role=client,socket-abstract=no,socket=", "of-client");
	add_vdev(cfg, "net_memif3,socket=", "abstract");
	add_vdev(cfg, "net_vhost1,client=1,iface=", "vhost-client");
	add_vdev(cfg, "net_virtio_user1,path=", "virtio-client");
	add_vdev(cfg, "net_tap0,iface=", "tap");
	add_vdev(cfg, "net_vhost2,iface=", "file");
	add_vdev(cfg, "net_vhost3,iface=", "nothing");
	ndd_vdev_remove_stale(cfg);
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		cr_expect_not(is_there(gone[i]), "%s", gone[i]);
	for (size_t i = 0; i < sizeof(stay) / sizeof(stay[0]); i++)
		cr_expect(is_there(stay[i]), "%s", stay[i]);
}
