/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/session/fd.h"

#include <stdint.h>
#include <unistd.h>

void
nd_fd_wake(int fd)
{
	uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

bool
nd_drain(int fd)
{
	uint8_t buf[64];
	ssize_t n;

	do
		n = read(fd, buf, sizeof(buf));
	while (n == (ssize_t)sizeof(buf));
	return n != 0;
}
