/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annotations for a checker of Windows': nothing here. The old ones (__in, __out) are not
 * defined, as C++'s library has names like these.
 */
#ifndef NDWIN_SAL_H
#define NDWIN_SAL_H

#define _In_
#define _In_opt_
#define _In_z_
#define _In_opt_z_
#define _In_reads_(count)
#define _In_reads_opt_(count)
#define _In_reads_bytes_(bytes)
#define _In_reads_bytes_opt_(bytes)
#define _In_bytecount_(bytes)
#define _Out_
#define _Out_opt_
#define _Out_writes_(count)
#define _Out_writes_opt_(count)
#define _Out_writes_bytes_(bytes)
#define _Out_writes_bytes_opt_(bytes)
#define _Out_writes_to_(count, used)
#define _Out_writes_to_opt_(count, used)
#define _Out_writes_bytes_to_(bytes, used)
#define _Out_writes_bytes_to_opt_(bytes, used)
#define _Out_bytecap_(bytes)
#define _Out_opt_bytecap_post_bytecount_(room, bytes)
#define _Outptr_
#define _Outptr_opt_
#define _Inout_
#define _Inout_opt_
#define _Inout_updates_(count)
#define _Inout_updates_bytes_(bytes)
#define _Deref_out_
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Must_inspect_result_
#define _Check_return_
#define _Success_(condition)
#define _When_(condition, annotations)
#define _At_(target, annotations)
#define _Use_decl_annotations_
#define _Field_size_(count)
#define _Field_size_bytes_(bytes)
#define _Analysis_assume_(condition)
#define _Analysis_noreturn_
#define _Acquires_lock_(lock)
#define _Releases_lock_(lock)
#define __callback
#define __fallthrough __attribute__((fallthrough))

#endif
