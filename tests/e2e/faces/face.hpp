/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection between two daemons, by any of the interfaces that programs are written to, so
 * that the same scenarios run over each of them. Statuses are those of libndclient; where an
 * interface has another word for one, word() tells it. What most of them have is here. Scenarios
 * that need what one of them does not have stand in tables of their own, which says so
 * (main.cpp).
 */
#ifndef FACE_HPP
#define FACE_HPP

#include <cstdint>
#include <memory>
#include <netinet/in.h>
#include <string>

#include <ndsupport.h>

#include "../want.h"

/* Where a daemon listens, and an address of it. */
struct Place {
	std::string socket;
	sockaddr_in address;
};

class End;

struct Result {
	int32_t status;
	uint64_t bytes;
	const void *context;
	const End *of;
};

/* Memory of the peer's, as it would be told by a message. */
struct Far {
	uint64_t address, length;
	uint32_t token;
};

/* A piece of an end's buffer, in its first region, which is the whole of it, or in its second; or of
 * other memory, which the second has. */
struct Piece {
	uint32_t offset, length;
	bool second = false;
	char *memory = nullptr;
};

/* What is said with a request for a connection, and with its answer. */
struct Words {
	std::string data;
	uint32_t inbound = 4, outbound = 4; /* reads, where connections have limits of their own */
	in_port_t port = 0;		    /* that a request leaves from; 0: any */

	Words(const char *text) : data(text, std::char_traits<char>::length(text) + 1)
	{
	}
	Words(std::string bytes, uint32_t in, uint32_t out)
	    : data(std::move(bytes)), inbound(in), outbound(out)
	{
	}
};

/* What is asked of a peer, and ends later. */
enum class Request { get, connect, complete, accept, notice, disconnect };

/* Of the adapter. */
struct Limits {
	uint32_t pieces, caller_data, callee_data, reads, queue, read_pieces;
};

/* One end: a queue pair, with whatever it takes to use one. Offsets are of its buffer, which is
 * registered, with the right of local write. */
class End {
      public:
	static constexpr uint32_t depth = 16, bytes = 1 << 20, inlined = 64, waiters = 1025;
	char *const buffer;

	explicit End(uint32_t room = bytes) : buffer(new char[room]())
	{
	}
	End(const End &) = delete;
	End &operator=(const End &) = delete;
	virtual ~End()
	{
		delete[] buffer;
	}
	/* Another one of the same adapter, whose results come out of this one's queue. It goes
	 * first. shared: its receives are those of share(). */
	virtual std::unique_ptr<End> another(bool shared = false) = 0;
	/* The same with a queue pair and a connector alone. nullptr: there is no room for it, which
	 * *status says. */
	virtual std::unique_ptr<End> lean(int32_t *status) = 0;
	virtual Limits limits() = 0;

	virtual int32_t receive_list(const void *context, const Piece *pieces, uint32_t n) = 0;
	virtual int32_t send_list(
		const void *context, const Piece *pieces, uint32_t n, uint32_t flags = 0) = 0;
	/* At so many bytes from the beginning of the window. */
	virtual int32_t write(const void *context, const Piece &piece, const Far &to, uint64_t at,
		uint32_t flags = 0) = 0;
	virtual int32_t read_list(const void *context, const Piece *pieces, uint32_t n,
		const Far &from, uint64_t at, uint32_t flags = 0) = 0;
	/* Its one window. flags: rights */
	virtual int32_t bind(
		const void *context, const Piece &piece, uint32_t flags, Far *told) = 0;
	virtual int32_t invalidate(const void *context, uint32_t flags = 0) = 0;
	/* ND_NOT_SUPPORTED: the interface has no such call. */
	virtual int32_t send_and_invalidate(const void *context, uint32_t offset, uint32_t length,
		const Far &window, uint32_t flags = 0) = 0;
	virtual int32_t flush() = 0;

	int32_t
	receive(const void *context, uint32_t offset, uint32_t length)
	{
		const Piece piece = {offset, length};
		return receive_list(context, &piece, 1);
	}
	int32_t
	send(const void *context, uint32_t offset, uint32_t length, uint32_t flags = 0)
	{
		const Piece piece = {offset, length};
		return send_list(context, &piece, 1, flags);
	}
	int32_t
	read(const void *context, const Piece &piece, const Far &from, uint64_t at,
		uint32_t flags = 0)
	{
		return read_list(context, &piece, 1, from, at, flags);
	}

	/* The second region, which this waits for. flags: ND_MR_FLAG_*, where regions have some. */
	virtual int32_t enroll(const void *at, uint64_t length, uint32_t flags) = 0;
	virtual int32_t retire() = 0;
	virtual Far second() = 0; /* by the region's own token, where it has one */

	/* Receives that are not of one queue pair. */
	virtual int32_t share(const void *context, const Piece *pieces, uint32_t n) = 0;
	virtual int32_t resize_shared(uint32_t receives) = 0;

	/* A result, if there is one. */
	virtual bool take(Result *result) = 0;
	virtual int32_t resize(uint32_t results) = 0;
	/* Ask to be told of results: ND_CQ_NOTIFY_*. waiter: which of those that ask. */
	virtual int32_t arm(uint32_t type, uint32_t waiter = 0) = 0;
	virtual bool armed(uint32_t waiter = 0) = 0;   /* and not told yet */
	virtual int32_t told(uint32_t waiter = 0) = 0; /* waits for it, and what it was told */
	virtual int32_t cancel_arms() = 0;

	/* Its listener, at a port that it chooses. backlog 0: any. */
	virtual sockaddr_in listen(uint32_t backlog = 0) = 0;
	virtual int32_t get_request(End &into) = 0;
	virtual int32_t cancel_listening() = 0;
	virtual int32_t connect(const sockaddr_in &to, const Words &words) = 0;
	virtual int32_t complete() = 0;
	virtual int32_t accept(const Words &words) = 0;
	virtual int32_t reject(const Words &words) = 0;
	virtual int32_t notify_disconnect() = 0;
	virtual int32_t disconnect() = 0;
	virtual int32_t cancel() = 0; /* of the connector */
	/* What the request came to: at once (begun), or when it ends, which this waits for. */
	virtual int32_t ended(Request which, int32_t begun) = 0;
	virtual bool under_way(Request which) = 0;
	/* Of the peer. Room in, size out; NULL with no room asks for the size. */
	virtual int32_t private_data(void *data, uint32_t *room) = 0;
	virtual int32_t read_limits(uint32_t *inbound, uint32_t *outbound) = 0;
	virtual int32_t local_address(sockaddr_in *address, uint32_t *room) = 0;
	virtual int32_t peer_address(sockaddr_in *address, uint32_t *room) = 0;
	std::string
	peer_data()
	{
		char data[256];
		uint32_t room = sizeof(data);

		WANT(0, private_data(data, &room));
		return data;
	}

	/* Each of them at most once. */
	virtual void close_pair() = 0;
	virtual void close_window() = 0;
	virtual void close_connector() = 0;
	virtual void close_listener() = 0;

	char *
	start(const Piece &piece) const
	{
		return (piece.memory != nullptr ? piece.memory : buffer) + piece.offset;
	}
	/* The adapter has the profile of the pages. */
	virtual bool
	by_the_pages() const
	{
		return false;
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
