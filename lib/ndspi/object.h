/* SPDX-License-Identifier: BSD-3-Clause */
/* What all interfaces have: a table of functions, a reference count, the adapter they are of. */
#ifndef NDSPI_OBJECT_H
#define NDSPI_OBJECT_H

#include <stdbool.h>

#include "ndclient/ndclient.h"

#include "ndspi/ndspi.h"
#include "ndwin/ndwin_provider.h"

struct spi_object;
struct spi_adapter;

struct spi_class {
	const IID *iid, *base; /* base: NULL if that is IUnknown */
	const void *vtbl;
	void (*close)(struct spi_object *o); /* what it is of libndclient; not the memory */
};

/* An interface pointer is a pointer to this: the first member is what C and C++ find there. */
struct spi_object {
	const void *vtbl;
	const struct spi_class *class;
	struct spi_adapter *adapter; /* held; the provider has none */
	struct ndwin_file *file;     /* of its requests, held; NULL: the adapter's, if it has any */
	ULONG references;	     /* atomic: the application's */
};

/* A zeroed object of so many bytes, with one reference. It holds the adapter and takes over the
 * file. NULL: no memory, and the file is still the caller's. */
void *spi_object_new(const struct spi_class *class, size_t bytes, struct spi_adapter *adapter,
	struct ndwin_file *file);
/* The new object by the interface that the application asked for, which has its only reference
 * then; or E_NOINTERFACE, and it is gone. */
HRESULT spi_object_give(struct spi_object *o, REFIID iid, void **out);
/* The close of a class whose objects are nothing of libndclient. */
void spi_object_no_close(struct spi_object *o);
/* Whether a class answers to an interface id. */
bool spi_class_answers(const struct spi_class *class, REFIID iid);

HRESULT spi_object_query(struct spi_object *o, REFIID iid, void **out);
ULONG spi_object_add_ref(struct spi_object *o);
ULONG spi_object_release(struct spi_object *o);

/* The object behind an interface that a method was given; NULL: it is NULL, of another class, or of
 * another adapter. */
void *spi_object_of(IUnknown *given, const struct spi_class *class, const struct spi_adapter *a);

/* The functions of IUnknown for one interface. */
#define SPI_UNKNOWN(iface, name)                                                                   \
	static HRESULT STDMETHODCALLTYPE name##_query(iface *self, REFIID iid, void **out)         \
	{                                                                                          \
		return spi_object_query((struct spi_object *)self, iid, out);                      \
	}                                                                                          \
	static ULONG STDMETHODCALLTYPE name##_add_ref(iface *self)                                 \
	{                                                                                          \
		return spi_object_add_ref((struct spi_object *)self);                              \
	}                                                                                          \
	static ULONG STDMETHODCALLTYPE name##_release(iface *self)                                 \
	{                                                                                          \
		return spi_object_release((struct spi_object *)self);                              \
	}
#define SPI_UNKNOWN_SLOTS(name)                                                                    \
	.QueryInterface = name##_query, .AddRef = name##_add_ref, .Release = name##_release

#endif
