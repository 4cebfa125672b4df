#ifndef HONE_BACKENDS_CLUSTER_SIM_STEP_SIMULATOR_H_
#define HONE_BACKENDS_CLUSTER_SIM_STEP_SIMULATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"

namespace hone::backends {

// How a step went.
struct StepResult {
  double seconds = 0;  // until the last kernel has finished
  // The most memory in use at a time: [devices].
  std::vector<double> peak_bytes;
  // Bytes over the memory of a device, summed over devices. More than 0: the
  // placement is invalid.
  double excess_bytes = 0;
  // The share of its device's memory that the worst device lacks, at least 0.
  double worst_excess = 0;
};

// Receives what happens during a step, in the order of time.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void OnKernel(graphs::KernelIndex kernel, int32_t device,
                        double begin, double end) = 0;
  // The result of `kernel` goes from a device to another one.
  virtual void OnTransfer(graphs::KernelIndex kernel, int32_t from, int32_t to,
                          double bytes, double begin, double end) = 0;
  // The memory in use on a device from `seconds` on.
  virtual void OnMemory(int32_t device, double seconds, double bytes) = 0;
};

// Simulates one step of a program on a cluster, event by event.
//
// - A kernel is ready once all its inputs are on its device. An idle device
//   starts the ready kernel with the highest priority, ties by node. It runs
//   without preemption for KernelGraph::Seconds. A kernel that takes no time
//   runs at once, beside others.
// - When a kernel finishes, its result starts its way to every other device
//   with a kernel that reads it, once per device, with the most bytes that a
//   kernel there reads. There is a channel for each ordered pair of devices, in
//   which transfers follow each other in the order in which their kernels
//   finished, each for DeviceTimes::TransferSeconds, beside computation.
// - Weights are in memory all the time, one copy on each device with a kernel
//   that holds them. A result takes its memory from the start of its kernel
//   until the last kernel on its device that reads it, and the last transfer,
//   has finished; a copy from the start of its transfer until the last kernel
//   there that reads it has finished. A result of the program, or one that
//   nobody reads, stays. Memory that is in use for no time does not count.
// - What happens at one time: kernels that finish, by node, then transfers, by
//   node and device, as long as there are any; then idle devices start kernels,
//   in the order of the devices.
//
// Time is O(events log kernels); an event is a kernel, or a transfer.
// Threads: not thread-safe.
class StepSimulator {
 public:
  // Both outlive this.
  StepSimulator(const graphs::KernelGraph& kernels,
                const graphs::DeviceTimes& times);
  ~StepSimulator();

  // `devices`: of each kernel. `priorities`: of each kernel, higher first.
  StepResult Run(absl::Span<const int32_t> devices,
                 absl::Span<const uint64_t> priorities,
                 StepObserver* observer = nullptr);

  // The same, keeping points in time that Rerun can start from.
  StepResult RunAndRemember(absl::Span<const int32_t> devices,
                            absl::Span<const uint64_t> priorities);
  // Simulates what RunAndRemember has last simulated, with other devices or
  // priorities for `changed`, exactly as Run would: from the last point that is
  // kept before a change can matter. `devices` and `priorities` are those of
  // RunAndRemember but for `changed`.
  StepResult Rerun(absl::Span<const int32_t> devices,
                   absl::Span<const uint64_t> priorities,
                   absl::Span<const graphs::KernelIndex> changed);
  // The time at which a kernel finished in the last RunAndRemember.
  double finish(graphs::KernelIndex kernel) const;
  // Returns kernels of the last RunAndRemember, from the one that finished last
  // back to the beginning: each waited for the one that follows, for its result
  // or for its device.
  std::vector<graphs::KernelIndex> CriticalPath() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CLUSTER_SIM_STEP_SIMULATOR_H_
