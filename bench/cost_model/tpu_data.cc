#include "bench/cost_model/tpu_data.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/cost_model/tpu_groups.h"
#include "bench/cost_model/tpu_samples.h"
#include "hlo/analysis/fingerprint.h"

namespace hone::bench {

absl::StatusOr<absl::flat_hash_set<Hash128>> KernelsLearnedFrom(
    const std::string& data, const FamilySplit& split) {
  absl::flat_hash_set<Hash128> kernels;
  HONE_RETURN_IF_ERROR(
      ReadTpuSamples(data, [&](const TpuSamples& line) -> absl::Status {
        if (split.test.contains(line.family)) return absl::OkStatus();
        HONE_ASSIGN_OR_RETURN(const hlo::Module kernel, ParseTpuKernel(line));
        kernels.insert(hlo::FastFingerprint(kernel));
        return absl::OkStatus();
      }));
  return kernels;
}

absl::StatusOr<std::vector<learning::CostGroup>> DrawTpuGroups(
    const std::string& data, const FamilySplit& split, int64_t samples,
    uint64_t seed) {
  std::vector<TpuSamples> lines;
  HONE_RETURN_IF_ERROR(
      ReadTpuSamples(data, [&](TpuSamples line) -> absl::Status {
        if (!split.test.contains(line.family)) lines.push_back(std::move(line));
        return absl::OkStatus();
      }));
  if (lines.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(data, ": no kernels of families that are not held out"));
  }
  Rng rng(seed);
  std::vector<learning::CostGroup> drawn;
  for (size_t i = 0; i < lines.size() && samples > 0; ++i) {
    std::swap(lines[i], lines[i + rng.Below(lines.size() - i)]);
    if (static_cast<int64_t>(lines[i].samples.size()) > samples) {
      lines[i].samples.resize(static_cast<size_t>(samples));
    }
    samples -= static_cast<int64_t>(lines[i].samples.size());
    HONE_ASSIGN_OR_RETURN(std::vector<learning::CostGroup> groups,
                          TpuGroups(lines[i]));
    for (learning::CostGroup& group : groups) drawn.push_back(std::move(group));
  }
  return drawn;
}

}  // namespace hone::bench
