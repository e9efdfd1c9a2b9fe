/* SPDX-License-Identifier: BSD-3-Clause */
/* share.bpf.c, compiled, is a part of the daemon: there is no file to be found, or to be too old.
 */
#include "ethdev/ethdev.h"
#include "share_object.h"

const void *
ethdev_share_program(size_t *bytes)
{
	*bytes = sizeof(share_object);
	return share_object;
}
