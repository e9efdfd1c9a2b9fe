/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is not of nd_alloc(). */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"

#define ALL_RIGHTS (ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ)

static void
use(struct side *s, char *buf)
{
	WANT(ND_SUCCESS, nd_mr_close(s->mr));
	s->buf = buf;
	side_register(s);
}

/* Each operation, each direction, of 1 byte to all; the bytes are there when the result is. */
static void
every_operation(struct pair *p)
{
	static const uint32_t sizes[] = {1, 7, 4096, 4097, BUFFER_BYTES};
	struct nd_result result;

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i];

		memset(p->a.buf, 1 + (int)i, n);
		WANT(ND_SUCCESS, side_write(&p->a, &p->b, n, nd_mr_remote_token(p->b.mr)));
		WANT(ND_SUCCESS, side_result(&p->a, &result));
		CHECK(memcmp(p->a.buf, p->b.buf, n) == 0);
		memset(p->b.buf, 33 + (int)i, n);
		WANT(ND_SUCCESS, side_read(&p->a, &p->b, n, nd_mr_remote_token(p->b.mr)));
		WANT(ND_SUCCESS, side_result(&p->a, &result));
		CHECK(memcmp(p->a.buf, p->b.buf, n) == 0);
		memset(p->a.buf, 65 + (int)i, n);
		WANT(ND_SUCCESS, side_receive(&p->b, n));
		WANT(ND_SUCCESS, side_send(&p->a, n));
		WANT(ND_SUCCESS, side_result(&p->b, &result));
		CHECK(result.bytes_transferred == n && memcmp(p->a.buf, p->b.buf, n) == 0);
		WANT(ND_SUCCESS, side_result(&p->a, &result));
	}
}

/* checks R-MR-11[2]: heap, stack, maps of files, shared maps; also without pages made ahead. */
void
scenario_foreign_memory(struct pair *p)
{
	char *heap = malloc(BUFFER_BYTES), *arena[2], stack[BUFFER_BYTES];
	char *kinds[] = {heap, stack, map_anonymous(BUFFER_BYTES, MAP_PRIVATE),
		map_anonymous(BUFFER_BYTES, MAP_SHARED), map_file(BUFFER_BYTES, MAP_PRIVATE),
		map_file(BUFFER_BYTES, MAP_SHARED)};
	struct nd_mr *mr;

	CHECK(heap != NULL);
	pair_open(p);
	arena[0] = p->a.buf;
	arena[1] = p->b.buf;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		use(&p->b, kinds[i]);
		every_operation(p);
		use(&p->a, kinds[(i + 1) % 6]);
		every_operation(p);
		use(&p->b, arena[1]);
		every_operation(p);
		use(&p->a, arena[0]);
	}
	WANT(ND_SUCCESS, region_new(p->a.pd, heap, BUFFER_BYTES,
				 ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_DO_NOT_SECURE_VM, &mr));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	pair_close(p);
	free(heap);
	for (unsigned int i = 2; i < 6; i++)
		munmap(kinds[i], BUFFER_BYTES);
}

/*
 * checks R-MR-04[4], R-MR-05[1,2]: what can't be written may be read, and is refused for more;
 * what is not there is refused.
 */
void
scenario_foreign_rights(struct pair *p)
{
	char *constant = map_anonymous(BUFFER_BYTES, MAP_PRIVATE), *hole;
	struct nd_result result;
	struct nd_mr *mr;

	memset(constant, 7, BUFFER_BYTES);
	CHECK(mprotect(constant, BUFFER_BYTES, PROT_READ) == 0);
	pair_open(p);
	WANT(ND_ACCESS_VIOLATION,
		region_new(p->a.pd, constant, BUFFER_BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &mr));
	CHECK(nd_last_error()[0] != '\0');
	WANT(ND_ACCESS_VIOLATION, region_new(p->a.pd, constant, BUFFER_BYTES, ALL_RIGHTS, &mr));
	WANT(ND_SUCCESS,
		region_new(p->b.pd, constant, BUFFER_BYTES, ND_MR_FLAG_ALLOW_REMOTE_READ, &mr));
	WANT(ND_SUCCESS, side_reach(&p->a, 0, constant, BUFFER_BYTES, nd_mr_remote_token(mr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(memcmp(p->a.buf, constant, BUFFER_BYTES) == 0);
	WANT(ND_SUCCESS, nd_mr_close(mr));
	hole = map_anonymous(BUFFER_BYTES, MAP_PRIVATE);
	munmap(hole, BUFFER_BYTES);
	WANT(ND_ACCESS_VIOLATION, region_new(p->a.pd, hole, BUFFER_BYTES, 0, &mr));
	WANT(ND_INVALID_PARAMETER, region_new(p->a.pd, NULL, 0, 0, &mr));
	WANT(ND_INVALID_BUFFER_SIZE, region_new(p->a.pd, constant, 0, 0, &mr));
	pair_close(p);
	munmap(constant, BUFFER_BYTES);
}

/* After the deregistration the memory is the program's alone: it may go. */
void
scenario_foreign_gone(struct pair *p)
{
	char *foreign = map_anonymous(BUFFER_BYTES, MAP_PRIVATE);
	uint32_t token;
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, region_new(p->b.pd, foreign, BUFFER_BYTES, ALL_RIGHTS, &mr));
	token = nd_mr_remote_token(mr);
	for (int i = 0; i < 8; i++)
		WANT(ND_SUCCESS, side_reach(&p->a, 1, foreign, BUFFER_BYTES, token));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	munmap(foreign, BUFFER_BYTES); /* a late store would be the end of this process */
	sleep_ms(20);
	pair_close(p);
}

/* Data that arrive do not appear in a child that a fork left with copies of the pages. */
void
scenario_foreign_fork(struct pair *p)
{
	char *foreign = map_anonymous(BUFFER_BYTES, MAP_PRIVATE);
	int go[2], status;
	char sink;
	pid_t child;

	memset(foreign, 1, BUFFER_BYTES);
	pair_open(p);
	use(&p->b, foreign);
	CHECK(pipe(go) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		close(go[1]);
		_exit(read(go[0], &sink, 1) == 1 && foreign[100] == 1 ? 0 : 1);
	}
	pair_works(p);
	CHECK(write(go[1], "", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(foreign[100] == 0x5a);
	pair_close(p);
	munmap(foreign, BUFFER_BYTES);
}
