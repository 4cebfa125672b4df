#include "tuning/tasks/step_waits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

#include "backends/cluster_sim/step_simulator.h"
#include "base/rng.h"
#include "tests/tuning/random_steps.h"
#include "tuning/tasks/step_problem.h"

namespace hone::tuning {
namespace {

using graphs::KernelIndex;

struct Ran {
  int32_t device = 0;
  double begin = 0;
  double end = 0;
};

class Recorder final : public backends::StepObserver {
 public:
  explicit Recorder(size_t kernels) : ran(kernels) {}
  void OnKernel(KernelIndex kernel, int32_t device, double begin,
                double end) override {
    ran[kernel] = {device, begin, end};
  }
  void OnTransfer(KernelIndex, int32_t, int32_t, double, double,
                  double) override {}
  void OnMemory(int32_t, double, double) override {}

  std::vector<Ran> ran;
};

// What the simulator tells an observer, looked at kernel by kernel.
TEST(StepWaits, AgreeWithWhatHappens) {
  int64_t waits = 0;
  int64_t blocks = 0;
  ForEachStepProblem(31, 30, 40, [&](const StepProblem& problem, Rng& rng) {
    const StepSpace& space = problem.space();
    graphs::FusionRules rules = space.rules();
    const StepPlan plan = space.Decode(RandomValues(problem, rng), rules);
    const graphs::KernelGraph& kernels = *plan.kernels;
    const graphs::DeviceTimes& times = space.times();
    backends::StepSimulator simulator(kernels, times);
    simulator.RunAndRemember(plan.devices, plan.priorities);
    StepWaits of;
    of.Set(plan, times, simulator);
    Recorder recorder(kernels.size());
    backends::StepSimulator(kernels, times)
        .Run(plan.devices, plan.priorities, &recorder);
    double end = 0;
    for (const Ran& ran : recorder.ran) end = std::max(end, ran.end);
    const double close = 1e-9 * end;
    for (size_t k = 0; k < kernels.size(); ++k) {
      const auto kernel = static_cast<KernelIndex>(k);
      const Ran& ran = recorder.ran[k];
      EXPECT_NEAR(of.begin(kernel), ran.begin, close);
      EXPECT_NEAR(of.end(kernel), ran.end, close);
      double ready = 0;
      uint32_t number = kernels.first_input(kernel);
      for (const KernelIndex input : kernels.inputs(kernel)) {
        const Ran& before = recorder.ran[input];
        const double bytes = kernels.input_bytes(number++);
        ready = std::max(
            ready, before.end + (before.device == ran.device
                                     ? 0
                                     : times.TransferSeconds(
                                           before.device, ran.device, bytes)));
      }
      EXPECT_NEAR(of.waited(kernel), std::max(0.0, ran.begin - ready), close);
      waits += of.waited(kernel) > close ? 1 : 0;
      // The next one on the device that takes time.
      const auto takes_time = [&](size_t of_kernel) {
        return kernels.Seconds(static_cast<KernelIndex>(of_kernel),
                               times.kind_of(ran.device)) > 0;
      };
      const Ran* next = nullptr;
      size_t next_kernel = 0;
      for (size_t other = 0; other < kernels.size() && takes_time(k); ++other) {
        const Ran& later = recorder.ran[other];
        if (later.device != ran.device || !takes_time(other) ||
            later.end <= ran.end || (next != nullptr && next->end <= later.end))
          continue;
        next = &later;
        next_kernel = other;
      }
      const double blocked =
          next == nullptr
              ? 0
              : std::min(ran.end - ran.begin,
                         of.waited(static_cast<KernelIndex>(next_kernel)));
      EXPECT_NEAR(of.blocked(kernel), blocked, close);
      blocks += blocked > close ? 1 : 0;
    }
    for (int i = 0; i < 20; ++i) {
      const auto device = static_cast<int32_t>(
          rng.Below(static_cast<uint64_t>(times.device_count())));
      double from = end * rng.Uniform();
      double to = end * rng.Uniform();
      if (from > to) std::swap(from, to);
      double busy = 0;
      for (const Ran& ran : recorder.ran) {
        if (ran.device != device) continue;
        busy +=
            std::max(0.0, std::min(to, ran.end) - std::max(from, ran.begin));
      }
      EXPECT_NEAR(of.Busy(device, from, to), busy, close);
    }
  });
  EXPECT_GT(waits, 100);
  EXPECT_GT(blocks, 100);
}

}  // namespace
}  // namespace hone::tuning
