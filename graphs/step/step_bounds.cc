#include "graphs/step/step_bounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace hone::graphs {
namespace {

double LeastSeconds(const KernelGraph& kernels, const DeviceTimes& times,
                    KernelIndex kernel) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t kind = 0; kind < times.kind_count(); ++kind) {
    least = std::min(least, kernels.Seconds(kernel, kind));
  }
  return least;
}

double LeastTransfer(const DeviceTimes& times, double bytes) {
  double least = std::numeric_limits<double>::infinity();
  for (int32_t a = 0; a < times.device_count(); ++a) {
    for (int32_t b = 0; b < times.device_count(); ++b) {
      if (a != b) least = std::min(least, times.TransferSeconds(a, b, bytes));
    }
  }
  return least;
}

// True if results join all kernels that take time.
bool HangsTogether(const KernelGraph& kernels, const DeviceTimes& times) {
  std::vector<KernelIndex> part(kernels.size());
  std::iota(part.begin(), part.end(), 0);
  const auto root = [&](KernelIndex kernel) {
    while (part[kernel] != kernel) {
      part[kernel] = part[part[kernel]];
      kernel = part[kernel];
    }
    return kernel;
  };
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      part[root(use.kernel)] = root(kernel);
    }
  }
  KernelIndex first = 0;
  bool any = false;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    if (LeastSeconds(kernels, times, kernel) == 0) continue;
    if (any && root(kernel) != root(first)) return false;
    first = kernel;
    any = true;
  }
  return any;
}

}  // namespace

double StepBounds::greatest() const {
  return std::max({critical_path, work, communication});
}

StepBounds LowerBounds(const KernelGraph& kernels, const DeviceTimes& times) {
  StepBounds bounds;
  std::vector<double> least(kernels.size());
  std::vector<double> before(kernels.size());
  std::vector<double> after(kernels.size());
  const absl::Span<const KernelIndex> order = kernels.topological_order();
  for (size_t k = 0; k < kernels.size(); ++k) {
    least[k] = LeastSeconds(kernels, times, static_cast<KernelIndex>(k));
    bounds.work += least[k] / times.device_count();
  }
  for (const KernelIndex kernel : order) {
    const double end = before[kernel] + least[kernel];
    bounds.critical_path = std::max(bounds.critical_path, end);
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      before[use.kernel] = std::max(before[use.kernel], end);
    }
  }
  for (size_t i = order.size(); i-- > 0;) {
    const KernelIndex kernel = order[i];
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      after[kernel] =
          std::max(after[kernel], after[use.kernel] + least[use.kernel]);
    }
  }
  double alone = std::numeric_limits<double>::infinity();
  for (size_t kind = 0; kind < times.kind_count(); ++kind) {
    double sum = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
      sum += kernels.Seconds(static_cast<KernelIndex>(k), kind);
    }
    alone = std::min(alone, sum);
  }
  if (times.device_count() == 1) {
    bounds.communication = alone;
    return bounds;
  }
  if (!HangsTogether(kernels, times)) return bounds;
  double sent = alone;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      sent = std::min(sent, before[k] + least[k] +
                                LeastTransfer(times, use.bytes) +
                                least[use.kernel] + after[use.kernel]);
    }
  }
  bounds.communication = sent;
  return bounds;
}

}  // namespace hone::graphs
