#ifndef HONE_BENCH_COMPILE_H_
#define HONE_BENCH_COMPILE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct CompileOptions {
  // Layers of the models whose training steps are compiled; at least one.
  std::vector<int32_t> layers = {2, 8, 16, 64};
  // 1 or 2.
  int32_t threads = 1;
  // Seconds after which a step counts as not compiled.
  int32_t limit = 600;
  // The file of a figure, SVG; empty: none.
  std::string figure;
  // A Python interpreter with jax.
  std::string python = ".venv/bin/python";
};

// Compiles training steps of growing size beside XLA:CPU, times both and takes
// their memory: bench/kernels/compile_times.py. The caller must be the program
// `hone`.
absl::StatusOr<nlohmann::ordered_json> RunCompileBench(
    const CompileOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_COMPILE_H_
