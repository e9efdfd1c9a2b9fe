/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/session/fd.h"

#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

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

bool
nd_timer_set(int fd, uint64_t at_ns)
{
	const struct itimerspec t = {.it_value = {.tv_sec = (time_t)(at_ns / NS_PER_S),
					     .tv_nsec = (long)(at_ns % NS_PER_S)}};

	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL) == 0;
}
