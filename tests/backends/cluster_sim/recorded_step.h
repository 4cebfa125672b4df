#ifndef HONE_TESTS_BACKENDS_CLUSTER_SIM_RECORDED_STEP_H_
#define HONE_TESTS_BACKENDS_CLUSTER_SIM_RECORDED_STEP_H_

#include <cstdint>
#include <vector>

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/step/kernel_graph.h"

namespace hone::testing {

// Everything that an observer is told, in its order.
struct RecordedStep final : backends::StepObserver {
  struct Kernel {
    graphs::KernelIndex kernel;
    int32_t device;
    double begin, end;

    friend bool operator==(const Kernel&, const Kernel&) = default;
  };
  struct Transfer {
    graphs::KernelIndex kernel;
    int32_t from, to;
    double bytes, begin, end;

    friend bool operator==(const Transfer&, const Transfer&) = default;
  };
  struct Memory {
    int32_t device;
    double seconds, bytes;

    friend bool operator==(const Memory&, const Memory&) = default;
  };

  void OnKernel(graphs::KernelIndex kernel, int32_t device, double begin,
                double end) override {
    kernels.push_back({kernel, device, begin, end});
    times.push_back(begin);
  }
  void OnTransfer(graphs::KernelIndex kernel, int32_t from, int32_t to,
                  double bytes, double begin, double end) override {
    transfers.push_back({kernel, from, to, bytes, begin, end});
    times.push_back(begin);
  }
  void OnMemory(int32_t device, double seconds, double bytes) override {
    memory.push_back({device, seconds, bytes});
    times.push_back(seconds);
  }

  std::vector<Kernel> kernels;
  std::vector<Transfer> transfers;
  std::vector<Memory> memory;
  std::vector<double> times;  // of all that was told
};

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_CLUSTER_SIM_RECORDED_STEP_H_
