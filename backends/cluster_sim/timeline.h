#ifndef HONE_BACKENDS_CLUSTER_SIM_TIMELINE_H_
#define HONE_BACKENDS_CLUSTER_SIM_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/step/kernel_graph.h"

namespace hone::backends {

// Records one step: everything that the simulator reports, in the order of
// time.
class Timeline final : public StepObserver {
 public:
  struct Kernel {
    graphs::KernelIndex kernel = 0;
    int32_t device = 0;
    double begin_seconds = 0;
    double end_seconds = 0;  // begin_seconds for a kernel that takes no time

    friend bool operator==(const Kernel&, const Kernel&) = default;
  };
  // The result of `kernel` on its way to another device.
  struct Transfer {
    graphs::KernelIndex kernel = 0;
    int32_t from = 0;
    int32_t to = 0;
    double bytes = 0;
    double begin_seconds = 0;
    double end_seconds = 0;

    friend bool operator==(const Transfer&, const Transfer&) = default;
  };
  // The memory in use on `device` from `seconds` until its next sample.
  struct MemorySample {
    int32_t device = 0;
    double seconds = 0;
    double bytes = 0;

    friend bool operator==(const MemorySample&, const MemorySample&) = default;
  };

  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::vector<Transfer>& transfers() const { return transfers_; }
  const std::vector<MemorySample>& memory() const { return memory_; }

  void OnKernel(graphs::KernelIndex kernel, int32_t device, double begin,
                double end) override;
  void OnTransfer(graphs::KernelIndex kernel, int32_t from, int32_t to,
                  double bytes, double begin, double end) override;
  void OnMemory(int32_t device, double seconds, double bytes) override;

 private:
  std::vector<Kernel> kernels_;
  std::vector<Transfer> transfers_;
  std::vector<MemorySample> memory_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CLUSTER_SIM_TIMELINE_H_
