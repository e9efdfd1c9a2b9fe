/* SPDX-License-Identifier: BSD-3-Clause */
/* dpdk-ndd: from the command line to the control loop and back. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "control/control.h"
#include "control/daemon.h"
#include "control/start.h"
#include "metrics/stats.h"
#include "metrics/telemetry.h"
#include "platform/clock.h"
#include "platform/cpus.h"
#include "platform/eal.h"
#include "platform/instance.h"
#include "platform/log.h"
#include "platform/log_writer.h"
#include "platform/lone.h"
#include "platform/memif.h"
#include "platform/options.h"
#include "platform/sigbus.h"
#include "platform/vdev.h"
#include "platform/xdp.h"
#include "privilege/privilege.h"

/* Before EAL makes threads: they inherit the mask, only the control thread's signalfd takes the
 * signals. */
static bool
prepare_process(void)
{
	struct rlimit lim;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
		!ndd_sigbus_install()) {
		ndd_error("signals: %s", strerror(errno));
		return false;
	}
	/* A session costs four descriptors, a completion queue and a segment one each. */
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
	return true;
}

/* Behind EAL: the thread runs on the control thread's CPUs. */
static bool
start_log(void)
{
	bool started = ndd_log_writer_start();

	if (!started)
		ndd_error("the thread that writes the log does not start");
	return started;
}

static int
daemon_serve(struct config *cfg, const struct ndd_options *opt)
{
	static struct ndd d;
	int status = EXIT_FAILURE;

	d.cfg = cfg;
	d.config_path = opt->udp ? NULL : opt->config;
	ndd_vdev_remove_stale(cfg);
	if (!ndd_cpus_check(cfg) || !prepare_process() || !ndd_privilege_prepare(cfg) ||
		!ndd_xdp_claim(cfg) || !ndd_eal_init(cfg, opt->verbose))
		return status;
	ndd_clock_init();
	if (start_log() && ndd_control_init(&d) && ndd_start(&d) && ndd_telemetry_start(&d) &&
		ndd_control_listen(&d) && ndd_privilege_drop(cfg)) {
		ndd_notice("ready: %s", cfg->socket_path);
		ndd_control_run(&d);
		ndd_control_farewell(&d);
		if (opt->verbose > 0)
			ndd_stats_log(&d);
		status = EXIT_SUCCESS;
	}
	ndd_telemetry_stop();
	ndd_stop(&d);
	ndd_control_fini(&d);
	/* No rte_eal_cleanup(): it unmaps DPDK's memory under its own threads, one of which may
	 * just serve a peer that goes away, too. Nothing of the daemon outlives the process.
	 */
	ndd_log_writer_stop();
	return status;
}

static bool
daemon_configure(struct config *cfg, const struct ndd_options *opt)
{
	static char err[4096];

	if (opt->udp ? ndd_lone_config(cfg, err, sizeof(err))
		     : config_load(cfg, opt->config, err, sizeof(err)) &&
				ndd_memif_check(cfg, opt->config, err, sizeof(err)))
		return true;
	fputs(err, stderr);
	return false;
}

int
main(int argc, char **argv)
{
	static struct config cfg;
	struct ndd_options opt;
	int lock, status = ndd_options_parse(&opt, argc, argv);

	if (status >= 0)
		return status;
	if (opt.verbose > 0)
		ndd_log_set_level(opt.verbose > 1 ? NDD_LOG_DEBUG : NDD_LOG_INFO);
	if (!daemon_configure(&cfg, &opt))
		return EXIT_FAILURE;
	if (opt.check_config) {
		printf("%s: ok\n", opt.config);
		return EXIT_SUCCESS;
	}
	lock = ndd_instance_lock(cfg.socket_path);
	if (lock < 0)
		return EXIT_FAILURE;
	status = daemon_serve(&cfg, &opt);
	ndd_instance_unlock(cfg.socket_path, lock);
	return status;
}
