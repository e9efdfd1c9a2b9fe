/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndspi: what ndspi.h needs of COM: IUnknown, and the macros that declare an interface for C
 * and for C++ alike. In C++ an interface is an abstract class; in C a structure whose only member
 * points to a table of functions, which take the interface as their first argument. Both have the
 * same layout: slots in the order of declaration, those of the base first.
 *
 * A platform of the application's own is named by NDSPI_PLATFORM, a header's name in quotes or
 * angle brackets, and included instead of ndwin.h. If it has IUnknown and these macros, too, it
 * defines __IUnknown_INTERFACE_DEFINED__.
 */
#ifndef NDCOM_H
#define NDCOM_H

#ifdef NDSPI_PLATFORM
#include NDSPI_PLATFORM
#else
#include "ndwin.h"
#endif

#ifndef __IUnknown_INTERFACE_DEFINED__
#define __IUnknown_INTERFACE_DEFINED__

#ifdef __cplusplus
#define EXTERN_C		 extern "C"
#define STDMETHOD(method)	 virtual HRESULT STDMETHODCALLTYPE method
#define STDMETHOD_(type, method) virtual type STDMETHODCALLTYPE method
#define PURE			 = 0
#define THIS_
#define THIS				void
#define DECLARE_INTERFACE(iface)	struct iface
#define DECLARE_INTERFACE_(iface, base) struct iface : public base
#else
#define EXTERN_C		 extern
#define STDMETHOD(method)	 HRESULT(STDMETHODCALLTYPE *method)
#define STDMETHOD_(type, method) type(STDMETHODCALLTYPE *method)
#define PURE
#define THIS_ INTERFACE *This,
#define THIS  INTERFACE *This
#define DECLARE_INTERFACE(iface)                                                                   \
	typedef struct iface {                                                                     \
		const struct iface##Vtbl *lpVtbl;                                                  \
	} iface;                                                                                   \
	typedef struct iface##Vtbl iface##Vtbl;                                                    \
	struct iface##Vtbl
#define DECLARE_INTERFACE_(iface, base) DECLARE_INTERFACE(iface)
#endif

/*
 * With INITGUID defined (initguid.h) each DEFINE_GUID defines the id in that file; else it declares
 * one, which the library has.
 */
#ifdef INITGUID
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                               \
	EXTERN_C const GUID name;                                                                  \
	const GUID name __attribute__((weak)) = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#else
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) EXTERN_C const GUID name
#endif

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif
#undef INTERFACE
#define INTERFACE IUnknown
DEFINE_GUID(IID_IUnknown, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46);
DECLARE_INTERFACE(IUnknown)
{
	/*
	 * Another interface of the same object, with a reference of its own. E_NOINTERFACE: it has
	 * none with that id, and *object is NULL; E_POINTER: object is NULL.
	 */
	STDMETHOD(QueryInterface)(THIS_ REFIID iid, void **object) PURE;
	/* Both return the references that the application has then. The object is closed, as
	 * libndclient's close of it says, with the last Release. */
	STDMETHOD_(ULONG, AddRef)(THIS) PURE;
	STDMETHOD_(ULONG, Release)(THIS) PURE;
};
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif
#endif

/* What an interface inherits: C++ has it by inheritance, C by repetition. */
#ifdef __cplusplus
#define ND_INHERITED_UNKNOWN
#else
#define ND_INHERITED_UNKNOWN                                                                       \
	STDMETHOD(QueryInterface)(THIS_ REFIID iid, void **object) PURE;                           \
	STDMETHOD_(ULONG, AddRef)(THIS) PURE;                                                      \
	STDMETHOD_(ULONG, Release)(THIS) PURE;
#endif

#endif
