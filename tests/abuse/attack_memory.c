/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the daemon maps, charges and gives back. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attack.h"

#define MIB (1u << 20)

enum untouched { UNTOUCHED_SMALL = 64, UNTOUCHED_ALL = 960 };

/* The daemon is told of memory that its client has never touched. */
static void
untouched(struct target *t, uint32_t mib)
{
	while (attacking(t)) {
		struct raw r;
		uint32_t segment;
		int file;

		if (raw_open(&r, t->socket) != NDSH_OK)
			return;
		file = raw_segment_file(&r, (uint64_t)mib * MIB, &segment);
		if (file >= 0)
			(void)raw_segment_mapped(&r, segment, (void *)(uintptr_t)MIB);
		close(file);
		raw_end(&r);
	}
}

/* The same, and it is kept. */
static void
untouched_kept(struct target *t, uint32_t sessions)
{
	for (uint32_t i = 0; i < sessions && attacking(t); i++) {
		struct raw r;
		uint32_t segment;

		if (raw_open(&r, t->socket) != NDSH_OK ||
			raw_segment_file(&r, 256 * MIB, &segment) < 0)
			break;
		(void)raw_segment_mapped(&r, segment, (void *)(uintptr_t)MIB);
	}
	attack_hold(t);
}

/* Refused meanwhile: what was given back counts until it is gone. */
static void
churn(struct target *t, uint32_t mib)
{
	struct raw r;

	if (raw_open(&r, t->socket) != NDSH_OK)
		return;
	while (attacking(t)) {
		uint8_t *base;
		uint32_t segment;

		int status = raw_segment(&r, (uint64_t)mib * MIB, &base, &segment);

		if (status == RAW_GONE)
			break;
		if (status != NDSH_OK) {
			attack_pause_us(100);
			continue;
		}
		munmap(base, (size_t)mib * MIB);
		(void)raw_ask_id(&r, NDSH_MSG_SEGMENT_DESTROY, segment, NULL);
	}
	raw_end(&r);
}

/* Given back, so that it counts no more, but still mapped here. */
static void
kept(struct target *t, uint32_t mib)
{
	struct raw r;
	uint64_t bytes = (uint64_t)mib * MIB;

	if (raw_open(&r, t->socket) != NDSH_OK)
		return;
	for (int i = 0; i < 32 && attacking(t); i++) {
		uint8_t *base;
		uint32_t segment;

		if (raw_segment(&r, bytes, &base, &segment) != NDSH_OK)
			break;
		(void)raw_ask_id(&r, NDSH_MSG_SEGMENT_DESTROY, segment, NULL);
	}
	attack_hold(t);
	raw_end(&r);
}

enum spoil { SPOIL_PUNCH, SPOIL_SHRINK, SPOIL_GROW, SPOIL_SEAL, SPOIL_LATE_PUNCH, SPOIL_LEASE };

static void
spoil_file(int file, enum spoil what)
{
	switch (what) {
	case SPOIL_PUNCH:
	case SPOIL_LATE_PUNCH:
		(void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2 * MIB);
		break;
	case SPOIL_SHRINK:
		(void)!ftruncate(file, 0);
		break;
	case SPOIL_GROW:
		(void)!ftruncate(file, 64 * MIB);
		break;
	case SPOIL_SEAL:
		(void)fcntl(file, F_ADD_SEALS, F_SEAL_WRITE);
		break;
	case SPOIL_LEASE:
		(void)fcntl(file, F_SETLEASE, F_WRLCK);
		break;
	}
}

/* The file is changed before the daemon maps it, or when it uses it. */
static void
spoil(struct target *t, uint32_t what)
{
	while (attacking(t)) {
		struct raw r;
		struct raw_cq cq;
		int file;

		if (raw_open(&r, t->socket) != NDSH_OK)
			return;
		file = raw_segment_file(&r, 2 * MIB, &r.segment);
		if (file < 0)
			return;
		if (what != SPOIL_SEAL)
			r.base = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		r.bytes = 2 * MIB;
		if (what != SPOIL_LATE_PUNCH)
			spoil_file(file, (enum spoil)what);
		(void)raw_segment_mapped(&r, r.segment, r.base);
		spoil_file(file, (enum spoil)what);
		if (r.base != NULL && r.base != MAP_FAILED)
			(void)raw_cq(&r, 64, &cq);
		close(file);
		raw_end(&r);
	}
}

/* Sizes, numbers and places that no segment has. */
static void
sizes(struct target *t, uint32_t arg)
{
	static const uint64_t odd[] = {0, 1, 4095, 4097, UINT64_MAX, UINT64_MAX - 4095, 1ull << 63,
		1ull << 40, (uint64_t)INT64_MAX + 1 - 4096, 1ull << 32};
	struct raw r = {.fd = -1, .wake = -1};

	(void)arg;
	while (attacking(t)) {
		uint32_t segment;
		int file = -1;

		if (raw_open(&r, t->socket) != NDSH_OK)
			return;
		for (uint32_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			close(file);
			file = raw_segment_file(&r, odd[i], &segment);
			(void)raw_segment_mapped(&r, raw_random(8), (void *)(uintptr_t)odd[i]);
		}
		close(file);
		raw_end(&r);
	}
}

/* Objects at each place of a segment, most of them not in it. */
static void
places(struct target *t, uint32_t arg)
{
	struct raw r;
	struct ndsh_cq_create m = {.h.type = NDSH_MSG_CQ_CREATE, .depth = 64};

	(void)arg;
	raw_begin(&r, t->socket);
	while (attacking(t)) {
		struct ndsh_id_msg reply = {.id = 0};
		int file = -1;

		m.segment = raw_random(3);
		m.offset = (uint64_t)raw_random(UINT32_MAX) << raw_random(40);
		if (raw_random(2))
			m.offset = RAW_SEGMENT_BYTES - raw_random(8192);
		if (raw_ask(&r, &m, &reply, &file) == NDSH_OK) {
			close(file);
			(void)raw_ask_id(&r, NDSH_MSG_CQ_DESTROY, reply.id, NULL);
		}
	}
	raw_end(&r);
}

/* Two segments at one address, one at the end of the address space, and each one twice. */
static void
addresses(struct target *t, uint32_t arg)
{
	(void)arg;
	while (attacking(t)) {
		static const uintptr_t at[] = {4096, 4096, UINTPTR_MAX - 4095, 1, 0};
		struct raw r;
		uint32_t segment;

		if (raw_open(&r, t->socket) != NDSH_OK)
			return;
		for (uint32_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			close(raw_segment_file(&r, MIB, &segment));
			(void)raw_segment_mapped(&r, segment, (void *)at[i]);
			(void)raw_segment_mapped(&r, segment, (void *)at[i]);
		}
		raw_end(&r);
	}
}

/* A segment is given back that the session's own objects lie in. */
static void
under_foot(struct target *t, uint32_t arg)
{
	(void)arg;
	while (attacking(t)) {
		struct duo d;
		struct ndsh_swr w;

		if (!duo_begin(&d, t, 64))
			return;
		w = duo_request(&d, NDSH_OP_WRITE, MIB);
		for (int i = 0; i < 32; i++)
			raw_post(&d.r, &d.qp, &w);
		(void)raw_ask_id(&d.r, NDSH_MSG_SEGMENT_DESTROY, d.r.segment, NULL);
		duo_end(&d);
	}
}

const struct attack memory_attacks[] = {
	{"memory-untouched", untouched, UNTOUCHED_SMALL},
	{"memory-untouched-large", untouched, UNTOUCHED_ALL},
	{"memory-untouched-kept", untouched_kept, 4},
	{"memory-churn", churn, 2},
	{"memory-churn-large", churn, 64},
	{"memory-kept", kept, 16},
	{"memory-punched", spoil, SPOIL_PUNCH},
	{"memory-punched-late", spoil, SPOIL_LATE_PUNCH},
	{"memory-shrunk", spoil, SPOIL_SHRINK},
	{"memory-grown", spoil, SPOIL_GROW},
	{"memory-sealed", spoil, SPOIL_SEAL},
	{"memory-leased", spoil, SPOIL_LEASE},
	{"memory-sizes", sizes, 0},
	{"memory-places", places, 0},
	{"memory-addresses", addresses, 0},
	{"memory-under-foot", under_foot, 0},
	{0},
};
