#include "tuning/tasks/tpu_kernel_times.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/status_macros.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"

namespace hone::tuning {
namespace {

// Returns a hash of the nodes of a kernel, and of those whose arrays in memory
// are swapped.
Hash128 HashOf(absl::Span<const hlo::FusionIndex> members,
               absl::Span<const hlo::FusionIndex> operands,
               absl::Span<const uint8_t> layouts) {
  std::vector<hlo::FusionIndex> key(members.begin(), members.end());
  key.push_back(-1);
  const auto add_if_swapped = [&](hlo::FusionIndex node) {
    if (layouts[static_cast<size_t>(node)] != 0) key.push_back(node);
  };
  add_if_swapped(members.back());
  const size_t first = key.size();
  for (const hlo::FusionIndex operand : operands) add_if_swapped(operand);
  std::sort(key.begin() + static_cast<std::ptrdiff_t>(first), key.end());
  return FastHash(absl::string_view(reinterpret_cast<const char*>(key.data()),
                                    key.size() * sizeof(hlo::FusionIndex)));
}

// A time, or the error of something that is none.
absl::StatusOr<double> Checked(absl::StatusOr<double> time) {
  if (!time.ok() || (*time >= 0 && std::isfinite(*time))) return time;
  return absl::FailedPreconditionError(
      absl::StrCat("takes ", *time, " ns, expected a time"));
}

}  // namespace

KernelTimer TimeOneByOne(
    std::function<absl::StatusOr<double>(const hlo::Module& kernel)> time,
    std::function<bool()> stop) {
  return [time = std::move(time),
          stop = std::move(stop)](absl::Span<const hlo::Module> kernels)
             -> absl::StatusOr<std::vector<absl::StatusOr<double>>> {
    std::vector<absl::StatusOr<double>> times;
    times.reserve(kernels.size());
    for (const hlo::Module& kernel : kernels) {
      if (stop && stop()) return absl::CancelledError("timing was stopped");
      times.push_back(time(kernel));
    }
    return times;
  };
}

void TpuKernelTimes::Forget() {
  absl::MutexLock lock(&mutex_);
  by_nodes_.clear();
  by_kernel_.clear();
}

size_t TpuKernelTimes::Batch::Add(absl::Span<const hlo::FusionIndex> members,
                                  absl::Span<const hlo::FusionIndex> operands,
                                  absl::Span<const uint8_t> layouts) {
  const Hash128 hash = HashOf(members, operands, layouts);
  const auto added = by_nodes_.find(hash);
  if (added != by_nodes_.end()) return added->second;
  {
    absl::MutexLock lock(&times_.mutex_);
    const auto known = times_.by_nodes_.find(hash);
    if (known != times_.by_nodes_.end()) {
      results_.push_back(known->second);
      return results_.size() - 1;
    }
  }
  absl::StatusOr<hlo::Module> kernel =
      hlo::MakeKernel(times_.space_, members, layouts);
  size_t number = results_.size();
  if (kernel.ok()) {
    number = Add(*std::move(kernel));
  } else {
    results_.push_back(kernel.status());
  }
  by_nodes_.emplace(hash, number);
  return number;
}

size_t TpuKernelTimes::Batch::Add(hlo::Module kernel) {
  const Hash128 hash = hlo::FastFingerprint(kernel);
  const auto added = by_kernel_.find(hash);
  if (added != by_kernel_.end()) return added->second;
  const size_t number = results_.size();
  {
    absl::MutexLock lock(&times_.mutex_);
    const auto known = times_.by_kernel_.find(hash);
    if (known != times_.by_kernel_.end()) {
      results_.push_back(known->second);
      return number;
    }
  }
  results_.push_back(absl::UnknownError("was not asked for"));
  kernels_.push_back(std::move(kernel));
  unknown_.push_back(hash);
  by_kernel_.emplace(hash, number);
  return number;
}

absl::Status TpuKernelTimes::Batch::Ask() {
  std::vector<absl::StatusOr<double>> times;
  if (!kernels_.empty()) {
    HONE_ASSIGN_OR_RETURN(times, times_.timer_(kernels_));
    if (times.size() != kernels_.size()) {
      return absl::InternalError(absl::StrCat(
          times.size(), " times of kernels, expected ", kernels_.size()));
    }
  }
  absl::MutexLock lock(&times_.mutex_);
  for (size_t i = 0; i < times.size(); ++i) {
    absl::StatusOr<double>& result = results_[by_kernel_.at(unknown_[i])];
    result = Checked(std::move(times[i]));
    times_.by_kernel_.emplace(unknown_[i], result);
  }
  for (const auto& [hash, number] : by_nodes_) {
    times_.by_nodes_.emplace(hash, results_[number]);
  }
  kernels_.clear();
  unknown_.clear();
  by_nodes_.clear();
  by_kernel_.clear();
  return absl::OkStatus();
}

}  // namespace hone::tuning
