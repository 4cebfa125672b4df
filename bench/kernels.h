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
  // The folder of the suite: suite.json, and NAME.hlo for each of its kernels.
  std::string suite = "bench/data/kernels";
  // A regular expression that kernel names must match; empty: all.
  std::string only;
  std::vector<int32_t> threads = {1, 2};
  // The budget, optimizer and seed of the search that tunes each kernel; 0
  // trials: default schedules only.
  int64_t trials = 64;
  std::string optimizer = "greedy";
  uint64_t seed = 0;
  // The folder DIR of shared objects, DIR/THREADS/{default,tuned}/NAME.so.
  std::string objects = "build/kernels";
  // A Python interpreter with jax and torch; empty: no peers.
  std::string python = ".venv/bin/python";
  // The number of undisturbed samples of each kernel beside its peers; even, at
  // least 6.
  int32_t rounds = 22;
  // With torch.compile among the peers; it needs a C++ compiler.
  bool compile = false;
};

// Times kernels with default and tuned schedules beside PyTorch and XLA:CPU:
// compilation and tuning times, then the table of bench/kernels/README.md,
// whose script times all of them in one process. Measures in child processes of
// `hone`, so the caller must be that program.
absl::StatusOr<nlohmann::ordered_json> RunKernelsBench(
    const KernelsOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_KERNELS_H_
