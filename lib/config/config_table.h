/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside lib/config: the one table that says which keys exist. The parser walks
 * it; doc/config.md and config/schema.json are held against it by a test.
 */
#ifndef NDD_CONFIG_TABLE_H
#define NDD_CONFIG_TABLE_H

#include <jansson.h>

#include "config/config.h"

enum config_kind {
	CONFIG_OBJECT, /* of members */
	CONFIG_BOOL,
	CONFIG_UINT,   /* min..max, stored times scale */
	CONFIG_STRING, /* of min..max characters */
	CONFIG_WORD,   /* one of words; its index is stored */
	CONFIG_MODE,   /* a file mode, three octal digits behind a 0 */
	CONFIG_PREFIX, /* own address and prefix length: struct config_address */
	CONFIG_IPV4,   /* 16 bytes */
	CONFIG_IPV6,
	CONFIG_IP,  /* 16 bytes of either family */
	CONFIG_MAC, /* 6 bytes */
	CONFIG_PCI, /* a PCI address, with device arguments behind a comma */
	CONFIG_KINDS,
};

struct config_key {
	const char *name;
	enum config_kind kind;
	const struct config_key *members; /* OBJECT: ends with a NULL name */
	const char *const *words;	  /* WORD: ends with NULL */
	const char *initial;		  /* the default, as JSON text; NULL: none */
	bool required;
	uint64_t min, max, scale;
	size_t offset, bytes;	       /* of the field, or of the first element of an array */
	size_t flag_offset;	       /* of the bool "it was given"; 0: none */
	size_t count_offset;	       /* arrays: of the uint32_t count */
	uint32_t items_min, items_max; /* items_max > 0: an array of kind */
};
extern const struct config_key config_table[]; /* ends with a NULL name */

struct config_errors {
	const char *name; /* of the file */
	char path[160];	  /* where the parser is, e.g. "ports[0].mtu" */
	char *out;
	size_t out_bytes, used;
	unsigned reported, left_out;
};
/* Add a line "NAME: PATH: ..."; what does not fit is counted. */
void config_error(struct config_errors *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Judge one JSON value as key says and store it at field, which is part of the struct at base. */
void config_value(struct config_errors *e, const struct config_key *key, const json_t *value,
	void *base, void *field);
/* What a value of this key may be, in words. */
void config_allowed(const struct config_key *key, char *buf, size_t bytes);

/* What no single key can tell: do the values fit each other? */
void config_check(struct config_errors *e, const struct config *c);
/* The same of addresses, VLANs and routes (config_links.c). */
void config_check_links(struct config_errors *e, const struct config *c);
/* The same of control sockets and principals (config_principals.c). */
void config_check_principals(struct config_errors *e, const struct config *c);
/* Errors that follow are of this value. */
void config_at(struct config_errors *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
