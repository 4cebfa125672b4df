#ifndef HONE_BENCH_KERNEL_SEARCHES_H_
#define HONE_BENCH_KERNEL_SEARCHES_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct KernelSearchesOptions {
  // Folder of the suite: suite.json, and NAME.hlo for each kernel of it.
  std::string suite = "bench/data/kernels";
  // Regular expression that a kernel's name must match: by default kernels of
  // the classes that schedule differently, small enough for many tunings.
  std::string only =
      "gelu_tanh_127|softmax_4096|layer_norm_511|batch_norm_5|matvec_1001|"
      "matmul_256|swiglu_61|conv3x3_2x";
  std::vector<std::string> optimizers = {"random", "greedy", "beam",
                                         "annealing"};
  int64_t trials = 64;
  // Seeds 0 … seeds-1.
  int32_t seeds = 5;
  int32_t threads = 1;
};

// Searches for schedules of kernels at equal budgets: what is left of the
// default schedule's time, as confirmed in a fresh process.
// It measures in processes of `hone`, so this has to be that program.
absl::StatusOr<nlohmann::ordered_json> RunKernelSearchesBench(
    const KernelSearchesOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_KERNEL_SEARCHES_H_
