// The data set of measured kernels on this machine.

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/cost_model/cost_data_set.h"
#include "bench/cost_model/kernel_data.h"
#include "bench/cost_model/kernel_groups.h"
#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::bench {

absl::StatusOr<learning::CostTrainingSet> MakeKernelData(
    const CostDataOptions& options) {
  HONE_ASSIGN_OR_RETURN(const KernelSplit split,
                        KernelSplit::Read(options.split));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<KernelGroup> kernels,
      ReadKernelData(options.data, split, /*with_graphs=*/true));
  learning::CostTrainingSet set = {.spec = tuning::KernelCostSpec()};
  for (const KernelGroup& kernel : kernels) {
    if (kernel.part == KernelPart::kTest) continue;
    std::vector<learning::CostGroup>& side =
        kernel.part == KernelPart::kValidation ? set.validation : set.training;
    for (learning::CostGroup& group : KernelGroups(kernel)) {
      side.push_back(std::move(group));
    }
  }
  if (set.training.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.data, ": no measured kernels that are trained on by ",
        options.split));
  }
  return set;
}

}  // namespace hone::bench
