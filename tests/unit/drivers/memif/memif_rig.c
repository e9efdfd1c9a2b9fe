/* SPDX-License-Identifier: BSD-3-Clause */
#include "memif_rig.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "rigs/eal_rig.h"

#define MBUFS	   511u
#define PATIENCE_S 30

struct port server, client;
static struct rte_mempool *pool;
static char folder[] = "/tmp/ndd-memif-XXXXXX", path[64];

static void
start_with(const char *vdev)
{
	eal_rig_start(vdev);
	pool = rte_pktmbuf_pool_create("frames", MBUFS, 0, 0, RIG_FRAME + RTE_PKTMBUF_HEADROOM, 0);
	cr_assert_not_null(pool);
}

static void
folder_make(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/memif.sock", folder);
}

void
rig_start(void)
{
	folder_make();
	start_with(NULL);
}

void
rig_start_beside(const char *role)
{
	char vdev[192];

	folder_make();
	snprintf(vdev, sizeof(vdev),
		"net_memif0,role=%s,id=3,secret=word,socket-abstract=no,socket=%s,bsize=%u,rsize=%"
		"u",
		role, path, RIG_BUFFER, RIG_LOG2_RING);
	start_with(vdev);
}

uint16_t
rig_open_dpdk(void)
{
	const struct rte_eth_conf conf = {0};
	uint16_t id;

	cr_assert_eq(rte_eth_dev_get_port_by_name("net_memif0", &id), 0);
	cr_assert_eq(rte_eth_dev_configure(id, 1, 1, &conf), 0);
	cr_assert_eq(rte_eth_rx_queue_setup(id, 0, 256, 0, NULL, pool), 0);
	cr_assert_eq(rte_eth_tx_queue_setup(id, 0, 256, 0, NULL), 0);
	cr_assert_eq(rte_eth_dev_start(id), 0);
	return id;
}

void
rig_end(void)
{
	if (server.kind != NULL)
		port_close(&server);
	if (client.kind != NULL)
		port_close(&client);
	(void)rmdir(folder);
}

void
rig_open(struct port *p, bool is_server)
{
	struct memif_cfg cfg = {.server = is_server,
		.id = 3,
		.secret = "word",
		.buffer_bytes = RIG_BUFFER,
		.log2_ring = RIG_LOG2_RING,
		.mtu = 1500,
		.pool = pool};
	char why[160];
	const char *err;

	snprintf(cfg.socket, sizeof(cfg.socket), "%s", path);
	err = memif_open(p, is_server ? "server" : "client", &cfg, why, sizeof(why));
	cr_assert_null(err, "%s", err);
}

void
rig_wait(struct port *p, bool up)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	time_t end = time(NULL) + PATIENCE_S;

	while (p->ops->is_up(p) != up) {
		cr_assert_lt(time(NULL), end, "%s is not %s", p->device, up ? "up" : "down");
		nanosleep(&moment, NULL);
	}
}

void
rig_link(void)
{
	rig_open(&server, true);
	rig_open(&client, false);
	rig_wait(&server, true);
	rig_wait(&client, true);
}

struct wanted {
	const char *name;
	uint64_t value;
};

static void
take_counter(void *arg, const char *name, uint64_t value)
{
	struct wanted *w = arg;

	if (strcmp(name, w->name) == 0)
		w->value = value;
}

uint64_t
rig_counter(const struct port *p, const char *name)
{
	struct wanted w = {name, UINT64_MAX};

	p->ops->counters(p, take_counter, &w);
	cr_assert_neq(w.value, UINT64_MAX, "%s", name);
	return w.value;
}

static uint8_t
byte_of(uint32_t number, uint32_t at)
{
	return (uint8_t)(number * 7 + at + (at >> 8));
}

struct rte_mbuf *
rig_frame(uint32_t number, uint32_t bytes, uint32_t segment)
{
	struct rte_mbuf *first = rte_pktmbuf_alloc(pool), *last = first;

	cr_assert_not_null(first);
	for (uint32_t i = 0; i < bytes; i++) {
		if (segment != 0 && i != 0 && i % segment == 0) {
			last->next = rte_pktmbuf_alloc(pool);
			last = last->next;
			cr_assert_not_null(last);
			first->nb_segs++;
		}
		rte_pktmbuf_mtod(last, uint8_t *)[last->data_len++] = byte_of(number, i);
	}
	first->pkt_len = bytes;
	return first;
}

bool
rig_send(struct port *p, struct rte_mbuf *m)
{
	bool sent = port_tx_burst(p, &m, 1) == 1;

	if (!sent)
		rte_pktmbuf_free(m);
	return sent;
}

void
rig_expect(struct port *p, uint32_t number, uint32_t bytes)
{
	struct rte_mbuf *m;

	cr_assert_eq(port_rx_burst(p, &m, 1), 1, "%s: frame %u", p->device, number);
	cr_assert_eq(m->pkt_len, bytes, "frame %u", number);
	cr_assert_eq(m->data_len, bytes, "frame %u", number);
	for (uint32_t i = 0; i < bytes; i++)
		cr_assert_eq(rte_pktmbuf_mtod(m, uint8_t *)[i], byte_of(number, i),
			"frame %u, byte %u", number, i);
	rte_pktmbuf_free(m);
}

void
rig_count_mbufs(void)
{
	cr_assert_eq(rte_mempool_in_use_count(pool), 0);
}

/* ---- a client by hand ---- */

void
raw_open(struct raw *r)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	r->fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	strcpy(at.sun_path, path);
	cr_assert_eq(connect(r->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	r->file = memfd_create("raw", MFD_ALLOW_SEALING);
	cr_assert_eq(ftruncate(r->file, RAW_BYTES), 0);
	cr_assert_eq(fcntl(r->file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	r->memory = mmap(NULL, RAW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, r->file, 0);
	cr_assert_neq(r->memory, MAP_FAILED);
	r->interrupt = eventfd(0, EFD_NONBLOCK);
	raw_shared(r, true)->cookie = raw_shared(r, false)->cookie = MEMIF_COOKIE;
}

void
raw_close(struct raw *r)
{
	munmap(r->memory, RAW_BYTES);
	close(r->fd);
	close(r->file);
	close(r->interrupt);
}

struct memif_shared_ring *
raw_shared(const struct raw *r, bool to_server)
{
	return (struct memif_shared_ring *)(r->memory +
					    (to_server ? RAW_TO_SERVER : RAW_TO_CLIENT));
}

struct memif_message
raw_init(void)
{
	return (struct memif_message){
		.type = MEMIF_INIT, .init = {.version = MEMIF_VERSION, .id = 3, .secret = "word"}};
}

struct memif_message
raw_region(void)
{
	return (struct memif_message){.type = MEMIF_ADD_REGION, .add_region = {.bytes = RAW_BYTES}};
}

struct memif_message
raw_ring(bool to_server)
{
	return (struct memif_message){.type = MEMIF_ADD_RING,
		.add_ring = {.flags = to_server,
			.offset = to_server ? RAW_TO_SERVER : RAW_TO_CLIENT,
			.log2_ring = RIG_LOG2_RING}};
}

struct memif_message
raw_connect(void)
{
	return (struct memif_message){.type = MEMIF_CONNECT, .name = "raw"};
}

static uint16_t
raw_hear(struct raw *r)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};
	struct memif_message message;

	cr_assert_eq(poll(&p, 1, PATIENCE_S * 1000), 1);
	return recv(r->fd, &message, sizeof(message), 0) == sizeof(message) ? message.type : 0;
}

uint16_t
raw_say(struct raw *r, const struct memif_message *message, int file)
{
	(void)memif_say(r->fd, message, file);
	return raw_hear(r);
}

void
raw_link(struct raw *r)
{
	const struct memif_message said[] = {
		raw_init(), raw_region(), raw_ring(true), raw_ring(false), raw_connect()};
	const int file[] = {-1, r->file, r->interrupt, r->interrupt, -1};

	cr_assert_eq(raw_hear(r), MEMIF_HELLO);
	for (uint32_t i = 0; i < 5; i++)
		cr_assert_eq(raw_say(r, &said[i], file[i]), i == 4 ? MEMIF_CONNECTED : MEMIF_ACK);
	rig_wait(&server, true);
}
