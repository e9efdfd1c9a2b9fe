/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/ipid.h"

#include "wire/protocol.h"

#define POLYNOMIAL 0xedb88320u /* of CRC-32, reflected */
#define BYTES_MIN  (ROCE_IPV4_BYTES + ROCE_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
#define BYTES_MAX  (BYTES_MIN + 32u + ROCE_MTU_MAX)
/* The same number in front of less: a source port stands 16 bytes further behind. */
#define TABLE_MIN (BYTES_MIN - 16u)
#define LENGTHS	  (BYTES_MAX - TABLE_MIN + 1u) /* a wrong pad makes any of these */
/* Behind the four bytes of identification, flags and offset, and in front of the ICRC. */
#define BEHIND(ip_bytes) ((ip_bytes)-8u - ROCE_ICRC_BYTES)

/*
 * The images of the 17 bits, as they are and in reduced form: row k is the only one with a one at
 * bit pivot[k], and is the image of the bits of[k]. So whether row k is a part of a difference is
 * told by that one bit of it.
 */
struct length {
	uint32_t image[ROCE_IPID_BITS];
	uint32_t row[ROCE_IPID_BITS], of[ROCE_IPID_BITS];
	uint8_t pivot[ROCE_IPID_BITS];
};

struct roce_ipid {
	struct length length[LENGTHS];
};

size_t
roce_ipid_bytes(void)
{
	return sizeof(struct roce_ipid);
}

bool
roce_ipid_has(uint32_t ip_bytes)
{
	return ip_bytes >= BYTES_MIN && ip_bytes <= BYTES_MAX;
}

static const struct length *
length_of(const struct roce_ipid *t, uint32_t ip_bytes)
{
	return &t->length[ip_bytes - TABLE_MIN];
}

/* The CRC's register behind so many bytes of zeros more. */
static uint32_t
crc_over_zeros(uint32_t crc, uint32_t bytes)
{
	for (uint32_t i = 0; i < 8 * bytes; i++)
		crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	return crc;
}

/* What one bit is in the register, four bytes behind it: it stands at byte 0 to 2 of these, and the
 * CRC takes each byte's low bit first. */
static uint32_t
image_of_bit(uint32_t bit)
{
	const uint32_t df = 6; /* of byte 2 */
	const uint32_t id = bit - 1, place = id < 8 ? 8 + id : id - 8;

	return crc_over_zeros(bit == 0 ? 1u << (16 + df) : 1u << place, 4);
}

/* Gauss and Jordan, over two elements. That there are pivots for all rows, so that no two changes
 * have one image, is a fact of the polynomial, which the tests check for each length. */
static void
length_reduce(struct length *l)
{
	for (uint32_t k = 0; k < ROCE_IPID_BITS; k++) {
		l->row[k] = l->image[k];
		l->of[k] = 1u << k;
	}
	for (uint32_t k = 0; k < ROCE_IPID_BITS; k++) {
		for (uint32_t j = 0; j < k; j++) {
			if (l->row[k] >> l->pivot[j] & 1) {
				l->row[k] ^= l->row[j];
				l->of[k] ^= l->of[j];
			}
		}
		l->pivot[k] = (uint8_t)(l->row[k] == 0 ? 0 : __builtin_ctz(l->row[k]));
		for (uint32_t j = 0; j < k; j++) {
			if (l->row[j] >> l->pivot[k] & 1) {
				l->row[j] ^= l->row[k];
				l->of[j] ^= l->of[k];
			}
		}
	}
}

void
roce_ipid_init(struct roce_ipid *t)
{
	for (uint32_t k = 0; k < ROCE_IPID_BITS; k++) {
		uint32_t image = crc_over_zeros(image_of_bit(k), BEHIND(TABLE_MIN));

		for (uint32_t i = 0; i < LENGTHS; i++) {
			t->length[i].image[k] = image;
			image = crc_over_zeros(image, 1);
		}
	}
	for (uint32_t i = 0; i < LENGTHS; i++)
		length_reduce(&t->length[i]);
}

uint32_t
roce_ipid_mend(const struct roce_ipid *t, uint32_t ip_bytes, uint32_t change)
{
	const struct length *l = length_of(t, ip_bytes);
	uint32_t difference = 0;

	for (; change != 0; change &= change - 1)
		difference ^= l->image[__builtin_ctz(change)];
	return difference;
}

/* An identification has 10 bytes in front of the ICRC less than its packet: itself, and what is
 * before it. */
uint32_t
roce_ipid_mend_port(const struct roce_ipid *t, uint32_t behind, uint16_t change)
{
	return roce_ipid_mend(t, behind + 6 + ROCE_ICRC_BYTES, ROCE_IPID(change, 0));
}

bool
roce_ipid_solve(const struct roce_ipid *t, uint32_t ip_bytes, uint32_t difference, uint32_t *change)
{
	const struct length *l = length_of(t, ip_bytes);
	uint32_t explained = 0, bits = 0;

	for (uint32_t k = 0; k < ROCE_IPID_BITS; k++) {
		uint32_t is_part = 0u - (difference >> l->pivot[k] & 1);

		explained ^= l->row[k] & is_part;
		bits ^= l->of[k] & is_part;
	}
	*change = bits;
	return explained == difference;
}
