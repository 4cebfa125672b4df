#ifndef HONE_LOOPS_MACHINE_H_
#define HONE_LOOPS_MACHINE_H_

#include <cstdint>

namespace hone::loops {

// What schedules need to know of the processor that a kernel is for.
struct Machine {
  // Data caches of one core.
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  // What all cores share; 0 where there is none.
  int64_t l3_bytes = 0;
  int64_t cache_line_bytes = 64;
  // Of the widest vector register worth using, and how many there are.
  int64_t vector_bytes = 32;
  int64_t vector_registers = 16;
  // Cores that a kernel may use.
  int32_t threads = 1;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_MACHINE_H_
