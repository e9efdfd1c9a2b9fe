/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seeds FOLDER: malformed packets (malformed.h) as inputs: of the parser's fuzzer, FOLDER/wire/N,
 * one for each frame, and of the shard's, FOLDER/packets/N, with many frames each.
 */
#include <err.h>

#include "malformed.h"

#define RAW_FRAME   9 /* packets.c: this action is a frame as it stands */
#define FRAMES_EACH 100u

static FILE *
seed_open(const char *folder, const char *of, unsigned number)
{
	char path[4096];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s/%05u", folder, of, number);
	f = fopen(path, "w");
	if (f == NULL)
		err(1, "%s", path);
	return f;
}

static void
wire_seed(const char *folder, unsigned number, const uint8_t *frame, uint32_t bytes)
{
	FILE *f = seed_open(folder, "wire", number);

	fputc(0, f);
	fwrite(frame, 1, bytes, f);
	fclose(f);
}

int
main(int argc, char **argv)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	struct fuzz_in nothing = {NULL, NULL};
	struct malformed m = {0};
	unsigned number = 0;
	FILE *packets = NULL;
	struct world w;

	if (argc != 2)
		errx(2, "usage: seeds FOLDER");
	world_new(&w, &nothing, false, false);
	do {
		uint32_t n = malformed_build(&w, &m, frame);

		wire_seed(argv[1], number, frame, n);
		if (number++ % FRAMES_EACH == 0) {
			if (packets != NULL)
				fclose(packets);
			packets = seed_open(argv[1], "packets", number / FRAMES_EACH);
		}
		fputc(RAW_FRAME, packets);
		fputc((int)(n & 0xff), packets);
		fputc((int)(n >> 8), packets);
		fwrite(frame, 1, n, packets);
	} while (malformed_next(&m));
	fclose(packets);
	world_end(&w);
	return 0;
}
