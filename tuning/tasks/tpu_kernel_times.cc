#include "tuning/tasks/tpu_kernel_times.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/status_macros.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"

namespace hone::tuning {

absl::StatusOr<double> TpuKernelTimes::Of(
    absl::Span<const hlo::FusionIndex> members,
    absl::Span<const hlo::FusionIndex> operands,
    absl::Span<const uint8_t> layouts) {
  // The nodes, then those whose arrays in memory are swapped.
  std::vector<hlo::FusionIndex> key(members.begin(), members.end());
  key.push_back(-1);
  const auto add_if_swapped = [&](hlo::FusionIndex node) {
    if (layouts[static_cast<size_t>(node)] != 0) key.push_back(node);
  };
  add_if_swapped(members.back());
  const size_t first = key.size();
  for (const hlo::FusionIndex operand : operands) add_if_swapped(operand);
  std::sort(key.begin() + static_cast<std::ptrdiff_t>(first), key.end());
  const Hash128 hash =
      FastHash(absl::string_view(reinterpret_cast<const char*>(key.data()),
                                 key.size() * sizeof(hlo::FusionIndex)));
  {
    absl::MutexLock lock(&mutex_);
    const auto it = by_nodes_.find(hash);
    if (it != by_nodes_.end()) return it->second;
  }
  const absl::StatusOr<hlo::Module> kernel =
      hlo::MakeKernel(space_, members, layouts);
  const absl::StatusOr<double> time =
      kernel.ok() ? Of(*kernel) : kernel.status();
  absl::MutexLock lock(&mutex_);
  by_nodes_.emplace(hash, time);
  return time;
}

absl::StatusOr<double> TpuKernelTimes::Of(const hlo::Module& kernel) {
  const Hash128 hash = hlo::FastFingerprint(kernel);
  {
    absl::MutexLock lock(&mutex_);
    const auto it = by_kernel_.find(hash);
    if (it != by_kernel_.end()) return it->second;
  }
  absl::StatusOr<double> time = timer_(kernel);
  if (time.ok() && !(*time >= 0 && std::isfinite(*time))) {
    time = absl::FailedPreconditionError(
        absl::StrCat("takes ", *time, " ns, expected a time"));
  }
  absl::MutexLock lock(&mutex_);
  by_kernel_.emplace(hash, time);
  return time;
}

void TpuKernelTimes::Forget() {
  absl::MutexLock lock(&mutex_);
  by_nodes_.clear();
  by_kernel_.clear();
}

}  // namespace hone::tuning
