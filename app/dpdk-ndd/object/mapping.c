/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only what the client has paid for is touched, so that nothing of it is charged to the daemon. The
 * order leaves no moment in between: behind the seal nobody takes a page away, by fallocate(),
 * MADV_REMOVE or in any other way; behind that, a file without a hole has none for ever.
 *
 * The size of the file in blocks would tell less: a huge page that reaches beyond the end counts as
 * a whole. And both the seal and the search for holes take a lock that a client holds as long as it
 * likes, in a write() to the file from memory whose page does not come.
 */
#include "object/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/sigbus.h"

/* Populating and unmapping hold the lock of the daemon's address space, which other threads need to
 * allocate. */
#define SLICE_BYTES (512u << 10)
#define RETRY_US    1000u

static bool
mapping_refuse(struct ndd_mapping *m, enum ndsh_status status, const char *why)
{
	m->status = status;
	m->why = why;
	return false;
}

static bool
mapping_open(struct ndd_mapping *m)
{
	void *p = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);

	if (p == MAP_FAILED)
		return mapping_refuse(m, NDSH_ERR_NO_RESOURCES, "the kernel does not map it");
	m->host = p;
	(void)madvise(p, m->bytes, MADV_DONTDUMP);
	return true;
}

static bool
mapping_is_paid(struct ndd_mapping *m)
{
	if (fcntl(m->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
		return mapping_refuse(m, NDSH_ERR_INVALID_STATE, "it can't be sealed");
	if (lseek(m->fd, 0, SEEK_HOLE) != (off_t)m->bytes)
		return mapping_refuse(m, NDSH_ERR_INVALID_STATE,
			"the client has not written to all of its pages");
	return true;
}

/* Kernels before 5.14 map a page when it is touched first. */
static bool
slice_populate(struct ndd_mapping *m, uint64_t at, uint64_t bytes)
{
	int rc;

	ndd_job_slice_begin(&m->make);
	do
		rc = madvise(m->host + at, bytes, MADV_POPULATE_WRITE);
	while (rc != 0 && (errno == EINTR || errno == EAGAIN));
	ndd_job_slice_end(&m->make);
	return rc == 0 || errno == EINVAL;
}

static uint64_t
slice_bytes(const struct ndd_mapping *m, uint64_t at)
{
	return m->bytes - at < SLICE_BYTES ? m->bytes - at : SLICE_BYTES;
}

/* What is locked before it is populated takes no second pass. */
static bool
mapping_populate(struct ndd_mapping *m)
{
	m->unlocked = mlock2(m->host, m->bytes, MLOCK_ONFAULT) != 0;
	for (uint64_t at = 0; at < m->bytes; at += SLICE_BYTES) {
		if (ndd_job_is_cancelled(&m->make))
			return mapping_refuse(m, NDSH_ERR_ABORTED, "its session has ended");
		if (!slice_populate(m, at, slice_bytes(m, at)))
			return mapping_refuse(
				m, NDSH_ERR_NO_RESOURCES, "its pages can't be mapped");
	}
	return ndd_sigbus_guard(m->host, m->bytes) ||
	       mapping_refuse(m, NDSH_ERR_NO_RESOURCES, "no memory for its guard");
}

static void
mapping_close(struct ndd_mapping *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

/* The kernel may be short of memory for its own lists. What is mapped stays counted meanwhile. */
static void
slice_unmap(const struct ndd_mapping *m, const struct ndd_job *j, uint64_t at)
{
	int rc;

	for (;;) {
		ndd_job_slice_begin(j);
		rc = munmap(m->host + at, slice_bytes(m, at));
		ndd_job_slice_end(j);
		if (rc == 0 || errno != ENOMEM)
			return;
		usleep(RETRY_US);
	}
}

static void
mapping_undo(struct ndd_mapping *m, const struct ndd_job *j)
{
	if (m->host != NULL) {
		ndd_sigbus_unguard(m->host);
		for (uint64_t at = 0; at < m->bytes; at += SLICE_BYTES)
			slice_unmap(m, j, at);
		m->host = NULL;
	}
	mapping_close(m);
}

void
ndd_mapping_make(struct ndd_job *j)
{
	struct ndd_mapping *m =
		(struct ndd_mapping *)((char *)j - offsetof(struct ndd_mapping, make));

	m->status = NDSH_OK;
	if (mapping_open(m) && mapping_is_paid(m) && mapping_populate(m))
		mapping_close(m); /* the mapping holds the file */
	else
		mapping_undo(m, j);
}

void
ndd_mapping_undo(struct ndd_job *j)
{
	mapping_undo((struct ndd_mapping *)((char *)j - offsetof(struct ndd_mapping, undo)), j);
}
