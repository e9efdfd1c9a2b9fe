/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "ndwin/error.h"
#include "ndwin/file.h"

static void
file_destroy(struct ndwin_object *o)
{
	struct ndwin_file *file = (struct ndwin_file *)o;

	if (file->port != NULL)
		ndwin_port_put(file->port);
	free(file);
}

static const struct ndwin_class file_class = {.kind = NDWIN_FILE, .destroy = file_destroy};

HANDLE
ndwin_file_create(const void *owner)
{
	struct ndwin_file *file = calloc(1, sizeof(*file));
	HANDLE h;

	if (file == NULL)
		return ndwin_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	file->owner = owner;
	h = ndwin_handle_open(&file->object, &file_class);
	if (h == NULL)
		free(file);
	return h;
}

struct ndwin_file *
ndwin_file_get(HANDLE handle, const void *owner)
{
	struct ndwin_file *file = (struct ndwin_file *)ndwin_handle_get(handle, NDWIN_FILE);

	if (file == NULL || file->owner == owner)
		return file;
	ndwin_file_put(file);
	return ndwin_fail_null(ERROR_INVALID_HANDLE);
}

void
ndwin_file_put(struct ndwin_file *file)
{
	ndwin_object_put(&file->object);
}

/* The port's reference goes to the file. False: it has a port. */
static bool
file_bind(struct ndwin_file *file, struct ndwin_port *port, ULONG_PTR key)
{
	if (__atomic_exchange_n(&file->bound, 1, __ATOMIC_RELAXED) != 0)
		return false;
	file->key = key;
	__atomic_store_n(&file->port, port, __ATOMIC_RELEASE);
	return true;
}

static HANDLE
file_associate(struct ndwin_file *file, HANDLE handle, ULONG_PTR key)
{
	struct ndwin_port *port = ndwin_port_get(handle);

	if (port == NULL)
		return NULL;
	if (file_bind(file, port, key))
		return handle;
	ndwin_port_put(port);
	return ndwin_fail_null(ERROR_INVALID_PARAMETER);
}

HANDLE WINAPI
CreateIoCompletionPort(HANDLE handle, HANDLE existing, ULONG_PTR key, DWORD threads)
{
	struct ndwin_file *file;
	HANDLE port, result;

	UNREFERENCED_PARAMETER(threads);
	if (handle == INVALID_HANDLE_VALUE) {
		if (existing != NULL)
			return ndwin_fail_null(ERROR_INVALID_PARAMETER);
		return ndwin_port_create();
	}
	file = (struct ndwin_file *)ndwin_handle_get(handle, NDWIN_FILE);
	if (file == NULL)
		return NULL;
	port = existing != NULL ? existing : ndwin_port_create();
	result = port != NULL ? file_associate(file, port, key) : NULL;
	if (result == NULL && port != NULL && existing == NULL)
		CloseHandle(port);
	ndwin_file_put(file);
	return result;
}
