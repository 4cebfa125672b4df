#ifndef HONE_LOOPS_TRANSFORMS_MACHINE_H_
#define HONE_LOOPS_TRANSFORMS_MACHINE_H_

#include <cstdint>

namespace hone::loops {

// The properties of a processor that schedules depend on.
struct Machine {
  // The data caches of one core.
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  // The cache that all cores share; 0 if there is none.
  int64_t l3_bytes = 0;
  int64_t cache_line_bytes = 64;
  // The width of the widest vector register worth using, and the number of
  // them.
  int64_t vector_bytes = 32;
  int64_t vector_registers = 16;
  // True if an instruction adds two products of adjacent bf16 to an f32.
  bool has_bf16_dot = false;
  // True if instructions add two products of adjacent 16-bit integers, or four
  // of u8 and s8, to an s32.
  bool has_integer_dot = false;
  // The number of cores that a kernel may use.
  int32_t threads = 1;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_MACHINE_H_
