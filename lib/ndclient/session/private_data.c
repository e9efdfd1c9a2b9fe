/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/session/private_data.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ndclient/session/error.h"

/*
 * The kernel copies: it reports what it can't read, where a load would end the process. The
 * application's memory is the local side of the call, which is read as for any system call. In a
 * sandbox that forbids the call a bad pointer is the application's own fault.
 */
static bool
copy_in(uint8_t *to, const void *from, uint32_t bytes)
{
	const struct iovec local = {(void *)from, bytes}, remote = {to, bytes};
	const ssize_t n = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);

	if (n >= 0 || errno == EFAULT)
		return n == (ssize_t)bytes;
	memcpy(to, from, bytes);
	return true;
}

nd_status
nd_private_data_put(const void *priv, uint32_t bytes, uint32_t max, uint8_t *to, uint32_t *count)
{
	if (bytes > max)
		return nd_fail(ND_INVALID_BUFFER_SIZE, "%u bytes of private data, of at most %u",
			bytes, max);
	if (bytes > 0 && (priv == NULL || !copy_in(to, priv, bytes)))
		return nd_fail(ND_ACCESS_VIOLATION, "%u bytes of private data can't be read at %p",
			bytes, priv);
	*count = bytes;
	return ND_SUCCESS;
}
