// The data set of simulated kernels of TPUs.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/cost_model/cost_data_set.h"
#include "bench/cost_model/tpu_groups.h"
#include "bench/cost_model/tpu_programs.h"
#include "bench/cost_model/tpu_samples.h"
#include "tuning/tasks/tile_surrogate.h"

namespace hone::bench {

absl::StatusOr<learning::CostTrainingSet> MakeTpuData(
    const CostDataOptions& options) {
  HONE_ASSIGN_OR_RETURN(const FamilySplit split,
                        ReadFamilySplit(options.split));
  learning::CostTrainingSet set = {.spec = tuning::TpuCostSpec()};
  std::string device;
  HONE_RETURN_IF_ERROR(
      ReadTpuSamples(options.data, [&](const TpuSamples& line) -> absl::Status {
        // Of several, one set of features would have several times.
        if (device.empty()) device = line.device;
        if (line.device != device) {
          return absl::InvalidArgumentError(
              absl::StrCat("a kernel of TPU ", line.device,
                           ", expected those of ", device, " alone"));
        }
        if (split.test.contains(line.family)) return absl::OkStatus();
        absl::StatusOr<std::vector<learning::CostGroup>> groups =
            TpuGroups(line);
        if (!groups.ok()) {
          return absl::InvalidArgumentError(absl::StrCat(
              "a kernel of ", line.program, ": ", groups.status().message()));
        }
        std::vector<learning::CostGroup>& side =
            split.validation.contains(line.family) ? set.validation
                                                   : set.training;
        for (learning::CostGroup& group : *groups) {
          side.push_back(std::move(group));
        }
        return absl::OkStatus();
      }));
  if (device.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.data, ": holds no kernels, expected some (hone dataset tpu)"));
  }
  if (set.training.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.data, ": no kernels of families that are not held out by ",
        options.split));
  }
  return set;
}

}  // namespace hone::bench
