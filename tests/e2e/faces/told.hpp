/* SPDX-License-Identifier: BSD-3-Clause */
/* NDK's callbacks, as something that a thread can wait for. */
#ifndef TOLD_HPP
#define TOLD_HPP

#include <condition_variable>
#include <mutex>
#include <vector>

#include <ndkpi.h>

#include "face.hpp"

class Told {
	struct Note {
		NTSTATUS status;
		void *object;
	};
	std::mutex lock;
	std::condition_variable changed;
	std::vector<Note> notes;

	void
	note(NTSTATUS st, void *of)
	{
		const std::lock_guard<std::mutex> held(lock);

		notes.push_back({st, of});
		changed.notify_all();
	}

      public:
	static void
	done(PVOID t, NTSTATUS st)
	{
		((Told *)t)->note(st, nullptr);
	}
	static void
	created(PVOID t, NTSTATUS st, NDK_OBJECT_HEADER *o)
	{
		((Told *)t)->note(st, o);
	}
	static void
	ended(PVOID t)
	{
		((Told *)t)->note(STATUS_SUCCESS, nullptr);
	}
	static void
	asked(PVOID t, NDK_CONNECTOR *c)
	{
		((Told *)t)->note(STATUS_SUCCESS, c);
	}

	unsigned
	so_far()
	{
		const std::lock_guard<std::mutex> held(lock);
		return (unsigned)notes.size();
	}
	/* The status of the n-th; *of: its object. */
	NTSTATUS
	wait(unsigned n, void **of = nullptr)
	{
		std::unique_lock<std::mutex> held(lock);

		changed.wait(held, [&] { return notes.size() >= n; });
		if (of != nullptr)
			*of = notes[n - 1].object;
		return notes[n - 1].status;
	}
	/* What a request came to, that was begun with this. */
	NTSTATUS
	outcome(NTSTATUS begun)
	{
		return begun == STATUS_PENDING ? wait(1) : begun;
	}
	/* What a create came to. */
	template <class Object>
	void
	create(NTSTATUS begun, Object **out)
	{
		void *of = *out;

		WANT(STATUS_SUCCESS, begun == STATUS_PENDING ? wait(1, &of) : begun);
		*out = (Object *)of;
	}
};

#define CREATE(out, ...)                                                                           \
	do {                                                                                       \
		Told t;                                                                            \
		t.create(__VA_ARGS__, out);                                                        \
	} while (0)
#define CLOSE(object, close)                                                                       \
	do {                                                                                       \
		Told t;                                                                            \
		if ((object) == nullptr)                                                           \
			break;                                                                     \
		WANT(STATUS_PENDING,                                                               \
			(object)->Dispatch->close(&(object)->Header, Told::ended, &t));            \
		t.wait(1);                                                                         \
		(object) = nullptr;                                                                \
	} while (0)

#endif
