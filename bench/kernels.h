#ifndef HONE_BENCH_KERNELS_H_
#define HONE_BENCH_KERNELS_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct KernelsOptions {
  // Folder of the suite: suite.json, and NAME.hlo for each kernel of it.
  std::string suite = "bench/data/kernels";
  // Regular expression that a kernel's name must match; empty: all.
  std::string only;
  std::vector<int32_t> threads = {1, 2};
  // Of the search that tunes each kernel; 0: default schedules only.
  int64_t trials = 64;
  std::string optimizer = "greedy";
  uint64_t seed = 0;
  // Where the shared objects go: DIR/THREADS/{default,tuned}/NAME.so.
  std::string objects = "build/kernels";
  // A Python that has jax and torch; empty: peers are left out.
  std::string python = ".venv/bin/python";
  // Of samples of each kernel beside its peers; even.
  int32_t rounds = 22;
};

// Kernels by their default schedules and tuned, beside PyTorch and XLA:CPU: how
// long compiling and tuning takes, then the table of bench/kernels/README.md,
// whose script times all of them in one process.
// It measures in processes of `hone`, so this has to be that program.
absl::StatusOr<nlohmann::ordered_json> RunKernelsBench(
    const KernelsOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_KERNELS_H_
