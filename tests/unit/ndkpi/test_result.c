/* SPDX-License-Identifier: BSD-3-Clause */
/* What NDK's results say of each entry. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndkpi/result.h"
#include "rigs/cq_bench.h"

static const struct {
	struct ndsh_cqe e;
	NDK_OPERATION_TYPE type;
	uint32_t output;
} told[] = {
	{{.op = NDSH_OP_SEND}, NdkOperationTypeSend, 0},
	{{.op = NDSH_OP_SEND_INV, .data = 9}, NdkOperationTypeSend, 0},
	{{.op = NDSH_OP_WRITE}, NdkOperationTypeWrite, 0},
	{{.op = NDSH_OP_READ, .status = NDSH_WC_FLUSH_ERR}, NdkOperationTypeRead, 0},
	{{.op = NDSH_OP_BIND}, NdkOperationTypeBind, 0},
	{{.op = NDSH_OP_INVALIDATE}, NdkOperationTypeInvalidate, 0},
	{{.op = NDSH_OP_FAST_REGISTER}, NdkOperationTypeFastRegister, 0},
	{{.op = NDSH_OP_RECV, .data = 9}, NdkOperationTypeReceive, 0},
	{{.op = NDSH_OP_RECV, .flags = NDSH_CQEF_INV, .data = 0x11223344},
		NdkOperationTypeReceiveAndInvalidate, 0x11223344},
	/* Of peers that do not speak NDK. */
	{{.op = NDSH_OP_RECV, .flags = NDSH_CQEF_IMM, .data = 0x11223344}, NdkOperationTypeReceive,
		0},
	{{.op = NDSH_OP_RECV, .flags = NDSH_CQEF_IMM | NDSH_CQEF_WRITE, .data = 9},
		NdkOperationTypeReceive, 0},
};
#define TOLD ((ULONG)(sizeof(told) / sizeof(told[0])))

static struct cq_bench *
bench_of_all(void)
{
	struct cq_bench *b = cq_bench_make();

	for (ULONG i = 0; i < TOLD; i++) {
		struct ndsh_cqe e = told[i].e;

		e.context = 100 + i;
		e.bytes = 200 + i;
		cr_assert(ndsh_cq_push(&b->daemon, &e));
	}
	return b;
}

/* checks R-CR-06[1,2] */
Test(ndkpi_result, the_longer_ones_tell_type_and_token)
{
	struct cq_bench *b = bench_of_all();
	NDK_RESULT_EX r[TOLD + 1];

	cr_assert(eq(u32, ndk_results_ex(&b->cq, r, TOLD + 1), TOLD));
	for (ULONG i = 0; i < TOLD; i++) {
		cr_expect(eq(int, (int)r[i].Type, (int)told[i].type), "%u", i);
		cr_expect(
			eq(u64, r[i].TypeSpecificCompletionOutput, htonl(told[i].output)), "%u", i);
		cr_expect(eq(ptr, r[i].RequestContext, (void *)(uintptr_t)(100 + i)));
		cr_expect(eq(u32, r[i].BytesTransferred, 200 + i));
		cr_expect(eq(i32, r[i].Status,
			told[i].e.status == NDSH_WC_SUCCESS ? STATUS_SUCCESS : STATUS_CANCELLED));
	}
	cr_expect(zero(u32, ndk_results_ex(&b->cq, r, 1)));
	cq_bench_drop(b);
}

/* checks R-CR-07[1]: a receive that came with a token is returned, too. */
Test(ndkpi_result, the_shorter_ones_tell_neither)
{
	struct cq_bench *b = bench_of_all();
	NDK_RESULT r[TOLD];

	cr_assert(eq(u32, ndk_results(&b->cq, r, 2), 2));
	cr_assert(eq(u32, ndk_results(&b->cq, r + 2, TOLD), TOLD - 2));
	for (ULONG i = 0; i < TOLD; i++) {
		cr_expect(eq(ptr, r[i].RequestContext, (void *)(uintptr_t)(100 + i)));
		cr_expect(eq(u32, r[i].BytesTransferred, 200 + i));
		cr_expect(eq(i32, r[i].Status,
			told[i].e.status == NDSH_WC_SUCCESS ? STATUS_SUCCESS : STATUS_CANCELLED));
	}
	cq_bench_drop(b);
}

/* A queue that overran has no more results, and the reason comes by its callback (R-CQ-29). */
Test(ndkpi_result, a_dead_queue_has_none)
{
	struct cq_bench *b = cq_bench_make();
	NDK_RESULT_EX longer;
	NDK_RESULT shorter;

	cq_bench_turn(b, "o");
	while (cq_bench_poll_all(b) > 0)
		;
	cr_expect(zero(u32, ndk_results_ex(&b->cq, &longer, 1)));
	cr_expect(zero(u32, ndk_results(&b->cq, &shorter, 1)));
	cq_bench_drop(b);
}
