#include "tests/backends/cluster_sim/step_by_definition.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace hone::testing {

using backends::StepResult;
using graphs::DeviceTimes;
using graphs::KernelGraph;
using graphs::KernelIndex;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Interval {
  double begin = kNever;
  double end = kNever;
};
struct Copy {
  KernelIndex kernel;
  int32_t to;
  double bytes = 0;
  Interval time = {};
};

class Step {
 public:
  Step(const KernelGraph& kernels, const DeviceTimes& times,
       absl::Span<const int32_t> devices, absl::Span<const uint64_t> priorities)
      : kernels_(kernels),
        times_(times),
        devices_(devices),
        priorities_(priorities),
        runs_(kernels.size()),
        is_done_(kernels.size()) {
    StartKernelsWithoutTime();
    for (;;) {
      // What ends next: kernels before copies, by node and device.
      using Order = std::tuple<double, bool, KernelIndex, int32_t>;
      Order next = {kNever, false, 0, 0};
      for (KernelIndex kernel = 0; kernel < kernels_.size(); ++kernel) {
        if (is_done_[kernel]) continue;
        next = std::min(next, Order{runs_[kernel].end, false, kernel, 0});
      }
      for (const Copy& copy : copies_) {
        if (has_come_.contains({copy.kernel, copy.to})) continue;
        next = std::min(next, Order{copy.time.end, true, copy.kernel, copy.to});
      }
      // Idle devices start kernels once nothing else ends at this time.
      if (std::get<0>(next) > now_ && StartKernels()) continue;
      if (std::get<0>(next) == kNever) break;
      now_ = std::get<0>(next);
      if (std::get<1>(next)) {
        has_come_.insert({std::get<2>(next), std::get<3>(next)});
      } else {
        is_done_[std::get<2>(next)] = true;
        SendCopies(std::get<2>(next));
      }
      StartCopies();
      StartKernelsWithoutTime();
    }
  }

  StepResult Result() const {
    StepResult result;
    result.seconds = now_;
    for (int32_t device = 0; device < times_.device_count(); ++device) {
      const double peak = WeightsOn(device) + PeakOn(device);
      const double lacks = peak - times_.memory_bytes(device);
      result.peak_bytes.push_back(peak);
      if (lacks <= 0) continue;
      result.excess_bytes += lacks;
      result.worst_excess =
          std::max(result.worst_excess, lacks / times_.memory_bytes(device));
    }
    return result;
  }

 private:
  double Seconds(KernelIndex kernel) const {
    return kernels_.Seconds(kernel, times_.kind_of(devices_[kernel]));
  }
  bool IsReady(KernelIndex kernel) const {
    if (runs_[kernel].begin != kNever) return false;
    return std::ranges::all_of(kernels_.inputs(kernel), [&](KernelIndex input) {
      return devices_[input] == devices_[kernel]
                 ? bool{is_done_[input]}
                 : has_come_.contains({input, devices_[kernel]});
    });
  }

  void StartKernelsWithoutTime() {
    for (KernelIndex kernel = 0; kernel < kernels_.size(); ++kernel) {
      if (Seconds(kernel) == 0 && IsReady(kernel)) runs_[kernel] = {now_, now_};
    }
  }

  // Returns whether any has started.
  bool StartKernels() {
    bool any = false;
    for (int32_t device = 0; device < times_.device_count(); ++device) {
      bool busy = false;
      KernelIndex best = KernelGraph::kFused;
      for (KernelIndex kernel = 0; kernel < kernels_.size(); ++kernel) {
        if (devices_[kernel] != device || Seconds(kernel) == 0) continue;
        busy |= runs_[kernel].begin != kNever && !is_done_[kernel];
        if (!IsReady(kernel)) continue;
        if (best == KernelGraph::kFused ||
            priorities_[kernel] > priorities_[best]) {
          best = kernel;
        }
      }
      if (busy || best == KernelGraph::kFused) continue;
      runs_[best] = {now_, now_ + Seconds(best)};
      any = true;
    }
    return any;
  }

  void SendCopies(KernelIndex kernel) {
    std::map<int32_t, double> bytes;
    for (const KernelGraph::Use& use : kernels_.uses(kernel)) {
      const int32_t to = devices_[use.kernel];
      if (to != devices_[kernel]) bytes[to] = std::max(bytes[to], use.bytes);
    }
    for (const auto& [to, most] : bytes) copies_.push_back({kernel, to, most});
  }

  // In the order in which their kernels finished.
  void StartCopies() {
    std::set<std::pair<int32_t, int32_t>> busy;
    for (Copy& copy : copies_) {
      if (has_come_.contains({copy.kernel, copy.to})) continue;
      const int32_t from = devices_[copy.kernel];
      const bool is_first = busy.insert({from, copy.to}).second;
      if (is_first && copy.time.begin == kNever) {
        copy.time = {now_,
                     now_ + times_.TransferSeconds(from, copy.to, copy.bytes)};
      }
    }
  }

  double WeightsOn(int32_t device) const {
    double bytes = 0;
    for (const KernelGraph::Weights& weights : kernels_.weights()) {
      const bool is_here = std::ranges::any_of(
          weights.kernels,
          [&](KernelIndex k) { return devices_[k] == device; });
      if (is_here) bytes += weights.bytes;
    }
    return bytes;
  }

  // The most memory of results and copies at a time.
  double PeakOn(int32_t device) const {
    std::vector<std::pair<Interval, double>> held;
    // When the last kernel on the device that reads a result has finished.
    const auto last_use = [&](KernelIndex kernel) {
      double last = 0;
      for (const KernelGraph::Use& use : kernels_.uses(kernel)) {
        if (devices_[use.kernel] != device) continue;
        last = std::max(last, runs_[use.kernel].end);
      }
      return last;
    };
    for (KernelIndex kernel = 0; kernel < kernels_.size(); ++kernel) {
      if (devices_[kernel] != device) continue;
      double end = last_use(kernel);
      for (const Copy& copy : copies_) {
        if (copy.kernel == kernel) end = std::max(end, copy.time.end);
      }
      if (kernels_.is_output(kernel) || kernels_.uses(kernel).empty()) {
        end = now_;
      }
      held.push_back(
          {{runs_[kernel].begin, end}, kernels_.output_bytes(kernel)});
    }
    for (const Copy& copy : copies_) {
      if (copy.to != device) continue;
      held.push_back({{copy.time.begin, last_use(copy.kernel)}, copy.bytes});
    }
    double peak = 0;
    for (const auto& [at, size_then] : held) {
      if (size_then == 0) continue;
      double bytes = 0;
      for (const auto& [time, size] : held) {
        if (time.begin <= at.begin && at.begin < time.end) bytes += size;
      }
      peak = std::max(peak, bytes);
    }
    return peak;
  }

  const KernelGraph& kernels_;
  const DeviceTimes& times_;
  const absl::Span<const int32_t> devices_;
  const absl::Span<const uint64_t> priorities_;
  double now_ = 0;
  std::vector<Interval> runs_;  // of kernels
  std::vector<bool> is_done_;
  std::vector<Copy> copies_;
  std::set<std::pair<KernelIndex, int32_t>> has_come_;
};

}  // namespace

StepResult StepByDefinition(const KernelGraph& kernels,
                            const DeviceTimes& times,
                            absl::Span<const int32_t> devices,
                            absl::Span<const uint64_t> priorities) {
  return Step(kernels, times, devices, priorities).Result();
}

}  // namespace hone::testing
