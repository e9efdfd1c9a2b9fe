/* SPDX-License-Identifier: BSD-3-Clause */
/* One daemon per control socket: a lock file beside it, held for life. */
#ifndef NDD_INSTANCE_H
#define NDD_INSTANCE_H

/* The lock's fd, or -1 after a log line that names the process that has it. */
int ndd_instance_lock(const char *socket_path);
/* Leave nothing behind. */
void ndd_instance_unlock(const char *socket_path, int fd);

#endif
