/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of libFuzzer: gives a fuzzer the inputs of files, one after the other. An input is a
 * line of hexadecimal digits; a line that begins with # says what the next ones are. The line
 * that is run is told before, so that it stands last when it has found something.
 */
#include <ctype.h>
#include <err.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX 65536u

static size_t
line_bytes(const char *line, uint8_t *out)
{
	unsigned value;
	size_t n = 0;

	for (; isxdigit((unsigned char)line[0]) && isxdigit((unsigned char)line[1]); line += 2) {
		(void)sscanf(line, "%2x", &value);
		out[n++] = (uint8_t)value;
	}
	return n;
}

static unsigned
replay_file(const char *path)
{
	static char line[2 * INPUT_MAX + 2];
	static uint8_t room[INPUT_MAX];
	unsigned inputs = 0, number = 0;
	FILE *f = fopen(path, "r");

	if (f == NULL)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		size_t n = line_bytes(line, room);
		uint8_t *exact;

		number++;
		if (line[0] == '#')
			continue;
		if (strcspn(line, "\n") != 2 * n)
			errx(2, "%s:%u: not hexadecimal digits in pairs", path, number);
		fprintf(stderr, "%s:%u\n", path, number);
		exact = fuzz_copy(room, n);
		(void)LLVMFuzzerTestOneInput(exact, n);
		free(exact);
		inputs++;
	}
	fclose(f);
	return inputs;
}

int
main(int argc, char **argv)
{
	unsigned inputs = 0;

	if (LLVMFuzzerInitialize != NULL)
		(void)LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		inputs += replay_file(argv[i]);
	printf("%u passed, 0 failed, 0 skipped\n", inputs);
	return inputs == 0;
}
