/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links come and go, by either end, beside an lcore that moves frames through both as long as they
 * are there: the threads of the two ports against the bursts.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "memif/memif.h"
#include "rigs/stress.h"

#define ROUNDS 60u
#define MBUFS  255u
#define BURST  8u

static struct rte_mempool *pool;
static char folder[] = "/tmp/ndd-memif-XXXXXX", path[64];
static struct port server, client;
static bool stop;
/* The lcore uses the client port while it is 1, and answers a 0 by a 2. */
static uint32_t serving;
static uint64_t moved;

static void
start_dpdk(void)
{
	static char *argv[] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "64", "--log-level=*:error", "-l", "0", "--iova-mode=va", NULL};

	STRESS_CHECK(rte_eal_init(11, argv) >= 0, "no DPDK\n");
	pool = rte_pktmbuf_pool_create("frames", MBUFS, 0, 0, 4096, 0);
	STRESS_CHECK(pool != NULL && mkdtemp(folder) != NULL, "no start\n");
	snprintf(path, sizeof(path), "%s/memif.sock", folder);
}

static void
open_port(struct port *p, bool is_server)
{
	struct memif_cfg cfg = {
		.server = is_server, .buffer_bytes = 2048, .log2_ring = 5, .pool = pool};
	char why[160];
	const char *err;

	snprintf(cfg.socket, sizeof(cfg.socket), "%s", path);
	err = memif_open(p, is_server ? "server" : "client", &cfg, why, sizeof(why));
	STRESS_CHECK(err == NULL, "%s\n", err);
}

static void
send_some(struct port *p)
{
	struct rte_mbuf *m[BURST];
	uint16_t sent;

	if (rte_pktmbuf_alloc_bulk(pool, m, BURST) != 0)
		return;
	for (uint16_t i = 0; i < BURST; i++) {
		m[i]->data_len = 1500;
		m[i]->pkt_len = 1500;
		memset(rte_pktmbuf_mtod(m[i], void *), 0x55, 1500);
	}
	sent = port_tx_burst(p, m, BURST);
	rte_pktmbuf_free_bulk(m + sent, BURST - sent);
}

static void
take_some(struct port *p)
{
	struct rte_mbuf *m[BURST];
	uint16_t n = port_rx_burst(p, m, BURST);

	for (uint16_t i = 0; i < n; i++)
		STRESS_CHECK(m[i]->data_len == 1500, "%u bytes\n", m[i]->data_len);
	rte_pktmbuf_free_bulk(m, n);
	__atomic_store_n(&moved, moved + n, __ATOMIC_RELAXED);
}

static void *
lcore_main(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		send_some(&server);
		take_some(&server);
		if (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != 1) {
			uint32_t asked = 0;

			(void)__atomic_compare_exchange_n(
				&serving, &asked, 2, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
			continue;
		}
		send_some(&client);
		take_some(&client);
	}
	return NULL;
}

static void
wait_moved(void)
{
	uint64_t before = __atomic_load_n(&moved, __ATOMIC_RELAXED);
	time_t end = time(NULL) + STRESS_DEADLINE_S;

	while (__atomic_load_n(&moved, __ATOMIC_RELAXED) < before + 100)
		STRESS_CHECK(time(NULL) < end, "no frames move\n");
}

int
main(void)
{
	uint32_t seed = 1;
	pthread_t lcore;

	start_dpdk();
	open_port(&server, true);
	serving = 2;
	STRESS_CHECK(pthread_create(&lcore, NULL, lcore_main, NULL) == 0, "no thread\n");
	for (unsigned i = 0; i < ROUNDS; i++) {
		open_port(&client, false);
		__atomic_store_n(&serving, 1, __ATOMIC_RELEASE);
		wait_moved();
		(void)stress_pause(&seed);
		__atomic_store_n(&serving, 0, __ATOMIC_RELEASE);
		while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != 2)
			usleep(50);
		port_close(&client); /* the server's link ends beside its bursts */
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(lcore, NULL);
	port_close(&server);
	(void)rmdir(folder);
	STRESS_CHECK(rte_mempool_in_use_count(pool) == 0, "buffers are missing\n");
	printf("%llu frames in %u links\n", (unsigned long long)moved, ROUNDS);
	return 0;
}
