#define _GNU_SOURCE

#include "backends/cpu/kernel_call.h"

#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kAlignment = 64, kMaxThreads = 1024, kMessageBytes = 200 };

/* A call that runs. */
typedef struct Call {
  const hone_context* context;
  int32_t threads;
  /* Memory of bodies: `threads` slots of `thread_bytes`. */
  char* slots;
  int64_t thread_bytes;
  atomic_int has_failed;
  /* Written by the first that fails. */
  char failure[kMessageBytes];
  /* Whether a body uses the slot. */
  atomic_uchar taken[kMaxThreads];
} Call;

/* The memory that a thread allocates from while it runs a part of a call. */
typedef struct Stack {
  Call* call;
  char* begin;
  char* next;
  char* end;
  int is_body;
  /* What a failure undoes: the last of each. */
  struct Block* blocks;
  hone_kernel_cleanup* cleanups;
  /* Where this part ends if it fails. */
  jmp_buf end_of_part;
} Stack;

/* In front of memory for which the workspace has no room. */
typedef struct Block {
  struct Block* before;
  struct Block* after;
} Block;

/* Null outside of calls. */
static Stack* Current(void) { return hone_kernel_thread_value(kThreadStack); }

/* Returns 0 if the thread cannot remember it. */
static int32_t SetCurrent(Stack* stack) {
  return hone_kernel_set_thread_value(kThreadStack, stack);
}

static int64_t Aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/* ---- Memory ------------------------------------------------------------- */

void* hone_kernel_allocate(int64_t bytes) {
  Stack* const stack = Current();
  /* Nothing would be at the end of a full stack, which is no address in it. */
  if (bytes == 0) bytes = 1;
  if (stack != NULL && bytes >= 0 &&
      stack->end - stack->next >= Aligned(bytes)) {
    void* const memory = stack->next;
    stack->next += Aligned(bytes);
    return memory;
  }
  Block* const block = bytes >= 0 && bytes <= INT64_MAX - kAlignment
                           ? hone_kernel_allocate_block(bytes + kAlignment)
                           : NULL;
  if (block == NULL) {
    if (stack != NULL) hone_kernel_fail("no memory");
    return NULL;
  }
  block->before = stack != NULL ? stack->blocks : NULL;
  block->after = NULL;
  if (block->before != NULL) block->before->after = block;
  if (stack != NULL) stack->blocks = block;
  return (char*)block + kAlignment;
}

void hone_kernel_free(void* memory) {
  Stack* const stack = Current();
  char* const address = memory;
  if (stack != NULL && address >= stack->begin && address < stack->end) {
    stack->next = address;
    return;
  }
  if (memory == NULL) return;
  Block* const block = (Block*)(address - kAlignment);
  if (block->before != NULL) block->before->after = block->after;
  if (block->after != NULL) block->after->before = block->before;
  if (stack != NULL && stack->blocks == block) stack->blocks = block->before;
  hone_kernel_free_block(block);
}

/* ---- Failures ----------------------------------------------------------- */

void hone_kernel_begin_cleanup(hone_kernel_cleanup* cleanup) {
  Stack* const stack = Current();
  if (stack == NULL) return;
  cleanup->outer = stack->cleanups;
  stack->cleanups = cleanup;
}

void hone_kernel_end_cleanup(hone_kernel_cleanup* cleanup) {
  Stack* const stack = Current();
  if (stack != NULL) stack->cleanups = cleanup->outer;
}

/* Goes on at the end of the part that `stack` belongs to. The functions that
 * the part is in have not returned, so that their variables exist. */
static __attribute__((noreturn)) void EndPart(Stack* stack) {
  while (stack->cleanups != NULL) {
    hone_kernel_cleanup* const cleanup = stack->cleanups;
    stack->cleanups = cleanup->outer;
    cleanup->run(cleanup->data);
  }
  while (stack->blocks != NULL) {
    Block* const block = stack->blocks;
    stack->blocks = block->before;
    hone_kernel_free_block(block);
  }
  _longjmp(stack->end_of_part, 1);
}

static void NoteFailure(Call* call, const char* message) {
  if (atomic_exchange(&call->has_failed, 1) == 0) {
    snprintf(call->failure, kMessageBytes, "%s", message);
  }
}

void hone_kernel_fail(const char* message) {
  Stack* const stack = Current();
  if (stack == NULL) abort();
  NoteFailure(stack->call, message);
  EndPart(stack);
}

/* ---- Parallel loops ----------------------------------------------------- */

typedef struct Job {
  Call* call;
  hone_body body;
  void* data;
  int64_t count;
} Job;

/* Waits for a slot if more bodies run than there are; bodies wait for nothing
 * else, so that one ends. A range always tries the same slot first, which is
 * its own in Hone's pool. */
static int32_t TakeSlot(Call* call, int64_t begin, int64_t count) {
  const int64_t first = begin < count ? begin * call->threads / count : 0;
  for (int64_t i = first;; ++i) {
    const int32_t slot = (int32_t)(i % call->threads);
    if (atomic_exchange_explicit(&call->taken[slot], 1, memory_order_acquire) ==
        0) {
      return slot;
    }
    if (i % call->threads == call->threads - 1) sched_yield();
  }
}

/* A function of its own, as setjmp leaves variables of its caller undefined. */
static __attribute__((noinline)) void RunBodyOn(Stack* stack, const Job* job,
                                                int64_t begin, int64_t end) {
  if (_setjmp(stack->end_of_part) == 0) job->body(job->data, begin, end);
}

static void RunBody(void* data, int64_t begin, int64_t end) {
  const Job* const job = data;
  Call* const call = job->call;
  Stack stack;
  stack.call = call;
  stack.begin = stack.next = stack.end = NULL;
  stack.is_body = 1;
  stack.blocks = NULL;
  stack.cleanups = NULL;
  int32_t slot = -1;
  if (call->thread_bytes > 0) {
    slot = TakeSlot(call, begin, job->count);
    stack.begin = call->slots + slot * call->thread_bytes;
    stack.next = stack.begin;
    stack.end = stack.begin + call->thread_bytes;
  }
  Stack* const outer = Current();
  if (SetCurrent(&stack)) {
    RunBodyOn(&stack, job, begin, end);
    SetCurrent(outer);
  } else {
    NoteFailure(call, "no memory");
  }
  if (slot >= 0) {
    atomic_store_explicit(&call->taken[slot], 0, memory_order_release);
  }
}

void hone_kernel_parallel_for(hone_body body, void* data, int64_t count) {
  if (count <= 0) return;
  Stack* const stack = Current();
  if (stack == NULL) {
    hone_kernel_pool_parallel_for(body, data, count, hone_kernel_threads());
    return;
  }
  if (stack->is_body) {
    body(data, 0, count);
    return;
  }
  Call* const call = stack->call;
  Job job = {call, body, data, count};
  if (call->context->parallel_for != NULL) {
    call->context->parallel_for(call->context->parallel_for_data, RunBody, &job,
                                count);
  } else {
    hone_kernel_pool_parallel_for(RunBody, &job, count, call->threads);
  }
  if (atomic_load(&call->has_failed)) EndPart(stack);
}

/* ---- Calls -------------------------------------------------------------- */

static int32_t CheckContext(const hone_context* context) {
  if (context->struct_size != sizeof(hone_context)) {
    return hone_kernel_error(HONE_ERROR_CONTEXT,
                             "the context has struct_size %u, expected %zu",
                             context->struct_size, sizeof(hone_context));
  }
  if (context->abi_version != HONE_ABI_VERSION) {
    return hone_kernel_error(HONE_ERROR_CONTEXT,
                             "the context has abi_version %u, expected %d",
                             context->abi_version, HONE_ABI_VERSION);
  }
  const char* problem = NULL;
  if (context->threads < 0) problem = "a negative number of threads";
  if ((context->allocate == NULL) != (context->release == NULL)) {
    problem = "only one of allocate and release";
  }
  if (context->workspace_bytes < 0) problem = "negative workspace_bytes";
  if (context->workspace == NULL && context->workspace_bytes > 0) {
    problem = "workspace_bytes, but no workspace";
  }
  if (problem == NULL) return HONE_OK;
  return hone_kernel_error(HONE_ERROR_CONTEXT, "the context has %s", problem);
}

/* Arrays without elements may be null. */
static int32_t CheckPointers(const char* kind, int32_t count,
                             const hone_array* arrays,
                             const void* const* pointers, int32_t code) {
  if (count > 0 && pointers == NULL) {
    return hone_kernel_error(HONE_ERROR_NULL_ARRAY, "%ss is null, expected %d",
                             kind, count);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (pointers[i] == NULL && arrays[i].bytes > 0) {
      return hone_kernel_error(code, "%ss[%d] is null, expected %lld bytes",
                               kind, i, (long long)arrays[i].bytes);
    }
  }
  return HONE_OK;
}

static int32_t CheckProcessor(const hone_kernel_entry* entry) {
  if (__atomic_load_n(entry->is_checked, __ATOMIC_RELAXED)) return HONE_OK;
  const int32_t missing = hone_kernel_missing_feature(entry->info.features,
                                                      entry->info.num_features);
  if (missing >= 0) {
    return hone_kernel_error(HONE_ERROR_PROCESSOR,
                             "the processor has no %s, which %s uses",
                             entry->info.features[missing], entry->info.name);
  }
  __atomic_store_n(entry->is_checked, 1, __ATOMIC_RELAXED);
  return HONE_OK;
}

/* Lays out the caller's workspace. Bodies that it has no room for wait. */
static int32_t UseWorkspace(const hone_kernel_entry* entry, Call* call,
                            Stack* stack) {
  char* const begin = call->context->workspace;
  const int64_t bytes = call->context->workspace_bytes;
  const int64_t skipped = -(intptr_t)begin & (kAlignment - 1);
  const int64_t free_bytes = bytes - skipped - entry->shared_bytes;
  if (free_bytes < entry->thread_bytes) {
    return hone_kernel_error(
        HONE_ERROR_WORKSPACE,
        "the workspace has %lld bytes, expected at least %lld",
        (long long)bytes,
        (long long)(skipped + entry->shared_bytes + entry->thread_bytes));
  }
  if (entry->thread_bytes > 0 &&
      call->threads > free_bytes / entry->thread_bytes) {
    call->threads = (int32_t)(free_bytes / entry->thread_bytes);
  }
  stack->begin = begin + skipped;
  return HONE_OK;
}

/* Allocates the workspace. */
static int32_t Reserve(const hone_kernel_entry* entry, const Call* call,
                       Stack* stack, void** block) {
  const int64_t bytes =
      entry->shared_bytes + call->threads * entry->thread_bytes;
  const hone_context* const context = call->context;
  if (context->allocate != NULL) {
    *block =
        context->allocate(context->allocator_data, (size_t)bytes, kAlignment);
  } else {
    *block = hone_kernel_allocate_block(bytes);
  }
  if (*block == NULL) {
    return hone_kernel_error(HONE_ERROR_OUT_OF_MEMORY,
                             "no memory for a workspace of %lld bytes",
                             (long long)bytes);
  }
  stack->begin = *block;
  return HONE_OK;
}

static void Release(const hone_context* context, void* block) {
  if (block == NULL) return;
  if (context->release != NULL) {
    context->release(context->allocator_data, block);
  } else {
    hone_kernel_free_block(block);
  }
}

static __attribute__((noinline)) void RunOn(Stack* stack,
                                            const hone_kernel_entry* entry,
                                            const void* const* arguments,
                                            void* const* results) {
  if (_setjmp(stack->end_of_part) == 0) entry->run(arguments, results);
}

static int32_t Run(const hone_kernel_entry* entry, const hone_context* context,
                   const void* const* arguments, void* const* results) {
  Call call;
  call.context = context;
  call.thread_bytes = entry->thread_bytes;
  call.threads =
      context->threads > 0 ? context->threads : hone_kernel_threads();
  if (call.threads > kMaxThreads) call.threads = kMaxThreads;
  atomic_init(&call.has_failed, 0);
  Stack stack;
  stack.call = &call;
  stack.begin = stack.next = stack.end = NULL;
  stack.is_body = 0;
  stack.blocks = NULL;
  stack.cleanups = NULL;
  void* block = NULL;
  if (entry->shared_bytes + entry->thread_bytes > 0) {
    const int32_t error = context->workspace != NULL
                              ? UseWorkspace(entry, &call, &stack)
                              : Reserve(entry, &call, &stack, &block);
    if (error != HONE_OK) return error;
    stack.next = stack.begin;
    stack.end = stack.begin + entry->shared_bytes;
    call.slots = stack.end;
    if (entry->thread_bytes > 0) {
      memset(call.taken, 0, (size_t)call.threads * sizeof(call.taken[0]));
    }
  }
  Stack* const outer = Current();
  const int32_t can_run = SetCurrent(&stack);
  if (can_run) {
    RunOn(&stack, entry, arguments, results);
    SetCurrent(outer);
  }
  Release(context, block);
  if (!can_run) {
    return hone_kernel_error(HONE_ERROR_OUT_OF_MEMORY,
                             "no memory, or no key, for data of a thread");
  }
  if (!atomic_load(&call.has_failed)) return HONE_OK;
  return hone_kernel_error(HONE_ERROR_LIBRARY, "%s", call.failure);
}

int32_t hone_kernel_call(const hone_kernel_entry* entry,
                         const hone_context* context,
                         const void* const* arguments, void* const* results) {
  static const hone_context defaults = HONE_CONTEXT_INIT;
  const hone_info* const info = &entry->info;
  if (context == NULL) context = &defaults;
  int32_t error = CheckContext(context);
  if (error == HONE_OK) {
    error = CheckPointers("argument", info->num_arguments, info->arguments,
                          arguments, HONE_ERROR_NULL_ARGUMENT);
  }
  if (error == HONE_OK) {
    error = CheckPointers("result", info->num_results, info->results,
                          (const void* const*)results, HONE_ERROR_NULL_RESULT);
  }
  if (error == HONE_OK) error = CheckProcessor(entry);
  if (error == HONE_OK) {
    error = hone_kernel_check_aliases(
        info, arguments, results, context->workspace, context->workspace_bytes);
  }
  return error == HONE_OK ? Run(entry, context, arguments, results) : error;
}
