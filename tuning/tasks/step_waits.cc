#include "tuning/tasks/step_waits.h"

#include <algorithm>

#include "absl/types/span.h"

namespace hone::tuning {

using graphs::KernelGraph;
using graphs::KernelIndex;

void StepWaits::Set(const StepPlan& plan, const graphs::DeviceTimes& times,
                    const backends::StepSimulator& simulator) {
  const KernelGraph& kernels = *plan.kernels;
  begin_.resize(kernels.size());
  end_.resize(kernels.size());
  waited_.assign(kernels.size(), 0);
  blocked_.assign(kernels.size(), 0);
  devices_.assign(static_cast<size_t>(times.device_count()), {});
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    end_[k] = simulator.finish(kernel);
    begin_[k] =
        end_[k] - kernels.Seconds(kernel, times.kind_of(plan.devices[k]));
  }
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    const int32_t device = plan.devices[k];
    double ready = 0;
    uint32_t number = kernels.first_input(kernel);
    for (const KernelIndex input : kernels.inputs(kernel)) {
      ready = std::max(ready, end_[input] + times.TransferSeconds(
                                                plan.devices[input], device,
                                                kernels.input_bytes(number++)));
    }
    waited_[k] = std::max(0.0, begin_[k] - ready);
  }
  order_.assign(kernels.topological_order().begin(),
                kernels.topological_order().end());
  std::stable_sort(
      order_.begin(), order_.end(),
      [&](KernelIndex a, KernelIndex b) { return end_[a] < end_[b]; });
  rank_.resize(kernels.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    rank_[order_[i]] = static_cast<uint32_t>(i);
  }
  std::vector<KernelIndex> last(devices_.size(), ~KernelIndex{0});
  for (const KernelIndex kernel : order_) {
    const auto d = static_cast<size_t>(plan.devices[kernel]);
    const double seconds = end_[kernel] - begin_[kernel];
    // What takes no time runs beside others.
    if (seconds <= 0) continue;
    Device& device = devices_[d];
    if (last[d] != ~KernelIndex{0}) {
      const KernelIndex before = last[d];
      blocked_[before] =
          std::min(end_[before] - begin_[before], waited_[kernel]);
    }
    last[d] = kernel;
    device.busy.push_back(device.busy.empty()
                              ? 0
                              : device.busy.back() + device.end.back() -
                                    device.begin.back());
    // Rounding may put it a little before the end of the last one.
    device.begin.push_back(device.end.empty()
                               ? begin_[kernel]
                               : std::max(begin_[kernel], device.end.back()));
    device.end.push_back(end_[kernel]);
  }
  const double step = order_.empty() ? 0 : end_[order_.back()];
  for (Device& device : devices_) Index(step, device);
}

void StepWaits::Index(double step_seconds, Device& device) {
  const size_t parts = device.begin.size();
  if (parts == 0) return;
  device.parts_per_second = static_cast<double>(parts) / step_seconds;
  device.first.reserve(parts + 1);
  uint32_t begun = 0;
  for (size_t part = 0; part <= parts; ++part) {
    const double time = static_cast<double>(part) / device.parts_per_second;
    while (begun < parts && device.begin[begun] < time) ++begun;
    device.first.push_back(begun);
  }
}

double StepWaits::BusyUntil(const Device& device, double time) {
  const size_t count = device.begin.size();
  if (count == 0) return 0;
  const auto part = static_cast<size_t>(std::clamp(
      time * device.parts_per_second, 0.0, static_cast<double>(count)));
  // The number of kernels that begin by then. Rounding may put a time into a
  // part beside its own.
  size_t begun = device.first[part];
  while (begun < count && device.begin[begun] <= time) ++begun;
  while (begun > 0 && device.begin[begun - 1] > time) --begun;
  if (begun == 0) return 0;
  const size_t at = begun - 1;
  return device.busy[at] + std::min(time, device.end[at]) - device.begin[at];
}

double StepWaits::Busy(int32_t device, double begin, double end) const {
  const Device& of = devices_[static_cast<size_t>(device)];
  return BusyUntil(of, end) - BusyUntil(of, begin);
}

}  // namespace hone::tuning
