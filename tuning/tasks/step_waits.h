#ifndef HONE_TUNING_TASKS_STEP_WAITS_H_
#define HONE_TUNING_TASKS_STEP_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// When the kernels of a simulated step ran, for what they waited, and when the
// devices were busy. All times in seconds.
class StepWaits {
 public:
  // `simulator` has last simulated `plan` with RunAndRemember. Time is
  // O(kernels log kernels + edges).
  void Set(const StepPlan& plan, const graphs::DeviceTimes& times,
           const backends::StepSimulator& simulator);

  double begin(graphs::KernelIndex kernel) const { return begin_[kernel]; }
  double end(graphs::KernelIndex kernel) const { return end_[kernel]; }
  // The place among all kernels in the order in which they end, of those that
  // end together in topological order: inputs before what reads them.
  uint32_t rank(graphs::KernelIndex kernel) const { return rank_[kernel]; }
  graphs::KernelIndex kernel_at(uint32_t rank) const { return order_[rank]; }
  // The time between the arrival of the last input, had its transfer not
  // waited, and the start: for the device or for a channel.
  double waited(graphs::KernelIndex kernel) const { return waited_[kernel]; }
  // The time that the next kernel on the device waited because this one ran.
  double blocked(graphs::KernelIndex kernel) const { return blocked_[kernel]; }
  // The time for which kernels run on a device between two times.
  double Busy(int32_t device, double begin, double end) const;

 private:
  // The kernels of a device in the order in which they ran.
  struct Device {
    std::vector<double> begin;  // [kernels]
    std::vector<double> end;    // [kernels]
    std::vector<double> busy;   // [kernels], before each of them
    // The number of kernels that begin before each of as many equal parts of
    // the step: where to look for a time. [kernels + 1]
    std::vector<uint32_t> first;
    double parts_per_second = 0;
  };
  static void Index(double step_seconds, Device& device);
  static double BusyUntil(const Device& device, double time);

  std::vector<double> begin_;               // [kernels]
  std::vector<double> end_;                 // [kernels]
  std::vector<graphs::KernelIndex> order_;  // [kernels], by rank
  std::vector<uint32_t> rank_;              // [kernels]
  std::vector<double> waited_;              // [kernels]
  std::vector<double> blocked_;             // [kernels]
  std::vector<Device> devices_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_WAITS_H_
