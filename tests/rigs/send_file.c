/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/send_file.h"

#include <stdint.h>
#include <string.h>

ssize_t
send_file(int sock, const void *msg, size_t bytes, int flags, int file)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)msg, .iov_len = bytes};
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.h = {.cmsg_len = CMSG_LEN(sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	if (file >= 0) {
		memcpy(CMSG_DATA(&control.h), &file, sizeof(file));
		mh.msg_control = &control;
		mh.msg_controllen = sizeof(control);
	}
	return sendmsg(sock, &mh, flags);
}
