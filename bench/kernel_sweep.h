#ifndef HONE_BENCH_KERNEL_SWEEP_H_
#define HONE_BENCH_KERNEL_SWEEP_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct KernelSweepOptions {
  // The number of random kernels, and the seed that they depend on.
  int64_t count = 300;
  uint32_t seed = 0;
  // A regular expression that kernel names must match; empty: all.
  std::string only;
  // 1 or 2.
  int32_t threads = 1;
  // Trials of each kernel's tuning; 0: default schedules.
  int64_t trials = 0;
  // Undisturbed samples of each kernel and peer; even, at least 6.
  int32_t rounds = 6;
  // Seconds after which a kernel counts as failed.
  int32_t limit = 60;
  // With torch.compile among the peers; it needs a C++ compiler.
  bool compile = false;
  // The file that a run writes after each kernel and continues if it is there;
  // empty: none.
  std::string resume;
  // A Python interpreter with jax and torch.
  std::string python = ".venv/bin/python";
};

// Times random kernels of all classes, by their default schedules or tuned,
// beside PyTorch, XLA:CPU and NumPy: bench/kernels/kernel_sweep.py. The caller
// must be the program `hone`.
absl::StatusOr<nlohmann::ordered_json> RunKernelSweepBench(
    const KernelSweepOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_KERNEL_SWEEP_H_
