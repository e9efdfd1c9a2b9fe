/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPI: ranks exchange messages of many sizes, each with contents that tell of its
 * sender and its turn, and check what they get. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST (1u << 20)
#define TURNS	20u

static unsigned char
content(int from, unsigned turn, unsigned at)
{
	return (unsigned char)(31u * (unsigned)from + 7u * turn + at + (at >> 8));
}

static void
fill(unsigned char *data, unsigned bytes, int from, unsigned turn)
{
	for (unsigned i = 0; i < bytes; i++)
		data[i] = content(from, turn, i);
}

static unsigned
wrong_bytes(const unsigned char *data, unsigned bytes, int from, unsigned turn)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < bytes; i++)
		wrong += data[i] != content(from, turn, i);
	return wrong;
}

/* To the next rank, from the one before. */
static unsigned
around(int rank, int ranks, unsigned char *out, unsigned char *in)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
	unsigned wrong = 0;

	for (unsigned bytes = 1; bytes <= LARGEST; bytes *= 4)
		for (unsigned turn = 0; turn < TURNS; turn++) {
			fill(out, bytes, rank, turn);
			MPI_Sendrecv(out, (int)bytes, MPI_BYTE, to, (int)turn, in, (int)bytes,
				MPI_BYTE, from, (int)turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			wrong += wrong_bytes(in, bytes, from, turn);
		}
	return wrong;
}

/* Every rank writes to the next one's memory, and reads what another has there. */
static unsigned
one_sided(int rank, int ranks, unsigned char *out, unsigned char *in)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
	unsigned wrong = 0;
	MPI_Win window;

	MPI_Win_create(in, LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		fill(out, LARGEST, rank, turn);
		MPI_Win_fence(0, window);
		MPI_Put(out, LARGEST, MPI_BYTE, to, 0, LARGEST, MPI_BYTE, window);
		MPI_Win_fence(0, window);
		wrong += wrong_bytes(in, LARGEST, from, turn);
		MPI_Win_fence(0, window);
		MPI_Get(out, LARGEST, MPI_BYTE, to, 0, LARGEST, MPI_BYTE, window);
		MPI_Win_fence(0, window);
		wrong += wrong_bytes(out, LARGEST, rank, turn);
	}
	MPI_Win_free(&window);
	return wrong;
}

int
main(int argc, char **argv)
{
	unsigned char *out = malloc(LARGEST), *in = malloc(LARGEST);
	unsigned wrong, all = 0;
	int rank, ranks;

	if (out == NULL || in == NULL || MPI_Init(&argc, &argv) != MPI_SUCCESS)
		return 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	wrong = around(rank, ranks, out, in) + one_sided(rank, ranks, out, in);
	MPI_Allreduce(&wrong, &all, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, %u wrong bytes\n", ranks, all);
	MPI_Finalize();
	free(out);
	free(in);
	return all != 0;
}
