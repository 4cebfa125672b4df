/* Loops that measure what this machine can do, for the roofline beside which
 * kernels are shown; they are compiled for the host when they are needed.
 * Vectors are of the widest kind that the compiler has registers for. Every
 * function repeats its work `repeats` times; `bytes` are multiples of 64 and
 * pointers aligned to it. */

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif

typedef float Floats __attribute__((vector_size(4 * WIDTH)));
typedef int32_t Integers __attribute__((vector_size(4 * WIDTH)));

static volatile float sink;

static void keep(Floats value) {
  float sum = 0;
  for (int i = 0; i < WIDTH; ++i) sum += value[i];
  sink = sum;
}

int32_t vector_floats(void) { return WIDTH; }

/* An entry of the exported C interface that does nothing. */
void empty_entry(const void* const* arguments, void* const* results) {
  (void)arguments;
  (void)results;
}

/* 12 chains of multiply-adds that do not wait for each other, which hides a
 * latency of 4 cycles on three ports; 24 WIDTH flops a repeat. */
void multiply_add(int64_t repeats) {
  Floats sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = (Floats){} + (i + 2.0f);
  const Floats factor = (Floats){} + 0.999f, term = (Floats){} + 1e-3f;
  for (int64_t r = 0; r < repeats; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sum[i] = sum[i] * factor + term;
  }
  for (int i = 0; i < 12; ++i) keep(sum[i]);
}

void read_memory(const void* source, int64_t bytes, int64_t repeats) {
  const Floats* from = source;
  const int64_t count = bytes / sizeof(Floats) / 4 * 4;
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

void write_memory(void* target, int64_t bytes, int64_t repeats) {
  Floats* to = target;
  const int64_t count = bytes / sizeof(Floats);
  for (int64_t r = 0; r < repeats; ++r) {
    const Floats value = (Floats){} + (float)r;
    for (int64_t i = 0; i < count; ++i) to[i] = value;
    __asm__ volatile("" : : : "memory");
  }
}

void copy_memory(const void* source, void* target, int64_t bytes,
                 int64_t repeats) {
  const Floats* from = source;
  Floats* to = target;
  const int64_t count = bytes / sizeof(Floats);
  for (int64_t r = 0; r < repeats; ++r) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    __asm__ volatile("" : : : "memory");
  }
}

/* The library's functions, which go past the caches where that is faster. */
void copy_by_library(const void* source, void* target, int64_t bytes,
                     int64_t repeats) {
  for (int64_t r = 0; r < repeats; ++r) {
    memcpy(target, source, bytes);
    __asm__ volatile("" : : : "memory");
  }
}

void write_by_library(void* target, int64_t bytes, int64_t repeats) {
  for (int64_t r = 0; r < repeats; ++r) {
    memset(target, (int)r, bytes);
    __asm__ volatile("" : : : "memory");
  }
}

/* exp of `count` floats in the first cache by range reduction and a polynomial
 * of degree 5, about the least that a float32 transcendental costs. */
void exponential(const float* source, float* target, int64_t count,
                 int64_t repeats) {
  const Floats* from = (const Floats*)source;
  Floats* to = (Floats*)target;
  const float round = 12582912.0f; /* 1.5 * 2^23: leaves an integer below */
  for (int64_t r = 0; r < repeats; ++r) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < count / WIDTH; ++i) {
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
