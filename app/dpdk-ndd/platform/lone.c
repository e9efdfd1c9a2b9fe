/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "platform/lone.h"
#include "shm/ndsh_msg_hdr.h"

static unsigned
first_cpu(void)
{
	cpu_set_t allowed;
	unsigned cpu = 0;

	CPU_ZERO(&allowed);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed))
		cpu++;
	return cpu;
}

bool
ndd_lone_config(struct config *c, char *err, size_t err_bytes)
{
	const char *directory = secure_getenv("XDG_RUNTIME_DIR");
	char json[2 * CONFIG_PATH_BYTES];
	int n;

	if (directory == NULL || directory[0] != '/') {
		(void)snprintf(err, err_bytes,
			"--udp: the control socket is made in XDG_RUNTIME_DIR, which is not set: "
			"name "
			"a directory that is yours alone, or give a configuration by -c\n");
		return false;
	}
	n = snprintf(json, sizeof(json),
		"{\"lcores\": [%u], \"control\": {\"socket\": "
		"\"%s/" NDSH_SOCKET_OF_USER
		"\", \"mode\": \"0600\"}, \"ports\": [{\"device\": \"" CONFIG_UDP "\"}]}",
		first_cpu(), directory);
	if (n < 0 || (size_t)n >= sizeof(json)) {
		(void)snprintf(err, err_bytes, "--udp: XDG_RUNTIME_DIR is too long\n");
		return false;
	}
	return config_parse(c, "--udp", json, err, err_bytes);
}
