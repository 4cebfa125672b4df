#define _GNU_SOURCE

#include "backends/cpu/kernel_runtime.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "backends/cpu/kernel_call.h"

/* ---- Threads ------------------------------------------------------------ */

/* Iterations of waiting before a thread goes to sleep: some hundred
 * microseconds, about what waking a thread on an idle core can take. */
enum { kSpins = 4000, kMaxThreads = 1024 };

/* Times that a caller offers its core to others before it sleeps until the
 * workers are done: milliseconds. Who sleeps is woken on the core of the worker
 * that was last, where Linux takes the idle cores to be gone. */
enum { kYields = 4000 };

static struct {
  /* Held by the caller whose job it is. */
  pthread_mutex_t owner;
  /* Guards the counts below and going to sleep. */
  pthread_mutex_t mutex;
  pthread_cond_t work;
  pthread_cond_t done;
  int workers;
  pthread_t threads[kMaxThreads];
  /* The core of the caller, which the workers keep off; -1: not yet. */
  int callers_core;
  int sleepers;
  int caller_sleeps;
  /* The job: written before the generation is raised. */
  hone_body body;
  void* data;
  int64_t count;
  int64_t ranges;
  atomic_uint generation;
  /* Workers that have not finished with this generation. */
  atomic_int pending;
} pool = {
    .owner = PTHREAD_MUTEX_INITIALIZER,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
    .callers_core = -1,
};
static pthread_once_t fork_handler = PTHREAD_ONCE_INIT;
static atomic_int thread_count; /* 0: not asked yet */

static void Pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static void RunRange(int64_t range) {
  /* As equal as can be, and the same ones in every run. */
  const int64_t size = pool.count / pool.ranges;
  const int64_t larger = pool.count % pool.ranges;
  const int64_t begin = range * size + (range < larger ? range : larger);
  pool.body(pool.data, begin, begin + size + (range < larger));
}

static void* Work(void* argument) {
  const uint64_t start = (uint64_t)(uintptr_t)argument;
  const int64_t range = (int64_t)(start % kMaxThreads);
  unsigned seen = (unsigned)(start / kMaxThreads);
  hone_kernel_set_own_thread_value(kThreadInsideBody, &pool);
  for (;;) {
    int spins = 0;
    while (atomic_load_explicit(&pool.generation, memory_order_acquire) ==
               seen &&
           spins < kSpins) {
      ++spins;
      Pause();
    }
    if (spins == kSpins) {
      pthread_mutex_lock(&pool.mutex);
      ++pool.sleepers;
      while (atomic_load_explicit(&pool.generation, memory_order_acquire) ==
             seen) {
        pthread_cond_wait(&pool.work, &pool.mutex);
      }
      --pool.sleepers;
      pthread_mutex_unlock(&pool.mutex);
    }
    seen = atomic_load_explicit(&pool.generation, memory_order_acquire);
    if (range < pool.ranges) RunRange(range);
    if (atomic_fetch_sub_explicit(&pool.pending, 1, memory_order_acq_rel) ==
        1) {
      pthread_mutex_lock(&pool.mutex);
      if (pool.caller_sleeps) pthread_cond_signal(&pool.done);
      pthread_mutex_unlock(&pool.mutex);
    }
  }
  return NULL;
}

static void InitPool(void) {
  pthread_mutex_init(&pool.owner, NULL);
  pthread_mutex_init(&pool.mutex, NULL);
  pthread_cond_init(&pool.work, NULL);
  pthread_cond_init(&pool.done, NULL);
  pool.workers = 0;
  pool.callers_core = -1;
  pool.sleepers = 0;
  pool.caller_sleeps = 0;
  atomic_store(&pool.generation, 0);
}

static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER;

/* No other thread is in the middle of a change of the kept blocks, and a child
 * has none of its parent's threads. */
static void BeforeFork(void) { pthread_mutex_lock(&kept_mutex); }
static void AfterForkInParent(void) { pthread_mutex_unlock(&kept_mutex); }
static void AfterForkInChild(void) {
  pthread_mutex_init(&kept_mutex, NULL);
  InitPool();
}

/* The function that pthread_atfork calls, which is not in the shared C library.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void* library);

static void InstallForkHandler(void) {
  __register_atfork(BeforeFork, AfterForkInParent, AfterForkInChild, NULL);
}

/* Starts workers until there are `wanted`; returns how many there are then.
 * They are told which range is theirs and which generation is over already. */
static int StartWorkers(int wanted) {
  pthread_once(&fork_handler, InstallForkHandler);
  const uint64_t seen = atomic_load(&pool.generation);
  while (pool.workers < wanted) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const uint64_t start = seen * kMaxThreads + (uint64_t)(pool.workers + 1);
    const int failed =
        pthread_create(&thread, &attributes, Work, (void*)(uintptr_t)start);
    pthread_attr_destroy(&attributes);
    if (failed) break;
    pool.threads[pool.workers++] = thread;
    pool.callers_core = -1;
  }
  return pool.workers;
}

/* Keeps the workers off the caller's core, if there are cores enough. Linux
 * wakes a thread on the core of the one that wakes it where it takes the other
 * cores to be gone, as it does with the idle ones of a virtual machine; caller
 * and worker would then take turns until the load is balanced, milliseconds
 * later. */
static void KeepOffCallersCore(void) {
  const int core = sched_getcpu();
  if (core == pool.callers_core) return;
  pool.callers_core = core;
  cpu_set_t cores;
  if (core < 0 || sched_getaffinity(0, sizeof(cores), &cores) != 0 ||
      CPU_COUNT(&cores) <= pool.workers) {
    return;
  }
  CPU_CLR(core, &cores);
  for (int i = 0; i < pool.workers; ++i) {
    pthread_setaffinity_np(pool.threads[i], sizeof(cores), &cores);
  }
}

static void SetThreads(int32_t threads) {
  if (threads < 1) threads = 1;
  if (threads > kMaxThreads) threads = kMaxThreads;
  atomic_store(&thread_count, threads);
}

static int32_t Threads(void) {
  int32_t threads = atomic_load(&thread_count);
  if (threads > 0) return threads;
  const char* wanted = getenv("HONE_THREADS");
  if (wanted != NULL) threads = atoi(wanted);
  cpu_set_t set;
  if (threads < 1 && sched_getaffinity(0, sizeof(set), &set) == 0) {
    threads = CPU_COUNT(&set);
  }
  SetThreads(threads);
  return atomic_load(&thread_count);
}

static void ParallelFor(hone_body body, void* data, int64_t count,
                        int32_t threads) {
  int64_t ranges = threads < kMaxThreads ? threads : kMaxThreads;
  if (ranges > count) ranges = count;
  /* One job at a time: callers that meet another one's do theirs alone. */
  if (ranges <= 1 || hone_kernel_own_thread_value(kThreadInsideBody) != NULL ||
      pthread_mutex_trylock(&pool.owner) != 0) {
    body(data, 0, count);
    return;
  }
  const int workers = StartWorkers((int)ranges - 1);
  if (ranges > workers + 1) ranges = workers + 1;
  KeepOffCallersCore();
  pool.body = body;
  pool.data = data;
  pool.count = count;
  pool.ranges = ranges;
  atomic_store_explicit(&pool.pending, workers, memory_order_relaxed);
  pthread_mutex_lock(&pool.mutex);
  atomic_fetch_add_explicit(&pool.generation, 1, memory_order_release);
  if (pool.sleepers > 0) pthread_cond_broadcast(&pool.work);
  pthread_mutex_unlock(&pool.mutex);

  hone_kernel_set_own_thread_value(kThreadInsideBody, &pool);
  RunRange(0);
  hone_kernel_set_own_thread_value(kThreadInsideBody, NULL);
  for (int spins = 0; spins < kSpins; ++spins) {
    if (atomic_load_explicit(&pool.pending, memory_order_acquire) == 0) break;
    Pause();
  }
  for (int yields = 0; yields < kYields; ++yields) {
    if (atomic_load_explicit(&pool.pending, memory_order_acquire) == 0) break;
    sched_yield();
  }
  /* Also waits for the last worker to be done with the mutex. */
  pthread_mutex_lock(&pool.mutex);
  pool.caller_sleeps = 1;
  while (atomic_load_explicit(&pool.pending, memory_order_acquire) > 0) {
    pthread_cond_wait(&pool.done, &pool.mutex);
  }
  pool.caller_sleeps = 0;
  pthread_mutex_unlock(&pool.mutex);
  pthread_mutex_unlock(&pool.owner);
}

/* The pool of the process: that of the first library which asked. Its functions
 * are those of that library, so that libraries of different versions of Hone
 * share it; another layout of these needs another name of the symbol. */
typedef struct Pool {
  void (*parallel_for)(hone_body body, void* data, int64_t count,
                       int32_t threads);
  void (*set_threads)(int32_t threads);
  int32_t (*threads)(void);
  void* (*thread_value)(int32_t which);
  int32_t (*set_thread_value)(int32_t which, void* value);
} Pool;

static const Pool own_pool = {ParallelFor, SetThreads, Threads,
                              hone_kernel_own_thread_value,
                              hone_kernel_set_own_thread_value};

/* The dynamic linker makes unique symbols one in a process, even those of
 * libraries that were loaded with RTLD_LOCAL. No compiler of C defines them. */
__asm__(
    ".pushsection .bss.hone_process_pool_2, \"aw\", %nobits\n"
    ".globl hone_process_pool_2\n"
    ".type hone_process_pool_2, %gnu_unique_object\n"
    ".size hone_process_pool_2, 8\n"
    ".balign 8\n"
    "hone_process_pool_2: .zero 8\n"
    ".popsection\n");
extern __attribute__((
    visibility("default"))) _Atomic(const Pool*) hone_process_pool_2;

static const Pool* ProcessPool(void) {
  const Pool* first =
      atomic_load_explicit(&hone_process_pool_2, memory_order_acquire);
  if (first != NULL) return first;
  return atomic_compare_exchange_strong(&hone_process_pool_2, &first, &own_pool)
             ? &own_pool
             : first;
}

void hone_kernel_pool_parallel_for(hone_body body, void* data, int64_t count,
                                   int32_t threads) {
  if (count > 0) ProcessPool()->parallel_for(body, data, count, threads);
}

/* The function here that exported shared objects export, too. */
__attribute__((visibility("default"))) void hone_kernel_set_threads(
    int32_t threads) {
  ProcessPool()->set_threads(threads);
}

int32_t hone_kernel_threads(void) { return ProcessPool()->threads(); }

void* hone_kernel_thread_value(int32_t which) {
  return ProcessPool()->thread_value(which);
}

int32_t hone_kernel_set_thread_value(int32_t which, void* value) {
  return ProcessPool()->set_thread_value(which, value);
}

/* ---- Blocks ------------------------------------------------------------- */

enum { kAlignment = 64, kMaxKept = 16 };

/* In front of every block. */
typedef struct Header {
  int64_t bytes;
  struct Header* next; /* of the blocks that are kept, newest first */
} Header;
_Static_assert(sizeof(Header) <= kAlignment, "blocks would not be aligned");

static Header* kept;

void* hone_kernel_allocate_block(int64_t bytes) {
  if (bytes < 1) bytes = 1;
  if (bytes > INT64_MAX - 2 * kAlignment) return NULL;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  pthread_once(&fork_handler, InstallForkHandler);
  pthread_mutex_lock(&kept_mutex);
  Header* block = NULL;
  for (Header** at = &kept; *at != NULL; at = &(*at)->next) {
    /* Much larger ones are left to those who need them. */
    if ((*at)->bytes >= bytes && (*at)->bytes / 2 <= bytes) {
      block = *at;
      *at = block->next;
      break;
    }
  }
  pthread_mutex_unlock(&kept_mutex);
  if (block == NULL) {
    block = aligned_alloc(kAlignment, (size_t)bytes + kAlignment);
    if (block == NULL) return NULL;
    block->bytes = bytes;
  }
  return (char*)block + kAlignment;
}

void hone_kernel_free_block(void* memory) {
  if (memory == NULL) return;
  Header* block = (Header*)((char*)memory - kAlignment);
  Header* dropped = NULL;
  pthread_mutex_lock(&kept_mutex);
  block->next = kept;
  kept = block;
  int blocks = 0;
  for (Header** at = &kept; *at != NULL; at = &(*at)->next) {
    if (++blocks > kMaxKept) {
      dropped = *at;
      *at = NULL;
      break;
    }
  }
  pthread_mutex_unlock(&kept_mutex);
  free(dropped);
}
