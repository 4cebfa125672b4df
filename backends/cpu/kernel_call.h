#ifndef HONE_BACKENDS_CPU_KERNEL_CALL_H_
#define HONE_BACKENDS_CPU_KERNEL_CALL_H_

/* What the files of the kernel runtime need of each other. */

#include <stdint.h>

#include "backends/cpu/kernel_abi.h"
#include "backends/cpu/kernel_runtime.h"

/* NOLINTBEGIN(readability-identifier-naming): C names. */
#ifdef __cplusplus
extern "C" {
#endif

/* Runs a parallel loop in the pool of the process. */
void hone_kernel_pool_parallel_for(hone_body body, void* data, int64_t count,
                                   int32_t threads);

/* What a thread remembers, one pointer each: not null in bodies of the pool's
 * loops, the memory of the part of a call that it runs, and the message of its
 * last error, which is freed when the thread ends. All libraries of a process
 * share them. */
enum {
  kThreadInsideBody,
  kThreadStack,
  kThreadMessage,
  kThreadValues /* their number */
};
/* Null until it is set. */
void* hone_kernel_thread_value(int32_t which);
/* Returns 0 if there is no memory, or no key of threads is left. */
int32_t hone_kernel_set_thread_value(int32_t which, void* value);

/* The same two for the library that has the pool of the process. */
void* hone_kernel_own_thread_value(int32_t which);
int32_t hone_kernel_set_own_thread_value(int32_t which, void* value);

/* A 64-byte aligned block from the system, or one that was kept; null if there
 * is no memory. */
void* hone_kernel_allocate_block(int64_t bytes);
void hone_kernel_free_block(void* memory);

/* Returns the index of the first of the features that this processor, or its
 * operating system, lacks; -1 if there is none. */
int32_t hone_kernel_missing_feature(const char* const* features, int32_t count);
/* Returns 1 if hone_kernel_missing_feature knows this name of LLVM's: those of
 * instructions that LLVM chooses by itself. It takes other features for
 * present. */
int32_t hone_kernel_is_known_feature(const char* name);

/* Returns HONE_ERROR_ALIAS unless results are disjoint from each other, from
 * `workspace`, and from arguments that are not allowed to be the same. */
int32_t hone_kernel_check_aliases(const hone_info* info,
                                  const void* const* arguments,
                                  void* const* results, const void* workspace,
                                  int64_t workspace_bytes);

/* Makes text the message of this thread's last error; returns `code`. */
__attribute__((format(printf, 2, 3))) int32_t hone_kernel_error(
    int32_t code, const char* format, ...);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* HONE_BACKENDS_CPU_KERNEL_CALL_H_ */
