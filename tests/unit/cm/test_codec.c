/* SPDX-License-Identifier: BSD-3-Clause */
/* CM MADs against vectors, captures of Linux peers, and garbage. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/pcap.h"
#include "cm/codec.h"
#include "wire/gsi.h"
#include "wire/icrc.h"
#include "wire/packet.h"

static void
hex_bytes(const char *hex, uint8_t *out)
{
	for (size_t i = 0; i < strlen(hex) / 2; i++) {
		const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};

		out[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

/* The MAD of the vector with this name. */
static void
vector(const char *name, uint8_t mad[ROCE_MAD_BYTES])
{
	json_t *root = json_load_file(TEST_DATA_DIR "/icrc-vectors.json", 0, NULL), *v;
	bool found = false;
	size_t i;

	cr_assert_not_null(root);
	json_array_foreach(json_object_get(root, "cm"), i, v)
	{
		if (strcmp(json_string_value(json_object_get(v, "name")), name) == 0) {
			hex_bytes(json_string_value(json_object_get(v, "mad")), mad);
			found = true;
		}
	}
	cr_assert(found, "no vector %s", name);
	json_decref(root);
}

static void
decode_vector(const char *name, struct cm_mad *m)
{
	uint8_t mad[ROCE_MAD_BYTES];

	vector(name, mad);
	cr_assert_eq(cm_mad_decode(m, mad), CM_DECODE_OK, "%s", name);
}

Test(cm_codec, t_cm_1_every_vector_encodes_back)
{
	json_t *root = json_load_file(TEST_DATA_DIR "/icrc-vectors.json", 0, NULL), *v;
	size_t i, n = 0;

	cr_assert_not_null(root);
	json_array_foreach(json_object_get(root, "cm"), i, v)
	{
		const char *name = json_string_value(json_object_get(v, "name"));
		uint8_t mad[ROCE_MAD_BYTES], again[ROCE_MAD_BYTES];
		struct cm_mad m;

		hex_bytes(json_string_value(json_object_get(v, "mad")), mad);
		cr_assert_eq(cm_mad_decode(&m, mad), CM_DECODE_OK, "%s", name);
		memset(again, 0xa5, sizeof(again));
		cm_mad_encode(again, &m);
		cr_expect_arr_eq(again, mad, sizeof(mad), "%s", name);
		n++;
	}
	cr_assert_geq(n, 11);
	json_decref(root);
}

/* checks W-CM-06[3] */
Test(cm_codec, t_cm_1_req_fields)
{
	struct cm_ip_hdr ip;
	struct cm_mad m;

	decode_vector("cm_req", &m);
	cr_expect_eq(m.attr, CM_ATTR_REQ);
	cr_expect_eq(m.local_id, 0x11223344);
	cr_expect_eq(m.service_id, cm_service_id(20049));
	cr_expect_eq(m.ca_guid, 0x020000fffe000001);
	cr_expect_eq(m.qpn, 0x111);
	cr_expect_eq(m.psn, 0x123456);
	cr_expect_eq(m.responder_resources, 16);
	cr_expect_eq(m.initiator_depth, 16);
	cr_expect_eq(m.remote_resp_timeout, 20);
	cr_expect_eq(m.local_resp_timeout, 20);
	cr_expect_eq(m.retry_count, 7);
	cr_expect_eq(m.rnr_retry, 7);
	cr_expect_eq(m.max_retries, 15);
	cr_expect_eq(m.pkey, 0xffff);
	cr_expect_eq(m.mtu, 3);
	cr_expect_eq(m.slid, 0xffff);
	cr_expect_eq(m.hop_limit, 64);
	cr_expect_eq(m.ack_timeout, 18);
	cr_expect_eq(m.priv_bytes, 92);
	cr_assert(cm_ip_hdr_decode(&ip, m.priv));
	cr_expect_eq(ip.src_port, 40000);
	cr_expect(roce_gid_equal(&ip.src, &m.sgid));
	cr_expect(roce_gid_equal(&ip.dst, &m.dgid));
	cr_expect_arr_eq(m.priv + CM_IP_HDR_BYTES, "USERDATA", 9);
}

Test(cm_codec, t_cm_1_rep_and_rej_fields)
{
	struct cm_mad m;

	decode_vector("cm_rep", &m);
	cr_expect_eq(m.local_id, 0x55667788);
	cr_expect_eq(m.remote_id, 0x11223344);
	cr_expect_eq(m.qpn, 0x112);
	cr_expect_eq(m.psn, 0xabcdef);
	cr_expect_eq(m.target_ack_delay, 15);
	cr_expect_eq(m.rnr_retry, 7);
	cr_expect_eq(m.ca_guid, 0x020000fffe000002);
	cr_expect_eq(m.priv_bytes, 196);

	decode_vector("cm_rej_timeout", &m);
	cr_expect_eq(m.reason, 4);
	cr_expect_eq(m.ari_bytes, 8);
	cr_expect_arr_eq(m.ari, "\x02\x00\x00\xff\xfe\x00\x00\x01\x00", 9);
	cr_expect_eq(m.priv_bytes, 148);

	decode_vector("cm_mra", &m);
	cr_expect_eq(m.service_timeout, 24);
	cr_expect_eq(m.which, CM_WHICH_REQ);
	cr_expect_eq(m.priv_bytes, 222);

	decode_vector("cm_dreq", &m);
	cr_expect_eq(m.qpn, 0x112);
	cr_expect_eq(m.priv_bytes, 220);
}

/* Each field alone, all ones: it comes back, and no other field sees it. */
Test(cm_codec, every_field_survives_at_its_limit)
{
	struct cm_mad m = {.attr = CM_ATTR_REQ}, back;
	uint8_t mad[ROCE_MAD_BYTES];

	m.remote_resp_timeout = 31;
	m.flow_label = 0xfffff;
	m.ack_timeout = 31;
	m.qpn = 0xffffff;
	m.max_retries = 15;
	m.priv[91] = 0xff;
	cm_mad_encode(mad, &m);
	cr_assert_eq(cm_mad_decode(&back, mad), CM_DECODE_OK);
	m.priv_bytes = 92;
	cr_expect_arr_eq(&back, &m, sizeof(m));
}

Test(cm_codec, values_too_large_do_not_spill_into_neighbours)
{
	struct cm_mad m = {.attr = CM_ATTR_REQ, .retry_count = 0xffffffff}, back;
	uint8_t mad[ROCE_MAD_BYTES];

	cm_mad_encode(mad, &m);
	cr_assert_eq(cm_mad_decode(&back, mad), CM_DECODE_OK);
	cr_expect_eq(back.retry_count, 7);
	cr_expect_eq(back.local_resp_timeout, 0);
	cr_expect_eq(back.psn, 0);
	cr_expect_eq(back.pkey, 0);
}

/* Fields that are 0 in every vector and capture, where 3.2 puts them. */
Test(cm_codec, places_that_no_vector_shows)
{
	const struct cm_mad req = {.attr = CM_ATTR_REQ,
		.rate = 0x3f,
		.tclass = 0xff,
		.sl = 0xf,
		.subnet_local = 1,
		.srq = 1,
		.ext_transport = 7,
		.flow_control = 1};
	const struct cm_mad rep = {.attr = CM_ATTR_REP, .failover = 3, .srq = 1, .flow_control = 1};
	const struct cm_mad sidr = {
		.attr = CM_ATTR_SIDR_REP, .status = 1, .ari_bytes = 2, .ari = {3}};
	uint8_t mad[ROCE_MAD_BYTES];

	cm_mad_encode(mad, &req);
	cr_expect_arr_eq(mad + 24 + 88, "\0\0\0\x3f\xff\0\xf8\0", 8);
	cr_expect_eq(mad[24 + 51], 0x0f);
	cr_expect_eq(mad[24 + 43], 0x01);
	cm_mad_encode(mad, &rep);
	cr_expect_eq(mad[24 + 26], 0x07);
	cr_expect_eq(mad[24 + 27], 0x10);
	cm_mad_encode(mad, &sidr);
	cr_expect_eq(mad[24 + 4], 1);
	cr_expect_eq(mad[24 + 5], 2);
	cr_expect_eq(mad[24 + 24], 3);
}

/* ---- captures ---- */

/* Every CM MAD of a capture; returns how many there were. */
static unsigned
check_capture(const char *path)
{
	struct pcap_file f;
	const uint8_t *frame;
	unsigned n = 0;
	size_t bytes;

	pcap_open(&f, path);
	while ((frame = pcap_next(&f, &bytes)) != NULL) {
		uint8_t again[ROCE_MAD_BYTES];
		struct roce_pkt pkt;
		struct cm_mad m;

		if (roce_wire_parse(frame, bytes, &pkt) != ROCE_WIRE_OK || !roce_gsi_is_mad(&pkt))
			continue;
		cr_assert_eq(cm_mad_decode(&m, pkt.payload), CM_DECODE_OK, "%s", path);
		cm_mad_encode(again, &m);
		cr_expect_arr_eq(again, pkt.payload, sizeof(again), "%s: message %u of kind %x",
			path, n, m.attr);
		n++;
	}
	pcap_close(&f);
	return n;
}

Test(cm_codec, t_cm_1_captures_of_linux_peers_encode_back)
{
	cr_expect_eq(check_capture("rxe/rping.pcap"), 5);
	cr_expect_eq(check_capture("rxe/rping6.pcap"), 5);
	cr_expect_geq(check_capture("rxe/ucmatose.pcap"), 5);
	cr_expect_eq(check_capture("rxe/rping-reject-nolistener.pcap"), 2);
	cr_expect_geq(check_capture("rxe/cmtime.pcap"), 15);
	cr_expect_geq(check_capture("rxe/udaddy.pcap"), 2);
	cr_expect_geq(check_capture("rxe/send-cm.pcap"), 5);
}

/* ---- garbage ---- */

/* checks W-CM-01[1,2,4-6], W-CM-04[1], W-CM-05[1] */
Test(cm_codec, t_cm_8_bad_headers)
{
	static const struct {
		unsigned off;
		uint8_t value;
		enum cm_decode result;
	} cases[] = {
		{0, 2, CM_DECODE_MALFORMED},	 /* base version */
		{1, 3, CM_DECODE_FOREIGN},	 /* the class of subnet administration */
		{2, 1, CM_DECODE_MALFORMED},	 /* class version */
		{3, 0x81, CM_DECODE_MALFORMED},	 /* GetResp */
		{3, 0x83, CM_DECODE_MALFORMED},	 /* response bit */
		{16, 1, CM_DECODE_MALFORMED},	 /* attribute 0x0110 */
		{17, 0x01, CM_DECODE_MALFORMED}, /* ClassPortInfo with Send */
		{17, 0x0f, CM_DECODE_MALFORMED},
		{17, 0x19, CM_DECODE_FOREIGN}, /* LAP, W-CM-05 */
		{17, 0x1a, CM_DECODE_FOREIGN}, /* APR */
		{17, 0x1b, CM_DECODE_MALFORMED},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t mad[ROCE_MAD_BYTES];
		struct cm_mad m;

		vector("cm_req", mad);
		mad[cases[i].off] = cases[i].value;
		cr_expect_eq(cm_mad_decode(&m, mad), cases[i].result, "case %u", i);
	}
}

/* checks W-CM-01[8] */
Test(cm_codec, additional_reject_information_longer_than_its_field)
{
	uint8_t mad[ROCE_MAD_BYTES];
	struct cm_mad m;

	vector("cm_rej_timeout", mad);
	mad[24 + 9] = 72 << 1;
	cr_expect_eq(cm_mad_decode(&m, mad), CM_DECODE_OK);
	mad[24 + 9] = 73 << 1;
	cr_expect_eq(cm_mad_decode(&m, mad), CM_DECODE_MALFORMED);
}

/* checks W-CM-07[1]: ---- RDMA IP CM header ---- */
Test(cm_codec, w_cm_07_addresses_of_both_families)
{
	struct cm_ip_hdr v4 = {.src_port = 0xabcd}, v6 = v4, back;
	uint8_t bytes[CM_IP_HDR_BYTES];

	roce_gid_from_v4(&v4.src, (const uint8_t[]){192, 0, 2, 1});
	roce_gid_from_v4(&v4.dst, (const uint8_t[]){192, 0, 2, 2});
	cm_ip_hdr_encode(bytes, &v4);
	cr_expect_eq(bytes[1], 0x40);
	cr_expect_eq(bytes[4 + 10], 0, "not mapped on the wire");
	cr_expect_eq(bytes[4 + 12], 192);
	cr_assert(cm_ip_hdr_decode(&back, bytes));
	cr_expect_arr_eq(&back, &v4, sizeof(v4));

	v6.src.raw[0] = v6.dst.raw[0] = 0xfd;
	v6.src.raw[15] = 1;
	cm_ip_hdr_encode(bytes, &v6);
	cr_expect_eq(bytes[1], 0x60);
	cr_assert(cm_ip_hdr_decode(&back, bytes));
	cr_expect_arr_eq(&back, &v6, sizeof(v6));
}

/* checks W-CM-06[1,2], W-CM-07[3] */
Test(cm_codec, w_cm_06_unknown_header_versions)
{
	struct cm_ip_hdr h;
	uint8_t bytes[CM_IP_HDR_BYTES] = {0x00, 0x40};

	cr_expect(cm_ip_hdr_decode(&h, bytes));
	bytes[0] = 0x10;
	cr_expect_not(cm_ip_hdr_decode(&h, bytes));
	bytes[0] = 0;
	bytes[1] = 0x50;
	cr_expect_not(cm_ip_hdr_decode(&h, bytes));
	/* An IPv4 address in the clothes of IPv6 is neither. */
	bytes[1] = 0x60;
	bytes[4 + 10] = bytes[4 + 11] = 0xff;
	cr_expect_not(cm_ip_hdr_decode(&h, bytes));
}

/* The header has its 36 bytes, and the consumer's private data are behind them. */
Test(cm_codec, the_ip_header_ends_where_private_data_begin)
{
	const struct roce_gid v6 = {{0x20, 1, 0xd, 0xb8, [15] = 1}},
			      v4 = {{[10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 1}};

	for (unsigned i = 0; i < 2; i++) {
		const struct roce_gid *gid = i == 0 ? &v4 : &v6;
		/* Whatever is read or written beyond an address is not 0x5a. */
		const struct cm_ip_hdr h = {.src = *gid, .dst = *gid, .src_port = 0x1234};
		uint8_t bytes[CM_IP_HDR_BYTES + 16];

		memset(bytes, 0x5a, sizeof(bytes));
		cm_ip_hdr_encode(bytes, &h);
		cr_expect_eq(bytes[20], i == 0 ? 0 : 0x20, "where the second address begins");
		for (unsigned k = CM_IP_HDR_BYTES; k < sizeof(bytes); k++)
			cr_expect_eq(bytes[k], 0x5a, "byte %u", k);
	}
}
