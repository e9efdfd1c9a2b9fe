/* SPDX-License-Identifier: BSD-3-Clause */
/* Single values: is the JSON type right, the value in range, and what is stored. */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_table.h"

/* Stores the value; false: it is not allowed (config_value() tells). */
typedef bool config_reader(const struct config_key *key, const json_t *value, void *field);

static bool
read_bool(const struct config_key *key, const json_t *value, void *field)
{
	(void)key;
	*(bool *)field = json_is_true(value);
	return true;
}

static bool
read_uint(const struct config_key *key, const json_t *value, void *field)
{
	json_int_t v = json_integer_value(value);
	uint64_t u = (uint64_t)v * key->scale;

	if (v < 0 || (uint64_t)v < key->min || (uint64_t)v > key->max)
		return false;
	switch (key->bytes) {
	case 1:
		*(uint8_t *)field = (uint8_t)u;
		return true;
	case 2:
		*(uint16_t *)field = (uint16_t)u;
		return true;
	case 4:
		*(uint32_t *)field = (uint32_t)u;
		return true;
	default:
		*(uint64_t *)field = u;
		return true;
	}
}

static bool
read_string(const struct config_key *key, const json_t *value, void *field)
{
	size_t n = json_string_length(value);

	if (n < key->min || n > key->max)
		return false;
	memcpy(field, json_string_value(value), n + 1);
	return true;
}

static bool
read_word(const struct config_key *key, const json_t *value, void *field)
{
	for (unsigned i = 0; key->words[i] != NULL; i++) {
		if (strcmp(key->words[i], json_string_value(value)) == 0) {
			memcpy(field, &i, key->bytes);
			return true;
		}
	}
	return false;
}

static bool
read_mode(const struct config_key *key, const json_t *value, void *field)
{
	const char *s = json_string_value(value);

	(void)key;
	if (strlen(s) != 4 || s[0] != '0' || strspn(s, "01234567") != 4)
		return false;
	*(uint32_t *)field = (uint32_t)strtoul(s, NULL, 8);
	return true;
}

/* IPv4 becomes ::ffff:a.b.c.d. An IPv4 address in IPv6's clothes is not taken: it would be an
 * alias. */
static bool
parse_ip(const char *s, uint8_t ip[16], bool *v4)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (inet_pton(AF_INET, s, ip + 12) == 1) {
		memcpy(ip, mapped, sizeof(mapped));
		*v4 = true;
		return true;
	}
	*v4 = false;
	return inet_pton(AF_INET6, s, ip) == 1 && memcmp(ip, mapped, sizeof(mapped)) != 0;
}

static bool
read_prefix(const struct config_key *key, const json_t *value, void *field)
{
	struct config_address *a = field;
	const char *s = json_string_value(value), *slash = strchr(s, '/');
	char ip[INET6_ADDRSTRLEN], *end;
	unsigned long len;
	bool v4;

	(void)key;
	if (slash == NULL || (size_t)(slash - s) >= sizeof(ip) || !isdigit((unsigned char)slash[1]))
		return false;
	memcpy(ip, s, (size_t)(slash - s));
	ip[slash - s] = '\0';
	len = strtoul(slash + 1, &end, 10);
	if (*end != '\0' || !parse_ip(ip, a->ip, &v4) || len < 1 || len > (v4 ? 32u : 128u))
		return false;
	a->prefix_len = (uint8_t)len;
	return true;
}

static bool
read_gateway(const struct config_key *key, const json_t *value, void *field)
{
	uint8_t ip[16];
	bool v4;

	if (!parse_ip(json_string_value(value), ip, &v4) || v4 != (key->kind == CONFIG_IPV4))
		return false;
	memcpy(field, ip, sizeof(ip));
	return true;
}

static bool
read_ip(const struct config_key *key, const json_t *value, void *field)
{
	uint8_t ip[16];
	bool v4;

	(void)key;
	if (!parse_ip(json_string_value(value), ip, &v4))
		return false;
	memcpy(field, ip, sizeof(ip));
	return true;
}

static bool
read_mac(const struct config_key *key, const json_t *value, void *field)
{
	const char *s = json_string_value(value);
	uint8_t *mac = field;

	(void)key;
	if (strlen(s) != 17)
		return false;
	for (unsigned i = 0; i < 6; i++) {
		const char *p = s + 3 * i;

		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) ||
			p[2] != (i < 5 ? ':' : '\0'))
			return false;
		mac[i] = (uint8_t)strtoul(p, NULL, 16);
	}
	/* Bit 0 of the first byte: a group address, which no station can have. */
	return (mac[0] & 1) == 0 && memcmp(mac, "\0\0\0\0\0\0", 6) != 0;
}

/* As ethdev names PCI devices, so that "device" of a port can be compared: DDDD:BB:DD.F. */
static bool
read_pci(const struct config_key *key, const json_t *value, void *field)
{
	static const char form[] = "xxxx:xx:xx.7";
	const char *s = json_string_value(value);

	for (unsigned i = 0; form[i] != '\0'; i++) {
		bool ok = form[i] == 'x'
				  ? isdigit((unsigned char)s[i]) || (s[i] >= 'a' && s[i] <= 'f')
			  : form[i] == '7' ? s[i] >= '0' && s[i] <= '7'
					   : s[i] == form[i];

		if (!ok)
			return false; /* a shorter string ends here, at its NUL */
	}
	if (s[sizeof(form) - 1] != '\0' && s[sizeof(form) - 1] != ',')
		return false;
	return read_string(key, value, field);
}

static const struct {
	json_type type;
	config_reader *read;
	const char *what;
} kinds[CONFIG_KINDS] = {
	[CONFIG_OBJECT] = {JSON_OBJECT, NULL, "objects"},
	[CONFIG_BOOL] = {JSON_TRUE, read_bool, "true or false"},
	[CONFIG_UINT] = {JSON_INTEGER, read_uint, "an integer in"},
	[CONFIG_STRING] = {JSON_STRING, read_string, "a string of"},
	[CONFIG_WORD] = {JSON_STRING, read_word, "one of"},
	[CONFIG_MODE] = {JSON_STRING, read_mode, "a file mode such as \"0660\""},
	[CONFIG_PREFIX] = {JSON_STRING, read_prefix,
		"an address with prefix length, \"10.77.0.1/24\" or \"fd77::1/64\""},
	[CONFIG_IPV4] = {JSON_STRING, read_gateway, "an IPv4 address"},
	[CONFIG_IPV6] = {JSON_STRING, read_gateway, "an IPv6 address"},
	[CONFIG_IP] = {JSON_STRING, read_ip, "an IPv4 or IPv6 address"},
	[CONFIG_MAC] = {JSON_STRING, read_mac,
		"a unicast MAC address such as \"02:00:00:00:00:01\""},
	[CONFIG_PCI] = {JSON_STRING, read_pci, "a PCI address such as \"0000:03:00.0\""},
};

void
config_allowed(const struct config_key *key, char *buf, size_t bytes)
{
	int n = snprintf(buf, bytes, "%s", kinds[key->kind].what);
	size_t used = n < 0 ? 0 : (size_t)n;

	if (key->kind == CONFIG_UINT)
		(void)snprintf(
			buf + used, bytes - used, " %" PRIu64 "..%" PRIu64, key->min, key->max);
	else if (key->kind == CONFIG_STRING)
		(void)snprintf(buf + used, bytes - used, " %" PRIu64 " to %" PRIu64 " characters",
			key->min, key->max);
	else if (key->kind == CONFIG_WORD)
		for (unsigned i = 0; key->words[i] != NULL && used < bytes; i++)
			used += (size_t)snprintf(
				buf + used, bytes - used, " \"%s\"", key->words[i]);
}

void
config_value(struct config_errors *e, const struct config_key *key, const json_t *value, void *base,
	void *field)
{
	char allowed[160];
	char *found;

	if ((key->kind == CONFIG_BOOL ? json_is_boolean(value)
				      : json_typeof(value) == kinds[key->kind].type) &&
		kinds[key->kind].read(key, value, field)) {
		if (key->flag_offset != 0)
			*((bool *)base + key->flag_offset) = true;
		return;
	}
	config_allowed(key, allowed, sizeof(allowed));
	found = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT);
	if (key->kind == CONFIG_UINT && json_is_integer(value))
		config_error(e, "%s is out of range %" PRIu64 "..%" PRIu64, found ? found : "value",
			key->min, key->max);
	else
		config_error(e, "%.64s%s is not allowed; expected %s", found ? found : "value",
			found && strlen(found) > 64 ? "..." : "", allowed);
	free(found);
}
