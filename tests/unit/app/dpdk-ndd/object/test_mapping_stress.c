/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions end while their memory is mapped or unmapped, and the daemon stops then: their workers
 * against the control thread, in any order that chance brings.
 */
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lcore/wakeup.h"
#include "platform/pace.h"
#include "object/mapping.h"
#include "platform/sigbus.h"
#include "rigs/stress.h"

#define ROUNDS	  200u
#define AT_A_TIME 8u
#define BYTES	  (5u << 20) /* three slices */

struct session {
	struct ndd_mapping map;
	struct ndd_worker *worker;
	bool holed, undone;
};

static unsigned mapped, refused, gone;

static struct session *
session_of(struct ndd_job *j, size_t offset)
{
	return (struct session *)((char *)j - offset);
}

static void
on_made(struct ndd_job *j)
{
	struct session *s = session_of(j, offsetof(struct session, map.make));

	if (s->map.status != NDSH_OK) {
		refused++;
		return;
	}
	mapped++;
	STRESS_CHECK(!s->holed, "a hole was not seen\n");
	STRESS_CHECK(s->undone || s->map.host[BYTES - 1] == 1, "other memory\n");
}

static void
on_gone(struct ndd_job *j)
{
	struct session *s = session_of(j, offsetof(struct session, map.undo));

	STRESS_CHECK(s->map.host == NULL && s->map.fd == -1, "something is left\n");
	gone++;
	free(s);
}

/* Its memory is being mapped. */
static struct session *
session_new(struct ndd_workers *all, uint32_t *seed)
{
	struct session *s = calloc(1, sizeof(*s));
	uint8_t *mem;

	s->holed = stress_pause(seed) % 8 == 0;
	s->map.bytes = BYTES;
	s->map.fd = memfd_create("stress", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	STRESS_CHECK(s->map.fd >= 0 && ftruncate(s->map.fd, BYTES) == 0, "no memory\n");
	mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->map.fd, 0);
	memset(mem, 1, s->holed ? BYTES - 4096 : BYTES);
	munmap(mem, BYTES);
	s->map.make = (struct ndd_job){.run = ndd_mapping_make, .done = on_made};
	s->map.undo = (struct ndd_job){.run = ndd_mapping_undo, .done = on_gone};
	s->worker = ndd_worker_new(all);
	STRESS_CHECK(s->worker != NULL, "no thread\n");
	ndd_worker_give(s->worker, &s->map.make);
	return s;
}

/* As the control thread ends one: its make may be done, under way, or not begun. */
static void
session_end(struct session *s, uint32_t *seed)
{
	if (stress_pause(seed) % 2 == 0)
		ndd_job_cancel(&s->map.make);
	s->undone = true;
	ndd_worker_give(s->worker, &s->map.undo);
	ndd_worker_release(s->worker, NULL);
}

static void
finish_all(struct ndd_workers *all, uint32_t most_left)
{
	time_t until = time(NULL) + STRESS_DEADLINE_S;

	while (ndd_workers_left(all) > most_left) {
		STRESS_CHECK(time(NULL) < until, "%u are left\n", ndd_workers_left(all));
		ndd_workers_finish(all);
		sched_yield();
	}
}

/* What a daemon that stops leaves to the end of its process. */
static void
session_drop(struct session *s)
{
	if (s->map.host != NULL) {
		ndd_sigbus_unguard(s->map.host);
		munmap(s->map.host, BYTES);
	}
	if (s->map.fd >= 0)
		close(s->map.fd);
	free(s);
}

int
main(void)
{
	static const struct ndd_crowd crowd;
	static struct ndd_wakeup control;
	struct ndd_workers *all;
	struct session *s[AT_A_TIME] = {0};
	uint32_t seed = 1;

	STRESS_CHECK(ndd_sigbus_install() && ndd_wakeup_init(&control), "no start\n");
	all = ndd_workers_start(&control, &crowd);
	STRESS_CHECK(all != NULL, "no start\n");
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct session **at = &s[i % AT_A_TIME];

		if (*at != NULL)
			session_end(*at, &seed);
		*at = session_new(all, &seed);
		if (stress_pause(&seed) % 4 == 0)
			usleep(seed % 4096);
		ndd_workers_finish(all);
		finish_all(all, AT_A_TIME);
	}
	for (unsigned i = 0; i < AT_A_TIME / 2; i++)
		session_end(s[i], &seed);
	finish_all(all, 0);
	STRESS_CHECK(gone == ROUNDS - AT_A_TIME / 2, "%u are gone\n", gone);
	for (unsigned i = AT_A_TIME / 2; i < AT_A_TIME - 1; i++)
		session_end(s[i], &seed);
	STRESS_CHECK(ndd_workers_stop(all), "a thread does not end\n");
	for (unsigned i = AT_A_TIME / 2; i < AT_A_TIME; i++)
		session_drop(s[i]);
	printf("%u mapped, %u refused or cut short\n", mapped, refused);
	return 0;
}
