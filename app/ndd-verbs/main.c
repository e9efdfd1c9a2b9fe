/* SPDX-License-Identifier: BSD-3-Clause */
/* ndd-verbs: run a program of verbs on the daemon. It looks whether that can work, says what it
 * found, sets the environment, and becomes the program. Or it shows the daemon's counters to those
 * that look for them in /sys. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fail.h"
#include "common/number.h"
#include "devices.h"
#include "exporter.h"
#include "library.h"
#include "view.h"

static const char usage[] =
	"ndd-verbs - run a program of verbs (libibverbs) on dpdk-ndd\n"
	"\n"
	"usage: ndd-verbs [options] PROGRAM [ARGUMENT...]\n"
	"       ndd-verbs [options] --check\n"
	"       ndd-verbs [options] --sysfs DIR\n"
	"\n"
	"The program sees a device for each address of the daemon: ndd0, ndd1...\n"
	"\n"
	"  --socket PATH  control socket of the daemon (default: NDD_SOCKET, else the\n"
	"                 built-in path)\n"
	"  --check        open each device, say what it is, and run nothing\n"
	"  --quiet        say nothing if all is well\n"
	"  --no-view      leave /sys and /dev as they are: without /sys/class/infiniband\n"
	"                 and /dev/infiniband, in which UCX and libfabric look first\n"
	"  --sysfs DIR    keep the devices with their counters in DIR/class/infiniband, as\n"
	"                 node_exporter --path.sysfs=DIR looks for them, until SIGTERM or\n"
	"                 SIGINT, and remove them then. DIR is made, or is empty. For the\n"
	"                 daemon's own user, with \"telemetry\": {\"socket\": true}\n"
	"  --interval SECONDS\n"
	"                 of --sysfs: time between two readings, 0.1 to 3600 (default: 1)\n"
	"  --telemetry PATH\n"
	"                 of --sysfs: the daemon's telemetry socket, where it is not found\n"
	"  -h, --help     this text\n"
	"  --version      version\n"
	"\n"
	"Exit codes: the program's; 1 bad options; 2 no daemon, no library, or a DIR that can't\n"
	"be used; 126, 127 the program can't be run, is not there.\n"
	"\n"
	"  ndd-verbs ibv_devinfo\n"
	"  ndd-verbs --socket ndd-b.sock ib_write_bw -d ndd0 192.0.2.1\n"
	"  ndd-verbs --sysfs /run/ndd-sysfs\n";

struct options {
	const char *socket_path;
	bool check, quiet, no_view;
	const char *sysfs, *interval, *telemetry;
	double seconds;
};

static bool
options_wrong(const char *what, int *status)
{
	app_complain("%s; --help explains", what);
	*status = APP_EXIT_USAGE;
	return false;
}

/* One of three things is done. */
static bool
options_fit(struct options *o, bool program, int *status)
{
	o->seconds = 1;
	if (o->sysfs != NULL && (program || o->check))
		return options_wrong("--sysfs runs no program, and checks none", status);
	if (o->sysfs == NULL && (o->interval != NULL || o->telemetry != NULL))
		return options_wrong("--interval and --telemetry are of --sysfs", status);
	if (o->interval != NULL && !app_parse_seconds(o->interval, 0.1, 3600, &o->seconds))
		return options_wrong("--interval takes 0.1 to 3600 seconds", status);
	if (!program && !o->check && o->sysfs == NULL)
		return options_wrong("which program?", status);
	return true;
}

/* false: *status is what to exit with. */
static bool
take_options(int argc, char **argv, struct options *o, int *status)
{
	enum { SOCKET = 256, CHECK, QUIET, NO_VIEW, SYSFS, INTERVAL, TELEMETRY, VERSION };
	static const struct option longs[] = {{"socket", required_argument, NULL, SOCKET},
		{"check", no_argument, NULL, CHECK}, {"quiet", no_argument, NULL, QUIET},
		{"no-view", no_argument, NULL, NO_VIEW}, {"help", no_argument, NULL, 'h'},
		{"sysfs", required_argument, NULL, SYSFS},
		{"interval", required_argument, NULL, INTERVAL},
		{"telemetry", required_argument, NULL, TELEMETRY},
		{"version", no_argument, NULL, VERSION}, {NULL, 0, NULL, 0}};
	int c;

	*status = APP_EXIT_OK;
	while ((c = getopt_long(argc, argv, "+h", longs, NULL)) >= 0) {
		switch (c) {
		case SOCKET:
			o->socket_path = optarg;
			break;
		case CHECK:
			o->check = true;
			break;
		case QUIET:
			o->quiet = true;
			break;
		case NO_VIEW:
			o->no_view = true;
			break;
		case SYSFS:
			o->sysfs = optarg;
			break;
		case INTERVAL:
			o->interval = optarg;
			break;
		case TELEMETRY:
			o->telemetry = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return false;
		case VERSION:
			puts("ndd-verbs " APP_VERSION);
			return false;
		default:
			*status = APP_EXIT_USAGE;
			return false;
		}
	}
	return options_fit(o, optind < argc, status);
}

/* The program may go to another folder. */
static bool
set_socket(const char *path)
{
	char *whole = path != NULL ? realpath(path, NULL) : NULL;
	bool ok = path == NULL || setenv("NDD_SOCKET", whole != NULL ? whole : path, 1) == 0;

	free(whole);
	return ok;
}

/* In front of what the variable has already. */
static bool
variable_prepend(const char *variable, const char *what)
{
	const char *others = getenv(variable);
	char *path;
	bool ok;

	if (others == NULL || *others == 0)
		return setenv(variable, what, 1) == 0;
	if (asprintf(&path, "%s:%s", what, others) < 0)
		return false;
	ok = setenv(variable, path, 1) == 0;
	free(path);
	return ok;
}

/* The library, and the one to be preloaded that gives librdmacm its device. */
static bool
set_library(const char *folder)
{
	char *preload;
	bool ok;

	if (asprintf(&preload, "%s/libndd_rdma_cm.so", folder) < 0)
		return false;
	ok = variable_prepend("LD_LIBRARY_PATH", folder) && variable_prepend("LD_PRELOAD", preload);
	free(preload);
	return ok;
}

/* Most programs do without the view. */
static bool
enter_view(struct verbs_devices *d, bool quiet)
{
	if (!verbs_devices_ask_version(d))
		return false;
	if (verbs_view_possible(d, quiet))
		return verbs_view_enter(d);
	if (!quiet)
		app_complain("so UCX and libfabric will find no device in /sys/class/infiniband: "
			     "see \"Without namespaces\" in doc/verbs.md");
	return true;
}

static int
run_program(char **argv)
{
	execvp(argv[0], argv);
	app_complain("%s: %s", argv[0], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}

static int
show_counters(const struct options *o)
{
	static char control[VERBS_PATH_BYTES];
	const struct verbs_export how = {.folder = o->sysfs,
		.control = control,
		.telemetry = o->telemetry,
		.seconds = o->seconds,
		.quiet = o->quiet};

	return verbs_control_path(control) ? verbs_export(&how) : APP_EXIT_LOCAL;
}

int
main(int argc, char **argv)
{
	static struct verbs_devices devices;
	char folder[VERBS_FOLDER_BYTES];
	struct options o = {0};
	int status;

	if (!take_options(argc, argv, &o, &status))
		return status;
	if (!set_socket(o.socket_path))
		return APP_EXIT_LOCAL;
	if (o.sysfs != NULL)
		return show_counters(&o);
	if (!verbs_find_library(folder) || !set_library(folder))
		return APP_EXIT_LOCAL;
	if (!verbs_devices_find(&devices))
		return APP_EXIT_LOCAL;
	if (!o.quiet)
		verbs_devices_name(&devices);
	if (o.check && !verbs_devices_describe(&devices))
		return APP_EXIT_LOCAL;
	if (!o.no_view && !enter_view(&devices, o.quiet))
		return APP_EXIT_LOCAL;
	return o.check ? APP_EXIT_OK : run_program(argv + optind);
}
