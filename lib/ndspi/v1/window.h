/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * INDMemoryWindow, and the results of windows that the peer invalidates (R-INV-13): a receive
 * brings the token, which is looked up among the windows that have a result.
 */
#ifndef NDSPI_V1_WINDOW_H
#define NDSPI_V1_WINDOW_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "ndspi/object.h"

struct spi1_cq;

struct spi1_window {
	struct spi_object object;
	struct nd_mw *mw;
	ND_RESULT *result; /* or NULL: nothing is told */
	/* With the lock of spi1_windows: */
	UINT32 token; /* by which it is found; 0: it is not */
	LIST_ENTRY(spi1_window) hash;
	struct spi1_cq *late_at; /* where its result is still to come; NULL: nowhere */
	TAILQ_ENTRY(spi1_window) late;
};

#define SPI1_WINDOW_BITS 8
struct spi1_windows {
	uint32_t with_result; /* atomic: how many there are */
	pthread_mutex_t lock;
	LIST_HEAD(, spi1_window) by_token[1 << SPI1_WINDOW_BITS];
};

static inline bool
spi1_windows_have_results(const struct spi1_windows *windows)
{
	return __atomic_load_n(&windows->with_result, __ATOMIC_RELAXED) != 0;
}

/* Results that a queue still has to give, oldest first. */
struct spi1_late {
	TAILQ_HEAD(, spi1_window) windows;
	bool any;  /* atomic: so that a look takes no lock */
	bool told; /* a notification was given for them */
};

extern const struct spi_class spi1_window_class;

HRESULT STDMETHODCALLTYPE spi1_create_window(
	INDAdapter *self, ND_RESULT *result, INDMemoryWindow **out);

/* The window was bound, and has its token. */
void spi1_window_bound(struct spi1_window *w);
/*
 * The window with this token was invalidated by the peer. Its result, to be given now; NULL: there
 * is none, or, without room for it, it is late at q.
 */
ND_RESULT *spi1_windows_invalidated(
	struct spi1_windows *windows, UINT32 token, struct spi1_cq *q, bool room);
/* The oldest result that is late at q; NULL: there is none. */
ND_RESULT *spi1_windows_late(struct spi1_windows *windows, struct spi1_cq *q);
/* Is something late at q that no notification was given for? From now on it was. */
bool spi1_windows_late_is_news(struct spi1_windows *windows, struct spi1_cq *q);
/* The queue is closed: what is late there is lost, as its results are. */
void spi1_windows_drop_late(struct spi1_windows *windows, struct spi1_cq *q);

#endif
