/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection between two daemons, by any of the interfaces that programs are written to, so that
 * the same scenarios run over each of them. Statuses are those of libndclient; where an interface has
 * another word for one, word() tells it.
 *
 * What all of them have is here, and no more: the peer reaches memory by windows, since version 1 of
 * NetworkDirect knows no other way.
 */
#ifndef FACE_HPP
#define FACE_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <string>

#include <ndsupport.h>

/* A status, which is shown if it is another. */
#define WANT(expected, call)                                                                       \
	do {                                                                                       \
		const int32_t wanted = (int32_t)(expected), got = (int32_t)(call);                 \
		if (got != wanted) {                                                               \
			printf("%s:%d: %s: %#x, not %#x\n", __FILE__, __LINE__, #call,             \
				(unsigned)got, (unsigned)wanted);                                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* Where a daemon listens, and an address of it. */
struct Place {
	std::string socket;
	sockaddr_in address;
};

struct Result {
	int32_t status;
	uint64_t bytes;
	const void *context;
};

/* A window of the peer's, as it would be told by a message. */
struct Far {
	uint64_t address, length;
	uint32_t token;
};

/* What is asked of a peer, and ends later. */
enum class Request { get, connect, complete, accept, notice, disconnect };

/* One end. Offsets are of its buffer, which is registered. */
class End {
      public:
	static constexpr uint32_t depth = 16, bytes = 1 << 20;
	char *const buffer;

	End() : buffer(new char[bytes]())
	{
	}
	End(const End &) = delete;
	End &operator=(const End &) = delete;
	virtual ~End()
	{
		delete[] buffer;
	}

	virtual int32_t receive(const void *context, uint32_t offset, uint32_t length) = 0;
	virtual int32_t send(
		const void *context, uint32_t offset, uint32_t length, uint32_t flags = 0) = 0;
	/* At so many bytes from the beginning of the window. */
	virtual int32_t write(const void *context, uint32_t offset, uint32_t length, const Far &to,
		uint64_t at, uint32_t flags = 0) = 0;
	virtual int32_t read(const void *context, uint32_t offset, uint32_t length, const Far &from,
		uint64_t at) = 0;
	/* Its one window. flags: rights */
	virtual int32_t bind(const void *context, uint32_t offset, uint32_t length, uint32_t flags,
		Far *told) = 0;
	virtual int32_t invalidate(const void *context) = 0;
	/* ND_NOT_SUPPORTED: the interface has no such call. */
	virtual int32_t send_and_invalidate(
		const void *context, uint32_t offset, uint32_t length, const Far &window) = 0;
	virtual int32_t flush() = 0;

	/* A result, if there is one. */
	virtual bool take(Result *result) = 0;
	/* Ask to be told of results: ND_CQ_NOTIFY_*. */
	virtual int32_t arm(uint32_t type) = 0;
	virtual bool armed() = 0; /* and not told yet */
	virtual void told() = 0;  /* waits for it */

	/* Its listener, at a port that it chooses. */
	virtual sockaddr_in listen() = 0;
	virtual int32_t get_request() = 0;
	virtual int32_t connect(const sockaddr_in &to, const char *data) = 0;
	virtual int32_t complete() = 0;
	virtual int32_t accept(const char *data) = 0;
	virtual int32_t reject(const char *data) = 0;
	virtual int32_t notify_disconnect() = 0;
	virtual int32_t disconnect() = 0;
	/* What the request came to: at once (begun), or when it ends, which this waits for. */
	virtual int32_t ended(Request which, int32_t begun) = 0;
	virtual std::string peer_data() = 0;

	/* The peer's disconnect cancels what this end has posted (R-DISC-08). */
	virtual bool
	flushes_at_goodbye() const
	{
		return true;
	}
	/* The word of this interface. of_receive: it is a receive's result. */
	virtual int32_t
	word(int32_t status, bool of_receive = false) const
	{
		(void)of_receive;
		return status;
	}
};

using NewEnd = std::unique_ptr<End> (*)(const Place &place);
std::unique_ptr<End> new_nd(const Place &place);
std::unique_ptr<End> new_spi(const Place &place);
std::unique_ptr<End> new_spi1(const Place &place);
std::unique_ptr<End> new_kpi(const Place &place);

#endif
