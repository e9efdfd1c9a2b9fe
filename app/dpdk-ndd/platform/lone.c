/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "platform/cpus.h"
#include "platform/lone.h"
#include "shm/ndsh_msg_hdr.h"

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
		ndd_cpus_first(), directory);
	if (n < 0 || (size_t)n >= sizeof(json)) {
		(void)snprintf(err, err_bytes, "--udp: XDG_RUNTIME_DIR is too long\n");
		return false;
	}
	return config_parse(c, "--udp", json, err, err_bytes);
}
