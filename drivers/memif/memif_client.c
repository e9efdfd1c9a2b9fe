/* SPDX-License-Identifier: BSD-3-Clause */
/* The end that connects: it has the memory, and says where everything is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memif/memif_own.h"

static const char *
hello_judge(const struct memif_hello *hello)
{
	if (hello->min_version > MEMIF_VERSION || hello->max_version < MEMIF_VERSION)
		return "the server speaks another version of memif than 2.0";
	return hello->max_log2_ring == 0 ? "the server takes no ring of any size" : NULL;
}

/* The server answers each with an acknowledgement. */
static const char *
say_and_wait(struct memif_port *m, int fd, uint64_t deadline_ns,
	const struct memif_message *message, int file)
{
	const char *why = memif_say(fd, message, file);
	struct memif_message answer;

	return why != NULL ? why : memif_expect(m, fd, deadline_ns, MEMIF_ACK, &answer);
}

static const char *
say_init(struct memif_port *m, int fd, uint64_t deadline_ns)
{
	struct memif_message message = {.type = MEMIF_INIT,
		.init = {.version = MEMIF_VERSION,
			.id = m->cfg.id,
			.mode = MEMIF_MODE_ETHERNET,
			.name = "dpdk-ndd"}};

	memcpy(message.init.secret, m->cfg.secret, sizeof(message.init.secret));
	return say_and_wait(m, fd, deadline_ns, &message, -1);
}

static const char *
say_ring(struct memif_port *m, int fd, uint64_t deadline_ns, const struct memif_ring *r)
{
	const struct memif_message message = {.type = MEMIF_ADD_RING,
		.add_ring = {.flags = r == &m->tx ? MEMIF_RING_TO_SERVER : 0,
			.offset = (uint32_t)((uintptr_t)r->shared - m->region[0].base),
			.log2_ring = (uint8_t)__builtin_ctz(r->size)}};

	return say_and_wait(m, fd, deadline_ns, &message, r->interrupt);
}

static const char *
say_memory(struct memif_port *m, int fd, uint64_t deadline_ns, int file)
{
	const struct memif_message message = {
		.type = MEMIF_ADD_REGION, .add_region = {.bytes = m->region[0].bytes}};
	const char *why = say_and_wait(m, fd, deadline_ns, &message, file);

	if (why == NULL)
		why = say_ring(m, fd, deadline_ns, &m->tx);
	return why != NULL ? why : say_ring(m, fd, deadline_ns, &m->rx);
}

static const char *
say_connect(struct memif_port *m, int fd, uint64_t deadline_ns)
{
	struct memif_message message = {.type = MEMIF_CONNECT}, answer;
	const char *why;

	(void)snprintf(message.name, sizeof(message.name), "%.31s", m->device);
	why = memif_say(fd, &message, -1);
	return why != NULL ? why : memif_expect(m, fd, deadline_ns, MEMIF_CONNECTED, &answer);
}

const char *
memif_client_shake(struct memif_port *m, int fd)
{
	const uint64_t deadline_ns = memif_now_ns() + MEMIF_SHAKE_NS;
	struct memif_message message;
	const char *why = memif_expect(m, fd, deadline_ns, MEMIF_HELLO, &message);
	int file = -1;

	if (why == NULL)
		why = hello_judge(&message.hello);
	if (why == NULL)
		why = say_init(m, fd, deadline_ns);
	if (why == NULL)
		why = memif_memory_make(
			m, RTE_MIN(m->cfg.log2_ring, message.hello.max_log2_ring), &file);
	if (why == NULL)
		why = say_memory(m, fd, deadline_ns, file);
	if (file >= 0)
		close(file);
	return why != NULL ? why : say_connect(m, fd, deadline_ns);
}
