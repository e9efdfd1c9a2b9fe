/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/receive.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shm/ndsh_msg.h"

#define UNREAD_MAX                                                                                 \
	64 /* each message that is taken goes through all that wait for the client's end */

/* Or the end? A message has its sender's credentials, if the receiver wants them. The caller knows
 * that it brings no files. */
static bool
is_empty_message(int sock)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct msghdr mh = {.msg_control = &control, .msg_controllen = sizeof(control)};

	if (setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) != 0)
		return false;
	return recvmsg(sock, &mh, MSG_DONTWAIT | MSG_PEEK) == 0 && CMSG_FIRSTHDR(&mh) != NULL;
}

/*
 * A look at the message first: without room for files it tells that there are some, and the
 * message keeps its references. Nothing but this thread takes messages, so what is taken then is
 * what was looked at.
 */
enum ndd_received
ndd_receive(int sock, void *buf, size_t room, size_t *bytes)
{
	struct iovec iov = {.iov_base = buf, .iov_len = room};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n = recvmsg(sock, &mh, MSG_DONTWAIT | MSG_PEEK);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? NDD_RECEIVED_NOTHING : NDD_RECEIVED_END;
	if (mh.msg_flags & MSG_CTRUNC)
		return NDD_RECEIVED_FILES;
	if (n == 0 && !is_empty_message(sock))
		return NDD_RECEIVED_END;
	n = recv(sock, buf, room, MSG_DONTWAIT);
	if (n < 0)
		return NDD_RECEIVED_END;
	*bytes = (size_t)n;
	return mh.msg_flags & MSG_TRUNC ? NDD_RECEIVED_LONG : NDD_RECEIVED;
}

/* Nothing more comes in behind shutdown(): the kernel checks that in the same critical section in
 * which a sender puts its message into the queue. */
bool
ndd_receive_close(int sock)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
	enum ndd_received got = NDD_RECEIVED;
	size_t bytes;

	(void)shutdown(sock, SHUT_RD);
	for (int i = 0; i < UNREAD_MAX && (got == NDD_RECEIVED || got == NDD_RECEIVED_LONG); i++)
		got = ndd_receive(sock, buf, sizeof(buf), &bytes);
	if (got != NDD_RECEIVED_END)
		return false;
	close(sock);
	return true;
}
