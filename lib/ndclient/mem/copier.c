/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copy commands on memory that the application may have unmapped, or protected, meanwhile. A load
 * or store of this process would end it there, and a handler for SIGSEGV is the application's. So
 * the kernel copies, by process_vm_readv() on this very process: it reports what it can't reach.
 * The application's memory is always the local side of the call, which the kernel reads and stores
 * to as for any other system call; the staging, which is always there, is the remote one.
 *
 * Where the call is not to be had (an old sandbox, a kernel without it), the bytes go through a
 * pipe.
 *
 * Memory that is being exchanged (exchange.c) may be out of reach for a moment: what fails is tried
 * once more with no exchange under way.
 */
#include "ndclient/mem/copier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ndclient/mem/exchange.h"

/* An application without a receive polls the last bytes of what is written, so they are stored
 * behind all others, and the very last behind them (R-ORD-07): each part is a copy of its own. */
#define PARTS 3u

void
nd_copier_init(struct nd_copier *c)
{
	*c = (struct nd_copier){.self = getpid(), .pipe = {-1, -1}};
}

void
nd_copier_fini(struct nd_copier *c)
{
	for (unsigned i = 0; i < 2; i++)
		if (c->pipe[i] >= 0)
			close(c->pipe[i]);
	c->pipe[0] = c->pipe[1] = -1;
}

static bool
is_atomic(const struct ndsh_cqe *command)
{
	return command->op == NDSH_MOVE_CMP_SWAP || command->op == NDSH_MOVE_FETCH_ADD;
}

/* The parts in the order in which they are stored; returns how many. */
static uint32_t
parts_of(const struct ndsh_cqe *command, struct iovec *parts)
{
	uint8_t *at = (uint8_t *)(uintptr_t)command->context;
	uint32_t bytes = command->bytes, tail, n = 0;

	if (command->op == NDSH_MOVE_OUT) {
		parts[0] = (struct iovec){at, bytes};
		return 1;
	}
	tail = bytes < NDSH_PLACE_TAIL ? bytes : NDSH_PLACE_TAIL;
	if (bytes > tail)
		parts[n++] = (struct iovec){at, bytes - tail};
	if (tail > 1)
		parts[n++] = (struct iovec){at + bytes - tail, tail - 1};
	if (tail > 0)
		parts[n++] = (struct iovec){at + bytes - 1, 1};
	return n;
}

/* How many of the commands are done when so many bytes are copied. */
static uint32_t
commands_done(const struct ndsh_cqe *commands, uint32_t n, size_t bytes)
{
	uint32_t done = 0;

	while (done < n && bytes >= commands[done].bytes)
		bytes -= commands[done++].bytes;
	return done;
}

/* ---- by process_vm_readv() ----------------------------------------------------------- */

/*
 * Those of the commands, bit i for command i, whose piece of the staging may be a later one's, too:
 * the daemon gives a slot to another packet before the old command is carried out, as it is over
 * before the new one. A slot is told by its page, modulo 64; so some are named that stand alone.
 */
static uint32_t
commands_overtaken(const struct ndsh_cqe *commands, uint32_t n)
{
	uint32_t overtaken = 0;
	uint64_t later = 0;

	static_assert(NDSH_MOVER_BATCH <= 32, "a bit each");
	for (uint32_t i = n; i-- > 0;) {
		uint64_t end = commands[i].data + commands[i].bytes;
		uint64_t first = UINT64_C(1) << commands[i].data / NDSH_MOVER_SLOT_BYTES % 64;
		uint64_t last = UINT64_C(1) << (end - 1) / NDSH_MOVER_SLOT_BYTES % 64;

		overtaken |= (uint32_t)((later & (first | last)) != 0) << i;
		later |= first | last;
	}
	return overtaken;
}

/* The bytes of b lie right behind those of a. */
static bool
are_adjacent(const struct ndsh_cqe *a, const struct ndsh_cqe *b)
{
	return a->data + a->bytes == b->data;
}

/*
 * Where the bytes of a command are during the call. The kernel pins the page of each remote piece,
 * which is dear beside few bytes. So small pieces of the staging that would each be a remote piece
 * are one: they are copied together, before the call or behind it. What a later command overtakes
 * is not copied behind it.
 */
static uint8_t *
staged_at(struct nd_copier *c, const struct ndsh_mover *m, const struct ndsh_cqe *commands,
	uint32_t i, uint32_t n)
{
	const struct ndsh_cqe *command = &commands[i];
	uint8_t *at = m->staging + command->data, *packed = &c->packed[c->npacked];

	if (command->bytes > ND_COPIER_PACKED || (i > 0 && are_adjacent(command - 1, command)) ||
		(i + 1 < n && are_adjacent(command, command + 1)))
		return at;
	c->npacked += command->bytes;
	if (command->op == NDSH_MOVE_IN)
		memcpy(packed, at, command->bytes);
	return packed;
}

static void
commands_unpack(
	const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n, uint8_t **at)
{
	for (uint32_t i = 0; i < n; i++)
		if (at[i] != m->staging + commands[i].data)
			memcpy(m->staging + commands[i].data, at[i], commands[i].bytes);
}

/* Commands of one direction; returns how many are done, up to the first that can't be. */
static uint32_t
copy_by_call(struct nd_copier *c, const struct ndsh_mover *m, const struct ndsh_cqe *commands,
	uint32_t n)
{
	struct iovec memory[PARTS * NDSH_MOVER_BATCH], staging[NDSH_MOVER_BATCH];
	uint32_t nmemory = 0, nstaging = 0, done;
	bool in = commands->op == NDSH_MOVE_IN;
	uint8_t *at[NDSH_MOVER_BATCH];
	uint32_t in_place = in ? 0 : commands_overtaken(commands, n);
	ssize_t bytes;

	c->npacked = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct iovec *before = nstaging > 0 ? &staging[nstaging - 1] : NULL;

		at[i] = in_place >> i & 1 ? m->staging + commands[i].data
					  : staged_at(c, m, commands, i, n);
		nmemory += parts_of(&commands[i], &memory[nmemory]);
		if (before != NULL && (uint8_t *)before->iov_base + before->iov_len == at[i])
			before->iov_len += commands[i].bytes;
		else
			staging[nstaging++] = (struct iovec){at[i], commands[i].bytes};
	}
	if (in)
		bytes = process_vm_readv(c->self, memory, nmemory, staging, nstaging, 0);
	else
		bytes = process_vm_writev(c->self, memory, nmemory, staging, nstaging, 0);
	done = bytes < 0 ? 0 : commands_done(commands, n, (size_t)bytes);
	if (!in)
		commands_unpack(m, commands, done, at);
	return done;
}

/* ---- by a pipe ----------------------------------------------------------------------- */

/* All of it, or the pipe is empty again. */
static bool
through_pipe(struct nd_copier *c, const struct iovec *to, uint32_t n, const struct iovec *from)
{
	bool ok;

	if (c->pipe[0] < 0 && pipe2(c->pipe, O_CLOEXEC) != 0)
		return false;
	ok = write(c->pipe[1], from->iov_base, from->iov_len) == (ssize_t)from->iov_len;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = read(c->pipe[0], to[i].iov_base, to[i].iov_len) == (ssize_t)to[i].iov_len;
	if (!ok)
		nd_copier_fini(c);
	return ok;
}

static uint32_t
copy_by_pipe(struct nd_copier *c, const struct ndsh_mover *m, const struct ndsh_cqe *commands,
	uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct iovec memory[PARTS];
		struct iovec staging = {m->staging + commands[i].data, commands[i].bytes};
		uint32_t parts = parts_of(&commands[i], memory);

		if (commands[i].op == NDSH_MOVE_IN ? !through_pipe(c, memory, parts, &staging)
						   : !through_pipe(c, &staging, 1, memory))
			return i;
	}
	return n;
}

/* ---- atomics ------------------------------------------------------------------------- */

/* Can it be written? Adding 0 by futex() asks the kernel, and changes nothing. */
static bool
is_writable(const struct ndsh_cqe *command)
{
	uint32_t *word = (uint32_t *)(uintptr_t)command->context, none = 0;

	return syscall(SYS_futex, &none, FUTEX_WAKE_OP_PRIVATE, 0, NULL, word,
		       FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0x5a5)) >= 0;
}

/* The instruction is the CPU's, as the application may use the same on that word; so unmapping it
 * between the question and the instruction still ends the process. */
static bool
execute_atomic(const struct ndsh_mover *m, const struct ndsh_cqe *command)
{
	if (!is_writable(command))
		return false;
	ndsh_mover_copy_plain(m, command);
	return true;
}

/* ---- commands ------------------------------------------------------------------------ */

static uint32_t
copy_some(struct nd_copier *c, const struct ndsh_mover *m, const struct ndsh_cqe *commands,
	uint32_t n)
{
	uint32_t done;

	if (is_atomic(commands))
		return execute_atomic(m, commands);
	if (c->by_pipe)
		return copy_by_pipe(c, m, commands, n);
	errno = 0;
	done = copy_by_call(c, m, commands, n);
	if (done > 0 || (errno != ENOSYS && errno != EPERM))
		return done;
	c->by_pipe = true;
	return copy_by_pipe(c, m, commands, n);
}

/* With no exchange under way. */
static bool
copy_once_more(struct nd_copier *c, const struct ndsh_mover *m, const struct ndsh_cqe *command)
{
	bool ok;

	nd_exchange_lock();
	ok = copy_some(c, m, command, 1) == 1;
	nd_exchange_unlock();
	return ok;
}

/* From the first command on, those of the same kind; atomics one by one. */
static uint32_t
commands_alike(const struct ndsh_cqe *commands, uint32_t n)
{
	uint32_t i = 1;

	while (!is_atomic(commands) && i < n && commands[i].op == commands->op)
		i++;
	return i;
}

uint32_t
nd_copier_run(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	struct nd_copier *c = ctx;
	uint32_t i = 0, failed = 0;

	while (i < n) {
		uint32_t most = commands_alike(&commands[i], n - i);
		uint32_t done = copy_some(c, m, &commands[i], most);

		i += done;
		if (done == most)
			continue;
		if (!copy_once_more(c, m, &commands[i]))
			failed |= 1u << i;
		i++;
	}
	return failed;
}
