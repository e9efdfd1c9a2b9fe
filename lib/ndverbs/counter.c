/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ndverbs/counter.h"

/* No write() that comes back to us by the preloaded library: it may be librdmacm's descriptor. */
void
ndv_counter_up(int fd)
{
	(void)eventfd_write(fd, 1); /* it can't be full */
}

/* A signal's handler may want to end the waiting: EINTR is the program's, as of a read. */
bool
ndv_counter_down(int fd)
{
	uint64_t one;

	return read(fd, &one, sizeof(one)) == sizeof(one);
}

/* Another thread may take the last one at this moment, so looking first would not do. Kernels
 * before 5.8 can't read so: there the descriptor stays readable once too often. */
bool
ndv_counter_try(int fd)
{
	uint64_t one;
	struct iovec to = {.iov_base = &one, .iov_len = sizeof(one)};

	return preadv2(fd, &to, 1, -1, RWF_NOWAIT) == sizeof(one);
}
