/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ports over sockets of loopback, without lcores: what one sends the other receives with a
 * right ICRC, in order, whatever the kernel makes of it on the way. The addresses follow from the
 * process's number: tests run side by side.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "rigs/eal_rig.h"
#include "rigs/wire_rig.h"
#include "udp/udp_own.h"
#include "wire/build.h"
#include "wire/icrc.h"

#define FRAMES 1023u
#define LOOKS  100000 /* of a receiver for what was sent: the kernel hands it over at once */
#define ROUNDS 40u
#define BURST  128u

static struct rte_mempool *pool;
static struct port from, to;
static struct roce_path path = {.ttl = 64, .udp_sport = 0xc123};

/* Once nothing, then one send: so it is behind a full queue, which loopback never has. */
static bool takes_little;

/* Messages to this address, if it is not 0, or all that are runs. */
static struct {
	in_addr_t to;
	bool runs;
	int err;
} refused;

static bool
is_refused(const struct msghdr *h)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL; c = CMSG_NXTHDR((void *)h, c))
		if (refused.runs && c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_SEGMENT)
			return true;
	return refused.to != 0 &&
	       ((const struct sockaddr_in *)h->msg_name)->sin_addr.s_addr == refused.to;
}

int
sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags)
{
	static unsigned calls;

	if (takes_little && calls++ % 2 == 0) {
		errno = EAGAIN;
		return -1;
	}
	for (unsigned i = 0; i < n; i++)
		if (is_refused(&m[i].msg_hdr)) {
			errno = refused.err;
			if (i == 0)
				return -1;
			n = i;
		}
	return (int)syscall(SYS_sendmmsg, fd, m, takes_little ? 1 : n, flags);
}

/* Criterion has messages of its own, which have no address. */
ssize_t
sendmsg(int fd, const struct msghdr *h, int flags)
{
	if (h->msg_name != NULL && (takes_little || is_refused(h))) {
		errno = takes_little ? EAGAIN : refused.err;
		return -1;
	}
	return syscall(SYS_sendmsg, fd, h, flags);
}

static void
own_address(uint8_t ip[16], uint8_t host)
{
	const uint8_t v4[4] = {127, (uint8_t)(getpid() >> 8), (uint8_t)getpid(), host};

	memset(ip, 0, 16);
	ip[10] = ip[11] = 0xff;
	memcpy(ip + 12, v4, 4);
}

static bool require_checksum;

static void
open_port(struct port *p, uint8_t host, uint8_t ip[16])
{
	struct udp_cfg cfg = {
		.addresses = 1, .mtu = 1500, .require_checksum = require_checksum, .pool = pool};
	char why[160];
	const char *err;

	own_address(cfg.address[0].raw, host);
	memcpy(ip, cfg.address[0].raw, 16);
	err = udp_open(p, &cfg, why, sizeof(why));
	cr_assert_null(err, "%s", err);
}

static void
start(void)
{
	eal_rig_start(NULL);
	pool = eal_rig_pool(FRAMES);
	open_port(&from, 1, path.sgid.raw);
	open_port(&to, 2, path.dgid.raw);
}

TestSuite(udp, .init = start);

/* Its payload begins with its number, which the ICRC covers, of course. */
static struct rte_mbuf *
new_frame(uint32_t number, uint32_t payload_bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct roce_hdr_tmpl tmpl;
	const struct roce_pkt pkt = {.opcode = ROCE_SEND_ONLY,
		.qpn = 0x112,
		.psn = number & ROCE_PSN_MASK,
		.pkey = ROCE_PKEY_DEFAULT,
		.payload_bytes = payload_bytes};
	uint32_t headers;
	uint8_t *f;

	cr_assert_not_null(m);
	f = rte_pktmbuf_mtod(m, uint8_t *);
	roce_hdr_tmpl_init(&tmpl, &path);
	headers = roce_wire_build(f, &tmpl, &pkt, (uint16_t)(number * 257));
	memset(f + headers, (int)number, payload_bytes);
	m->data_len = (uint16_t)roce_wire_seal(f, &tmpl, headers, payload_bytes);
	m->pkt_len = m->data_len;
	return m;
}

/* The next frame that comes is that one. */
static void
judge_frame(struct rte_mbuf *m, uint32_t number, uint32_t payload_bytes)
{
	struct roce_gid gid;
	struct roce_pkt pkt;

	cr_assert_eq(roce_wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &pkt),
		ROCE_WIRE_OK, "frame %u", number);
	cr_assert(roce_icrc_ok(&pkt), "frame %u", number);
	cr_assert_eq(pkt.psn, number);
	cr_assert_eq(pkt.payload_bytes, payload_bytes);
	roce_pkt_src_gid(&pkt, &gid);
	cr_assert(roce_gid_equal(&gid, &path.sgid));
	roce_pkt_dst_gid(&pkt, &gid);
	cr_assert(roce_gid_equal(&gid, &path.dgid));
	for (uint32_t i = 0; i < payload_bytes; i++)
		cr_assert_eq(pkt.payload[i], (uint8_t)number, "frame %u, byte %u", number, i);
	rte_pktmbuf_free(m);
}

static uint32_t
take_frames(uint32_t next, uint32_t until, uint32_t (*bytes_of)(uint32_t number))
{
	struct rte_mbuf *m[32];

	for (int look = 0; look < LOOKS && next < until; look++) {
		uint16_t n = port_rx_burst(&to, m, 32);

		for (uint16_t i = 0; i < n; i++, next++)
			judge_frame(m[i], next, bytes_of(next));
	}
	return next;
}

/* All go, those that the port does not take at first by another call. Nothing is lost: the receiver
 * is looked at whenever the sender has to wait. */
static void
exchange(uint32_t frames, uint32_t (*bytes_of)(uint32_t number))
{
	struct rte_mbuf *m[BURST];
	uint32_t sent = 0, taken = 0;

	while (sent < frames) {
		uint32_t n = frames - sent < BURST ? frames - sent : BURST, gone = 0;

		for (uint32_t i = 0; i < n; i++)
			m[i] = new_frame(sent + i, bytes_of(sent + i));
		for (int look = 0; look < LOOKS && gone < n; look++) {
			gone += port_tx_burst(&from, m + gone, (uint16_t)(n - gone));
			taken = take_frames(taken, sent + gone, bytes_of);
		}
		cr_assert_eq(gone, n);
		sent += n;
	}
	cr_assert_eq(taken, frames);
}

static uint32_t
all_alike(uint32_t number)
{
	(void)number;
	return 1024;
}

/* A long one, many, a short one; and some that fit no run. */
static uint32_t
as_messages(uint32_t number)
{
	static const uint32_t bytes[] = {
		1040, 1024, 1024, 1024, 1024, 1024, 1000, 4, 8, 8, 8, 0, 1024};

	return bytes[number % (sizeof(bytes) / sizeof(bytes[0]))];
}

Test(udp, runs)
{
	exchange(ROUNDS * BURST, all_alike);
	cr_expect_gt(udp_of(&to)->count.rx_runs, 0);
	cr_expect_lt(udp_of(&from)->count.tx_calls, ROUNDS * BURST / 4);
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong, 0);
}

Test(udp, messages_of_all_sizes)
{
	exchange(ROUNDS * BURST, as_messages);
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong + udp_of(&to)->count.rx_icrc_far, 0);
}

/* A request, whose first packet is longer. */
static uint32_t
as_requests(uint32_t number)
{
	return number % 16 == 0 ? 1040 : 1024;
}

/* It leaves by itself, so that what is behind it comes as a run of its own, and nothing is moved
 * but its last bytes. */
Test(udp, first_packets)
{
	exchange(ROUNDS * BURST, as_requests);
	cr_expect_geq(udp_of(&to)->count.rx_runs, ROUNDS * BURST / 16);
	cr_expect_leq(udp_of(&to)->count.rx_runs, ROUNDS * BURST / 16 + ROUNDS * 4);
	cr_expect_leq(udp_of(&to)->count.rx_realigned, BURST / 16); /* of the first call */
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong + udp_of(&to)->count.rx_icrc_far, 0);
}

/* As long as 64 KiB: of 64 packets 62 fit in a run. */
static uint32_t
as_long_requests(uint32_t number)
{
	return number % 64 == 0 ? 1040 : 1024;
}

/* The first takes the second along, and only these two are moved: what is expected to come next
 * does not follow them. Each run comes by itself. */
Test(udp, first_packets_in_company)
{
	const uint32_t requests = ROUNDS * BURST / 64;

	takes_little = true;
	exchange(ROUNDS * BURST, as_long_requests);
	cr_expect_eq(udp_of(&to)->count.rx_runs, 2 * requests);
	cr_expect_leq(udp_of(&to)->count.rx_realigned, requests + 2); /* 2: none expected yet */
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong + udp_of(&to)->count.rx_icrc_far, 0);
}

/* Each a pair. Then that is what comes, and is expected. */
static uint32_t
as_short_requests(uint32_t number)
{
	return number < BURST ? 1000 : number % 2 == 0 ? 1040 : 1024;
}

Test(udp, pairs_alone)
{
	exchange(ROUNDS * BURST, as_short_requests);
	cr_expect_geq(udp_of(&to)->count.rx_runs, (ROUNDS - 1) * BURST / 2);
	cr_expect_leq(udp_of(&to)->count.rx_realigned, 6); /* until two in a row had come */
}

static uint32_t
all_small(uint32_t number)
{
	(void)number;
	return 8;
}

/* In runs of all lengths, of small packets and of large ones by turns, with shorter ends. */
static uint32_t
small_and_large(uint32_t number)
{
	static const uint32_t bytes[] = {8, 228, 232, 1024};
	const uint32_t run = number / 50, last = number % 50 == 49;

	return bytes[run % 4] - 4 * last;
}

/* Small packets are copied together for the kernel, and come together. */
Test(udp, small_packets)
{
	exchange(ROUNDS * BURST, all_small);
	cr_expect_leq(udp_of(&to)->count.rx_runs, ROUNDS * BURST / 32);
	cr_expect_leq(udp_of(&to)->count.rx_realigned, 2);
	exchange(ROUNDS * BURST, small_and_large);
	takes_little = true;
	exchange(ROUNDS * BURST, small_and_large);
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong + udp_of(&to)->count.rx_icrc_far, 0);
}

/* As much as the port says that there is room for waits in a receive buffer of a size that most
 * distributions allow, and nothing is lost. */
static void
fill_room(bool segments)
{
	const int bytes = 212992;
	struct rte_mbuf *m[FRAMES / 2];
	uint32_t room, sent = 0;

	cr_assert_eq(
		setsockopt(udp_of(&to)->socket[0].fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)),
		0);
	udp_of(&from)->segments = udp_of(&to)->segments = segments;
	room = udp_room(&to, 1024);
	cr_assert_eq(room, segments ? 277 : 149, "%u", room);
	cr_assert_eq(udp_room(&to, 4096), segments ? 69 : 47);
	for (uint32_t i = 0; i < room; i++)
		m[i] = new_frame(i, as_requests(i));
	for (int look = 0; look < LOOKS && sent < room; look++)
		sent += port_tx_burst(&from, m + sent, (uint16_t)(room - sent));
	cr_assert_eq(sent, room);
	cr_assert_eq(take_frames(0, room, as_requests), room);
	cr_assert_eq(udp_of(&to)->count.rx_kernel_drops, 0);
}

Test(udp, room_for_runs)
{
	fill_room(true);
}

Test(udp, room_for_lone_packets)
{
	fill_room(false);
}

Test(udp, without_segmentation)
{
	udp_of(&from)->segments = false;
	exchange(ROUNDS * BURST, as_messages);
	cr_expect_eq(udp_of(&to)->count.rx_runs, 0);
}

/* The kernel takes a part of a burst, or nothing: the rest is sent later, in other runs, and right
 * all the same. */
Test(udp, a_sender_that_has_to_wait)
{
	takes_little = true;
	exchange(ROUNDS * BURST, as_messages);
	cr_expect_gt(udp_of(&from)->count.tx_again, ROUNDS);
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong, 0);
}

static const int errors[] = {EINVAL, EIO};

/*
 * The kernel refuses to send from an address that is none of this machine's any more, or from one
 * of loopback to elsewhere, with the error that it has where runs are not possible. That is the
 * fault of these frames alone, which are gone; others leave in runs as before.
 */
Test(udp, what_is_refused_alone_says_nothing_about_runs)
{
	const struct roce_gid right = path.dgid;
	struct rte_mbuf *m[BURST];

	for (unsigned k = 0; k < 2; k++) {
		path.dgid.raw[15] = 3;
		memcpy(&refused.to, path.dgid.raw + 12, 4);
		refused.err = errors[k];
		for (uint32_t i = 0; i < BURST; i++)
			m[i] = new_frame(i, i < BURST / 2 ? 1024 : 8);
		cr_assert_eq(port_tx_burst(&from, m, BURST), BURST);
		cr_expect_eq(udp_of(&from)->count.tx_refused, (k + 1) * BURST);
		path.dgid = right;
		udp_of(&from)->count.tx_calls = 0;
		exchange(ROUNDS * BURST, all_alike);
		cr_expect_lt(udp_of(&from)->count.tx_calls, ROUNDS * BURST / 4);
	}
}

/* The same errors for runs alone: each packet goes by itself from then on, and none is lost,
 * whether they were copied for the run or not. */
Test(udp, runs_that_are_not_possible)
{
	for (unsigned k = 0; k < 4; k++) {
		refused.runs = true;
		refused.err = errors[k % 2];
		udp_of(&from)->segments = true;
		exchange(2 * BURST, k / 2 == 0 ? as_messages : all_small);
		cr_expect_not(udp_of(&from)->segments);
		cr_expect_eq(udp_of(&from)->count.tx_refused, 0);
		cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong, 0);
	}
}

/* The queue is full when it is tried without a run: later it is a run again. */
Test(udp, a_run_that_has_to_wait)
{
	struct rte_mbuf *m[2];

	refused.runs = true;
	refused.err = EINVAL;
	for (unsigned k = 0; k < 2; k++)
		m[k] = new_frame(k, 8);
	takes_little = true;
	for (unsigned k = 0; k < 4; k++)
		cr_assert_eq(port_tx_burst(&from, m, 2), 0);
	cr_assert(udp_of(&from)->segments);
	refused.runs = takes_little = false;
	cr_assert_eq(port_tx_burst(&from, m, 2), 2);
	cr_assert_eq(take_frames(0, 2, all_small), 2);
}

/* What is for a socket that takes nothing waits for some time, and all others with it; then it is
 * lost, and they are not held up. So it is tried, and the socket sends so many frames in between.
 * Returns how often it was waited for. */
static unsigned
waits_for_a_full_socket(unsigned tries, uint32_t frames, uint32_t (*bytes_of)(uint32_t number))
{
	const struct roce_gid right = path.dgid;
	struct rte_mbuf *m[3];
	unsigned waits = 0;

	refused.err = EAGAIN;
	for (unsigned k = 0; k < tries; k++) {
		path.dgid.raw[15] = 3;
		memcpy(&refused.to, path.dgid.raw + 12, 4);
		m[0] = new_frame(0, 8);
		m[1] = new_frame(1, 8);
		path.dgid = right;
		path.udp_sport++; /* another socket */
		m[2] = new_frame(2, 8);
		path.udp_sport--;
		if (port_tx_burst(&from, m, 3) == 0) {
			waits++;
			usleep(100000);
			cr_assert_eq(port_tx_burst(&from, m, 3), 3);
		}
		cr_expect_eq(udp_of(&from)->count.tx_refused, 2 * (k + 1));
		cr_assert_eq(take_frames(2, 3, all_small), 3);
		exchange(frames, bytes_of);
	}
	return waits;
}

Test(udp, nobody_waits_for_long_for_a_socket_that_is_full)
{
	cr_expect_eq(waits_for_a_full_socket(2, 50, all_alike), 2);
}

/* Now and then it takes a packet: it is how stations that nobody has ever seen are given up. */
Test(udp, nobody_waits_again_and_again_for_a_socket_that_takes_a_little)
{
	cr_expect_eq(waits_for_a_full_socket(20, 1, all_small), 1);
}

/* It is no packet, and no frame comes of it. False: the kernel refuses to send it. */
static bool
send_nonsense(int fd, size_t bytes)
{
	static uint8_t nonsense[60000];
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)};
	struct rte_mbuf *m[32];

	memcpy(&at.sin_addr, path.dgid.raw + 12, 4);
	memset(nonsense, 0xa5, sizeof(nonsense));
	if (sendto(fd, nonsense, bytes, 0, (struct sockaddr *)&at, sizeof(at)) != (ssize_t)bytes)
		return false;
	for (int look = 0; look < 200; look++)
		cr_assert_eq(port_rx_burst(&to, m, 32), 0);
	return true;
}

/* In runs: as many segments as there is a buffer each for, and twice as many, which younger kernels
 * send. Returns how many came. */
static uint32_t
send_nonsense_runs(int fd)
{
	const int each = 24, none = 0;
	uint32_t came = 64;

	cr_assert_eq(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &each, sizeof(each)), 0);
	cr_assert(send_nonsense(fd, 64 * 24));
	if (send_nonsense(fd, 128 * 24))
		came += 128;
	cr_assert_eq(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &none, sizeof(none)), 0);
	return came;
}

/* Datagrams of strangers: too short, too long, nonsense. The next frame comes all the same. */
Test(udp, strangers_disturb_nobody)
{
	static const size_t bytes[] = {0, 1, 15, 16, 17, 1024, 8192, 60000};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t came;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		cr_assert(send_nonsense(fd, bytes[i]));
	exchange(2 * BURST, all_small);
	cr_assert(send_nonsense(fd, 60000)); /* where small ones are expected */
	came = 8 + send_nonsense_runs(fd);
	close(fd);
	cr_expect_eq(udp_of(&to)->count.rx_not_roce + udp_of(&to)->count.rx_icrc_wrong, came);
	exchange(2 * BURST, as_messages);
	port_close(&to);
	port_close(&from);
	cr_expect_eq(rte_mempool_avail_count(pool), FRAMES, "a buffer is lost");
}

/* Buffers lie one behind the other, and each begins with its struct rte_mbuf. */
static void
judge_buffer(struct rte_mempool *mp, void *arg, void *object, unsigned i)
{
	const struct rte_mbuf *m = object;

	(void)arg;
	cr_assert(m->buf_addr == m + 1 && m->pool == mp, "buffer %u was written over", i);
}

/* Two of its runs, the second of which is expected to be as the first was. */
static void
send_runs_of(int fd, int segment, size_t bytes)
{
	cr_assert_eq(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert(send_nonsense(fd, bytes));
		rte_mempool_obj_iter(pool, judge_buffer, NULL);
	}
}

/* A stranger's segments are as long as loopback, or jumbo frames, carry them. */
Test(udp, no_segment_is_longer_than_its_buffer)
{
	const int room = 2048 - (int)UDP_PAYLOAD_AT;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	send_runs_of(fd, room, 3 * (size_t)room);
	send_runs_of(fd, room + 1, 3 * (size_t)room);
	send_runs_of(fd, 8192, 60000);
	send_runs_of(fd, 30000, 60000);
	close(fd);
	exchange(2 * BURST, as_messages);
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong, 6);
}

static void
count_without_checksum(bool required)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;

	cr_assert(send_nonsense(fd, 2));
	cr_assert_eq(setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof(on)), 0);
	cr_assert(send_nonsense(fd, 2));
	cr_assert(send_nonsense(fd, 2));
	close(fd);
	cr_expect_eq(udp_of(&to)->count.rx_not_roce, required ? 1 : 3);
	exchange(ROUNDS * BURST, as_messages);
	cr_expect_eq(udp_of(&to)->count.rx_kernel_drops, required ? 2 : 0);
	cr_expect_eq(udp_of(&to)->count.rx_icrc_wrong, 0);
}

/* Other stations than dpdk-ndd send without: Soft-RoCE, ConnectX. */
Test(udp, checksums_are_not_required)
{
	count_without_checksum(false);
}

/* What ports send one another has checksums, runs included. */
Test(udp, datagrams_without_checksum_are_dropped_where_one_is_required)
{
	port_close(&to);
	require_checksum = true;
	open_port(&to, 2, path.dgid.raw);
	count_without_checksum(true);
	cr_expect_gt(udp_of(&to)->count.rx_runs, 0);
}

Test(udp, an_address_is_served_once)
{
	struct udp_cfg cfg = {.addresses = 1, .mtu = 1500, .pool = pool};
	char why[160];
	struct port p;

	own_address(cfg.address[0].raw, 2);
	cr_assert_not_null(udp_open(&p, &cfg, why, sizeof(why)));
	cr_expect(strstr(why, "is taken: by ") != NULL, "%s", why);
}
