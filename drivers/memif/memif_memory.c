/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both ends share: regions, and the rings in them. A region is a file of the client's. It must
 * be sealed against shrinking and as large as it is said to be, as the protocol asks of it anyway:
 * such a file is never on a disk or a file system of the peer's, where an access could last. Where
 * a huge page is missing an access still fails, and zeros in private memory then stand where the
 * shared memory was, until the thread unmaps it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "memif/memif_own.h"

static struct memif_port *watched[MEMIF_PORTS_MAX];

bool
memif_memory_watch(struct memif_port *m)
{
	for (uint32_t i = 0; i < MEMIF_PORTS_MAX; i++) {
		struct memif_port *none = NULL;

		if (__atomic_compare_exchange_n(
			    &watched[i], &none, m, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

void
memif_memory_forget(struct memif_port *m)
{
	for (uint32_t i = 0; i < MEMIF_PORTS_MAX; i++)
		if (__atomic_load_n(&watched[i], __ATOMIC_RELAXED) == m)
			__atomic_store_n(&watched[i], NULL, __ATOMIC_RELEASE);
}

/* The region of m that has that address, or NULL. */
static struct memif_region *
region_at(struct memif_port *m, uintptr_t addr)
{
	for (uint32_t i = 0; i < MEMIF_REGIONS_MAX; i++) {
		struct memif_region *g = &m->region[i];
		uintptr_t base = __atomic_load_n(&g->base, __ATOMIC_ACQUIRE);

		if (base != 0 && addr >= base && addr - base < g->bytes)
			return g;
	}
	return NULL;
}

bool
memif_memory_restore(uintptr_t addr)
{
	for (uint32_t i = 0; i < MEMIF_PORTS_MAX; i++) {
		struct memif_port *m = __atomic_load_n(&watched[i], __ATOMIC_ACQUIRE);
		struct memif_region *g = m == NULL ? NULL : region_at(m, addr);

		if (g == NULL)
			continue;
		if (mmap((void *)g->base, g->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			    0) == MAP_FAILED)
			return false;
		__atomic_store_n(&m->wrong, MEMIF_LOST, __ATOMIC_RELEASE);
		memif_thread_wake(m);
		return true;
	}
	return false;
}

/* ---- regions ---- */

static void
region_add(struct memif_port *m, void *base, size_t bytes)
{
	struct memif_region *g = &m->region[m->regions++];

	g->bytes = bytes;
	__atomic_store_n(&g->base, (uintptr_t)base, __ATOMIC_RELEASE);
}

/* All pages that a mapping has, also if these are huge. */
static size_t
whole_pages(int file, size_t bytes)
{
	struct statfs fs;
	size_t page = fstatfs(file, &fs) == 0 ? (size_t)fs.f_bsize : (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static uint64_t
regions_bytes(const struct memif_port *m)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < m->regions; i++)
		bytes += m->region[i].bytes;
	return bytes;
}

const char *
memif_region_map(struct memif_port *m, int file, uint64_t bytes)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct stat st;
	void *mem;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
		return "the memory of the peer is not taken: it must be a memfd with F_SEAL_SHRINK";
	if (fstat(file, &st) != 0 || bytes == 0 || (uint64_t)st.st_size < bytes)
		return "the memory of the peer is not taken: it is not as large as the peer says";
	if (m->regions == MEMIF_REGIONS_MAX || bytes > MEMIF_BYTES_MAX - regions_bytes(m))
		return "the memory of the peer is not taken: more than 16 regions, or than 1 GiB";
	bytes = whole_pages(file, bytes);
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (mem == MAP_FAILED)
		return "the memory of the peer can't be mapped";
	region_add(m, mem, bytes);
	return NULL;
}

static void
regions_unmap(struct memif_port *m)
{
	for (uint32_t i = 0; i < m->regions; i++) {
		struct memif_region *g = &m->region[i];
		void *base = (void *)g->base;

		__atomic_store_n(&g->base, 0, __ATOMIC_RELEASE);
		(void)munmap(base, g->bytes);
	}
	m->regions = 0;
}

/* ---- rings ---- */

const char *
memif_ring_place(struct memif_port *m, struct memif_ring *r, uint32_t region, uint32_t offset,
	uint32_t log2_ring)
{
	const struct memif_region *g = &m->region[region % MEMIF_REGIONS_MAX];
	size_t bytes;

	if (log2_ring == 0 || log2_ring > MEMIF_LOG2_RING_MAX)
		return "a ring of the peer has no size that there is";
	bytes = sizeof(*r->shared) + (sizeof(struct memif_desc) << log2_ring);
	if (region >= m->regions || offset % 16 != 0 || offset > g->bytes ||
		bytes > g->bytes - offset)
		return "a ring of the peer lies outside of its memory";
	r->shared = (struct memif_shared_ring *)(g->base + offset);
	r->size = (uint16_t)(1u << log2_ring);
	return NULL;
}

/* How the two indices of a ring are to be read, by the role, and by whose buffers are empty. */
static void
ring_begin(struct memif_ring *r, bool server, bool frames_of_the_client)
{
	struct memif_shared_ring *s = r->shared;

	r->at = 0;
	r->theirs = server ? &s->head : &s->tail;
	r->ours = server ? &s->tail : &s->head;
	r->theirs_ahead = !server && frames_of_the_client ? r->size : 0;
	r->ours_ahead = !server && !frames_of_the_client ? r->size : 0;
	__atomic_store_n(r->ours, r->ours_ahead, __ATOMIC_RELEASE);
}

void
memif_link_begin(struct memif_port *m)
{
	ring_begin(&m->rx, m->cfg.server, m->cfg.server);
	ring_begin(&m->tx, m->cfg.server, !m->cfg.server);
	__atomic_store_n(&m->rx.shared->flags, MEMIF_MASK_INT, __ATOMIC_RELAXED);
	__atomic_store_n(&m->linked, true, __ATOMIC_RELEASE);
}

static void
ring_end(struct memif_ring *r)
{
	if (r->interrupt >= 0)
		close(r->interrupt);
	*r = (struct memif_ring){.interrupt = -1};
}

void
memif_link_end(struct memif_port *m)
{
	if (m->linked) {
		__atomic_store_n(&m->linked, false, __ATOMIC_SEQ_CST);
		port_grace_wait(&m->grace);
	}
	ring_end(&m->rx);
	ring_end(&m->tx);
	regions_unmap(m);
	__atomic_store_n(&m->interrupt, false, __ATOMIC_RELAXED);
	__atomic_store_n(&m->wrong, MEMIF_FINE, __ATOMIC_RELEASE);
}

/* ---- memory of our own ---- */

static int
file_make(size_t bytes)
{
	int file = memfd_create("memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file >= 0 &&
		(ftruncate(file, (off_t)bytes) != 0 ||
			fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
		close(file);
		return -1;
	}
	return file;
}

static bool
ring_make(struct memif_port *m, struct memif_ring *r, uint32_t offset, uint32_t buffers_offset,
	uint8_t log2_ring)
{
	if (memif_ring_place(m, r, 0, offset, log2_ring) != NULL)
		return false;
	r->shared->cookie = MEMIF_COOKIE;
	r->buffer_bytes = m->cfg.buffer_bytes;
	r->buffers_offset = buffers_offset;
	r->buffers = (uint8_t *)m->region[0].base + buffers_offset;
	for (uint32_t k = 0; k < r->size; k++)
		r->shared->desc[k] = memif_desc_own(r, k);
	r->interrupt = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return r->interrupt >= 0;
}

const char *
memif_memory_make(struct memif_port *m, uint8_t log2_ring, int *file)
{
	const uint32_t ring = sizeof(struct memif_shared_ring) +
			      (uint32_t)(sizeof(struct memif_desc) << log2_ring);
	const uint32_t buffers = m->cfg.buffer_bytes << log2_ring;
	const size_t bytes = 2 * ((size_t)ring + buffers);
	void *mem;

	*file = file_make(bytes);
	if (*file < 0)
		return strerror(errno);
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *file, 0);
	if (mem != MAP_FAILED)
		region_add(m, mem, bytes);
	if (mem != MAP_FAILED && ring_make(m, &m->tx, 0, 2 * ring, log2_ring) &&
		ring_make(m, &m->rx, ring, 2 * ring + buffers, log2_ring))
		return NULL;
	close(*file);
	return "no memory, or no files, for the rings";
}
