#ifndef HONE_ABI_H_
#define HONE_ABI_H_

/* The C interface of exported kernels, as part of every exported header. */

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): C names, as C users expect. */
#ifdef __cplusplus
extern "C" {
#endif

#define HONE_ABI_VERSION 2

/* What a call returns. After an error other than HONE_ERROR_LIBRARY nothing has
 * been written. */
enum {
  HONE_OK = 0,
  /* The context has another size or version, or contradicts itself. */
  HONE_ERROR_CONTEXT = 1,
  /* The array of arguments or of results is null. */
  HONE_ERROR_NULL_ARRAY = 2,
  HONE_ERROR_NULL_ARGUMENT = 3,
  HONE_ERROR_NULL_RESULT = 4,
  /* A result overlaps an argument, another result or the workspace, and
   * hone_info does not allow it. */
  HONE_ERROR_ALIAS = 5,
  /* The workspace is smaller than one thread needs. */
  HONE_ERROR_WORKSPACE = 6,
  /* The processor lacks an instruction set that the code was compiled for. */
  HONE_ERROR_PROCESSOR = 7,
  HONE_ERROR_OUT_OF_MEMORY = 8,
  /* A step of a library failed; results are undefined. */
  HONE_ERROR_LIBRARY = 9
};

/* Runs the iterations `begin` … `end` - 1 of a parallel loop. */
typedef void (*hone_body)(void* data, int64_t begin, int64_t end);

/* What a call may use. Null and zero stand for defaults; HONE_CONTEXT_INIT
 * has nothing else. */
typedef struct hone_context {
  uint32_t struct_size; /* sizeof(hone_context) */
  uint32_t abi_version; /* HONE_ABI_VERSION */
  /* Threads of parallel loops; 0: those that NAME_set_threads set, else those
   * of the environment's HONE_THREADS, else one per core of the process. */
  int32_t threads;
  /* Calls body(body_data, begin, end) for ranges that cover 0 … count-1 once,
   * on any threads, and returns when all calls have returned. Null: the pool
   * that all of Hone's code in the process shares. */
  void (*parallel_for)(void* parallel_for_data, hone_body body, void* body_data,
                       int64_t count);
  void* parallel_for_data;
  /* Memory for temporary values, of any alignment. If it is smaller than
   * hone_info.workspace_bytes, fewer threads are used. Null: memory from
   * `allocate`. */
  void* workspace;
  int64_t workspace_bytes;
  /* Allocates the workspace of one call, and releases it; `allocate` returns
   * null if there is no memory. Both are null or neither; null: blocks that
   * are kept for the next call. */
  void* (*allocate)(void* allocator_data, size_t bytes, size_t alignment);
  void (*release)(void* allocator_data, void* memory);
  void* allocator_data;
} hone_context;

#define HONE_CONTEXT_INIT \
  { sizeof(hone_context), HONE_ABI_VERSION, 0, 0, 0, 0, 0, 0, 0, 0 }

/* A dense row-major array of any alignment. */
typedef struct hone_array {
  /* XLA's PrimitiveType, also that of XLA's FFI, and its name: 11 and "f32". */
  int32_t type;
  int32_t rank;
  const char* type_name;
  const int64_t* dimensions; /* `rank` of them */
  int64_t bytes;
} hone_array;

/* An argument and a result that may have one address. */
typedef struct hone_alias {
  int32_t argument;
  int32_t result;
} hone_alias;

typedef struct hone_info {
  uint32_t struct_size; /* sizeof(hone_info) */
  uint32_t abi_version; /* HONE_ABI_VERSION */
  const char* name;     /* of the module or kernel */
  const char* hone_version;
  int32_t num_arguments;
  int32_t num_results;
  const hone_array* arguments;
  const hone_array* results;
  int32_t num_aliases;
  int32_t num_features;
  const hone_alias* aliases; /* in order of arguments */
  /* The instruction sets that the code uses, by LLVM's names ("avx2"). */
  const char* const* features;
  /* The number of threads that the code was scheduled for. */
  int32_t threads;
  /* The workspace of a call with that many threads, and the part of it that
   * each of them adds. */
  int64_t workspace_bytes;
  int64_t workspace_bytes_per_thread;
} hone_info;

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* HONE_ABI_H_ */
