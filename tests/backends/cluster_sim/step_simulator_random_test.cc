#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/step/kernel_graph.h"
#include "tests/backends/cluster_sim/random_step.h"
#include "tests/backends/cluster_sim/recorded_step.h"
#include "tests/backends/cluster_sim/step_by_definition.h"

namespace hone::backends {
namespace {

using graphs::KernelGraph;
using graphs::KernelIndex;
using ::hone::testing::ForEachStep;
using ::hone::testing::RandomStep;
using ::hone::testing::RecordedStep;
using ::hone::testing::StepByDefinition;

TEST(StepSimulatorRandomTest, AgreesWithTheDefinition) {
  int excesses = 0;
  ForEachStep(800, 40, [&](RandomStep& step) {
    StepSimulator simulator(step.kernels, step.times);
    const StepResult result = simulator.Run(step.devices, step.priorities);
    const StepResult expected = StepByDefinition(step.kernels, step.times,
                                                 step.devices, step.priorities);
    EXPECT_EQ(result.seconds, expected.seconds);
    ASSERT_EQ(result.peak_bytes.size(), expected.peak_bytes.size());
    double all = 0;
    for (size_t d = 0; d < expected.peak_bytes.size(); ++d) {
      const double bytes = expected.peak_bytes[d];
      EXPECT_NEAR(result.peak_bytes[d], bytes, 1e-12 * bytes) << d;
      all += bytes;
    }
    EXPECT_NEAR(result.excess_bytes, expected.excess_bytes, 1e-12 * all);
    EXPECT_NEAR(result.worst_excess, expected.worst_excess,
                1e-12 * (1 + expected.worst_excess));
    excesses += expected.excess_bytes > 0;
  });
  EXPECT_GT(excesses, 50);
  EXPECT_LT(excesses, 750);
}

// When each kernel has started and has its inputs, and which kernels occupy
// each device.
struct Timeline {
  Timeline(const RandomStep& step, const RecordedStep& recorded)
      : runs(step.kernels.size()), ready(step.kernels.size()) {
    std::map<std::pair<KernelIndex, int32_t>, double> copies;
    for (const RecordedStep::Transfer& transfer : recorded.transfers) {
      EXPECT_TRUE(
          copies.emplace(std::pair(transfer.kernel, transfer.to), transfer.end)
              .second);
    }
    std::vector<int> seen(step.kernels.size());
    for (const RecordedStep::Kernel& run : recorded.kernels) {
      ++seen[run.kernel];
      EXPECT_EQ(run.device, step.devices[run.kernel]);
      EXPECT_EQ(run.end, run.begin + step.Seconds(run.kernel));
      runs[run.kernel] = run;
      if (step.Seconds(run.kernel) > 0) of_device[run.device].push_back(run);
    }
    EXPECT_EQ(seen, std::vector<int>(step.kernels.size(), 1));
    for (KernelIndex k = 0; k < step.kernels.size(); ++k) {
      for (const KernelIndex input : step.kernels.inputs(k)) {
        const bool is_here = step.devices[input] == step.devices[k];
        const auto copy = copies.find({input, step.devices[k]});
        if (!is_here && copy == copies.end()) {
          ADD_FAILURE() << "no copy of kernel " << input << " for " << k;
          continue;
        }
        ready[k] = std::max(ready[k], is_here ? runs[input].end : copy->second);
      }
    }
  }

  std::vector<RecordedStep::Kernel> runs;
  std::vector<double> ready;
  std::map<int32_t, std::vector<RecordedStep::Kernel>> of_device;
};

TEST(StepSimulatorRandomTest, DevicesRunOneKernelAtATimeAndDoNotIdle) {
  ForEachStep(300, 60, [](RandomStep& step) {
    RecordedStep recorded;
    StepSimulator simulator(step.kernels, step.times);
    const StepResult result =
        simulator.Run(step.devices, step.priorities, &recorded);
    EXPECT_TRUE(std::ranges::is_sorted(recorded.times));
    const Timeline timeline(step, recorded);
    double last = 0;
    for (KernelIndex k = 0; k < step.kernels.size(); ++k) {
      const RecordedStep::Kernel& run = timeline.runs[k];
      last = std::max(last, run.end);
      EXPECT_GE(run.begin, timeline.ready[k]);
      if (step.Seconds(k) == 0) {
        EXPECT_EQ(run.begin, timeline.ready[k]);
        continue;
      }
      // Until it starts, others occupy its device, and those that start
      // meanwhile go first.
      double busy_until = timeline.ready[k];
      for (const RecordedStep::Kernel& other :
           timeline.of_device.at(run.device)) {
        if (other.begin >= run.begin || other.end <= busy_until) continue;
        EXPECT_LE(other.begin, busy_until);
        busy_until = other.end;
        if (other.begin < timeline.ready[k]) continue;
        EXPECT_GE(std::pair(step.priorities[other.kernel], k),
                  std::pair(step.priorities[k], other.kernel));
      }
      EXPECT_EQ(busy_until, run.begin) << "kernel " << k;
    }
    EXPECT_EQ(result.seconds, last);
    for (const auto& [device, runs] : timeline.of_device) {
      for (size_t i = 1; i < runs.size(); ++i) {
        EXPECT_GE(runs[i].begin, runs[i - 1].end) << "device " << device;
      }
    }
  });
}

TEST(StepSimulatorRandomTest, ChannelsSendInOrderAndDoNotIdle) {
  ForEachStep(300, 60, [](RandomStep& step) {
    RecordedStep recorded;
    StepSimulator simulator(step.kernels, step.times);
    simulator.Run(step.devices, step.priorities, &recorded);
    const Timeline timeline(step, recorded);
    std::map<std::pair<int32_t, int32_t>, RecordedStep::Transfer> last;
    for (const RecordedStep::Transfer& transfer : recorded.transfers) {
      EXPECT_EQ(transfer.from, step.devices[transfer.kernel]);
      EXPECT_NE(transfer.from, transfer.to);
      double most = -1;
      for (const KernelGraph::Use& use : step.kernels.uses(transfer.kernel)) {
        if (step.devices[use.kernel] != transfer.to) continue;
        most = std::max(most, use.bytes);
      }
      EXPECT_EQ(transfer.bytes, most);
      EXPECT_EQ(transfer.end,
                transfer.begin + step.times.TransferSeconds(transfer.from,
                                                            transfer.to, most));
      double begin = timeline.runs[transfer.kernel].end;
      const auto [before, is_first] =
          last.insert({{transfer.from, transfer.to}, transfer});
      if (!is_first) {
        EXPECT_LE(timeline.runs[before->second.kernel].end, begin);
        begin = std::max(begin, before->second.end);
        before->second = transfer;
      }
      EXPECT_EQ(transfer.begin, begin);
    }
  });
}

TEST(StepSimulatorRandomTest, TheMostMemoryIsThePeak) {
  ForEachStep(300, 60, [](RandomStep& step) {
    RecordedStep recorded;
    StepSimulator simulator(step.kernels, step.times);
    const StepResult result =
        simulator.Run(step.devices, step.priorities, &recorded);
    if (result.seconds == 0) return;
    std::vector<double> most(result.peak_bytes.size());
    for (const RecordedStep::Memory& memory : recorded.memory) {
      double& of_device = most[static_cast<size_t>(memory.device)];
      of_device = std::max(of_device, memory.bytes);
      EXPECT_GE(memory.bytes, 0);
      EXPECT_LT(memory.seconds, result.seconds);
    }
    EXPECT_EQ(result.peak_bytes, most);
  });
}

TEST(StepSimulatorRandomTest, AStepTakesAtLeastItsWorkAndItsLongestPath) {
  ForEachStep(300, 60, [](RandomStep& step) {
    StepSimulator simulator(step.kernels, step.times);
    const double seconds = simulator.Run(step.devices, step.priorities).seconds;
    std::map<int32_t, double> work;
    std::vector<double> path(step.kernels.size());
    for (const KernelIndex k : step.kernels.topological_order()) {
      const int32_t device = step.devices[k];
      path[k] += step.Seconds(k);
      work[device] += step.Seconds(k);
      for (const KernelGraph::Use& use : step.kernels.uses(k)) {
        const int32_t to = step.devices[use.kernel];
        const double sent =
            to == device ? 0
                         : step.times.TransferSeconds(device, to, use.bytes);
        path[use.kernel] = std::max(path[use.kernel], path[k] + sent);
      }
      EXPECT_GE(seconds, path[k] * (1 - 1e-12));
    }
    for (const auto& [device, sum] : work) {
      EXPECT_GE(seconds, sum * (1 - 1e-12)) << "device " << device;
    }
  });
}

}  // namespace
}  // namespace hone::backends
