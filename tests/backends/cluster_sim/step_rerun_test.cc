#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/step/kernel_graph.h"
#include "tests/backends/cluster_sim/random_step.h"

namespace hone::backends {
namespace {

using graphs::KernelIndex;
using ::hone::testing::ForEachStep;
using ::hone::testing::RandomStep;

void ExpectSame(const StepResult& a, const StepResult& b) {
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.peak_bytes, b.peak_bytes);
  EXPECT_EQ(a.excess_bytes, b.excess_bytes);
  EXPECT_EQ(a.worst_excess, b.worst_excess);
}

TEST(StepRerunTest, IsRunBitForBit) {
  ForEachStep(250, 120, [](RandomStep& step) {
    StepSimulator simulator(step.kernels, step.times);
    const auto run = [&] {
      return StepSimulator(step.kernels, step.times)
          .Run(step.devices, step.priorities);
    };
    for (int from = 0; from < 3; ++from) {
      ExpectSame(simulator.RunAndRemember(step.devices, step.priorities),
                 run());
      const std::vector<int32_t> devices = step.devices;
      const std::vector<uint64_t> priorities = step.priorities;
      for (int rerun = 0; rerun < 8; ++rerun) {
        std::vector<KernelIndex> changed;
        for (uint64_t i = 1 + step.rng.Below(rerun < 5 ? 1 : 6); i > 0; --i) {
          changed.push_back(
              static_cast<KernelIndex>(step.rng.Below(step.kernels.size())));
          step.Change(changed.back());
        }
        ExpectSame(simulator.Rerun(step.devices, step.priorities, changed),
                   run());
        if (step.rng.Below(4) == 0) {
          // Runs between do not matter.
          ExpectSame(simulator.Run(step.devices, step.priorities), run());
        }
        step.devices = devices;
        step.priorities = priorities;
      }
      step.Change(
          static_cast<KernelIndex>(step.rng.Below(step.kernels.size())));
    }
  });
}

TEST(StepRerunTest, OfEachKernelOnEachDeviceIsRun) {
  ForEachStep(40, 40, [](RandomStep& step) {
    StepSimulator simulator(step.kernels, step.times);
    StepSimulator other(step.kernels, step.times);
    simulator.RunAndRemember(step.devices, step.priorities);
    for (KernelIndex k = 0; k < step.kernels.size(); ++k) {
      const int32_t before = std::exchange(step.devices[k], 0);
      for (int32_t d = 0; d < step.times.device_count(); ++d) {
        step.devices[k] = d;
        ExpectSame(simulator.Rerun(step.devices, step.priorities, {k}),
                   other.Run(step.devices, step.priorities));
      }
      step.devices[k] = before;
      const uint64_t priority = step.priorities[k];
      for (const uint64_t changed : {uint64_t{0}, ~uint64_t{0}}) {
        step.priorities[k] = changed;
        ExpectSame(simulator.Rerun(step.devices, step.priorities, {k}),
                   other.Run(step.devices, step.priorities));
      }
      step.priorities[k] = priority;
    }
  });
}

}  // namespace
}  // namespace hone::backends
