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
  // The folder of the suite: suite.json, and NAME.hlo for each of its kernels.
  std::string suite = "bench/data/kernels";
  // A regular expression that kernel names must match. The default selects
  // kernels of the classes with different schedules, small enough for many
  // tunings.
  std::string only =
      "gelu_tanh_127|softmax_4096|layer_norm_511|batch_norm_5|matvec_1001|"
      "matmul_256|swiglu_61|conv3x3_2x";
  std::vector<std::string> optimizers = {"random", "greedy", "beam",
                                         "annealing"};
  // Budgets, ascending: a search goes on after each.
  std::vector<int64_t> trials = {64};
  // Seeds 0 … seeds-1.
  int32_t seeds = 5;
  int32_t threads = 1;
};

// Compares searches for kernel schedules at equal budgets, by the ratio of best
// to default time as confirmed in a fresh process, and with what the same
// confirmation makes of the default schedule itself. Measures in child
// processes of `hone`, so the caller must be that program.
absl::StatusOr<nlohmann::ordered_json> RunKernelSearchesBench(
    const KernelSearchesOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_KERNEL_SEARCHES_H_
