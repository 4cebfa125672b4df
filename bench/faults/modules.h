#ifndef HONE_BENCH_FAULTS_MODULES_H_
#define HONE_BENCH_FAULTS_MODULES_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace hone::bench {

// A small module; each `n` has another fingerprint.
inline std::string NumberedModule(int64_t n) {
  return absl::StrCat(
      "HloModule m", n,
      "\n\nENTRY e {\n  x = f32[4] parameter(0)\n  c = f32[] constant(", n,
      ")\n  cs = f32[4] broadcast(c), dimensions={}\n"
      "  a = f32[4] multiply(x, cs)\n  b = f32[4] multiply(x, cs)\n"
      "  dead = f32[4] negate(x)\n  ROOT sum = f32[4] add(a, b)\n}\n");
}

// A kernel; each `n` has another fingerprint.
inline std::string NumberedKernel(int64_t n) {
  return absl::StrCat(
      "HloModule m", n,
      "\n\nENTRY e {\n  x = f32[32,32] parameter(0)\n"
      "  c = f32[] constant(",
      n,
      ")\n  cs = f32[32,32] broadcast(c), dimensions={}\n"
      "  y = f32[32,32] multiply(x, cs)\n"
      "  ROOT d = f32[32,32] dot(x, y), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n}\n");
}

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_MODULES_H_
