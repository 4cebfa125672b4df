#ifndef HONE_BACKENDS_CPU_KERNEL_FFI_H_
#define HONE_BACKENDS_CPU_KERNEL_FFI_H_

/* The part of the binary interface of XLA's FFI, version 0.3, that a handler
 * of dense arrays needs, in declarations of our own. */

#include <stddef.h>
#include <stdint.h>

#include "backends/cpu/kernel_runtime.h"

/* NOLINTBEGIN(readability-identifier-naming): C names. */
#ifdef __cplusplus
extern "C" {
#endif

enum { HONE_FFI_MAJOR = 0, HONE_FFI_MINOR = 3 };
enum { HONE_FFI_METADATA = 1 }; /* types of extensions */
enum { HONE_FFI_EXECUTE = 3 };  /* stages */
enum { HONE_FFI_BUFFER = 1 };   /* types of arguments and results */
/* Status codes. */
enum {
  HONE_FFI_INVALID_ARGUMENT = 3,
  HONE_FFI_RESOURCE_EXHAUSTED = 8,
  HONE_FFI_FAILED_PRECONDITION = 9,
  HONE_FFI_INTERNAL = 13
};

typedef struct hone_ffi_error hone_ffi_error;

typedef struct hone_ffi_extension {
  size_t struct_size;
  int32_t type;
  struct hone_ffi_extension* next;
} hone_ffi_extension;

typedef struct hone_ffi_version {
  size_t struct_size;
  hone_ffi_extension* extensions;
  int32_t major;
  int32_t minor;
} hone_ffi_version;

typedef struct hone_ffi_metadata {
  size_t struct_size;
  hone_ffi_version version;
  uint32_t traits;
} hone_ffi_metadata;

typedef struct hone_ffi_metadata_extension {
  hone_ffi_extension base;
  hone_ffi_metadata* metadata;
} hone_ffi_metadata_extension;

typedef struct hone_ffi_new_error {
  size_t struct_size;
  hone_ffi_extension* extensions;
  const char* message;
  int32_t code;
} hone_ffi_new_error;

typedef struct hone_ffi_api {
  size_t struct_size;
  hone_ffi_extension* extensions;
  hone_ffi_version version;
  const void* internal;
  hone_ffi_error* (*create_error)(hone_ffi_new_error* arguments);
} hone_ffi_api;

typedef struct hone_ffi_buffer {
  size_t struct_size;
  hone_ffi_extension* extensions;
  int32_t type;
  void* data;
  int64_t rank;
  int64_t* dimensions;
} hone_ffi_buffer;

/* Arguments or results. */
typedef struct hone_ffi_arrays {
  size_t struct_size;
  hone_ffi_extension* extensions;
  int64_t size;
  int32_t* types;
  hone_ffi_buffer** buffers;
} hone_ffi_arrays;

/* A call; attributes and what follows them are left out. */
typedef struct hone_ffi_frame {
  size_t struct_size;
  hone_ffi_extension* extensions;
  const hone_ffi_api* api;
  void* context;
  int32_t stage;
  hone_ffi_arrays arguments;
  hone_ffi_arrays results;
} hone_ffi_frame;

/* The handler of `entry`. Answers a query for metadata; otherwise checks that
 * the buffers are those of hone_info, and calls the entry. Returns null, or an
 * error that the caller owns. */
hone_ffi_error* hone_kernel_ffi(const hone_kernel_entry* entry,
                                hone_ffi_frame* frame);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* HONE_BACKENDS_CPU_KERNEL_FFI_H_ */
