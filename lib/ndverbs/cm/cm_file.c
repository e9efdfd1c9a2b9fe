/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndverbs/cm/cm.h"

#define DESCRIPTORS 65536

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cm_file *files[DESCRIPTORS]; /* atomic; written under cm_lock */

static struct cm_file *
file_at(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS ? __atomic_load_n(&files[fd], __ATOMIC_ACQUIRE) : NULL;
}

bool
ndv_cm_owns(int fd)
{
	return file_at(fd) != NULL;
}

int
ndv_cm_open(int flags)
{
	struct cm_file *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		errno = ENOMEM;
		return -1;
	}
	f->fd = eventfd(0, EFD_SEMAPHORE | (flags & O_CLOEXEC ? EFD_CLOEXEC : 0) |
				   (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));
	if (f->fd >= DESCRIPTORS) {
		close(f->fd);
		f->fd = -1;
		errno = EMFILE;
	}
	if (f->fd < 0) {
		free(f);
		return -1;
	}
	f->refs = 1;
	f->pid = getpid();
	TAILQ_INIT(&f->events);
	LIST_INIT(&f->ids);
	pthread_mutex_lock(&cm_lock);
	__atomic_store_n(&files[f->fd], f, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&cm_lock);
	return f->fd;
}

struct cm_file *
cm_file_get(int fd)
{
	struct cm_file *f;

	pthread_mutex_lock(&cm_lock);
	f = file_at(fd);
	if (f != NULL)
		f->refs++;
	pthread_mutex_unlock(&cm_lock);
	return f;
}

void
cm_file_put(struct cm_file *f)
{
	bool last;

	pthread_mutex_lock(&cm_lock);
	last = --f->refs == 0;
	pthread_mutex_unlock(&cm_lock);
	if (last)
		free(f);
}

/* A child of fork() that has inherited the descriptor: locks and sessions are its parent's. */
static bool
is_parents(int fd)
{
	const struct cm_file *f = file_at(fd);

	return f != NULL && f->pid != getpid();
}

/* Its identifiers end with it, as in the kernel. The descriptor is free, and perhaps another's,
 * only when nothing of ours has that number. */
int
ndv_cm_close(int fd)
{
	struct cm_file *f;
	struct cm_id *id;

	if (is_parents(fd)) {
		__atomic_store_n(&files[fd], NULL, __ATOMIC_RELEASE);
		return close(fd);
	}
	f = cm_file_get(fd);
	if (f == NULL) {
		errno = EBADF;
		return -1;
	}
	do {
		pthread_mutex_lock(&cm_lock);
		id = LIST_FIRST(&f->ids);
		if (id != NULL)
			id->refs++;
		else
			__atomic_store_n(&files[fd], NULL, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&cm_lock);
		if (id != NULL) {
			pthread_mutex_lock(&id->command);
			(void)cm_id_destroy(id);
			cm_id_end(id);
		}
	} while (id != NULL);
	cm_file_put(f);
	cm_file_put(f);
	return close(fd);
}

long
ndv_cm_write(int fd, const void *buf, size_t bytes)
{
	struct cm_file *f = is_parents(fd) ? NULL : cm_file_get(fd);
	long done;

	if (f == NULL) {
		errno = EBADF;
		return -1;
	}
	done = cm_command(f, buf, bytes);
	cm_file_put(f);
	return done;
}
