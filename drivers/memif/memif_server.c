/* SPDX-License-Identifier: BSD-3-Clause */
/* The end that listens: the client says what it has, and each message of it is answered. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memif/memif_own.h"

#define MESSAGES_MAX 64u /* of one client before it connects */

static const char *
say_hello(int fd)
{
	struct memif_message message = {.type = MEMIF_HELLO,
		.hello = {.name = "dpdk-ndd",
			.min_version = MEMIF_VERSION,
			.max_version = MEMIF_VERSION,
			.max_region = MEMIF_REGIONS_MAX - 1,
			.max_log2_ring = MEMIF_LOG2_RING_MAX}};

	return memif_say(fd, &message, -1);
}

static const char *
say_plain(int fd, enum memif_type type, const char *name)
{
	struct memif_message message = {.type = (uint16_t)type};

	if (name != NULL)
		(void)snprintf(message.name, sizeof(message.name), "%.31s", name);
	return memif_say(fd, &message, -1);
}

/* As long as both have room, and no longer for a word that is nearly right. */
static bool
secret_matches(const char *ours, const char *theirs)
{
	uint8_t differs = 0;

	for (uint32_t i = 0; i < MEMIF_SECRET_BYTES; i++)
		differs |= (uint8_t)(ours[i] ^ theirs[i]);
	return ours[0] == 0 || differs == 0;
}

static const char *
init_judge(const struct memif_port *m, const struct memif_init *init)
{
	if (init->version != MEMIF_VERSION)
		return "the peer speaks another version of memif than 2.0";
	if (init->mode != MEMIF_MODE_ETHERNET)
		return "the peer's interface is none of Ethernet frames";
	if (init->id != m->cfg.id)
		return "the peer asks for another id than this port has";
	if (!secret_matches(m->cfg.secret, init->secret))
		return "the peer does not know the secret";
	return NULL;
}

/* The file to tell the peer of frames is kept, the one to be told by it closed: we poll. */
static const char *
ring_take(struct memif_port *m, const struct memif_add_ring *add, int *file)
{
	struct memif_ring *r = (add->flags & MEMIF_RING_TO_SERVER) != 0 ? &m->rx : &m->tx;
	const char *why;

	if (add->index != 0 || r->shared != NULL)
		return "the peer has more than one ring for each direction";
	why = memif_ring_place(m, r, add->region, add->offset, add->log2_ring);
	if (why == NULL && r == &m->tx) {
		r->interrupt = *file;
		*file = -1;
	}
	return why;
}

static const char *
thing_take(struct memif_port *m, const struct memif_message *message, int *file)
{
	if (*file < 0)
		return "a file is missing in a message of the peer's";
	if (message->type == MEMIF_ADD_RING)
		return ring_take(m, &message->add_ring, file);
	if (message->add_region.index != m->regions)
		return "the peer's regions come in no order";
	return memif_region_map(m, *file, message->add_region.bytes);
}

/* One message between MEMIF_INIT and MEMIF_CONNECT. *last: it is that one. */
static const char *
offer_hear(struct memif_port *m, int fd, uint64_t deadline_ns, bool *last)
{
	struct memif_message message;
	int file;
	const char *why = memif_hear(m, fd, deadline_ns, &message, &file);

	*last = why == NULL && message.type == MEMIF_CONNECT;
	if (why == NULL && (message.type == MEMIF_ADD_REGION || message.type == MEMIF_ADD_RING))
		why = thing_take(m, &message, &file);
	else if (why == NULL && !*last)
		why = "the peer sends another message than its turn is";
	if (file >= 0)
		close(file);
	return why != NULL || *last ? why : say_plain(fd, MEMIF_ACK, NULL);
}

static const char *
offers_hear(struct memif_port *m, int fd, uint64_t deadline_ns)
{
	const char *why = NULL;
	bool last = false;

	for (uint32_t i = 0; why == NULL && !last; i++)
		why = i == MESSAGES_MAX ? "the peer offers too much"
					: offer_hear(m, fd, deadline_ns, &last);
	if (why == NULL && (m->rx.shared == NULL || m->tx.shared == NULL))
		why = "the peer has no ring for each direction";
	if (why == NULL &&
		(m->rx.shared->cookie != MEMIF_COOKIE || m->tx.shared->cookie != MEMIF_COOKIE))
		why = "the peer's rings do not begin as rings do";
	return why;
}

const char *
memif_server_shake(struct memif_port *m, int fd)
{
	const uint64_t deadline_ns = memif_now_ns() + MEMIF_SHAKE_NS;
	struct memif_message message;
	const char *why = say_hello(fd);

	if (why == NULL)
		why = memif_expect(m, fd, deadline_ns, MEMIF_INIT, &message);
	if (why == NULL)
		why = init_judge(m, &message.init);
	if (why == NULL)
		why = say_plain(fd, MEMIF_ACK, NULL);
	if (why == NULL)
		why = offers_hear(m, fd, deadline_ns);
	if (why == NULL)
		why = say_plain(fd, MEMIF_CONNECTED, m->device);
	return why;
}
