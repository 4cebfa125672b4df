#ifndef HONE_BENCH_KERNEL_SUITE_H_
#define HONE_BENCH_KERNEL_SUITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "backends/kernel_measurer.h"
#include "hlo/ir/module.h"
#include "storage/record.h"
#include "tuning/search.h"

namespace hone::bench {

// Returns the kernels of a suite (suite.json, and NAME.hlo for each kernel)
// whose names match the regular expression `only`; at least one. Errors:
// NotFound, InvalidArgument.
absl::StatusOr<std::vector<std::string>> KernelNames(const std::string& suite,
                                                     const std::string& only);

// Reads one kernel of a suite.
absl::StatusOr<hlo::Module> ReadKernel(const std::string& suite,
                                       const std::string& name);

struct KernelSearch {
  std::string optimizer;
  uint64_t seed = 0;
  int64_t trials = 64;
  int32_t threads = 1;
};

// Tunes the schedule of a kernel, without lookup in a cache or storage of
// results.
absl::StatusOr<storage::Record> TuneKernel(const hlo::Module& module,
                                           const KernelSearch& search,
                                           backends::KernelMeasurer& measurer);

// The same with growing budgets in place of `search.trials`: the search goes on
// after each as one does that was interrupted. Returns what it found by then,
// each confirmed by itself; its seconds are those since the budget before.
absl::StatusOr<std::vector<tuning::Found>> TuneKernelInStages(
    const hlo::Module& module, const KernelSearch& search,
    absl::Span<const int64_t> budgets, backends::KernelMeasurer& measurer);

}  // namespace hone::bench

#endif  // HONE_BENCH_KERNEL_SUITE_H_
