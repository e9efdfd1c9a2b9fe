/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings of this process. A kernel that can be asked (PROCMAP_QUERY) tells of one mapping in less
 * than a microsecond; else all lines of /proc/self/maps up to it are read.
 */
#include "ndclient/mem/mapping.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* linux/fs.h of Linux 6.11 */
struct map_query {
	uint64_t size, flags, address;
	uint64_t from, to, rights, page_bytes, offset, inode;
	uint32_t device_major, device_minor, name_bytes, build_id_bytes;
	uint64_t name, build_id;
};
#define MAP_QUERY	 _IOWR('f', 17, struct map_query)
#define COVERING_OR_NEXT 0x10u
#define FILE_BACKED	 0x20u
#define MAP_QUERY_SHARED 0x08u
#define MAP_QUERY_RIGHTS 0x07u /* those of PROT_* */

static bool
query_mapping(const struct nd_mappings *m, uintptr_t from, struct nd_mapping *out)
{
	char name[sizeof(out->name) + 4096] = "";
	struct map_query q = {.size = sizeof(q),
		.flags = COVERING_OR_NEXT | (m->of_files ? FILE_BACKED : 0),
		.address = from,
		.name_bytes = sizeof(name),
		.name = (uintptr_t)name};

	if (ioctl(m->fd, MAP_QUERY, &q) != 0)
		return false;
	*out = (struct nd_mapping){.from = q.from,
		.to = q.to,
		.offset = q.offset,
		.device = makedev(q.device_major, q.device_minor),
		.inode = q.inode,
		.rights = (int)(q.rights & MAP_QUERY_RIGHTS),
		.shared = q.rights & MAP_QUERY_SHARED};
	memcpy(out->name, name, sizeof(out->name) - 1);
	return true;
}

static bool
read_mapping(FILE *lines, struct nd_mapping *out)
{
	unsigned device_major, device_minor;
	char rights[8], *line = NULL;
	size_t room = 0;
	bool ok;

	*out = (struct nd_mapping){0};
	ok = getline(&line, &room, lines) > 0 &&
	     sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %15s", &out->from, &out->to, rights,
		     &out->offset, &device_major, &device_minor, &out->inode, out->name) >= 7;
	free(line);
	if (!ok)
		return false;
	out->device = makedev(device_major, device_minor);
	out->rights = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
		      (rights[2] == 'x' ? PROT_EXEC : 0);
	out->shared = rights[3] == 's';
	return true;
}

bool
nd_mappings_open(struct nd_mappings *m, bool of_files)
{
	struct nd_mapping any;

	*m = (struct nd_mappings){
		.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), .of_files = of_files};
	if (m->fd < 0)
		return false;
	if (query_mapping(m, 0, &any))
		return true;
	m->lines = fdopen(m->fd, "r");
	if (m->lines == NULL)
		close(m->fd);
	return m->lines != NULL;
}

void
nd_mappings_close(struct nd_mappings *m)
{
	if (m->lines != NULL)
		fclose(m->lines);
	else
		close(m->fd);
}

bool
nd_mapping_at(struct nd_mappings *m, uintptr_t from, struct nd_mapping *out)
{
	if (m->lines == NULL)
		return query_mapping(m, from, out);
	while (m->ahead.to <= from || (m->of_files && m->ahead.inode == 0))
		if (!read_mapping(m->lines, &m->ahead))
			return false;
	*out = m->ahead;
	return true;
}

/* ---- ranges -------------------------------------------------------------------------- */

static bool
is_plain(const struct nd_mapping *m)
{
	return !m->shared && m->inode == 0 && m->rights == (PROT_READ | PROT_WRITE) &&
	       (m->name[0] != '[' || strcmp(m->name, "[heap]") == 0 ||
		       strncmp(m->name, "[anon:", 6) == 0);
}

bool
nd_mapping_is_plain(const void *at, size_t bytes)
{
	uintptr_t from = (uintptr_t)at, end = from + bytes;
	struct nd_mappings all;
	struct nd_mapping m;

	if (!nd_mappings_open(&all, false))
		return false;
	while (from < end && nd_mapping_at(&all, from, &m) && m.from <= from && is_plain(&m))
		from = m.to;
	nd_mappings_close(&all);
	return from >= end;
}

static bool
is_of(const struct nd_mapping *m, const struct stat *file)
{
	return m->shared && m->inode == file->st_ino && m->device == file->st_dev;
}

bool
nd_mapping_is_of(const void *at, size_t bytes, const void *base, int file)
{
	uintptr_t from = (uintptr_t)at, end = from + bytes;
	struct nd_mappings all;
	struct nd_mapping m;
	struct stat st;

	if (fstat(file, &st) != 0 || !nd_mappings_open(&all, true))
		return false;
	while (from < end && nd_mapping_at(&all, from, &m) && m.from <= from && is_of(&m, &st) &&
		m.from - m.offset == (uintptr_t)base)
		from = m.to;
	nd_mappings_close(&all);
	return from >= end;
}

bool
nd_mapping_find(struct nd_mappings *m, uintptr_t from, int file, struct nd_mapping *out)
{
	struct stat st;

	if (fstat(file, &st) != 0)
		return false;
	for (; nd_mapping_at(m, from, out); from = out->to)
		if (is_of(out, &st))
			return true;
	return false;
}
