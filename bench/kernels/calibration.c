/* Loops that measure what this machine can do, for the roofline beside which
 * kernels are shown; they are compiled for the host when they are needed.
 * Vectors are of the widest kind that the compiler has registers for.
 *
 * Every loop has the type Loop: it repeats its work `repeats` times, on
 * `read` bytes of `source` and `written` bytes of `target` as far as it uses
 * them. Both are multiples of 64, and pointers are aligned to it. time_loop
 * times one on several threads. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif

typedef float Floats __attribute__((vector_size(4 * WIDTH)));
typedef int32_t Integers __attribute__((vector_size(4 * WIDTH)));
typedef void Loop(const void* source, void* target, int64_t read,
                  int64_t written, int64_t repeats);

static volatile float sink;

static void keep(Floats value) {
  float sum = 0;
  for (int i = 0; i < WIDTH; ++i) sum += value[i];
  sink = sum;
}

int32_t vector_floats(void) { return WIDTH; }

/* An entry of the exported C interface that does nothing. */
int32_t empty_entry(const void* context, const void* const* arguments,
                    void* const* results) {
  (void)context;
  (void)arguments;
  (void)results;
  return 0;
}

/* 12 chains of multiply-adds that do not wait for each other, which hides a
 * latency of 4 cycles on three ports; 24 WIDTH flops a repeat. */
void multiply_add(const void* source, void* target, int64_t read,
                  int64_t written, int64_t repeats) {
  (void)source, (void)target, (void)read, (void)written;
  Floats sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = (Floats){} + (i + 2.0f);
  const Floats factor = (Floats){} + 0.999f, term = (Floats){} + 1e-3f;
  for (int64_t r = 0; r < repeats; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sum[i] = sum[i] * factor + term;
  }
  for (int i = 0; i < 12; ++i) keep(sum[i]);
}

void read_memory(const void* source, void* target, int64_t read,
                 int64_t written, int64_t repeats) {
  (void)target, (void)written;
  const Floats* from = source;
  const int64_t count = read / sizeof(Floats) / 4 * 4;
  Floats a = {}, b = {}, c = {}, d = {};
  for (int64_t r = 0; r < repeats; ++r) {
    for (int64_t i = 0; i < count; i += 4) {
      a += from[i];
      b += from[i + 1];
      c += from[i + 2];
      d += from[i + 3];
    }
    __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d) : : "memory");
  }
  keep(a + b + c + d);
}

void write_memory(const void* source, void* target, int64_t read,
                  int64_t written, int64_t repeats) {
  (void)source, (void)read;
  Floats* to = target;
  const int64_t count = written / sizeof(Floats);
  for (int64_t r = 0; r < repeats; ++r) {
    const Floats value = (Floats){} + (float)r;
    for (int64_t i = 0; i < count; ++i) to[i] = value;
    __asm__ volatile("" : : : "memory");
  }
}

/* Copies `written` bytes; `read` is the same. */
void copy_memory(const void* source, void* target, int64_t read,
                 int64_t written, int64_t repeats) {
  (void)read;
  const Floats* from = source;
  Floats* to = target;
  const int64_t count = written / sizeof(Floats);
  for (int64_t r = 0; r < repeats; ++r) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    __asm__ volatile("" : : : "memory");
  }
}

/* Reads and writes in turns of at most 4 KiB, in the proportion of `read` to
 * `written`: what a kernel with these arguments and results does at least. */
void mixed_memory(const void* source, void* target, int64_t read,
                  int64_t written, int64_t repeats) {
  const Floats* from = source;
  Floats* to = target;
  const int64_t reads = read / sizeof(Floats);
  const int64_t writes = written / sizeof(Floats);
  const int64_t more = reads > writes ? reads : writes;
  const int64_t turns = (more * sizeof(Floats) + 4095) / 4096;
  Floats a = {}, b = {}, c = {}, d = {};
  for (int64_t r = 0; r < repeats; ++r) {
    const Floats value = (Floats){} + (float)r;
    for (int64_t turn = 0; turn < turns; ++turn) {
      int64_t i = reads * turn / turns;
      const int64_t end = reads * (turn + 1) / turns;
      for (; i + 4 <= end; i += 4) {
        a += from[i];
        b += from[i + 1];
        c += from[i + 2];
        d += from[i + 3];
      }
      for (; i < end; ++i) a += from[i];
      const int64_t last = writes * (turn + 1) / turns;
      for (int64_t j = writes * turn / turns; j < last; ++j) to[j] = value;
    }
    __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d) : : "memory");
  }
  keep(a + b + c + d);
}

/* Uses the library's functions, which bypass the caches if that is faster. */
void copy_by_library(const void* source, void* target, int64_t read,
                     int64_t written, int64_t repeats) {
  (void)read;
  for (int64_t r = 0; r < repeats; ++r) {
    memcpy(target, source, written);
    __asm__ volatile("" : : : "memory");
  }
}

void write_by_library(const void* source, void* target, int64_t read,
                      int64_t written, int64_t repeats) {
  (void)source, (void)read;
  for (int64_t r = 0; r < repeats; ++r) {
    memset(target, (int)r, written);
    __asm__ volatile("" : : : "memory");
  }
}

/* Writes exp of the floats of `source` by range reduction and a polynomial of
 * degree 5, about the least that a float32 transcendental costs. */
void exponential(const void* source, void* target, int64_t read,
                 int64_t written, int64_t repeats) {
  (void)read;
  const Floats* from = source;
  Floats* to = target;
  const int64_t count = written / sizeof(Floats);
  const float round = 12582912.0f; /* 1.5 * 2^23: leaves an integer below */
  for (int64_t r = 0; r < repeats; ++r) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < count; ++i) {
      const Floats shifted = from[i] * 1.44269504f + round;
      const Floats x = from[i] - (shifted - round) * 0.693147181f;
      Floats p = x * 8.3333333e-3f + 4.1666667e-2f;
      p = p * x + 0.16666667f;
      p = p * x + 0.5f;
      p = p * x + 1.0f;
      p = p * x + 1.0f;
      to[i] = (Floats)((Integers)p + ((Integers)shifted << 23));
    }
    __asm__ volatile("" : : : "memory");
  }
}

enum { kMostThreads = 64, kMostSlices = 16 };

int32_t most_slices(void) { return kMostSlices; }

/* State that the threads of one call of time_loop share. */
struct Team {
  int32_t threads, slices;
  atomic_int arrived; /* At all barriers so far. */
};

struct Member {
  struct Team* team;
  pthread_t thread;
  Loop* loop;
  const void* source;
  void* target;
  int64_t read, written, repeats;
  int32_t core, pinned;
  double start[kMostSlices], end[kMostSlices];
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void await_all(struct Team* team, int32_t barrier) {
  const int32_t all = team->threads * (barrier + 1);
  atomic_fetch_add(&team->arrived, 1);
  for (int64_t spins = 0; atomic_load(&team->arrived) < all; ++spins) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    /* Two threads on one core would wait for each other. */
    if (spins > 1 << 16) sched_yield();
  }
}

static void run(const struct Member* member, int64_t repeats) {
  member->loop(member->source, member->target, member->read, member->written,
               repeats);
}

static void* take_part(void* argument) {
  struct Member* member = argument;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(member->core, &set);
  member->pinned =
      pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
  /* Brings arrays into this core's caches, and its clock up. */
  run(member, member->repeats);
  for (int32_t slice = 0; slice < member->team->slices; ++slice) {
    await_all(member->team, slice);
    member->start[slice] = now();
    run(member, member->repeats);
    member->end[slice] = now();
  }
  return NULL;
}

/* Runs `loop` on `threads` threads at once, thread i pinned to cores[i] where
 * the system allows it, on arrays of its own: `slices` times, each from a
 * barrier at which the threads spin. Returns the seconds of the shortest slice,
 * from its first start to its last end; negative if there are no such threads.
 * `pinned` receives how many were. */
double time_loop(Loop* loop, int32_t threads, const int32_t* cores,
                 const void* const* sources, void* const* targets, int64_t read,
                 int64_t written, int64_t repeats, int32_t slices,
                 int32_t* pinned) {
  struct Member members[kMostThreads];
  struct Team team = {threads, slices, 0};
  *pinned = 0;
  if (threads < 1 || threads > kMostThreads) return -1;
  if (slices < 1 || slices > kMostSlices) return -1;
  int32_t started = 0;
  for (; started < threads; ++started) {
    struct Member* member = &members[started];
    member->team = &team;
    member->loop = loop;
    member->source = sources[started];
    member->target = targets[started];
    member->read = read;
    member->written = written;
    member->repeats = repeats;
    member->core = cores[started];
    if (pthread_create(&member->thread, NULL, take_part, member) != 0) break;
  }
  /* Those that did not start do not keep the others waiting. */
  atomic_fetch_add(&team.arrived, (threads - started) * slices);
  for (int32_t i = 0; i < started; ++i) {
    pthread_join(members[i].thread, NULL);
    *pinned += members[i].pinned;
  }
  if (started < threads) return -1;
  double least = -1;
  for (int32_t slice = 0; slice < slices; ++slice) {
    double start = members[0].start[slice], end = members[0].end[slice];
    for (int32_t i = 1; i < threads; ++i) {
      if (members[i].start[slice] < start) start = members[i].start[slice];
      if (members[i].end[slice] > end) end = members[i].end[slice];
    }
    if (least < 0 || end - start < least) least = end - start;
  }
  return least;
}
