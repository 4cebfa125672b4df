#include <stddef.h>
#include <string.h>

#include "backends/cpu/kernel_call.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)

/* A register of a leaf of cpuid. */
enum {
  kLeaf1Ecx,
  kLeaf1Edx,
  kLeaf7Ebx,
  kLeaf7Ecx,
  kLeaf7Edx,
  kLeaf7Sub1Eax,
  kLeaf7Sub1Edx,
  kExtendedEcx,
  kNumRegisters
};

/* State that the operating system has to save: masks of xgetbv. */
enum { kNoState = 0, kYmm = 0x6, kZmm = 0xe6, kTile = 0x60000 };

typedef struct Feature {
  const char* name;
  int8_t source; /* a register of cpuid */
  int8_t bit;
  int32_t state;
} Feature;

/* Intel's and AMD's manuals, instruction CPUID. Without what LLVM uses on
 * request only: cryptography, system instructions. */
static const Feature features[] = {
    {"cmov", kLeaf1Edx, 15, kNoState},
    {"sse", kLeaf1Edx, 25, kNoState},
    {"sse2", kLeaf1Edx, 26, kNoState},
    {"sse3", kLeaf1Ecx, 0, kNoState},
    {"ssse3", kLeaf1Ecx, 9, kNoState},
    {"sse4.1", kLeaf1Ecx, 19, kNoState},
    {"sse4.2", kLeaf1Ecx, 20, kNoState},
    {"sse4a", kExtendedEcx, 6, kNoState},
    {"popcnt", kLeaf1Ecx, 23, kNoState},
    {"movbe", kLeaf1Ecx, 22, kNoState},
    {"lzcnt", kExtendedEcx, 5, kNoState},
    {"prfchw", kExtendedEcx, 8, kNoState},
    {"bmi", kLeaf7Ebx, 3, kNoState},
    {"bmi2", kLeaf7Ebx, 8, kNoState},
    {"tbm", kExtendedEcx, 21, kNoState},
    {"gfni", kLeaf7Ecx, 8, kNoState},
    {"avx", kLeaf1Ecx, 28, kYmm},
    {"avx2", kLeaf7Ebx, 5, kYmm},
    {"fma", kLeaf1Ecx, 12, kYmm},
    {"fma4", kExtendedEcx, 16, kYmm},
    {"xop", kExtendedEcx, 11, kYmm},
    {"f16c", kLeaf1Ecx, 29, kYmm},
    {"avxvnni", kLeaf7Sub1Eax, 4, kYmm},
    {"avxifma", kLeaf7Sub1Eax, 23, kYmm},
    {"avxvnniint8", kLeaf7Sub1Edx, 4, kYmm},
    {"avxneconvert", kLeaf7Sub1Edx, 5, kYmm},
    {"avxvnniint16", kLeaf7Sub1Edx, 10, kYmm},
    {"avx512f", kLeaf7Ebx, 16, kZmm},
    {"avx512dq", kLeaf7Ebx, 17, kZmm},
    {"avx512ifma", kLeaf7Ebx, 21, kZmm},
    {"avx512cd", kLeaf7Ebx, 28, kZmm},
    {"avx512bw", kLeaf7Ebx, 30, kZmm},
    {"avx512vl", kLeaf7Ebx, 31, kZmm},
    {"avx512vbmi", kLeaf7Ecx, 1, kZmm},
    {"avx512vbmi2", kLeaf7Ecx, 6, kZmm},
    {"avx512vnni", kLeaf7Ecx, 11, kZmm},
    {"avx512bitalg", kLeaf7Ecx, 12, kZmm},
    {"avx512vpopcntdq", kLeaf7Ecx, 14, kZmm},
    {"avx512fp16", kLeaf7Edx, 23, kZmm},
    {"avx512bf16", kLeaf7Sub1Eax, 5, kZmm},
    {"amx-tile", kLeaf7Edx, 24, kTile},
    {"amx-bf16", kLeaf7Edx, 22, kTile},
    {"amx-int8", kLeaf7Edx, 25, kTile},
    {"amx-fp16", kLeaf7Sub1Eax, 21, kTile},
    {"amx-complex", kLeaf7Sub1Edx, 8, kTile},
};

static const Feature* Find(const char* name) {
  for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); ++i) {
    if (strcmp(features[i].name, name) == 0) return &features[i];
  }
  return NULL;
}

/* Reads the registers that the table names; those of leaves that the processor
 * does not have are zero. Returns the mask of xgetbv. */
static uint64_t ReadRegisters(uint32_t registers[kNumRegisters]) {
  memset(registers, 0, kNumRegisters * sizeof(registers[0]));
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    registers[kLeaf1Ecx] = c;
    registers[kLeaf1Edx] = d;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    const uint32_t last_subleaf = a;
    registers[kLeaf7Ebx] = b;
    registers[kLeaf7Ecx] = c;
    registers[kLeaf7Edx] = d;
    if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
      registers[kLeaf7Sub1Eax] = a;
      registers[kLeaf7Sub1Edx] = d;
    }
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) registers[kExtendedEcx] = c;
  const uint32_t has_xgetbv = 1u << 27;
  if ((registers[kLeaf1Ecx] & has_xgetbv) == 0) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

int32_t hone_kernel_missing_feature(const char* const* names, int32_t count) {
  uint32_t registers[kNumRegisters];
  const uint64_t saved = ReadRegisters(registers);
  for (int32_t i = 0; i < count; ++i) {
    const Feature* const feature = Find(names[i]);
    if (feature == NULL) continue;
    const uint64_t state = (uint64_t)feature->state;
    if ((registers[feature->source] >> feature->bit & 1) == 0 ||
        (saved & state) != state) {
      return i;
    }
  }
  return -1;
}

int32_t hone_kernel_is_known_feature(const char* name) {
  return Find(name) != NULL;
}

#else

int32_t hone_kernel_missing_feature(const char* const* names, int32_t count) {
  (void)names;
  (void)count;
  return -1;
}

int32_t hone_kernel_is_known_feature(const char* name) {
  (void)name;
  return 0;
}

#endif
